//! The schemas directly inside a schema.

use callwright::json::Path;
use serde_json::Value as Json;

/// How a schema inside another affects what the outer one accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubschemaRole {
    /// It applies to a value inside the value. If it accepts more, so does the outer one.
    Nested,
    /// It applies to the same value, and must accept it. If it accepts more, so does the outer one.
    Conjunct,
    /// It applies to the same value, and one of several such schemas is enough. If it accepts more, so does the outer
    /// one.
    Alternative,
    /// It applies to the same value, and exactly one of several such schemas must accept it.
    ExactlyOne,
    /// It applies to the same value if something else holds.
    Conditional,
    /// It is only there to be referred to.
    Definition,
    /// If it accepts more, the outer one may accept less.
    Negated,
}

/// The schemas directly inside a schema: their paths relative to it, and how they affect it.
pub(crate) fn children(node: &Json) -> Vec<(Path, &Json, SubschemaRole)> {
    let mut found = Vec::new();
    let Some(members) = node.as_object() else {
        return found;
    };
    for (keyword, value) in members {
        let at = Path::root().key(keyword);
        let (is_by_name, role) = match keyword.as_str() {
            "properties" | "patternProperties" => (true, SubschemaRole::Nested),
            "$defs" | "definitions" => (true, SubschemaRole::Definition),
            "dependentSchemas" => (true, SubschemaRole::Conditional),
            "items"
            | "prefixItems"
            | "additionalItems"
            | "additionalProperties"
            | "propertyNames" => (false, SubschemaRole::Nested),
            "allOf" => (false, SubschemaRole::Conjunct),
            "anyOf" => (false, SubschemaRole::Alternative),
            "oneOf" => (false, SubschemaRole::ExactlyOne),
            "then" | "else" => (false, SubschemaRole::Conditional),
            "not" | "if" | "contains" | "unevaluatedItems" | "unevaluatedProperties" => {
                (false, SubschemaRole::Negated)
            }
            _ => continue,
        };
        match value {
            Json::Object(named) if is_by_name => {
                found.extend(
                    named
                        .iter()
                        .map(|(name, inner)| (at.key(name), inner, role)),
                );
            }
            // Booleans, such as `false` for "nothing more", are schemas too, with nothing inside.
            Json::Object(_) => found.push((at, value, role)),
            Json::Array(items) if !is_by_name => {
                let items = items.iter().enumerate();
                found.extend(items.map(|(index, inner)| (at.index(index), inner, role)));
            }
            _ => {}
        }
    }
    found
}
