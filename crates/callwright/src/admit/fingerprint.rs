//! The identity of a call: which calls count as the same.
//!
//! Takes a tool and arguments; returns a 128-bit hash that is equal for every call with the same meaning: the order of keys,
//! white space, `1.0` for `1`, or a default written out make no difference. Fields that the tool declares volatile are left
//! out. Arguments that cannot be parsed get a fingerprint of their text. `docs/fingerprint.md` defines it for other languages,
//! `corpus/fingerprint` has the test vectors.

use std::collections::BTreeMap;

use serde_json::Value as Schema;
use smallvec::SmallVec;

use crate::json::{FEW, Path, Value, with_buffer, write_canonical_string};
use crate::vocabulary::{Fingerprint, TextHash, hash};

/// How deep nested objects are searched for defaults. The arguments of real tools are flatter.
const DEEPEST_DEFAULT: usize = 8;

impl Fingerprint {
    /// The fingerprint of parsed arguments, given the shape of the tool's schema.
    pub fn of(tool: &str, arguments: &Value<'_>, shape: &Shape) -> Self {
        Fingerprint::by(hash, |out| write(tool, arguments, shape, out))
    }

    /// The fingerprint of arguments that could not be parsed.
    pub fn of_text(tool: &str, text: &str) -> Self {
        Fingerprint::by(hash, |out| write_unread(tool, text, out))
    }

    /// The fingerprint of a text that is written for it.
    pub(super) fn by(hash: TextHash, write: impl FnOnce(&mut String)) -> Self {
        with_buffer(|out| {
            write(out);
            Fingerprint(u128::from_be_bytes(hash(out)))
        })
    }
}

/// Writes the text that is hashed.
pub(crate) fn write(tool: &str, arguments: &Value<'_>, shape: &Shape, out: &mut String) {
    write_canonical_string(tool, out);
    shape.write(arguments, out);
}

/// The same for arguments that could not be parsed.
pub(super) fn write_unread(tool: &str, text: &str, out: &mut String) {
    write_canonical_string(tool, out);
    // No canonical text starts like this.
    out.push('!');
    out.push_str(text.trim_ascii());
}

/// What is left out of a tool's arguments: defaults and volatile fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shape(BTreeMap<String, KeyShape>);

/// The same for the value of one key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct KeyShape {
    /// Its canonical text.
    default: Option<String>,
    is_volatile: bool,
    inner: Shape,
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
            shape = &mut shape.0.entry(key.clone()).or_default().inner;
        }
        shape.0.entry(last.clone()).or_default().is_volatile = true;
    }

    fn write(&self, value: &Value<'_>, out: &mut String) {
        let Some(members) = value.as_object().filter(|_| !self.0.is_empty()) else {
            value.write_canonical(out);
            return;
        };
        let mut sent: SmallVec<[_; FEW]> = members.iter().map(|(key, it)| (&**key, it)).collect();
        sent.sort_by_key(|(key, _)| *key);
        let mut known = self.0.iter().peekable();
        out.push('{');
        for same in sent.chunk_by(|one, next| one.0 == next.0) {
            let key = same[0].0;
            while let Some((absent, shape)) = known.next_if(|(known, _)| known.as_str() < key) {
                shape.write_default(absent, out);
            }
            let shape = known.next_if(|(known, _)| known.as_str() == key);
            let shape = shape.map(|(_, shape)| shape);
            if shape.is_some_and(|shape| shape.is_volatile) {
                continue;
            }
            for (key, member) in same {
                write_canonical_string(key, out);
                match shape {
                    Some(shape) => shape.inner.write(member, out),
                    None => member.write_canonical(out),
                }
                out.push(',');
            }
        }
        for (absent, shape) in known {
            shape.write_default(absent, out);
        }
        out.push('}');
    }
}

impl KeyShape {
    /// Writes what a key that was not sent stands for, if anything.
    fn write_default(&self, key: &str, out: &mut String) {
        if let Some(default) = self.default.as_deref().filter(|_| !self.is_volatile) {
            write_canonical_string(key, out);
            out.push_str(default);
            out.push(',');
        }
    }
}

fn defaults(schema: &Schema, depth_left: usize) -> Shape {
    let mut shapes = BTreeMap::new();
    let properties = schema.get("properties").and_then(Schema::as_object);
    for (key, property) in properties.into_iter().flatten() {
        let shape = KeyShape {
            default: property
                .get("default")
                .map(|it| Value::from(it).canonical()),
            is_volatile: false,
            inner: match depth_left {
                0 => Shape::default(),
                _ => defaults(property, depth_left - 1),
            },
        };
        if shape != KeyShape::default() {
            shapes.insert(key.clone(), shape);
        }
    }
    Shape(shapes)
}
