//! Extracts a part of a schema as a complete schema.

use std::collections::VecDeque;

use callwright::json::Path;
use serde_json::{Map, Value as Json};

use super::children::children;
use super::position::follow;

/// How many definitions a part may need. The largest real schemas have a few hundred.
const MOST_DEFINITIONS: usize = 500;

/// How deep a part is searched.
const DEEPEST: usize = 64;

/// Says nothing about values, and would only make the part longer.
const ANNOTATIONS: [&str; 5] = ["title", "description", "examples", "example", "$comment"];

/// Names that only mean something in their document: a part that uses them cannot be extracted.
const NAMES: &str = "$id $anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor";

/// The part of a schema at a place, with everything it refers to and nothing else. `None` if there is no such place,
/// or it refers outside the schema.
pub(crate) fn closed(root: &Json, at: &Path) -> Option<Json> {
    let mut definitions = Definitions::default();
    let node = root.pointer(at.as_pointer())?;
    let mut part = definitions.close(root, node, at.is_root(), DEEPEST)?;
    let mut closed = Map::new();
    while let Some((name, target)) = definitions.waiting.pop_front() {
        let node = root.pointer(target.as_pointer())?;
        let is_root = target.is_root();
        closed.insert(name, definitions.close(root, node, is_root, DEEPEST)?);
    }
    if let Json::Object(members) = &mut part {
        if let Some(draft) = root.get("$schema") {
            members.insert("$schema".to_owned(), draft.clone());
        }
        if !closed.is_empty() {
            members.insert("$defs".to_owned(), Json::Object(closed));
        }
    }
    Some(part)
}

#[derive(Default)]
struct Definitions {
    known: Vec<Path>,
    waiting: VecDeque<(String, Path)>,
}

impl Definitions {
    fn close(&mut self, root: &Json, node: &Json, is_root: bool, levels: usize) -> Option<Json> {
        let below = levels.checked_sub(1)?;
        let Json::Object(members) = node else {
            return Some(node.clone());
        };
        // The name of the whole document does not matter: the extracted part does not use it.
        let hinders = |name: &str| members.contains_key(name) && !(is_root && name == "$id");
        if NAMES.split(' ').any(hinders) {
            return None;
        }
        let mut copy = node.clone();
        for (step, inner, _) in children(node) {
            if !is_definition(&step) {
                let inner = self.close(root, inner, false, below)?;
                *copy.pointer_mut(step.as_pointer())? = inner;
            }
        }
        let copied = copy.as_object_mut()?;
        copied.retain(|keyword, _| {
            !ANNOTATIONS.contains(&keyword.as_str())
                && !matches!(
                    keyword.as_str(),
                    "$id" | "$schema" | "$defs" | "definitions"
                )
        });
        if members.contains_key("$ref") {
            let target = follow(root, node)?;
            let name = self.name(target)?;
            copied.insert("$ref".to_owned(), Json::from(format!("#/$defs/{name}")));
        }
        Some(copy)
    }

    fn name(&mut self, target: Path) -> Option<String> {
        let known = self.known.iter().position(|known| *known == target);
        let index = if let Some(index) = known {
            index
        } else {
            if self.known.len() >= MOST_DEFINITIONS {
                return None;
            }
            self.known.push(target.clone());
            let index = self.known.len() - 1;
            self.waiting.push_back((format!("part{index}"), target));
            index
        };
        Some(format!("part{index}"))
    }
}

fn is_definition(step: &Path) -> bool {
    let first = step.segments().next();
    first.is_some_and(|keyword| keyword == "$defs" || keyword == "definitions")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_part_includes_what_it_refers_to() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "properties": {"a": {"$ref": "#/definitions/a", "description": "d"}},
            "definitions": {"a": {"items": {"$ref": "#/definitions/a"}}, "b": {}},
        });
        assert_eq!(
            closed(&schema, &Path::from_pointer("/properties/a")),
            Some(json!({
                "$ref": "#/$defs/part0",
                "$schema": "http://json-schema.org/draft-07/schema#",
                "$defs": {"part0": {"items": {"$ref": "#/$defs/part0"}}},
            }))
        );
    }

    #[test]
    fn properties_may_have_the_names_of_keywords() {
        let schema = json!({"properties": {"title": {"type": "string"}, "$defs": {}, "$id": {}}});
        assert_eq!(closed(&schema, &Path::root()), Some(schema));
    }

    #[test]
    fn a_reference_outside_the_schema_gives_no_part() {
        let schema = json!({"properties": {"a": {"$ref": "other.json"}}});
        assert_eq!(closed(&schema, &Path::root()), None);
    }
}
