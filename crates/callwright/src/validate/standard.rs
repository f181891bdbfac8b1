//! A quick look: is there anything about a schema to rewrite?

use std::collections::HashSet;

use serde_json::Value as Schema;

/// Whether a schema holds none of the forms that are rewritten in [`super::normalise`]. One look at each keyword, for
/// schemas arrive by the thousand and most of them are fine; a test holds it to the rewriting.
pub(super) fn is_standard(schema: &Schema, is_root: bool) -> bool {
    const TYPES: [&str; 7] = [
        "string", "integer", "number", "boolean", "object", "array", "null",
    ];
    let is_type = |name: &Schema| name.as_str().is_some_and(|name| TYPES.contains(&name));
    let Schema::Object(members) = schema else {
        return true;
    };
    members
        .iter()
        .all(|(keyword, value)| match (keyword.as_str(), value) {
            ("const" | "default" | "examples" | "enum", value) => !value.is_null(),
            (_, Schema::Null) => false,
            ("type", Schema::Array(names)) => names.iter().all(is_type),
            ("type", name) => is_type(name),
            ("title" | "description" | "$comment", value) => value.is_string(),
            ("properties", Schema::Object(properties)) => properties
                .values()
                .all(|inner| !inner.is_null() && is_standard(inner, false)),
            ("required", Schema::Array(keys)) => {
                let mut seen = HashSet::with_capacity(keys.len());
                !keys.is_empty() && keys.iter().all(|key| seen.insert(key.as_str()))
            }
            ("items" | "additionalProperties" | "not" | "contains", Schema::Object(_)) => {
                is_standard(value, false)
            }
            ("anyOf" | "oneOf" | "allOf", Schema::Array(branches)) => {
                !branches.is_empty() && branches.iter().all(|branch| is_standard(branch, false))
            }
            ("$defs" | "definitions", Schema::Object(named)) => {
                named.values().all(|inner| is_standard(inner, false))
            }
            (
                "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "minLength"
                | "maxLength" | "minItems" | "maxItems",
                limit,
            ) => limit.is_number(),
            ("format" | "$ref", _) | ("additionalProperties", Schema::Bool(_)) => true,
            ("pattern", Schema::String(pattern)) => {
                !pattern.ends_with("\\Z") && !pattern.starts_with("\\A")
            }
            ("$schema", Schema::String(address)) => {
                is_root && address == "http://json-schema.org/draft-07/schema#"
            }
            // Anything rarer is looked at by the rewriting itself.
            _ => false,
        })
}
