//! Finds the parts of the schema that are about a place in the arguments.

use callwright::json::{Path, Value};
use callwright::validate::CompiledSchema;
use serde_json::{Value as Json, json};

use super::children::{SubschemaRole, children};
use super::position::follow;

/// How many parts are examined for one place: a bound against schemas that multiply unions.
const MOST_PLACES: usize = 256;

/// A part of a schema that is about a place in the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SchemaPart {
    /// Where in the schema.
    pub(crate) at: Path,
    /// Whether it is one of several alternatives, or only applies under a condition.
    pub(crate) is_alternative: bool,
}

/// The parts of a schema about a place, in which `*` stands for any index, and for any key that the schema does not
/// name. References, `allOf` and unions above the place are followed; the insides of the parts are not.
pub(crate) fn places(root: &Json, path: &str) -> Vec<SchemaPart> {
    let mut here = vec![SchemaPart {
        at: Path::root(),
        is_alternative: false,
    }];
    for segment in Path::from_pointer(path).segments() {
        let mut next = Vec::new();
        for outer in &here {
            for fragment in fragments(root, outer) {
                step(root, &fragment, &segment, &mut next);
            }
        }
        next.truncate(MOST_PLACES);
        here = next;
    }
    here
}

/// A part, and all parts of it that are about the same value.
pub(crate) fn fragments(root: &Json, place: &SchemaPart) -> Vec<SchemaPart> {
    let mut found = vec![place.clone()];
    let mut next = 0;
    while let Some(outer) = found.get(next).cloned() {
        next += 1;
        let Some(node) = root.pointer(outer.at.as_pointer()) else {
            continue;
        };
        let inner = children(node).into_iter().filter_map(|(step, _, role)| {
            let is_alternative = match role {
                SubschemaRole::Conjunct => outer.is_alternative,
                SubschemaRole::Alternative
                | SubschemaRole::ExactlyOne
                | SubschemaRole::Conditional => true,
                SubschemaRole::Nested | SubschemaRole::Definition | SubschemaRole::Negated => {
                    return None;
                }
            };
            Some(SchemaPart {
                at: outer.at.join(&step),
                is_alternative,
            })
        });
        let target = follow(root, node).map(|at| SchemaPart {
            at,
            is_alternative: outer.is_alternative,
        });
        for place in inner.chain(target) {
            if found.len() < MOST_PLACES && found.iter().all(|known| known.at != place.at) {
                found.push(place);
            }
        }
    }
    found
}

/// All parts of a schema about a place.
pub(crate) fn nodes<'s>(root: &'s Json, path: &str) -> Vec<&'s Json> {
    let found = places(root, path);
    let found = found.iter().flat_map(|place| fragments(root, place));
    found
        .filter_map(|place| root.pointer(place.at.as_pointer()))
        .collect()
}

/// One step down into the value.
fn step(root: &Json, outer: &SchemaPart, segment: &str, next: &mut Vec<SchemaPart>) {
    let Some(node) = root.pointer(outer.at.as_pointer()) else {
        return;
    };
    let mut push = |step: Path| {
        let at = outer.at.join(&step);
        if next.iter().all(|known: &SchemaPart| known.at != at) {
            next.push(SchemaPart {
                at,
                is_alternative: outer.is_alternative,
            });
        }
    };
    let keyword = |name: &str| Path::root().key(name);
    let is_named = node
        .get("properties")
        .is_some_and(|all| all.get(segment).is_some());
    if is_named {
        push(keyword("properties").key(segment));
    }
    let patterns = node.get("patternProperties").and_then(Json::as_object);
    let mut is_matched = false;
    for pattern in patterns.into_iter().flatten().map(|(pattern, _)| pattern) {
        if segment == "*" || matches(pattern, segment) {
            is_matched = true;
            push(keyword("patternProperties").key(pattern));
        }
    }
    if segment == "*" {
        for (step, _, _) in children(node) {
            let first = step.segments().next();
            if first
                .is_some_and(|name| matches!(&*name, "items" | "prefixItems" | "additionalItems"))
            {
                push(step);
            }
        }
    }
    if !is_named
        && !is_matched
        && node
            .get("additionalProperties")
            .is_some_and(Json::is_object)
    {
        push(keyword("additionalProperties"));
    }
}

/// Whether a key matches a pattern.
pub(crate) fn matches(pattern: &str, key: &str) -> bool {
    CompiledSchema::compile(json!({"pattern": pattern}))
        .is_ok_and(|compiled| compiled.accepts(&Value::from(&Json::from(key))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn found(schema: &Json, path: &str, expected: &[&str]) {
        let places = places(schema, path);
        let found: Vec<&str> = places.iter().map(|place| place.at.as_pointer()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn keys_items_and_references_are_followed() {
        let schema = json!({
            "properties": {"a": {"$ref": "#/$defs/list"}},
            "$defs": {"list": {"items": {"properties": {"b": {}}}}},
        });
        found(&schema, "", &[""]);
        found(&schema, "/a", &["/properties/a"]);
        found(&schema, "/a/*/b", &["/$defs/list/items/properties/b"]);
        found(&schema, "/nobody", &[]);
    }

    #[test]
    fn keys_without_a_name_have_their_schema_too() {
        let schema = json!({
            "patternProperties": {"^x-": {"type": "string"}},
            "additionalProperties": {"type": "integer"},
        });
        found(&schema, "/x-a", &["/patternProperties/^x-"]);
        found(&schema, "/b", &["/additionalProperties"]);
    }

    #[test]
    fn the_branches_of_a_union_are_alternatives() {
        let schema = json!({"properties": {"a": {"oneOf": [
            {"properties": {"b": {}}},
            {"properties": {"c": {}}},
        ]}}});
        found(&schema, "/a/c", &["/properties/a/oneOf/1/properties/c"]);
        assert!(places(&schema, "/a/c")[0].is_alternative);
    }
}
