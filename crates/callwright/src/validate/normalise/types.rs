//! The names of types, and values that a type contradicts.

use serde_json::{Map, Value as Schema, json};

use super::standard::is_standard;
use crate::json::Path;

/// `"STRING"` (Gemini), `"any"`, and the type names of Python.
pub(super) fn fix_type(members: &mut Map<String, Schema>) {
    let fixed = match members.get("type") {
        Some(Schema::String(name)) => match type_name(name) {
            Some(known) => json!(known),
            None => Schema::Null,
        },
        Some(Schema::Array(names)) => {
            let known: Option<Vec<Schema>> = names
                .iter()
                .map(|name| name.as_str().and_then(type_name).map(|known| json!(known)))
                .collect();
            known.map_or(Schema::Null, Schema::Array)
        }
        _ => return,
    };
    if fixed.is_null() {
        members.remove("type");
    } else {
        members.insert("type".to_owned(), fixed);
    }
}

/// The standard's name for a type; `None` for "any type". An unknown name stays, and quarantines its tool.
fn type_name(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    Some(match lower.as_str() {
        "any" | "type_unspecified" => return None,
        "str" => "string".to_owned(),
        "int" => "integer".to_owned(),
        "float" | "double" => "number".to_owned(),
        "bool" => "boolean".to_owned(),
        "dict" | "map" => "object".to_owned(),
        "list" | "tuple" => "array".to_owned(),
        "string" | "integer" | "number" | "boolean" | "object" | "array" | "null" => lower,
        _ => name.to_owned(),
    })
}

/// `"type": "array", "enum": ["a", "b"]`: no list equals one of these strings, so its items are meant.
pub(super) fn fix_enum_of_list(members: &mut Map<String, Schema>) {
    if !is_misplaced_enum(members) {
        return;
    }
    let values = members.remove("enum");
    let items = members.entry("items").or_insert_with(|| json!({}));
    if let (Schema::Object(items), Some(values)) = (items, values) {
        items.insert("enum".to_owned(), values);
    }
}

/// Whether a list has an `enum` of strings, which can only be meant for its items.
fn is_misplaced_enum(members: &Map<String, Schema>) -> bool {
    let is_type = |name: &Schema, wanted: &str| {
        let name = name.as_str().and_then(type_name);
        name.is_some_and(|name| name == wanted)
    };
    let is_list = match members.get("type") {
        Some(Schema::Array(names)) => {
            let only_lists = |name: &Schema| is_type(name, "array") || is_type(name, "null");
            names.iter().all(only_lists) && names.iter().any(|name| is_type(name, "array"))
        }
        Some(name) => is_type(name, "array"),
        None => false,
    };
    let values = members.get("enum").and_then(Schema::as_array);
    let are_texts = values.is_some_and(|all| !all.is_empty() && all.iter().all(Schema::is_string));
    let may_be_of_items = match members.get("items") {
        None => !members.contains_key("prefixItems"),
        Some(Schema::Object(items)) => {
            let is_text = items.get("type").is_none_or(|name| is_type(name, "string"));
            is_text
                && !["enum", "const", "$ref"]
                    .iter()
                    .any(|key| items.contains_key(*key))
        }
        Some(_) => false,
    };
    is_list && are_texts && may_be_of_items
}

/// Where a declared schema has an `enum` of strings on a list, which is applied to its items: JSON Pointers.
pub(crate) fn misplaced_enums(declared: &Schema) -> Vec<Path> {
    fn look(schema: &Schema, at: &Path, found: &mut Vec<Path>) {
        match schema {
            Schema::Object(members) => {
                if is_misplaced_enum(members) {
                    found.push(at.clone());
                }
                for (key, inner) in members {
                    // The content of these is data.
                    if !matches!(key.as_str(), "enum" | "const" | "default" | "examples") {
                        look(inner, &at.key(key), found);
                    }
                }
            }
            Schema::Array(all) => {
                for (index, inner) in all.iter().enumerate() {
                    look(inner, &at.index(index), found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    // Almost no schema has one.
    if !is_standard(declared) {
        look(declared, &Path::root(), &mut found);
    }
    found
}
