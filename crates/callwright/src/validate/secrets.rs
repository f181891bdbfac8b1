//! Which places of a value must never be shown.
//!
//! A schema marks secrets with `writeOnly` or `format: password`, but an objection to a secret may come from anywhere: another
//! branch, a condition, the object around it. And a model that makes a mistake may put a secret anywhere. So places are hidden
//! by their names: a key that is secret somewhere in the schema hides everything below it wherever it occurs, and so do a key
//! that resembles one and a key that the schema does not know. This hides more than it must, never less. [`crate::secrecy`]
//! finds secrets inside texts.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value as Schema};

use super::schema::children;
use crate::json::Path;
use crate::nearest::{CLOSE, is_slip, same_spelling, similarity};

/// How much longer than a listed key a misspelling of it may be. A longer one may be a key and its value in one.
const SLIP: usize = 3;

/// How many words of a text are compared with the names of secrets. A longer text is hidden unread.
const MOST_WORDS: usize = 2_000;

/// How many parts of a schema are visited to find out which properties hold secrets: each property is followed through its
/// references. Beyond that, everything is a secret.
const MOST_PARTS: usize = 1_000_000;

/// How many names of secrets others are compared with, letter by letter. Beyond that, a name that is not listed counts as one
/// of them.
const MOST_NAMES: usize = 1_024;

/// The secrets of one schema.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    /// Keys whose own value is a secret.
    keys: HashSet<String>,
    /// Keys whose value has a secret inside.
    holders: HashSet<String>,
    /// Keys that the schema lists, secret or not.
    listed: HashSet<String>,
    /// Some secret has no fixed key, so every unlisted key may be one.
    unlisted: bool,
    /// If so at the top level: the keys listed next to it. Others are listed elsewhere, and may be secrets here.
    beside: Option<HashSet<String>>,
    /// Some keys without a fixed name are described, and are not secrets; an unlisted key may be one of them.
    described: bool,
    /// The arguments as a whole are a secret, or a reference could not be resolved, so any value may be one.
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
        let mut reaching = Reaching {
            root: schema,
            left: MOST_PARTS,
        };
        secrets.collect(schema, &mut reaching, SchemaLevel::Nothing);
        secrets.everything |= reaching.left == 0;
        let mut followed = HashSet::new();
        secrets.mark_inside(schema, schema, false, &mut followed);
        Some(secrets)
    }

    /// If it is unknown which values are secrets, all of them are.
    pub(crate) fn everything() -> Secrets {
        Secrets {
            everything: true,
            ..Secrets::default()
        }
    }

    /// The secrets of several schemas combined, for a call that may be meant for any of them.
    pub(crate) fn of_any<'s>(all: impl Iterator<Item = &'s Secrets>) -> Option<Secrets> {
        all.fold(None, |merged: Option<Secrets>, one| {
            let mut merged = merged.unwrap_or_default();
            merged.keys.extend(one.keys.iter().cloned());
            merged.holders.extend(one.holders.iter().cloned());
            merged.listed.extend(one.listed.iter().cloned());
            merged.unlisted |= one.unlisted;
            merged.described |= one.described;
            merged.everything |= one.everything;
            Some(merged)
        })
    }

    /// Whether the value at this path is a secret as a whole, with everything in it. If a value only contains one somewhere,
    /// the rest may be shown.
    pub(crate) fn cover(&self, at: &Path) -> bool {
        let Some(nearest) = nearest_key(at) else {
            return false;
        };
        let marks = |key: Cow<'_, str>| self.keys.contains(key.as_ref()) || self.is_misspelt(&key);
        at.segments().any(marks) || (self.unlisted && !self.is_listed_beside(&nearest))
    }

    /// Whether the schema does not know the value at this path, so that it may be meant for a secret.
    pub(crate) fn is_stray(&self, at: &Path) -> bool {
        !self.described && nearest_key(at).is_some_and(|key| !self.listed.contains(key.as_ref()))
    }

    /// Whether the value at this path of the arguments must not be shown.
    pub(crate) fn hide(&self, at: &Path) -> bool {
        self.hide_marked(at) || self.is_stray(at)
    }

    /// Whether the schema marks the value at this path. For a result that is the only criterion: tools return more than they
    /// declare.
    pub(crate) fn hide_marked(&self, at: &Path) -> bool {
        let holds = |segment: Option<Cow<'_, str>>| {
            segment.is_some_and(|key| self.holders.contains(key.as_ref()))
        };
        self.everything
            || self.cover(at)
            || holds(nearest_key(at))
            || holds(at.last())
            || (self.unlisted && nearest_key(at).is_none())
    }

    /// Whether this is a name of the schema itself, not a word of the model.
    pub(crate) fn lists(&self, key: &str) -> bool {
        self.listed.contains(key)
    }

    /// Whether a key is a misspelt name of the schema.
    pub(crate) fn is_nearly_listed(&self, key: &str) -> bool {
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
        let is_same =
            |name: &String| key.len() <= name.len() + SLIP && similarity(name, key) >= CLOSE;
        key.chars().all(is_plain) && self.listed.iter().any(is_same)
    }

    /// The names that the schema lists.
    pub(crate) fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.listed.iter().map(String::as_str)
    }

    /// Whether a word is the name of a secret, or nearly: texts have many words, so only one typing error is allowed.
    pub(crate) fn name_secret(&self, word: &str) -> bool {
        let is_meant = |key: &String| same_spelling(key, word) || is_slip(word, key);
        self.keys.contains(word) || self.keys.len() > MOST_NAMES || self.keys.iter().any(is_meant)
    }

    /// Whether a text names a secret and says more than its name: it may contain the secret.
    pub(crate) fn named_in(&self, text: &str) -> bool {
        if self.everything {
            return true;
        }
        let has_signs = text.contains([':', '=', '{', '[', '<']);
        let contains = |key: &String| text.len() > key.len() && text.contains(key.as_str());
        if has_signs && self.keys.iter().any(contains) {
            return true;
        }
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let words = text.split(|c: char| !is_part(c));
        let mut words = words.filter(|word| !word.is_empty()).take(MOST_WORDS + 1);
        let is_one = words.clone().nth(1).is_none();
        let is_long = words.clone().nth(MOST_WORDS).is_some();
        is_long || (!is_one && words.any(|word| self.name_secret(word)))
    }

    /// An unlisted key that resembles a secret one is most likely that one, misspelt.
    fn is_misspelt(&self, key: &str) -> bool {
        let is_close = |secret: &String| similarity(secret, key) >= CLOSE;
        let may_be = || self.keys.len() > MOST_NAMES || self.keys.iter().any(is_close);
        !self.listed.contains(key) && !is_index(key) && may_be()
    }

    fn is_listed_beside(&self, key: &str) -> bool {
        self.beside.as_ref().unwrap_or(&self.listed).contains(key)
    }

    /// Walks a schema and records the names in it.
    fn collect<'s>(&mut self, node: &'s Schema, reaching: &mut Reaching<'s>, around: SchemaLevel) {
        if is_secret(node) && around == SchemaLevel::Nothing {
            self.everything = true;
        }
        for (keyword, member) in children(node) {
            match (keyword, member) {
                ("properties", Schema::Object(properties)) => {
                    for (name, property) in properties {
                        self.property(name, property, reaching);
                    }
                }
                ("const" | "enum" | "default" | "examples", _) => {}
                // Definitions count where they are used.
                ("$defs" | "definitions", Schema::Object(definitions)) => {
                    for definition in definitions.values() {
                        self.collect(definition, reaching, SchemaLevel::Something);
                    }
                }
                ("patternProperties", Schema::Object(named)) => {
                    for inner in named.values() {
                        self.unnamed(inner, reaching, node, around);
                    }
                }
                ("additionalProperties" | "unevaluatedProperties", inner) => {
                    self.unnamed(inner, reaching, node, around);
                }
                (_, inner) => self.collect(inner, reaching, around),
            }
        }
    }

    /// The schema of keys that have no fixed name; `node` lists those that have one.
    fn unnamed<'s>(
        &mut self,
        inner: &'s Schema,
        reaching: &mut Reaching<'s>,
        node: &'s Schema,
        around: SchemaLevel,
    ) {
        if reaching.from(inner).is_some() {
            self.unlisted = true;
            if around == SchemaLevel::Nothing {
                let listed = node.get("properties").and_then(Schema::as_object);
                let names = || listed.into_iter().flat_map(Map::keys).cloned().collect();
                match &mut self.beside {
                    None => self.beside = Some(names()),
                    Some(beside) => {
                        beside.retain(|name| listed.is_some_and(|it| it.contains_key(name)));
                    }
                }
            }
        } else if inner.is_object() {
            self.described = true;
        }
        self.collect(inner, reaching, SchemaLevel::Something);
    }

    fn property<'s>(&mut self, name: &str, property: &'s Schema, reaching: &mut Reaching<'s>) {
        self.listed.insert(name.to_owned());
        match reaching.from(property) {
            Some(Reach::Itself | Reach::Unnamed) => {
                self.keys.insert(name.to_owned());
            }
            Some(Reach::Inside) => {
                self.holders.insert(name.to_owned());
            }
            None => {}
        }
        self.collect(property, reaching, SchemaLevel::Something);
    }

    /// Records the names of everything inside a secret: they may occur without what surrounds them. Each reference out of a
    /// secret is followed once.
    fn mark_inside<'s>(
        &mut self,
        node: &'s Schema,
        root: &'s Schema,
        inside: bool,
        followed: &mut HashSet<&'s str>,
    ) {
        let inside = inside || is_secret(node);
        for (keyword, member) in children(node) {
            match (keyword, member) {
                ("const" | "enum" | "default" | "examples", _) => {}
                ("properties", Schema::Object(properties)) => {
                    for (name, property) in properties {
                        if inside {
                            self.keys.insert(name.clone());
                        }
                        self.mark_inside(property, root, inside, followed);
                    }
                }
                ("$ref", Schema::String(reference)) if inside => {
                    if let Some(pointer) = reference.strip_prefix('#')
                        && followed.insert(pointer)
                        && let Some(target) = root.pointer(pointer)
                    {
                        self.mark_inside(target, root, inside, followed);
                    }
                }
                (_, inner) => self.mark_inside(inner, root, inside, followed),
            }
        }
    }
}

/// Whether a schema describes the arguments as a whole, or something in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SchemaLevel {
    Nothing,
    Something,
}

/// The innermost key of a path; anything that looks like an array index is skipped.
fn nearest_key(at: &Path) -> Option<Cow<'_, str>> {
    at.segments().filter(|segment| !is_index(segment)).last()
}

fn is_index(segment: &str) -> bool {
    segment.bytes().all(|byte| byte.is_ascii_digit())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    Inside,
    /// Inside, under a key that has no fixed name.
    Unnamed,
    Itself,
}

/// Searches for secrets, starting from a part of a schema.
struct Reaching<'s> {
    root: &'s Schema,
    /// How many more parts may be visited.
    left: usize,
}

impl<'s> Reaching<'s> {
    /// Whether a schema is a secret itself (in some branch, in some item) or contains one.
    fn from(&mut self, node: &'s Schema) -> Option<Reach> {
        self.reach(node, &mut HashSet::new())
    }

    /// `seen` holds the references that were followed, so that each is followed once.
    fn reach(&mut self, node: &'s Schema, seen: &mut HashSet<&'s str>) -> Option<Reach> {
        self.left = self.left.saturating_sub(1);
        if is_secret(node) || self.left == 0 {
            return Some(Reach::Itself);
        }
        let inner = children(node).filter_map(|(keyword, member)| match keyword {
            "$ref" => {
                let pointer = member.as_str()?.strip_prefix('#')?;
                let target = self.root.pointer(pointer);
                let target = target.filter(|_| seen.insert(pointer))?;
                self.reach(target, seen)
            }
            "const" | "enum" | "default" | "examples" | "$defs" | "definitions" => None,
            "properties" => self.any(member, seen).then_some(Reach::Inside),
            "patternProperties" => self.any(member, seen).then_some(Reach::Unnamed),
            "additionalProperties" | "unevaluatedProperties" => {
                self.reach(member, seen).map(|_| Reach::Unnamed)
            }
            _ => self.reach(member, seen),
        });
        inner.max()
    }

    fn any(&mut self, named: &'s Schema, seen: &mut HashSet<&'s str>) -> bool {
        let mut named = named.as_object().into_iter().flat_map(Map::values);
        named.any(|inner| self.reach(inner, seen).is_some())
    }
}

/// Whether some reference is not a plain pointer into the schema. The engine follows such references, we do not.
fn has_odd_reference(node: &Schema, root: &Schema) -> bool {
    children(node).any(|(key, member)| {
        let odd = match (key, member) {
            ("$dynamicRef" | "$recursiveRef", Schema::String(_)) => true,
            ("$ref", Schema::String(reference)) => reference
                .strip_prefix('#')
                .and_then(|pointer| root.pointer(pointer))
                .is_none(),
            _ => false,
        };
        odd || has_odd_reference(member, root)
    })
}

fn is_secret(node: &Schema) -> bool {
    node.get("writeOnly") == Some(&Schema::Bool(true))
        || node.get("format").and_then(Schema::as_str) == Some("password")
}

/// Whether some part of a schema is marked as a secret.
pub(crate) fn marks_secret(node: &Schema) -> bool {
    is_secret(node) || children(node).any(|(_, inner)| marks_secret(inner))
}
