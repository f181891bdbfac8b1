//! Which keys an object may have, as far as its schema lists them.
//!
//! An objecting keyword may be in a condition or in one of several parts (`allOf`, `then`), and knows only the keys of its own
//! part. The model needs those of the whole: this takes the path of a keyword and returns the properties of the object schema
//! that it belongs to.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use ahash::AHashSet;
use serde_json::{Map, Value as Schema};

use super::schema::CompiledSchema;
use crate::json::{Path, keyword, member};

/// How deep parts inside parts are followed.
const DEEPEST_PART: usize = 8;

/// Keywords that contain another schema for the same object.
const CONDITIONS: [&str; 3] = ["if", "then", "else"];

/// Keywords that allow no key by themselves.
const SILENT: [&str; 10] = [
    "type",
    "required",
    "title",
    "description",
    "examples",
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "definitions",
];

/// How a schema was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Approach {
    /// Everything in it applies, or may apply.
    All,
    /// From one of its alternatives: the others do not apply.
    PastAlternatives,
}

/// The properties of one object, from all parts of its schema.
pub(crate) struct Properties<'s> {
    schema: &'s CompiledSchema,
    maps: Vec<&'s Map<String, Schema>>,
    /// Parts that were visited, by their address: references may lead to one from many places. Most schemas have one, so the
    /// first is stored separately.
    first: Option<usize>,
    seen: BTreeSet<usize>,
    patterns: Vec<&'s str>,
    /// Computed on demand.
    names: OnceCell<Vec<&'s str>>,
}

/// The properties of several objects of one schema, each found once: hundreds of objections may refer to objects of one kind.
pub(crate) struct PropertiesByOwner<'s> {
    schema: &'s CompiledSchema,
    /// Just a few, and the last one is requested most.
    found: RefCell<Vec<(Path, Rc<Properties<'s>>)>>,
}

impl<'s> PropertiesByOwner<'s> {
    pub(crate) fn new(schema: &'s CompiledSchema) -> Self {
        PropertiesByOwner {
            schema,
            found: RefCell::default(),
        }
    }

    /// The properties of the object that the schema at `owner` describes, or a part of it does.
    pub(crate) fn of(&self, owner: &Path) -> Rc<Properties<'s>> {
        self.found(owner).unwrap_or_else(|| {
            let properties = Rc::new(Properties::of(self.schema, owner));
            let entry = (owner.clone(), Rc::clone(&properties));
            self.found.borrow_mut().push(entry);
            properties
        })
    }

    /// The same, if they have already been found.
    pub(crate) fn found(&self, owner: &Path) -> Option<Rc<Properties<'s>>> {
        let found = self.found.borrow();
        let known = found.iter().rev().find(|(of, _)| of == owner)?;
        Some(Rc::clone(&known.1))
    }
}

impl CompiledSchema {
    /// The keys that the schema lists for the arguments themselves, in any of its parts; `None` if no part lists any.
    pub(crate) fn parameters(&self) -> Option<Vec<String>> {
        let properties = Properties::of(self, &Path::root());
        let names = || properties.names().iter().map(|name| (*name).to_owned());
        (!properties.maps.is_empty()).then(|| names().collect())
    }

    /// Whether the schema says that there are no arguments: its list of keys is empty, or it forbids all keys. Any keyword that
    /// may allow one makes it `false`, and so does a schema that says nothing about keys.
    pub(crate) fn takes_nothing(&self) -> bool {
        let Some(root) = self.root().as_object() else {
            return false;
        };
        let mut forbids = false;
        let only_forbids = root.iter().all(|(keyword, says)| {
            let is_forbidding = match (keyword.as_str(), says) {
                ("properties", Schema::Object(keys)) => keys.is_empty(),
                ("additionalProperties" | "unevaluatedProperties", says) => says == false,
                _ => false,
            };
            forbids |= is_forbidding;
            is_forbidding || SILENT.contains(&keyword.as_str())
        });
        forbids && only_forbids
    }
}

impl<'s> Properties<'s> {
    /// The properties of the object that the schema at `owner` describes, or a part of it does.
    fn of(schema: &'s CompiledSchema, owner: &Path) -> Self {
        let mut properties = Properties {
            schema,
            maps: Vec::new(),
            first: None,
            seen: BTreeSet::new(),
            patterns: Vec::new(),
            names: OnceCell::new(),
        };
        let mut place = Some((owner.clone(), Approach::All));
        while let Some((here, approach)) = place {
            if let Some(node) = schema.node(&here) {
                properties.collect(node, approach, DEEPEST_PART);
            }
            place = around(&here, approach);
        }
        properties
    }

    fn collect(&mut self, node: &'s Schema, approach: Approach, depth_left: usize) {
        let address = std::ptr::from_ref(node).addr();
        match self.first {
            None => self.first = Some(address),
            Some(first) if first == address || !self.seen.insert(address) => return,
            Some(_) => {}
        }
        // One pass: most schemas have few keywords, and looking up each one costs more.
        for (keyword, member) in node.as_object().into_iter().flatten() {
            match (keyword.as_str(), member) {
                ("properties", Schema::Object(map)) => self.maps.push(map),
                ("patternProperties", Schema::Object(map)) => {
                    self.patterns.extend(map.keys().map(String::as_str));
                }
                _ if depth_left == 0 => {}
                ("allOf", Schema::Array(parts)) => self.collect_all(parts, depth_left),
                ("anyOf" | "oneOf", Schema::Array(parts)) if approach == Approach::All => {
                    self.collect_all(parts, depth_left);
                }
                ("if" | "then" | "else", part) => {
                    self.collect(self.schema.follow(part), Approach::All, depth_left - 1);
                }
                ("dependentSchemas", Schema::Object(parts)) => {
                    self.collect_all(parts.values(), depth_left);
                }
                // A reference next to other keywords is one more part; a lone one has already been followed.
                ("$ref", Schema::String(_)) => {
                    self.collect(self.schema.follow(node), Approach::All, depth_left - 1);
                }
                _ => {}
            }
        }
    }

    fn collect_all(&mut self, parts: impl IntoIterator<Item = &'s Schema>, depth_left: usize) {
        for part in parts {
            self.collect(self.schema.follow(part), Approach::All, depth_left - 1);
        }
    }

    /// How many parts of the schema were visited.
    pub(crate) fn parts(&self) -> usize {
        self.seen.len() + 1
    }

    /// The listed keys, without duplicates.
    pub(crate) fn names(&self) -> &[&'s str] {
        self.names.get_or_init(|| {
            let all = self.maps.iter().flat_map(|map| map.keys());
            let all = all.map(String::as_str);
            if self.maps.len() == 1 {
                return all.collect();
            }
            let mut seen = AHashSet::new();
            all.filter(|name| seen.insert(*name)).collect()
        })
    }

    /// Whether a key is listed.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.maps.iter().any(|map| member(map, key).is_some())
    }

    /// The schema of a listed key; the most informative one, if several parts list it.
    pub(crate) fn get(&self, key: &str) -> Option<&'s Schema> {
        let found = || self.maps.iter().filter_map(|map| member(map, key));
        found()
            .find(|node| keyword(node, "type").is_some() || keyword(node, "$ref").is_some())
            .or_else(|| found().next())
    }

    /// How many keys are listed, counting those in several parts once for each.
    pub(crate) fn len(&self) -> usize {
        self.maps.iter().map(|map| map.len()).sum()
    }

    /// Patterns that further keys may match.
    pub(crate) fn patterns(&self) -> &[&'s str] {
        &self.patterns
    }
}

/// The schema around a part of it, for the same object; `None` if the part is the whole.
fn around(part: &Path, approach: Approach) -> Option<(Path, Approach)> {
    let outer = part.parent();
    let (last, keyword) = (part.last()?, outer.last());
    let keyword = keyword.as_deref().unwrap_or_default();
    if CONDITIONS.contains(&last.as_ref()) && keyword != "properties" {
        return Some((outer, approach));
    }
    let is_index = last.bytes().all(|byte| byte.is_ascii_digit());
    match keyword {
        "dependentSchemas" | "dependencies" => Some((outer.parent(), approach)),
        "allOf" if is_index => Some((outer.parent(), approach)),
        "anyOf" | "oneOf" if is_index => Some((outer.parent(), Approach::PastAlternatives)),
        _ => None,
    }
}
