//! Whether a schema is in standard form, so that there is nothing to rewrite: nearly all are, and checking takes a tenth of the
//! time of copying, rewriting and comparing.
//!
//! Returns `false` if unsure: the schema is then rewritten, and may come out unchanged.

use serde_json::{Map, Value as Schema};

use super::{SchemaDraft, draft_at};
use crate::json::member;

/// Whether rewriting a schema certainly changes nothing.
pub(super) fn is_standard(node: &Schema) -> bool {
    match node {
        Schema::Object(members) => members
            .iter()
            .all(|(keyword, value)| is_usual(keyword, value, members)),
        Schema::Bool(_) => true,
        _ => false,
    }
}

/// Whether one keyword, including everything inside it, has the standard form.
fn is_usual(keyword: &str, value: &Schema, beside: &Map<String, Schema>) -> bool {
    match (keyword, value) {
        ("const" | "default" | "examples", _) => true,
        (_, Schema::Null) => false,
        ("type", Schema::String(name)) => is_type(name),
        ("title" | "description" | "$comment" | "format" | "$ref", value) => value.is_string(),
        ("deprecated" | "readOnly" | "writeOnly" | "uniqueItems", value) => value.is_boolean(),
        // On a list it may be meant for the items.
        ("enum", Schema::Array(_)) => member(beside, "type")
            .is_none_or(|name| name.as_str().is_some_and(|name| name != "array")),
        ("$schema", Schema::String(address)) => {
            matches!(
                draft_at(address),
                Some(SchemaDraft::Older | SchemaDraft::Current)
            )
        }
        ("required", Schema::Array(keys)) => are_distinct(keys),
        (
            "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties" | "maxProperties"
            | "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf",
            value,
        ) => value.is_number(),
        ("pattern", Schema::String(pattern)) => !pattern.contains('\\'),
        ("properties" | "$defs" | "definitions", Schema::Object(named)) => {
            named.values().all(is_standard)
        }
        ("anyOf" | "oneOf" | "allOf", Schema::Array(branches)) => {
            !branches.is_empty() && branches.iter().all(is_standard)
        }
        ("items" | "additionalProperties", part) => is_standard(part),
        _ => false,
    }
}

fn is_type(name: &str) -> bool {
    matches!(
        name,
        "string" | "integer" | "number" | "boolean" | "object" | "array" | "null"
    )
}

/// Whether these are a few distinct keys. (Longer lists are left to the rewriting.)
fn are_distinct(keys: &[Schema]) -> bool {
    const FEW_KEYS: usize = 32;
    let is_new = |(at, key): (usize, &Schema)| !keys[..at].contains(key);
    keys.len() <= FEW_KEYS
        && keys.iter().all(Schema::is_string)
        && keys.iter().enumerate().all(is_new)
}
