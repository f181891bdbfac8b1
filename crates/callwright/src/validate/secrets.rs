//! Which values must never be shown.
//!
//! A schema marks secrets with `writeOnly` or `format: password`, but an objection to a secret may
//! come from anywhere: another branch, a condition, the object around it. So places are hidden by
//! their names: a key that is a secret somewhere in the schema hides everything below it, and a key
//! whose value holds a secret hides text that came in the value's stead. This hides more than it
//! must, never less.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value as Schema};

use crate::json::Path;
use crate::nearest::{CLOSE, similarity};

/// The secrets of one schema.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    /// Keys whose own value is a secret.
    keys: HashSet<String>,
    /// Keys whose value has a secret inside.
    holders: HashSet<String>,
    /// Keys that the schema lists, secret or not.
    listed: HashSet<String>,
    /// Some secret stands under no fixed key, so every key that is not listed may be one.
    unlisted: bool,
    /// A reference could not be followed, so any value may be one.
    everything: bool,
}

impl Secrets {
    /// The secrets of a schema; `None` if it has none.
    pub(crate) fn of(schema: &Schema) -> Option<Secrets> {
        if !marks_secret(schema) {
            return None;
        }
        let mut secrets = Secrets {
            everything: has_odd_reference(schema, schema),
            ..Secrets::default()
        };
        secrets.collect(schema, schema, None);
        Some(secrets)
    }

    /// Where nobody can say which values are secrets, all of them are.
    pub(crate) fn everything() -> Secrets {
        Secrets {
            everything: true,
            ..Secrets::default()
        }
    }

    /// Whether the value at this place is a secret as a whole, with all that is in it. Around a value that only holds
    /// one somewhere, the rest may be shown.
    pub(crate) fn cover(&self, at: &Path) -> bool {
        let is_secret = |segment: Cow<'_, str>| self.keys.contains(segment.as_ref());
        let Some(key) = nearest_key(at) else {
            return false;
        };
        at.segments().any(is_secret)
            || (!self.listed.contains(key.as_ref()) && (self.unlisted || self.is_misspelt(&key)))
    }

    /// Whether a text names a key that is a secret: it may be JSON with that key in it.
    pub(crate) fn named_in(&self, text: &str) -> bool {
        self.everything || self.keys.iter().any(|key| text.contains(key.as_str()))
    }

    /// A key that is not listed and looks like a secret one is most likely that one, misspelt.
    fn is_misspelt(&self, key: &str) -> bool {
        let mut secrets = self.keys.iter();
        secrets.any(|secret| similarity(secret, key) >= CLOSE)
    }

    /// Whether the value at this place must not be shown.
    pub(crate) fn hide(&self, at: &Path) -> bool {
        if self.everything {
            return true;
        }
        let holds = |segment: Option<Cow<'_, str>>| {
            segment.is_some_and(|key| self.holders.contains(key.as_ref()))
        };
        let listed = nearest_key(at).is_some_and(|key| self.listed.contains(key.as_ref()));
        let misspelt = || nearest_key(at).is_some_and(|key| self.is_misspelt(&key));
        at.segments()
            .any(|segment| self.keys.contains(segment.as_ref()))
            || holds(nearest_key(at))
            || holds(at.last())
            || (!listed && (self.unlisted || misspelt()))
    }

    /// Walks a schema; `key` is the property that it describes, if it describes one.
    fn collect(&mut self, node: &Schema, root: &Schema, key: Option<&str>) {
        if is_secret(node) && key.is_none() {
            self.unlisted = true;
        }
        match node {
            Schema::Object(members) => {
                for (keyword, member) in members {
                    match (keyword.as_str(), member) {
                        ("properties", Schema::Object(properties)) => {
                            for (name, property) in properties {
                                self.property(name, property, root);
                            }
                        }
                        ("const" | "enum" | "default" | "examples", _) => {}
                        // Definitions count where they are used.
                        ("$defs" | "definitions", Schema::Object(definitions)) => {
                            for definition in definitions.values() {
                                self.collect(definition, root, Some(""));
                            }
                        }
                        ("patternProperties", Schema::Object(named)) => {
                            for inner in named.values() {
                                self.unnamed(inner, root);
                            }
                        }
                        ("additionalProperties", inner) => self.unnamed(inner, root),
                        (_, inner) => self.collect(inner, root, key),
                    }
                }
            }
            Schema::Array(items) => items.iter().for_each(|item| self.collect(item, root, key)),
            _ => {}
        }
    }

    /// The schema of keys that have no fixed name.
    fn unnamed(&mut self, inner: &Schema, root: &Schema) {
        self.unlisted |= reaches(inner, root).is_some();
        self.collect(inner, root, Some(""));
    }

    fn property(&mut self, name: &str, property: &Schema, root: &Schema) {
        self.listed.insert(name.to_owned());
        match reaches(property, root) {
            Some(Reach::Itself) => {
                self.keys.insert(name.to_owned());
            }
            Some(Reach::Inside) => {
                self.holders.insert(name.to_owned());
            }
            None => {}
        }
        self.collect(property, root, Some(name));
    }
}

/// The innermost key of a place; what looks like an index of an array is none.
fn nearest_key(at: &Path) -> Option<Cow<'_, str>> {
    let is_index = |segment: &str| segment.bytes().all(|byte| byte.is_ascii_digit());
    at.segments().filter(|segment| !is_index(segment)).last()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    Inside,
    Itself,
}

/// Whether a schema is a secret itself (in some branch, in some item) or has one inside.
fn reaches<'s>(node: &'s Schema, root: &'s Schema) -> Option<Reach> {
    reach(node, root, &mut HashSet::new())
}

/// `seen` holds the references that were followed, so that each is followed once.
fn reach<'s>(node: &'s Schema, root: &'s Schema, seen: &mut HashSet<&'s str>) -> Option<Reach> {
    if is_secret(node) {
        return Some(Reach::Itself);
    }
    match node {
        Schema::Object(members) => members
            .iter()
            .filter_map(|(keyword, member)| match keyword.as_str() {
                "$ref" => {
                    let pointer = member.as_str()?.strip_prefix('#')?;
                    let target = root.pointer(pointer).filter(|_| seen.insert(pointer))?;
                    reach(target, root, seen)
                }
                "const" | "enum" | "default" | "examples" | "$defs" | "definitions" => None,
                "properties" | "patternProperties" => {
                    let mut named = member.as_object().into_iter().flat_map(Map::values);
                    named
                        .any(|inner| reach(inner, root, seen).is_some())
                        .then_some(Reach::Inside)
                }
                "additionalProperties" => reach(member, root, seen).map(|_| Reach::Inside),
                _ => reach(member, root, seen),
            })
            .max(),
        Schema::Array(items) => items
            .iter()
            .filter_map(|item| reach(item, root, seen))
            .max(),
        _ => None,
    }
}

/// Whether some reference is not a plain pointer to a place in the schema. Such references are followed
/// by the engine, not by us.
fn has_odd_reference(node: &Schema, root: &Schema) -> bool {
    match node {
        Schema::Object(members) => members.iter().any(|(key, member)| {
            let odd = match (key.as_str(), member) {
                ("$dynamicRef" | "$recursiveRef", Schema::String(_)) => true,
                ("$ref", Schema::String(reference)) => reference
                    .strip_prefix('#')
                    .and_then(|pointer| root.pointer(pointer))
                    .is_none(),
                _ => false,
            };
            odd || has_odd_reference(member, root)
        }),
        Schema::Array(items) => items.iter().any(|item| has_odd_reference(item, root)),
        _ => false,
    }
}

fn is_secret(node: &Schema) -> bool {
    node.get("writeOnly") == Some(&Schema::Bool(true))
        || node.get("format").and_then(Schema::as_str) == Some("password")
}

/// Whether some part of a schema is marked as a secret.
pub(crate) fn marks_secret(node: &Schema) -> bool {
    is_secret(node)
        || match node {
            Schema::Object(members) => members.values().any(marks_secret),
            Schema::Array(items) => items.iter().any(marks_secret),
            _ => false,
        }
}
