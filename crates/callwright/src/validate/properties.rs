//! Which keys an object may have, as far as its schema lists them.
//!
//! A keyword that objects may stand in a condition or in one of several parts (`allOf`, `then`), and
//! knows only the keys of its own part. The model needs those of the whole: in comes the place of a
//! keyword, out go the properties of the object schema that it belongs to.

use std::collections::HashSet;

use serde_json::{Map, Value as Schema};

use super::schema::CompiledSchema;
use crate::json::Path;

/// How deep parts inside parts are looked into.
const DEEPEST_PART: usize = 8;

/// Keywords that hold further schemas for the same object; all but the first are alternatives.
const PARTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const CONDITIONS: [&str; 3] = ["if", "then", "else"];

/// How a schema was come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Everything in it applies, or may.
    All,
    /// From one of its alternatives: the others do not apply.
    PastAlternatives,
}

/// The properties of one object, from all parts of its schema.
pub(crate) struct Properties<'s> {
    schema: &'s CompiledSchema,
    maps: Vec<&'s Map<String, Schema>>,
    /// Parts that were looked at, by their address: references may lead to one from many places.
    seen: HashSet<usize>,
    patterns: Vec<&'s str>,
}

impl<'s> Properties<'s> {
    /// The properties of the object that the schema at `owner` describes, or a part of it does.
    pub(crate) fn of(schema: &'s CompiledSchema, owner: &Path) -> Self {
        let mut properties = Properties {
            schema,
            maps: Vec::new(),
            seen: HashSet::new(),
            patterns: Vec::new(),
        };
        let mut place = Some((owner.clone(), Way::All));
        while let Some((here, way)) = place {
            if let Some(node) = schema.node(&here) {
                properties.collect(node, way, DEEPEST_PART);
            }
            place = around(&here, way);
        }
        properties
    }

    fn collect(&mut self, node: &'s Schema, way: Way, depth_left: usize) {
        if !self.seen.insert(std::ptr::from_ref(node).addr()) {
            return;
        }
        if let Some(map) = node.get("properties").and_then(Schema::as_object) {
            self.maps.push(map);
        }
        if let Some(map) = node.get("patternProperties").and_then(Schema::as_object) {
            self.patterns.extend(map.keys().map(String::as_str));
        }
        if depth_left == 0 {
            return;
        }
        let parts = match way {
            Way::All => &PARTS[..],
            Way::PastAlternatives => &PARTS[..1],
        };
        let lists = parts
            .iter()
            .filter_map(|keyword| node.get(keyword)?.as_array());
        let conditions = CONDITIONS.iter().filter_map(|keyword| node.get(keyword));
        for part in lists.flatten().chain(conditions) {
            self.collect(self.schema.follow(part), Way::All, depth_left - 1);
        }
        let dependent = node.get("dependentSchemas").and_then(Schema::as_object);
        for part in dependent.into_iter().flat_map(Map::values) {
            self.collect(self.schema.follow(part), Way::All, depth_left - 1);
        }
        // A reference beside other keywords is one more part; a lone one was followed already.
        if let Some(Schema::String(_)) = node.get("$ref") {
            let target = self.schema.follow(node);
            if !std::ptr::eq(target, node) {
                self.collect(target, Way::All, depth_left - 1);
            }
        }
    }

    /// The listed keys, each once.
    pub(crate) fn names(&self) -> Vec<&'s str> {
        let mut seen = HashSet::new();
        let all = self.maps.iter().flat_map(|map| map.keys());
        all.map(String::as_str)
            .filter(|name| seen.insert(*name))
            .collect()
    }

    /// Whether a key is listed.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.maps.iter().any(|map| map.contains_key(key))
    }

    /// The schema of a listed key; the most telling one, if several parts list it.
    pub(crate) fn get(&self, key: &str) -> Option<&'s Schema> {
        let found = || self.maps.iter().filter_map(|map| map.get(key));
        found()
            .find(|node| node.get("type").is_some() || node.get("$ref").is_some())
            .or_else(|| found().next())
    }

    /// Patterns that further keys may match.
    pub(crate) fn patterns(&self) -> &[&'s str] {
        &self.patterns
    }
}

/// The schema around a part of it, for the same object; `None` where the part is all there is.
fn around(part: &Path, way: Way) -> Option<(Path, Way)> {
    let outer = part.parent();
    let (last, keyword) = (part.last()?, outer.last());
    let keyword = keyword.as_deref().unwrap_or_default();
    if CONDITIONS.contains(&last.as_ref()) && keyword != "properties" {
        return Some((outer, way));
    }
    let is_index = last.bytes().all(|byte| byte.is_ascii_digit());
    match keyword {
        "dependentSchemas" | "dependencies" => Some((outer.parent(), way)),
        "allOf" if is_index => Some((outer.parent(), way)),
        "anyOf" | "oneOf" if is_index => Some((outer.parent(), Way::PastAlternatives)),
        _ => None,
    }
}
