//! Schemas as found in practice → schemas as the standard reads them.
//!
//! Takes a declared schema and returns the one to compile; the declared one is kept for the model. Only what has exactly one
//! reading is rewritten: the schema then accepts what its author clearly meant, and everything else stays unchanged, to be
//! compiled or quarantined.

mod standard;
mod types;

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value as Schema, json};

use self::standard::is_standard;
pub(crate) use self::types::misplaced_enums;
use self::types::{fix_enum_of_list, fix_type};

/// The schema to compile for a declared one: itself, if there is nothing to rewrite.
pub fn normalise(declared: &Schema) -> Cow<'_, Schema> {
    if is_standard(declared) {
        debug_assert_eq!(
            rewritten(declared),
            *declared,
            "there is nothing to rewrite"
        );
        return Cow::Borrowed(declared);
    }
    let schema = rewritten(declared);
    if schema == *declared {
        Cow::Borrowed(declared)
    } else {
        Cow::Owned(schema)
    }
}

fn rewritten(declared: &Schema) -> Schema {
    let mut schema = declared.clone();
    let draft = schema
        .as_object_mut()
        .map_or(SchemaDraft::Current, known_draft);
    node(&mut schema, draft);
    schema
}

/// How the schema's own `$schema` interprets old keywords.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SchemaDraft {
    /// Draft 4: `exclusiveMinimum` is a boolean.
    Four,
    /// Drafts 6 to 2019-09: `items` may be a list.
    Older,
    /// 2020-12, or unspecified.
    Current,
}

/// Reads `$schema`, and drops it if the engine does not know it: a made-up URI must not cost the tool its validation.
fn known_draft(root: &mut Map<String, Schema>) -> SchemaDraft {
    let Some(declared) = root.get("$schema") else {
        return SchemaDraft::Current;
    };
    draft_at(declared.as_str().unwrap_or_default()).unwrap_or_else(|| {
        root.remove("$schema");
        SchemaDraft::Current
    })
}

/// The draft with this URI, if the engine knows it.
fn draft_at(address: &str) -> Option<SchemaDraft> {
    let address = address
        .trim_end_matches('#')
        .trim_start_matches("https://")
        .trim_start_matches("http://");
    match address {
        "json-schema.org/draft-04/schema" => Some(SchemaDraft::Four),
        "json-schema.org/draft-06/schema"
        | "json-schema.org/draft-07/schema"
        | "json-schema.org/draft/2019-09/schema" => Some(SchemaDraft::Older),
        "json-schema.org/draft/2020-12/schema" => Some(SchemaDraft::Current),
        _ => None,
    }
}

fn node(schema: &mut Schema, draft: SchemaDraft) {
    let Schema::Object(members) = schema else {
        return;
    };
    fix_values(members, draft);
    hoist_required(members);
    fix_type(members);
    fix_enum_of_list(members);
    if draft != SchemaDraft::Four {
        fix_exclusive(members, "minimum", "exclusiveMinimum");
        fix_exclusive(members, "maximum", "exclusiveMaximum");
    }
    if draft == SchemaDraft::Current {
        fix_tuple(members);
    }
    for (keyword, value) in members.iter_mut() {
        match keyword.as_str() {
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
            | "dependencies" => {
                if let Schema::Object(named) = value {
                    named.values_mut().for_each(|inner| node(inner, draft));
                }
            }
            "anyOf"
            | "oneOf"
            | "allOf"
            | "prefixItems"
            | "items"
            | "additionalItems"
            | "additionalProperties"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "contains"
            | "not"
            | "if"
            | "then"
            | "else"
            | "propertyNames"
            | "contentSchema" => match value {
                Schema::Array(listed) => listed.iter_mut().for_each(|inner| node(inner, draft)),
                single => node(single, draft),
            },
            _ => {}
        }
    }
    if members.get("nullable") == Some(&Schema::Bool(true)) {
        let declared = std::mem::take(members);
        *schema = Schema::Object(allow_null(declared));
    }
}

/// `"required": null`, `"properties": []`, `"minItems": "1"`: what serialisers of other languages make of nothing, of an empty
/// map and of a long integer. Also annotations of the wrong type, which mean nothing to a validator.
fn fix_values(members: &mut Map<String, Schema>, draft: SchemaDraft) {
    members.retain(|keyword, value| match (keyword.as_str(), &*value) {
        ("const" | "default", _) => true,
        (_, Schema::Null) => false,
        ("title" | "description" | "$comment", value) => value.is_string(),
        ("deprecated" | "readOnly" | "writeOnly", value) => value.is_boolean(),
        ("$id" | "id", Schema::String(name)) => !name.contains(char::is_whitespace),
        ("$id", _) => false,
        ("anyOf" | "oneOf" | "allOf", Schema::Array(branches)) => !branches.is_empty(),
        ("required", Schema::Array(keys)) => !(keys.is_empty() && draft == SchemaDraft::Four),
        _ => true,
    });
    for (keyword, value) in members.iter_mut() {
        match (keyword.as_str(), &mut *value) {
            ("properties" | "$defs" | "definitions", Schema::Array(list)) if list.is_empty() => {
                *value = json!({});
            }
            ("properties", Schema::Object(properties)) => {
                for property in properties.values_mut().filter(|schema| schema.is_null()) {
                    *property = json!({});
                }
            }
            ("required", Schema::Array(keys)) => {
                let mut seen = HashSet::with_capacity(keys.len());
                keys.retain(|key| seen.insert(key.to_string()));
            }
            (
                "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties"
                | "maxProperties" | "minimum" | "maximum",
                Schema::String(digits),
            ) => {
                if let Ok(number) = digits.parse::<serde_json::Number>() {
                    *value = Schema::Number(number);
                }
            }
            (
                "additionalProperties" | "uniqueItems" | "unevaluatedProperties",
                Schema::String(word),
            ) => match word.as_str() {
                "true" => *value = Schema::Bool(true),
                "false" => *value = Schema::Bool(false),
                _ => {}
            },
            // Python's anchors for the start and the end of the text.
            ("pattern", Schema::String(pattern)) => {
                if let Some(rest) = pattern.strip_suffix("\\Z") {
                    *pattern = format!("{rest}$");
                }
                if let Some(rest) = pattern.strip_prefix("\\A") {
                    *pattern = format!("^{rest}");
                }
            }
            _ => {}
        }
    }
}

/// `"name": {"type": "string", "required": true}`: in draft 3, `required` is on the property.
fn hoist_required(members: &mut Map<String, Schema>) {
    let mut hoisted = Vec::new();
    if let Some(Schema::Object(properties)) = members.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            let Schema::Object(property) = property else {
                continue;
            };
            if let Some(Schema::Bool(required)) = property.get("required") {
                if *required {
                    hoisted.push(name.clone());
                }
                property.remove("required");
            }
        }
    }
    if let Some(Schema::Bool(_)) = members.get("required") {
        members.remove("required");
    }
    if hoisted.is_empty() {
        return;
    }
    let required = members.entry("required").or_insert_with(|| json!([]));
    if let Schema::Array(required) = required {
        for name in hoisted {
            let name = Schema::String(name);
            if !required.contains(&name) {
                required.push(name);
            }
        }
    }
}

/// `"minimum": 0, "exclusiveMinimum": true` in a schema that is not draft 4.
fn fix_exclusive(members: &mut Map<String, Schema>, plain: &str, exclusive: &str) {
    if let Some(Schema::Bool(yes)) = members.get(exclusive).cloned() {
        members.remove(exclusive);
        if let (true, Some(limit)) = (yes, members.remove(plain)) {
            members.insert(exclusive.to_owned(), limit);
        }
    }
}

/// `"items": [a, b]` became `prefixItems` in 2020-12, and `additionalItems` became `items`.
fn fix_tuple(members: &mut Map<String, Schema>) {
    if members.get("items").is_some_and(Schema::is_array)
        && !members.contains_key("prefixItems")
        && let Some(tuple) = members.remove("items")
    {
        members.insert("prefixItems".to_owned(), tuple);
        if let Some(rest) = members.remove("additionalItems") {
            members.insert("items".to_owned(), rest);
        }
    }
}

/// OpenAPI's `"nullable": true`.
fn allow_null(mut members: Map<String, Schema>) -> Map<String, Schema> {
    members.remove("nullable");
    let by_type = match members.get_mut("type") {
        Some(Schema::String(name)) => {
            let both = json!([name, "null"]);
            members.insert("type".to_owned(), both);
            true
        }
        Some(Schema::Array(names)) => {
            if !names.contains(&json!("null")) {
                names.push(json!("null"));
            }
            true
        }
        _ => false,
    };
    if by_type {
        if let Some(Schema::Array(values)) = members.get_mut("enum")
            && !values.contains(&Schema::Null)
        {
            values.push(Schema::Null);
        }
        if !["$ref", "anyOf", "oneOf", "allOf", "const"]
            .iter()
            .any(|keyword| members.contains_key(*keyword))
        {
            return members;
        }
    }
    let mut outer = Map::new();
    for kept in ["title", "description", "default", "writeOnly"] {
        if let Some(value) = members.get(kept) {
            outer.insert(kept.to_owned(), value.clone());
        }
    }
    // References may point into this node's own definitions, so they stay in place.
    for kept in ["$schema", "$id", "$defs", "definitions"] {
        if let Some(value) = members.remove(kept) {
            outer.insert(kept.to_owned(), value);
        }
    }
    outer.insert("anyOf".to_owned(), json!([members, {"type": "null"}]));
    outer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "reads better below")]
    fn becomes(declared: Schema, expected: Schema) {
        assert_eq!(*normalise(&declared), expected);
    }

    #[test]
    fn forms_of_other_languages_are_understood() {
        becomes(json!({"minItems": "1"}), json!({"minItems": 1}));
        becomes(json!({"required": ["a", "a"]}), json!({"required": ["a"]}));
        becomes(json!({"pattern": "\\Aa\\Z"}), json!({"pattern": "^a$"}));
        becomes(json!({"description": null, "enum": null}), json!({}));
        let closed = json!({"additionalProperties": false});
        becomes(json!({"additionalProperties": "false"}), closed);
        let open = json!({"properties": {"a": {}}});
        becomes(json!({"properties": {"a": null}}), open);
        becomes(json!({"anyOf": [{"type": "any"}]}), json!({"anyOf": [{}]}));
    }

    #[test]
    fn a_good_schema_is_left_alone() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {"type": {"enum": ["any", "STRING"]}, "nullable": {"type": "boolean"}},
            "required": ["type"],
            "default": {"nullable": true, "type": "any"},
        });
        becomes(schema.clone(), schema);
    }

    #[test]
    fn gemini_types_are_lowered() {
        becomes(
            json!({"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": true}}}),
            json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}}),
        );
    }

    #[test]
    fn nullable_opens_enums_and_references() {
        becomes(
            json!({"type": "string", "enum": ["a"], "nullable": true}),
            json!({"type": ["string", "null"], "enum": ["a", null]}),
        );
        becomes(
            json!({"$ref": "#/$defs/a", "nullable": true, "description": "d"}),
            json!({"description": "d", "anyOf": [
                {"$ref": "#/$defs/a", "description": "d"},
                {"type": "null"},
            ]}),
        );
    }

    #[test]
    fn required_on_a_property_is_hoisted() {
        becomes(
            json!({"properties": {
                "a": {"type": "string", "required": true},
                "b": {"required": false},
            }}),
            json!({"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]}),
        );
    }

    #[test]
    fn an_enum_of_strings_on_a_list_applies_to_its_items() {
        becomes(
            json!({"type": "array", "enum": ["a", "b"], "items": {"type": "string"}}),
            json!({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}),
        );
        let bare = json!({"type": "ARRAY", "enum": ["a"]});
        let tool = json!({"properties": {"tags": bare}});
        assert_eq!(misplaced_enums(&tool)[0].as_pointer(), "/properties/tags");
        let items = json!({"type": "array", "items": {"enum": ["a"]}});
        becomes(bare, items.clone());
        assert!(misplaced_enums(&items).is_empty());
        // A list of allowed lists, items with values of their own, and numbers have another reading.
        for other in [
            json!({"type": "array", "enum": [["a"], ["b"]]}),
            json!({"type": "array", "enum": ["a"], "items": {"enum": ["b"]}}),
            json!({"type": "array", "enum": ["a"], "items": {"type": "integer"}}),
            json!({"type": ["array", "string"], "enum": ["a"]}),
        ] {
            assert!(misplaced_enums(&other).is_empty());
            becomes(other.clone(), other);
        }
    }

    #[test]
    fn old_and_invented_forms_are_understood() {
        becomes(json!({"type": "any"}), json!({}));
        becomes(json!({"properties": []}), json!({"properties": {}}));
        becomes(json!({"$schema": "https://example.com/mine"}), json!({}));
        becomes(
            json!({"minimum": 0, "exclusiveMinimum": true}),
            json!({"exclusiveMinimum": 0}),
        );
        becomes(
            json!({"items": [{"type": "int"}], "additionalItems": false}),
            json!({"prefixItems": [{"type": "integer"}], "items": false}),
        );
    }

    #[test]
    fn unknown_forms_stay_and_are_quarantined() {
        becomes(json!({"type": "wibble"}), json!({"type": "wibble"}));
    }
}
