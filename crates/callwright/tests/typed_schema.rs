//! The schemas of Rust types, as models read them.
#![allow(clippy::expect_used, reason = "a test may panic")]
#![allow(dead_code, reason = "only the schemas of the types are used")]

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::num::{NonZeroI16, NonZeroU8};

use callwright::json::to_type;
use callwright::parse::read_value;
use callwright::toolbox::{input_schema, output_schema};
use callwright::validate::CompiledSchema;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

fn input<A: JsonSchema>() -> Value {
    input_schema::<A>().expect("an object")
}

fn refused<A: JsonSchema>() -> String {
    input_schema::<A>().expect_err("no object").to_string()
}

/// How results are sorted.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Order {
    /// The smallest
    /// first.
    Ascending,
    /// The largest first.
    Descending,
    Unsorted,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Unit {
    Celsius,
    Fahrenheit,
}

fn ten() -> u32 {
    10
}

fn tenth() -> f32 {
    0.1
}

/// Finds rows in a table.
///
/// Only reads.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Search {
    /// What to look for.
    #[schemars(length(min = 1, max = 200))]
    query: String,
    /// How many rows at most.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
    #[serde(default = "tenth")]
    least_score: f32,
    /// The order of the rows.
    order: Option<Order>,
    sort_again: Order,
    unit: Option<Unit>,
    #[schemars(regex(pattern = "^[a-z]+$"))]
    table: String,
    tags: Vec<String>,
}

#[test]
fn a_struct_reads_like_one_written_by_hand() {
    let variants = "- `ascending`: The smallest first.\n- `descending`: The largest first.";
    assert_eq!(
        input::<Search>(),
        json!({
            "type": "object",
            "properties": {
                "query": {
                    "description": "What to look for.",
                    "type": "string", "minLength": 1, "maxLength": 200
                },
                "limit": {
                    "description": "How many rows at most.",
                    "type": "integer", "default": 10, "minimum": 1, "maximum": 100
                },
                "leastScore": {"type": "number", "default": 0.1},
                "order": {
                    "description": format!("The order of the rows.\nHow results are sorted.\n{variants}"),
                    "type": ["string", "null"],
                    "enum": ["unsorted", "ascending", "descending", null]
                },
                "sortAgain": {
                    "description": format!("How results are sorted.\n{variants}"),
                    "type": "string",
                    "enum": ["unsorted", "ascending", "descending"]
                },
                "unit": {"type": ["string", "null"], "enum": ["Celsius", "Fahrenheit", null]},
                "table": {"type": "string", "pattern": "^[a-z]+$"},
                "tags": {"type": "array", "items": {"type": "string"}}
            },
            "required": ["query", "sortAgain", "table", "tags"],
            "additionalProperties": false
        })
    );
}

#[derive(Deserialize, JsonSchema)]
struct Numbers {
    a: u8,
    b: i16,
    c: u32,
    d: i32,
    e: u64,
    f: i64,
    g: usize,
    h: Option<u32>,
    i: NonZeroU8,
    j: NonZeroI16,
    k: u128,
    l: i128,
    m: f64,
    #[schemars(extend("exclusiveMinimum" = 0))]
    n: u64,
    #[schemars(range(max = 18_446_744_073_709_551_614u64))]
    o: u64,
    p: Vec<u16>,
}

#[test]
fn numbers_have_the_limits_of_their_types() {
    let schema = input::<Numbers>();
    let unsigned = |highest: u64| json!({"type": "integer", "minimum": 0, "maximum": highest});
    let signed = |lowest: i64, highest: i64| json!({"type": "integer", "minimum": lowest, "maximum": highest});
    assert_eq!(
        schema["properties"],
        json!({
            "a": unsigned(u8::MAX.into()),
            "b": signed(i16::MIN.into(), i16::MAX.into()),
            "c": unsigned(u32::MAX.into()),
            "d": signed(i32::MIN.into(), i32::MAX.into()),
            "e": unsigned(u64::MAX),
            "f": signed(i64::MIN, i64::MAX),
            "g": unsigned(u64::MAX),
            "h": {"type": ["integer", "null"], "minimum": 0, "maximum": u32::MAX},
            "i": {"type": "integer", "minimum": 1, "maximum": u8::MAX},
            "j": {"type": "integer", "minimum": i16::MIN, "maximum": i16::MAX, "not": {"const": 0}},
            "k": {"type": "integer", "minimum": 0, "exclusiveMaximum": 2f64.powi(128)},
            "l": {"type": "integer", "exclusiveMinimum": -(2f64.powi(127)), "exclusiveMaximum": 2f64.powi(127)},
            "m": {"type": "number"},
            "n": {"type": "integer", "exclusiveMinimum": 0, "maximum": u64::MAX},
            "o": unsigned(u64::MAX - 1),
            "p": {"type": "array", "items": unsigned(u16::MAX.into())},
        })
    );
}

/// A place to go.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Target {
    /// By its name.
    Named {
        name: String,
    },
    Point(Point),
    Home,
}

/// Two coordinates.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Point {
    x: f64,
    y: f64,
}

#[derive(Deserialize, JsonSchema)]
struct Parts {
    target: Target,
    other: Option<Point>,
    any: serde_json::Value,
    by_name: HashMap<String, bool>,
    by_number: BTreeMap<u8, bool>,
    pair: (bool, String),
    address: IpAddr,
}

#[test]
fn parts_are_slices_of_the_text() {
    let point = json!({
        "x": {"type": "number"},
        "y": {"type": "number"}
    });
    assert_eq!(
        input::<Parts>(),
        json!({
            "type": "object",
            "properties": {
                "target": {
                    "description": "A place to go.",
                    "oneOf": [
                        {
                            "description": "By its name.",
                            "type": "object",
                            "properties": {
                                "kind": {"type": "string", "const": "named"},
                                "name": {"type": "string"}
                            },
                            "required": ["kind", "name"]
                        },
                        {
                            "description": "Two coordinates.",
                            "type": "object",
                            "properties": {
                                "kind": {"type": "string", "const": "point"},
                                "x": {"type": "number"},
                                "y": {"type": "number"}
                            },
                            "required": ["kind", "x", "y"]
                        },
                        {
                            "type": "object",
                            "properties": {"kind": {"type": "string", "const": "home"}},
                            "required": ["kind"]
                        }
                    ]
                },
                "other": {
                    "description": "Two coordinates.",
                    "type": ["object", "null"],
                    "properties": point,
                    "required": ["x", "y"]
                },
                "any": {},
                "by_name": {"type": "object", "additionalProperties": {"type": "boolean"}},
                "by_number": {
                    "type": "object",
                    "patternProperties": {"^\\d+$": {"type": "boolean"}},
                    "additionalProperties": false
                },
                "pair": {
                    "type": "array",
                    "prefixItems": [{"type": "boolean"}, {"type": "string"}],
                    "minItems": 2,
                    "maxItems": 2
                },
                "address": {"type": "string", "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]}
            },
            "required": ["target", "any", "by_name", "by_number", "pair", "address"]
        })
    );
}

#[derive(Deserialize, JsonSchema)]
struct Filter {
    field: String,
    and: Option<Box<Filter>>,
    any_of: Vec<Filter>,
}

#[derive(Deserialize, JsonSchema)]
struct Query {
    filter: Filter,
}

#[test]
fn only_recursive_types_keep_references() {
    let schema = input::<Query>();
    let text = schema.to_string();
    assert!(text.contains("#/$defs/Filter"), "{text}");
    assert_eq!(
        schema["$defs"].as_object().map(serde_json::Map::len),
        Some(1)
    );
    assert!(input::<Filter>().to_string().contains(r##""$ref":"#""##));
}

#[derive(Deserialize, JsonSchema)]
struct Empty {}

#[derive(Deserialize, JsonSchema)]
struct Nothing;

#[derive(Deserialize, JsonSchema)]
#[schemars(title = "A title of one's own")]
struct Titled {
    a: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Wrapped(Titled);

#[test]
fn roots_are_objects_or_refused() {
    let none = json!({"type": "object", "properties": {}});
    assert_eq!(input::<()>(), none);
    assert_eq!(input::<Nothing>(), none);
    assert_eq!(input::<Empty>(), none);
    assert_eq!(input::<Titled>()["title"], "A title of one's own");
    assert_eq!(input::<Wrapped>()["type"], "object");
    assert_eq!(input::<HashMap<String, bool>>()["type"], "object");

    let tagged = input::<Target>();
    assert_eq!(tagged["type"], "object");
    assert_eq!(tagged["oneOf"].as_array().map(Vec::len), Some(3));

    assert_eq!(
        refused::<u8>(),
        "`uint8` as arguments: a call carries an object, but this type is an integer; \
         wrap it in a struct with a named field"
    );
    assert!(refused::<Order>().contains("`Order`"));
    assert!(refused::<Order>().contains("is a string"));
    assert!(refused::<Vec<Point>>().contains("is an array"));
    assert!(refused::<Option<Point>>().contains("is object or null"));
    assert!(refused::<serde_json::Value>().contains("any JSON"));
}

/// What was found.
#[derive(Serialize, JsonSchema)]
struct Found {
    /// How many.
    count: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    #[serde(rename(serialize = "written", deserialize = "read"))]
    name: String,
}

#[test]
fn outputs_are_as_they_are_written() {
    assert_eq!(
        output_schema::<Found>(),
        json!({
            "description": "What was found.",
            "type": "object",
            "properties": {
                "count": {"description": "How many.", "type": "integer", "minimum": 0, "maximum": u32::MAX},
                "next": {"type": ["string", "null"]},
                "written": {"type": "string"}
            },
            "required": ["count", "written"]
        })
    );
    assert_eq!(output_schema::<()>(), json!({"type": "null"}));
    assert_eq!(
        output_schema::<Vec<bool>>(),
        json!({"type": "array", "items": {"type": "boolean"}})
    );
}

#[derive(Deserialize, JsonSchema)]
struct Attributed {
    #[validate(length(min = 1), url)]
    page: String,
    #[garde(range(min = 2, max = 5))]
    count: u8,
    #[validate(length(max = 3))]
    tags: Vec<bool>,
    #[garde(pattern("^a"))]
    name: Option<String>,
}

#[test]
fn validator_attributes_are_used() {
    assert_eq!(
        input::<Attributed>()["properties"],
        json!({
            "page": {"type": "string", "format": "uri", "minLength": 1},
            "count": {"type": "integer", "minimum": 2, "maximum": 5},
            "tags": {"type": "array", "items": {"type": "boolean"}, "maxItems": 3},
            "name": {"type": ["string", "null"], "pattern": "^a"}
        })
    );
}

#[derive(Deserialize, JsonSchema)]
struct One<T> {
    n: T,
}

#[derive(Deserialize, JsonSchema)]
struct Flat<T> {
    #[serde(flatten)]
    one: One<T>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Tagged<T> {
    One { n: T },
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Loose<T> {
    One { n: T },
    Text { n: String },
}

/// Numbers at and next to every limit, in every spelling.
const LITERALS: [&str; 53] = [
    "0",
    "-0",
    "0.0",
    "-0.0",
    "0e5",
    "1",
    "-1",
    "5.0",
    "1e2",
    "1.5e1",
    "0.5",
    "1e-1",
    "127",
    "128",
    "-128",
    "-129",
    "255",
    "256",
    "255.0",
    "256.0",
    "32768",
    "-32769",
    "65535",
    "65536",
    "2147483648",
    "-2147483649",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "9223372036854775807.0",
    "-9223372036854775808",
    "-9223372036854775809",
    "-9223372036854775808.0",
    "18446744073709551615",
    "18446744073709551616",
    "18446744073709551615.0",
    "1.8446744073709551615e19",
    "9007199254740993.0",
    "12345678901234567890.5",
    "9007199254740993.5",
    "1e38",
    "-1e38",
    "1e39",
    "-1e39",
    "170141183460469231731687303715884105727",
    "170141183460469231731687303715884105728",
    "-170141183460469231731687303715884105728",
    "-170141183460469231731687303715884105729",
    "340282366920938463463374607431768211455",
    "340282366920938463463374607431768211456",
    "1e300",
    "null",
];

/// The type accepts what the schema accepts. The reverse also holds for integers written plainly.
fn agrees<T: DeserializeOwned + JsonSchema>(literal: &str, exact: bool) {
    let name = T::schema_name();
    let schema = CompiledSchema::compile(input::<T>()).expect("a schema");
    let text = format!(r#"{{"kind":"One","n":{literal}}}"#);
    let value = read_value(&text).expect("JSON");
    let accepted = schema.accepts(&value);
    let read = to_type::<T>(&value);
    if accepted {
        assert!(
            read.is_ok(),
            "{name}: {literal} is accepted: {:?}",
            read.err()
        );
    } else if exact {
        assert!(
            read.is_err(),
            "{name}: {literal} is refused, and would be read"
        );
    }
}

fn agrees_everywhere<T: DeserializeOwned + JsonSchema>() {
    for literal in LITERALS {
        // Beyond 53 bits the validator compares numbers with a fraction or an exponent as floats.
        let plain = !literal.contains(['.', 'e']);
        agrees::<One<T>>(literal, plain);
        agrees::<One<Option<T>>>(literal, plain);
        agrees::<Flat<T>>(literal, plain);
        agrees::<Tagged<T>>(literal, plain);
        agrees::<Loose<T>>(literal, plain);
    }
}

#[test]
fn valid_values_deserialise() {
    agrees_everywhere::<u8>();
    agrees_everywhere::<u16>();
    agrees_everywhere::<u32>();
    agrees_everywhere::<u64>();
    agrees_everywhere::<usize>();
    agrees_everywhere::<i8>();
    agrees_everywhere::<i16>();
    agrees_everywhere::<i32>();
    agrees_everywhere::<i64>();
    agrees_everywhere::<isize>();
    agrees_everywhere::<NonZeroU8>();
    agrees_everywhere::<NonZeroI16>();
    agrees_everywhere::<f64>();
    // serde buffers flattened parts and tagged enums, and keeps 64 bits of a number.
    for literal in LITERALS {
        agrees::<One<u128>>(literal, false);
        agrees::<One<i128>>(literal, false);
        agrees::<One<Option<u128>>>(literal, false);
    }
}
