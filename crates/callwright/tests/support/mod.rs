//! Random JSON and random schemas that are related (few keys, few values, every keyword), so that both verdicts are
//! common.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

const KEYS: [&str; 5] = ["a", "b", "fileName", "file_path", "kind"];

/// Any JSON value, small.
pub(crate) fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..8).prop_map(Value::from),
        prop_oneof![Just(0.5), Just(5.0), Just(-1.5), Just(1e20)].prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            members(inner).prop_map(Value::Object),
        ]
    })
}

/// A JSON object, as arguments are.
pub(crate) fn arguments() -> impl Strategy<Value = Value> {
    members(json()).prop_map(Value::Object)
}

fn members(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    let key = prop_oneof![
        8 => prop::sample::select(&KEYS[..]).prop_map(str::to_owned),
        1 => ".{0,6}",
    ];
    prop::collection::vec((key, inner), 0..4).prop_map(|pairs| pairs.into_iter().collect())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(&[
            "", "a", "red", "Red", "circle", "square", "5", "2026-01-31", "x@example.com",
        ][..]).prop_map(str::to_owned),
        1 => ".{0,40}",
        1 => "[\\u{0}-\\u{30}\"\\\\\u{202e}日本🦀]{0,120}",
    ]
}

/// Any schema, mostly a sensible one, with every keyword that the engine knows.
pub(crate) fn schema() -> impl Strategy<Value = Value> {
    node().prop_map(|mut root| {
        if let Value::Object(members) = &mut root {
            let target = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d"}}});
            members.insert("$defs".to_owned(), json!({"d": target}));
        }
        root
    })
}

fn node() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!(true)),
        Just(json!(false)),
        Just(json!({"$ref": "#/$defs/d"})),
        types().prop_map(|types| json!({"type": types})),
        prop::collection::vec(json(), 1..4).prop_map(|values| json!({"enum": values})),
        json().prop_map(|value| json!({"const": value})),
        (-2_i64..6, -2_i64..6).prop_map(|(a, b)| json!({"minimum": a, "exclusiveMaximum": b})),
        (-2_i64..6, -2_i64..6).prop_map(|(a, b)| json!({"exclusiveMinimum": a, "maximum": b})),
        (1_i64..4).prop_map(|step| json!({"multipleOf": step})),
        (0_u64..4, 0_u64..4).prop_map(|(a, b)| json!({"minLength": a, "maxLength": b})),
        (0_u64..4, 0_u64..4).prop_map(|(a, b)| json!({"minItems": a, "maxItems": b})),
        (0_u64..4, 0_u64..4).prop_map(|(a, b)| json!({"minProperties": a, "maxProperties": b})),
        Just(json!({"uniqueItems": true})),
        prop::sample::select(&["^[a-z]+$", "\\d", "(a+)+$"][..])
            .prop_map(|pattern| json!({"type": "string", "pattern": pattern})),
        prop::sample::select(&["date", "email", "uuid", "uri", "ipv4"][..])
            .prop_map(|format| json!({"type": "string", "format": format})),
        Just(json!({"type": "string", "writeOnly": true})),
        Just(json!({"dependentRequired": {"a": ["b"]}})),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let several = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            4 => object(inner.clone()),
            1 => several().prop_map(|all| json!({"anyOf": all})),
            1 => several().prop_map(|all| json!({"oneOf": all})),
            1 => several().prop_map(|all| json!({"allOf": all})),
            1 => inner.clone().prop_map(|one| json!({"not": one})),
            1 => inner.clone().prop_map(|one| json!({"type": "array", "items": one})),
            1 => several().prop_map(|all| json!({"prefixItems": all, "items": false})),
            1 => inner.clone().prop_map(|one| json!({"contains": one})),
            1 => inner.clone().prop_map(|one| json!({"propertyNames": one})),
            1 => (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| json!({"if": a, "then": b, "else": c})),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({
                "oneOf": [
                    {"properties": {"kind": {"const": "circle"}, "a": a}, "required": ["kind"]},
                    {"properties": {"kind": {"const": "square"}, "b": b}, "required": ["kind"]},
                ]
            })),
        ]
    })
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let closing = prop_oneof![
        Just(json!({})),
        Just(json!({"additionalProperties": false})),
        Just(json!({"unevaluatedProperties": false})),
        Just(json!({"additionalProperties": {"type": "integer"}})),
    ];
    let required = prop::sample::subsequence(&KEYS[..], 0..3);
    (members(inner), required, closing).prop_map(|(properties, required, closing)| {
        let mut schema = json!({
            "type": "object",
            "properties": properties,
            "required": required,
        });
        for (key, value) in closing.as_object().into_iter().flatten() {
            schema[key] = value.clone();
        }
        schema
    })
}

fn types() -> impl Strategy<Value = Value> {
    const TYPES: [&str; 7] = [
        "string", "integer", "number", "boolean", "null", "array", "object",
    ];
    prop_oneof![
        prop::sample::select(&TYPES[..]).prop_map(Value::from),
        prop::sample::subsequence(&TYPES[..], 1..3).prop_map(Value::from),
    ]
}
