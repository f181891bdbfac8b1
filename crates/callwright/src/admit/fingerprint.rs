//! What makes two calls the same call.
//!
//! In come a tool and arguments, out goes a hash of 128 bits that they share with every call that means the same:
//! keys in another order, other white space, `1.0` for `1`, or a default written out make no difference. Fields that
//! the tool declares volatile are left out. Arguments that could not be read have a fingerprint too, of their text.
//! `docs/fingerprint.md` defines it for other languages, `corpus/fingerprint` holds the vectors.

use serde_json::Value as Schema;
use smallvec::SmallVec;

use crate::json::{FEW, Path, Value, with_buffer, write_canonical_string};
use crate::words::{Fingerprint, hash};

/// How deep objects inside objects are searched for defaults. The arguments of real tools are flatter.
const DEEPEST_DEFAULT: usize = 8;

impl Fingerprint {
    /// The fingerprint of readable arguments, seen through the shape of the tool's schema.
    pub fn of(tool: &str, arguments: &Value<'_>, shape: &Shape) -> Self {
        with_buffer(|out| {
            write(tool, arguments, shape, out);
            Fingerprint(u128::from_be_bytes(hash(out)))
        })
    }

    /// The fingerprint of arguments that could not be read.
    pub fn of_text(tool: &str, text: &str) -> Self {
        with_buffer(|out| {
            write_canonical_string(tool, out);
            // No canonical text begins like this.
            out.push('!');
            out.push_str(text.trim_ascii());
            Fingerprint(u128::from_be_bytes(hash(out)))
        })
    }
}

/// Writes the text that is hashed.
pub(crate) fn write(tool: &str, arguments: &Value<'_>, shape: &Shape, out: &mut String) {
    write_canonical_string(tool, out);
    shape.write(arguments, out);
}

/// What of a tool's arguments goes without saying: their defaults, and the fields that are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shape {
    /// Keys with the canonical text of their default.
    defaults: Vec<(String, String)>,
    volatile: Vec<String>,
    inner: Vec<(String, Shape)>,
}

impl Shape {
    /// The shape of a schema, without the places in `volatile`.
    pub fn new(schema: Option<&Schema>, volatile: &[Path]) -> Self {
        let mut shape =
            schema.map_or_else(Shape::default, |schema| defaults(schema, DEEPEST_DEFAULT));
        for path in volatile {
            shape.leave_out(path);
        }
        shape
    }

    fn leave_out(&mut self, path: &Path) {
        let segments: Vec<String> = path.segments().map(Into::into).collect();
        let Some((last, around)) = segments.split_last() else {
            return;
        };
        let mut shape = self;
        for key in around {
            let known = shape.inner.iter().position(|(name, _)| name == key);
            let at = known.unwrap_or_else(|| {
                shape.inner.push((key.clone(), Shape::default()));
                shape.inner.len() - 1
            });
            shape = &mut shape.inner[at].1;
        }
        shape.volatile.push(last.clone());
    }

    fn is_plain(&self) -> bool {
        self.defaults.is_empty() && self.volatile.is_empty() && self.inner.is_empty()
    }

    fn write(&self, value: &Value<'_>, out: &mut String) {
        let Some(members) = value.as_object().filter(|_| !self.is_plain()) else {
            value.write_canonical(out);
            return;
        };
        let is_kept = |key: &str| !self.volatile.iter().any(|name| name == key);
        let absent = |key: &str| !members.iter().any(|(name, _)| name == key);
        let mut sorted: SmallVec<[(&str, Part<'_>); FEW]> = members
            .iter()
            .map(|(key, member)| (key.as_ref(), Part::Sent(member)))
            .chain(
                self.defaults
                    .iter()
                    .filter(|(key, _)| absent(key))
                    .map(|(key, default)| (key.as_str(), Part::Default(default))),
            )
            .filter(|(key, _)| is_kept(key))
            .collect();
        sorted.sort_by_key(|(key, _)| *key);
        out.push('{');
        for (key, part) in sorted {
            write_canonical_string(key, out);
            match part {
                Part::Default(text) => out.push_str(text),
                Part::Sent(member) => match self.inner.iter().find(|(name, _)| name == key) {
                    Some((_, shape)) => shape.write(member, out),
                    None => member.write_canonical(out),
                },
            }
            out.push(',');
        }
        out.push('}');
    }
}

enum Part<'v> {
    Sent(&'v Value<'v>),
    Default(&'v str),
}

fn defaults(schema: &Schema, depth_left: usize) -> Shape {
    let mut shape = Shape::default();
    let properties = schema.get("properties").and_then(Schema::as_object);
    for (key, property) in properties.into_iter().flatten() {
        if let Some(default) = property.get("default") {
            shape
                .defaults
                .push((key.clone(), Value::from(default).canonical()));
        }
        if depth_left > 0 {
            let inner = defaults(property, depth_left - 1);
            if !inner.is_plain() {
                shape.inner.push((key.clone(), inner));
            }
        }
    }
    shape
}
