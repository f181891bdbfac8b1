//! Noun phrases: what a schema asks for, and what a value is.
//!
//! Data in, a short phrase out; no sentence is made here and no value is shown whole.

use serde_json::Value as Schema;

use crate::json::Value;
use crate::text::{fitting, list, push_cut, quoted, snippet};

/// How many characters of a received value are shown: enough to recognise it, little enough for
/// path, expectation and value to share a line of 100.
const PREVIEW: usize = 30;

/// How many characters a list of allowed values or keys may take, for the same reason.
const LIST: usize = 48;

/// What came: its type and its beginning.
pub(crate) fn received(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(yes) => format!("boolean {yes}"),
        Value::Number(number) => {
            let mut out = String::from("number ");
            push_cut(&mut out, number.as_str(), PREVIEW);
            out
        }
        Value::String(text) => format!("string {}", quoted(text, PREVIEW)),
        Value::Array(items) if items.is_empty() => "empty array".to_owned(),
        Value::Array(items) => format!("array of {}", count(items.len(), "item")),
        Value::Object(members) if members.is_empty() => "empty object".to_owned(),
        Value::Object(members) => {
            let keys: Vec<&str> = members.iter().map(|(key, _)| key.as_ref()).collect();
            format!("object with {}", list(&keys, PREVIEW))
        }
    }
}

/// The type of a value that must not be shown.
pub(crate) fn received_hidden(value: &Value<'_>) -> String {
    format!("{} (hidden)", value.kind().name())
}

/// `1 item`, `2 items`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A count that comes as digits out of a schema.
pub(crate) fn count_text(digits: &str, noun: &str) -> String {
    format!("{digits} {noun}{}", if digits == "1" { "" } else { "s" })
}

/// Types joined as people say it, enriched by what the schema says about them.
pub(crate) fn types(names: &[&str], schema: Option<&Schema>) -> String {
    let phrases: Vec<String> = names.iter().map(|name| one_type(name, schema)).collect();
    either(&phrases)
}

fn one_type(name: &str, schema: Option<&Schema>) -> String {
    let detail = match name {
        "array" => schema
            .and_then(|schema| schema.get("items")?.get("type")?.as_str())
            .map(|item| format!("array of {}", plural(item))),
        "object" => schema
            .and_then(|schema| schema.get("required")?.as_array())
            .filter(|required| !required.is_empty())
            .map(|required| {
                let keys: Vec<&str> = required.iter().filter_map(Schema::as_str).collect();
                format!("object with {}", list(&keys, PREVIEW))
            }),
        _ => None,
    };
    detail.unwrap_or_else(|| name.to_owned())
}

fn plural(type_name: &str) -> String {
    match type_name {
        "null" => "nulls".to_owned(),
        other => format!("{other}s"),
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(crate) fn either(phrases: &[String]) -> String {
    match phrases {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// The allowed values of an enum: `one of "a", "b"`.
pub(crate) fn options(options: &[Schema]) -> String {
    let literals: Vec<String> = options.iter().map(literal).collect();
    match literals.as_slice() {
        [only] => only.clone(),
        several => format!("one of {}", fitting(several, LIST)),
    }
}

/// A constant of the schema as JSON, cut.
pub(crate) fn literal(value: &Schema) -> String {
    match value {
        Schema::String(text) => quoted(text, PREVIEW),
        other => snippet(&other.to_string(), PREVIEW),
    }
}

/// One alternative of a union in a few words: its title, its constant, or its type.
pub(crate) fn alternative(schema: &Schema) -> String {
    if let Some(title) = schema.get("title").and_then(Schema::as_str) {
        return quoted(title, PREVIEW);
    }
    if let Some(constant) = schema.get("const") {
        return literal(constant);
    }
    if let Some(values) = schema.get("enum").and_then(Schema::as_array) {
        return options(values);
    }
    match schema.get("type") {
        Some(Schema::String(name)) => one_type(name, Some(schema)),
        Some(Schema::Array(names)) => {
            let names: Vec<&str> = names.iter().filter_map(Schema::as_str).collect();
            types(&names, Some(schema))
        }
        _ if schema.get("required").is_some() || schema.get("properties").is_some() => {
            one_type("object", Some(schema))
        }
        _ => "another form".to_owned(),
    }
}

/// The alternatives of a union: `string, object with "a" or null`, as many as a line holds.
pub(crate) fn alternatives(phrases: &[String]) -> String {
    let mut distinct: Vec<String> = Vec::new();
    for phrase in phrases {
        if !distinct.contains(phrase) {
            distinct.push(phrase.clone());
        }
    }
    let all = either(&distinct);
    if all.chars().count() <= LIST {
        all
    } else {
        fitting(&distinct, LIST)
    }
}

/// What a format looks like, for the formats that models get wrong most.
pub(crate) fn format(name: &str) -> String {
    let example = match name {
        "date-time" => "2026-01-31T12:00:00Z",
        "date" => "2026-01-31",
        "time" => "12:00:00Z",
        "duration" => "PT1H30M",
        "email" | "idn-email" => "name@example.com",
        "uuid" => "123e4567-e89b-12d3-a456-426614174000",
        "uri" | "iri" => "https://example.com/page",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "json-pointer" => "/a/0",
        _ => return format!("string in {} format", quoted(name, PREVIEW)),
    };
    format!("{name} like {example}")
}
