//! Noun phrases: what a schema asks for, and what a value is.
//!
//! Data in, a short phrase out; no sentence is made here and no value is shown whole.

use serde_json::Value as Schema;

use super::schema::CompiledSchema;
use crate::json::Value;
use crate::text::{fitting, list, push_cut, quoted, snippet};

/// How many characters of a received value are shown: enough to recognise it, little enough for
/// path, expectation and value to share a line of 100.
const PREVIEW: usize = 30;

/// How many characters a list of allowed values may take, for the same reason.
const LIST: usize = 48;

/// How many characters the alternatives of a union may take; they are all there is to say.
const ALTERNATIVES: usize = 60;

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
        Value::String(text) => {
            let mut out = String::with_capacity(text.len().min(PREVIEW) + 12);
            out.push_str("string \"");
            push_cut(&mut out, text, PREVIEW);
            out.push('"');
            if matches!(text.trim(), "undefined" | "NaN") {
                out.push_str(" (an unresolved variable)");
            }
            out
        }
        Value::Array(items) if items.is_empty() => "empty array".to_owned(),
        Value::Array(items) => format!("array of {}", count(items.len(), "item")),
        Value::Object(members) if members.is_empty() => "empty object".to_owned(),
        Value::Object(members) => {
            let keys: Vec<&str> = members.iter().map(|(key, _)| key.as_ref()).collect();
            format!("object with {}", list(&keys, PREVIEW))
        }
    }
}

/// What came, with its length: for values that are too short or too long.
pub(crate) fn received_length(value: &Value<'_>) -> String {
    match value {
        Value::String(text) => {
            let length = count(text.chars().count(), "character");
            format!("string of {length} {}", quoted(text, PREVIEW))
        }
        Value::Object(members) if !members.is_empty() => {
            format!("object of {}", count(members.len(), "key"))
        }
        other => received(other),
    }
}

/// The type of a value that must not be shown.
pub(crate) fn received_hidden(value: &Value<'_>) -> String {
    format!("{} (hidden)", value.kind().name())
}

/// `1 item`, `2 items`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    count_text(&number.to_string(), noun)
}

/// A count that comes as digits out of a schema.
pub(crate) fn count_text(digits: &str, noun: &str) -> String {
    format!("{digits} {noun}{}", if digits == "1" { "" } else { "s" })
}

/// Types joined as people say it, null last, enriched by what the schema says about them.
pub(crate) fn types(names: &[&str], node: Option<&Schema>, schema: &CompiledSchema) -> String {
    if let [only] = names {
        return one_type(only, node, schema);
    }
    let (nulls, others): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| **name == "null");
    let phrases: Vec<String> = others
        .iter()
        .chain(&nulls)
        .map(|name| one_type(name, node, schema))
        .collect();
    either(&phrases)
}

fn one_type(name: &str, node: Option<&Schema>, schema: &CompiledSchema) -> String {
    let detail = match name {
        "array" => node
            .and_then(|node| node.get("items"))
            .and_then(|items| schema.follow(items).get("type")?.as_str())
            .map(|item| format!("array of {item}s")),
        "object" => node
            .and_then(|node| node.get("required")?.as_array())
            .filter(|required| !required.is_empty())
            .map(|required| {
                let keys: Vec<&str> = required.iter().filter_map(Schema::as_str).collect();
                format!("object with {}", list(&keys, PREVIEW))
            }),
        _ => None,
    };
    detail.unwrap_or_else(|| name.to_owned())
}

/// `a`, `a or b`, `a, b or c`.
fn either(phrases: &[String]) -> String {
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

/// One alternative in a few words: its constant, its values, or its type with what narrows it.
pub(crate) fn alternative(declared: &Schema, schema: &CompiledSchema) -> String {
    let node = schema.follow(declared);
    if let Some(constant) = node.get("const") {
        return literal(constant);
    }
    if let Some(values) = node.get("enum").and_then(Schema::as_array) {
        return options(values);
    }
    match node.get("type") {
        Some(Schema::String(name)) => match name.as_str() {
            "string" => narrowed_string(node).unwrap_or_else(|| "string".to_owned()),
            "integer" | "number" => format!("{name}{}", narrowed_number(node)),
            other => one_type(other, Some(node), schema),
        },
        Some(Schema::Array(names)) => {
            let names: Vec<&str> = names.iter().filter_map(Schema::as_str).collect();
            types(&names, Some(node), schema)
        }
        _ if node.get("required").is_some() || node.get("properties").is_some() => {
            one_type("object", Some(node), schema)
        }
        _ => match node {
            _ if node.get("$ref").is_some() => "another form".to_owned(),
            Schema::Bool(true) => "any value".to_owned(),
            Schema::Object(members) if members.is_empty() => "any value".to_owned(),
            _ => narrowed_string(node)
                .or_else(|| union_of(node, schema))
                .unwrap_or_else(|| snippet(&node.to_string(), PREVIEW)),
        },
    }
}

fn narrowed_string(node: &Schema) -> Option<String> {
    let text = |keyword: &str| node.get(keyword).and_then(Schema::as_str);
    text("format")
        .map(format)
        .or_else(|| text("pattern").map(pattern))
}

fn narrowed_number(node: &Schema) -> String {
    let limit = |keyword: &str, words: &str| {
        let limit = node.get(keyword).filter(|limit| limit.is_number())?;
        Some(format!(" {words} {limit}"))
    };
    limit("minimum", "of at least")
        .or_else(|| limit("maximum", "of at most"))
        .unwrap_or_default()
}

/// A union inside a union, one level deep.
fn union_of(node: &Schema, schema: &CompiledSchema) -> Option<String> {
    let branches = node
        .get("anyOf")
        .or_else(|| node.get("oneOf"))?
        .as_array()?;
    let simple = |branch: &Schema| {
        let branch = schema.follow(branch);
        branch.get("type").is_some()
            || branch.get("const").is_some()
            || branch.get("enum").is_some()
    };
    branches
        .iter()
        .all(simple)
        .then(|| alternatives(branches.iter().map(|branch| alternative(branch, schema))))
}

/// The alternatives of a union: `string, object with "a" or null`, as many as a line holds.
pub(crate) fn alternatives(phrases: impl Iterator<Item = String>) -> String {
    let mut distinct: Vec<String> = Vec::new();
    for phrase in phrases {
        if !distinct.contains(&phrase) {
            distinct.push(phrase);
        }
    }
    let all = either(&distinct);
    if all.chars().count() <= ALTERNATIVES {
        all
    } else {
        fitting(&distinct, ALTERNATIVES)
    }
}

/// A pattern that a string must match.
pub(crate) fn pattern(pattern: &str) -> String {
    format!("string matching {}", quoted(pattern, 40))
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
