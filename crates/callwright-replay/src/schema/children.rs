//! The schemas directly inside a schema.

use callwright::json::Path;
use serde_json::Value as Json;

/// How a schema inside another bears on what the outer one accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// It speaks about a value inside the value. If it accepts more, so does the outer one.
    Inside,
    /// It speaks about the same value, and must accept it. If it accepts more, so does the outer one.
    Also,
    /// It speaks about the same value, and is one of several of which one is enough. If it accepts more, so does the
    /// outer one.
    Either,
    /// It speaks about the same value, and is one of several of which exactly one must accept it.
    OnlyOne,
    /// It speaks about the same value if something else holds.
    Perhaps,
    /// It is only there to be referred to.
    Definition,
    /// If it accepts more, the outer one may accept less.
    Contrary,
}

/// The schemas directly inside a schema: where, seen from it, and how they bear on it.
pub(crate) fn children(node: &Json) -> Vec<(Path, &Json, Way)> {
    let mut found = Vec::new();
    let Some(members) = node.as_object() else {
        return found;
    };
    for (keyword, value) in members {
        let at = Path::root().key(keyword);
        match keyword.as_str() {
            "properties" | "patternProperties" => named(&at, value, Way::Inside, &mut found),
            "$defs" | "definitions" => named(&at, value, Way::Definition, &mut found),
            "dependentSchemas" => named(&at, value, Way::Perhaps, &mut found),
            "items"
            | "prefixItems"
            | "additionalItems"
            | "additionalProperties"
            | "propertyNames" => listed(at, value, Way::Inside, &mut found),
            "allOf" => listed(at, value, Way::Also, &mut found),
            "anyOf" => listed(at, value, Way::Either, &mut found),
            "oneOf" => listed(at, value, Way::OnlyOne, &mut found),
            "then" | "else" => listed(at, value, Way::Perhaps, &mut found),
            "not" | "if" | "contains" | "unevaluatedItems" | "unevaluatedProperties" => {
                listed(at, value, Way::Contrary, &mut found);
            }
            _ => {}
        }
    }
    found
}

fn named<'s>(at: &Path, value: &'s Json, way: Way, found: &mut Vec<(Path, &'s Json, Way)>) {
    for (name, inner) in value.as_object().into_iter().flatten() {
        found.push((at.key(name), inner, way));
    }
}

/// One schema, or a list of them. Words like `false` for "nothing more" are schemas too, with nothing inside.
fn listed<'s>(at: Path, value: &'s Json, way: Way, found: &mut Vec<(Path, &'s Json, Way)>) {
    match value {
        Json::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                found.push((at.index(index), inner, way));
            }
        }
        Json::Object(_) => found.push((at, value, way)),
        _ => {}
    }
}
