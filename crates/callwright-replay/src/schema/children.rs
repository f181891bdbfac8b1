//! The schemas directly inside a schema.

use callwright::json::Path;
use serde_json::Value as Json;

/// How a schema inside another bears on what the outer one accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubschemaRole {
    /// It speaks about a value inside the value. If it accepts more, so does the outer one.
    Nested,
    /// It speaks about the same value, and must accept it. If it accepts more, so does the outer one.
    Conjunct,
    /// It speaks about the same value, and is one of several of which one is enough. If it accepts more, so does the
    /// outer one.
    Alternative,
    /// It speaks about the same value, and is one of several of which exactly one must accept it.
    ExactlyOne,
    /// It speaks about the same value if something else holds.
    Conditional,
    /// It is only there to be referred to.
    Definition,
    /// If it accepts more, the outer one may accept less.
    Negated,
}

/// The schemas directly inside a schema: where, seen from it, and how they bear on it.
pub(crate) fn children(node: &Json) -> Vec<(Path, &Json, SubschemaRole)> {
    let mut found = Vec::new();
    let Some(members) = node.as_object() else {
        return found;
    };
    for (keyword, value) in members {
        let at = Path::root().key(keyword);
        match keyword.as_str() {
            "properties" | "patternProperties" => {
                named(&at, value, SubschemaRole::Nested, &mut found)
            }
            "$defs" | "definitions" => named(&at, value, SubschemaRole::Definition, &mut found),
            "dependentSchemas" => named(&at, value, SubschemaRole::Conditional, &mut found),
            "items"
            | "prefixItems"
            | "additionalItems"
            | "additionalProperties"
            | "propertyNames" => listed(at, value, SubschemaRole::Nested, &mut found),
            "allOf" => listed(at, value, SubschemaRole::Conjunct, &mut found),
            "anyOf" => listed(at, value, SubschemaRole::Alternative, &mut found),
            "oneOf" => listed(at, value, SubschemaRole::ExactlyOne, &mut found),
            "then" | "else" => listed(at, value, SubschemaRole::Conditional, &mut found),
            "not" | "if" | "contains" | "unevaluatedItems" | "unevaluatedProperties" => {
                listed(at, value, SubschemaRole::Negated, &mut found);
            }
            _ => {}
        }
    }
    found
}

fn named<'s>(
    at: &Path,
    value: &'s Json,
    role: SubschemaRole,
    found: &mut Vec<(Path, &'s Json, SubschemaRole)>,
) {
    for (name, inner) in value.as_object().into_iter().flatten() {
        found.push((at.key(name), inner, role));
    }
}

/// One schema, or a list of them. Words like `false` for "nothing more" are schemas too, with nothing inside.
fn listed<'s>(
    at: Path,
    value: &'s Json,
    role: SubschemaRole,
    found: &mut Vec<(Path, &'s Json, SubschemaRole)>,
) {
    match value {
        Json::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                found.push((at.index(index), inner, role));
            }
        }
        Json::Object(_) => found.push((at, value, role)),
        _ => {}
    }
}
