//! Numbers and texts that a schema might accept: likely candidates, filtered by the validator.

use serde_json::{Map, Number, Value as Schema};

use crate::json::Value;
use crate::validate::CompiledSchema;

/// The longest text that is made, in characters. A schema that requires more gets no sample.
const LONGEST: u64 = 4_096;

/// Numbers: a harmless one, then the limits.
pub(super) fn numbers(members: &Map<String, Schema>, integer: bool) -> Vec<Schema> {
    let limit = |key: &str| members.get(key).and_then(Schema::as_number);
    let beside = |key: &str, step| {
        let number = limit(key)?.as_i64()?.checked_add(step)?;
        Some(Number::from(number))
    };
    let mut numbers: Vec<Number> = vec![1.into(), 0.into()];
    let limits = ["multipleOf", "minimum", "maximum"];
    numbers.extend(limits.into_iter().filter_map(limit).cloned());
    numbers.extend(beside("exclusiveMinimum", 1));
    numbers.extend(beside("exclusiveMaximum", -1));
    numbers.push((-1).into());
    if !integer {
        let either = |keys: [&str; 2]| keys.iter().find_map(|key| limit(key)?.as_f64());
        let lowest = either(["minimum", "exclusiveMinimum"]);
        let highest = either(["maximum", "exclusiveMaximum"]);
        let middle = lowest.zip(highest);
        let middle = middle.map(|(lowest, highest)| f64::midpoint(lowest, highest));
        let fractions = [Some(0.5), middle].into_iter().flatten();
        numbers.extend(fractions.filter_map(Number::from_f64));
    }
    let keywords = [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
    ];
    accepted(members, &keywords, numbers.into_iter().map(Schema::Number))
}

/// Texts: a harmless one, then the shortest.
pub(super) fn strings(members: &Map<String, Schema>) -> Vec<Schema> {
    let shortest = members.get("minLength").and_then(Schema::as_u64);
    let Ok(shortest) = usize::try_from(shortest.unwrap_or(0).min(LONGEST + 1)) else {
        return Vec::new();
    };
    let format = members.get("format").and_then(Schema::as_str);
    let mut texts: Vec<String> = match format.and_then(of_format) {
        Some(text) => vec![text.to_owned()],
        None => ["text", ""].map(str::to_owned).into(),
    };
    texts.push("x".repeat(shortest));
    if let Some(pattern) = members.get("pattern").and_then(Schema::as_str) {
        texts.extend(matching(pattern, shortest));
    }
    let texts = texts
        .into_iter()
        .filter(|text| text.len() as u64 <= LONGEST);
    let keywords = ["minLength", "maxLength", "pattern"];
    accepted(members, &keywords, texts.map(Schema::String))
}

/// The candidates that these keywords of a schema accept.
fn accepted(
    members: &Map<String, Schema>,
    keywords: &[&str],
    candidates: impl Iterator<Item = Schema>,
) -> Vec<Schema> {
    let mut schema = members.clone();
    schema.retain(|key, _| keywords.contains(&key.as_str()));
    let Ok(compiled) = CompiledSchema::compile(Schema::Object(schema)) else {
        return Vec::new();
    };
    candidates
        .filter(|candidate| compiled.accepts(&Value::from(candidate)))
        .collect()
}

/// Texts in the shapes that patterns commonly ask for. A pattern that matches none of them is not tried.
const SHAPES: &str = "0 1 12 123 1234 12345 123456 a ab abc a1 A AB ABC A1 a-b a_b a.b 1.0 1.2.3 #a1b2c3 +15550100 \
    a@example.com https://example.com/";

/// Texts that match a pattern, if any of the candidates does.
pub(super) fn matching(pattern: &str, shortest: usize) -> Vec<String> {
    let formats = ["date", "date-time", "uuid", "ipv4"];
    let formats = formats.into_iter().filter_map(of_format);
    let shapes = SHAPES.split(' ').chain(formats).map(str::to_owned);
    let filled = ["a", "A", "0"].map(|letter| letter.repeat(shortest.max(1)));
    let texts = shapes.chain(filled).map(Schema::String);
    let schema = Map::from_iter([("pattern".to_owned(), pattern.into())]);
    let texts = accepted(&schema, &["pattern"], texts);
    let texts = texts.iter().take(2).filter_map(Schema::as_str);
    texts.map(str::to_owned).collect()
}

/// A text with this format.
fn of_format(format: &str) -> Option<&'static str> {
    Some(match format {
        "date-time" => "2024-05-06T07:08:09Z",
        "partial-date-time" => "2024-05-06T07:08:09",
        "date" => "2024-05-06",
        "time" => "07:08:09Z",
        "partial-time" => "07:08:09",
        "duration" => "PT1H",
        "email" | "idn-email" => "someone@example.com",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" | "ip" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uri" | "url" | "iri" | "uri-reference" | "iri-reference" | "uri-template" => {
            "https://example.com/"
        }
        "uuid" => "123e4567-e89b-42d3-a456-426614174000",
        "json-pointer" => "/text",
        "relative-json-pointer" => "0/text",
        "regex" => "text",
        "byte" => "dGV4dA==",
        "semver" | "version" => "1.2.3",
        _ => return None,
    })
}
