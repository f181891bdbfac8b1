//! Numbers and texts that a schema might accept.

use regex::Regex;
use serde_json::{Map, Number, Value as Schema, json};

/// The longest text that is made, in characters. Whoever asks for more gets no sample.
const LONGEST: usize = 4_096;

/// Numbers: a harmless one, then the limits.
pub(super) fn numbers(members: &Map<String, Schema>, integer: bool) -> Vec<Schema> {
    let limit = |key: &str| members.get(key).and_then(Schema::as_number);
    let mut numbers: Vec<Number> = vec![1.into(), 0.into()];
    numbers.extend(limit("multipleOf").cloned());
    numbers.extend(
        ["minimum", "maximum"]
            .iter()
            .filter_map(|key| limit(key))
            .cloned(),
    );
    numbers.extend(limit("exclusiveMinimum").and_then(|limit| beside(limit, 1)));
    numbers.extend(limit("exclusiveMaximum").and_then(|limit| beside(limit, -1)));
    numbers.push((-1).into());
    if !integer {
        numbers.extend(Number::from_f64(0.5));
        let [lowest, highest] = [
            ["minimum", "exclusiveMinimum"],
            ["maximum", "exclusiveMaximum"],
        ]
        .map(|keys| keys.iter().find_map(|key| limit(key)?.as_f64()));
        if let (Some(lowest), Some(highest)) = (lowest, highest) {
            numbers.extend(Number::from_f64(f64::midpoint(lowest, highest)));
        }
    }
    let within = |number: &Number| {
        let value = number.as_f64().unwrap_or_default();
        let keeps = |key: &str, holds: fn(f64, f64) -> bool| {
            let limit = limit(key).and_then(Number::as_f64);
            limit.is_none_or(|limit| holds(value, limit))
        };
        keeps("minimum", |value, limit| value >= limit)
            && keeps("maximum", |value, limit| value <= limit)
            && keeps("exclusiveMinimum", |value, limit| value > limit)
            && keeps("exclusiveMaximum", |value, limit| value < limit)
            && keeps("multipleOf", |value, step| value % step == 0.0)
    };
    numbers.retain(within);
    numbers.into_iter().map(Schema::Number).collect()
}

/// The integer next to a limit that is not reached.
fn beside(limit: &Number, step: i64) -> Option<Number> {
    limit.as_i64()?.checked_add(step).map(Number::from)
}

/// Texts: a harmless one, then the shortest.
pub(super) fn strings(members: &Map<String, Schema>) -> Vec<Schema> {
    let length = |key: &str| members.get(key).and_then(Schema::as_u64);
    let shortest = length("minLength").unwrap_or(0);
    let longest = length("maxLength").unwrap_or(u64::MAX);
    let Ok(shortest) = usize::try_from(shortest) else {
        return Vec::new();
    };
    if shortest > LONGEST {
        return Vec::new();
    }
    let format = members.get("format").and_then(Schema::as_str);
    let mut texts: Vec<String> = match format.and_then(of_format) {
        Some(text) => vec![text.to_owned()],
        None => ["text", ""].map(str::to_owned).into(),
    };
    texts.push("x".repeat(shortest));
    if let Some(pattern) = members.get("pattern").and_then(Schema::as_str) {
        texts.extend(matching(pattern, shortest));
        let Ok(pattern) = Regex::new(pattern) else {
            return Vec::new();
        };
        texts.retain(|text| pattern.is_match(text));
    }
    let fits = |text: &String| {
        let count = text.chars().count();
        count >= shortest && u64::try_from(count).is_ok_and(|count| count <= longest)
    };
    texts.retain(fits);
    texts.into_iter().map(|text| json!(text)).collect()
}

/// Texts of the shapes that patterns usually ask for. What fits none of them is not tried out.
const SHAPES: [&str; 24] = [
    "0",
    "1",
    "12",
    "123",
    "1234",
    "12345",
    "123456",
    "a",
    "ab",
    "abc",
    "a1",
    "A",
    "AB",
    "ABC",
    "A1",
    "a-b",
    "a_b",
    "a.b",
    "1.0",
    "1.2.3",
    "#a1b2c3",
    "+15550100",
    "a@example.com",
    "https://example.com/",
];

/// Texts that match a pattern, if any of ours does.
pub(super) fn matching(pattern: &str, shortest: usize) -> Vec<String> {
    let Ok(pattern) = Regex::new(pattern) else {
        return Vec::new();
    };
    let filled = ["a", "A", "0"].map(|letter| letter.repeat(shortest.max(1)));
    let formats = ["date", "date-time", "uuid", "ipv4"]
        .into_iter()
        .filter_map(of_format);
    let shapes = SHAPES.into_iter().chain(formats).map(str::to_owned);
    shapes
        .chain(filled)
        .filter(|text| pattern.is_match(text))
        .take(2)
        .collect()
}

/// A text of a format.
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
