use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::num::{NonZeroI8, NonZeroU32};
use std::ops::{Bound, Range};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::*;
use crate::toolbox::schema::derive_input;

fn disagreement<A: DeserializeOwned + JsonSchema>() -> Option<String> {
    let schema = derive_input::<A>().expect("an object").schema;
    let disagreement = input_disagreement::<A>(&schema);
    // At least one sample was tried.
    let compiled = CompiledSchema::compile(schema.clone()).expect("a schema");
    let samples = samples::samples(&schema);
    assert!(samples.len() <= 256);
    assert!(
        samples
            .iter()
            .any(|sample| compiled.accepts(&sample.into())),
        "{schema}: {samples:?}"
    );
    disagreement
}

/// A text that its type parses.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
struct Ticket;

impl TryFrom<String> for Ticket {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.strip_prefix("TICKET-") {
            Some(_) => Ok(Ticket),
            None => Err(format!("{text:?} is not a ticket")),
        }
    }
}

#[derive(Deserialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Colour {
    /// Like blood.
    Red,
    /// Like the sea.
    Blue,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind")]
#[allow(dead_code, reason = "only read")]
enum Action {
    Move { x: i32, y: Option<i32> },
    Paint(Painting),
    Stop,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only read")]
struct Painting {
    colour: Colour,
    #[serde(default)]
    strength: f32,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only read")]
enum Loose {
    Id(u64),
    Name(String),
    Both { id: u64, name: String },
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only read")]
enum External {
    Nothing,
    One(bool),
    Two(u8, i8),
    Fields { a: char },
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
#[allow(dead_code, reason = "only read")]
enum Adjacent {
    Nothing,
    One(bool),
    Fields { a: char },
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only read")]
struct Tree {
    value: i64,
    left: Option<Box<Tree>>,
    children: Vec<Tree>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only read")]
struct Everything {
    numbers: (u8, u16, u32, u64, i8, i16, i32, i64),
    wide: (u128, i128),
    sizes: (usize, isize),
    nonzero: (NonZeroU32, NonZeroI8),
    floats: (f32, f64),
    yes: bool,
    letter: char,
    text: String,
    nothing: (),
    optional: Option<Painting>,
    required: Colour,
    optional_colour: Option<Colour>,
    list: Vec<Action>,
    four: [u8; 4],
    set: BTreeSet<i32>,
    by_text: HashMap<String, u8>,
    by_number: BTreeMap<i64, u8>,
    by_colour: BTreeMap<Colour, u8>,
    by_letter: BTreeMap<char, u8>,
    loose: Loose,
    external: External,
    adjacent: Adjacent,
    tree: Tree,
    any: serde_json::Value,
    map: serde_json::Map<String, serde_json::Value>,
    address: IpAddr,
    path: PathBuf,
    duration: Duration,
    time: SystemTime,
    range: Range<u32>,
    bound: Bound<u32>,
    result: Result<u8, String>,
    #[serde(flatten)]
    flattened: Painting,
    #[serde(flatten)]
    action: Option<Action>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
#[allow(dead_code, reason = "only read")]
struct Checked {
    #[schemars(length(min = 3, max = 5))]
    short: String,
    #[schemars(range(min = 5, max = 10))]
    few: u8,
    #[schemars(regex(pattern = "^[A-Z]{3}-[0-9]{4}$"))]
    code: String,
    #[schemars(length(min = 2))]
    pair: Vec<Option<bool>>,
    #[schemars(email)]
    mail: String,
    #[schemars(url)]
    page: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "Raw")]
struct Ordered;

#[derive(Deserialize, JsonSchema)]
struct Raw {
    from: Colour,
    to: Colour,
}

impl TryFrom<Raw> for Ordered {
    type Error = &'static str;

    fn try_from(raw: Raw) -> Result<Self, Self::Error> {
        if raw.from < raw.to {
            Ok(Ordered)
        } else {
            Err("the wrong way round")
        }
    }
}

#[test]
fn derived_schemas_agree_with_their_types() {
    assert_eq!(disagreement::<Everything>(), None);
    assert_eq!(disagreement::<Tree>(), None);
    assert_eq!(disagreement::<Checked>(), None);
    assert_eq!(disagreement::<Action>(), None);
    assert_eq!(disagreement::<Ordered>(), None);
    assert_eq!(disagreement::<()>(), None);
    assert_eq!(disagreement::<HashMap<String, Vec<Colour>>>(), None);
}

macro_rules! tool {
    ($name:ident { $($(#[$attribute:meta])* $field:ident: $kind:ty),* $(,)? }) => {
        #[derive(Deserialize, JsonSchema)]
        #[allow(dead_code, reason = "only read")]
        struct $name { $($(#[$attribute])* $field: $kind,)* }
    };
}

tool!(WrongKind {
    #[schemars(with = "String")]
    limit: u32,
});
tool!(TooWide {
    #[schemars(with = "u16")]
    limit: u8,
});
tool!(WrongName {
    #[schemars(rename = "max")]
    limit: u32,
});
tool!(NotOptional {
    #[schemars(with = "Option<u32>")]
    limit: u32,
});
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is taken")]
enum OtherColour {
    Red,
    Green,
}

tool!(WrongVariants {
    #[schemars(with = "OtherColour")]
    colour: Colour,
});
tool!(AnyText {
    #[schemars(with = "String")]
    colour: Colour,
});
tool!(WrongLength {
    #[schemars(with = "Vec<u8>")]
    four: [u8; 4],
});
tool!(WrongExample {
    #[schemars(example = "TASK-1")]
    ticket: Ticket,
});
tool!(WrongDefault {
    #[schemars(extend("default" = "TASK-1"))]
    #[serde(default)]
    ticket: Option<Ticket>,
});
tool!(Deep {
    list: Vec<Option<WrongKind>>,
});
tool!(BehindOwnParser {
    ticket: Ticket,
    #[schemars(with = "bool")]
    yes: u8,
});

#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "i64")]
#[schemars(with = "i64")]
struct Percent;

impl TryFrom<i64> for Percent {
    type Error = &'static str;

    fn try_from(number: i64) -> Result<Self, Self::Error> {
        if (0..=100).contains(&number) {
            Ok(Percent)
        } else {
            Err("no percentage")
        }
    }
}

tool!(FreeNumber { share: Percent });
tool!(ChosenLimit {
    #[schemars(range(min = 0, max = 1000))]
    share: Percent,
});

#[test]
fn wrong_hand_written_schemas_are_reported() {
    assert_eq!(
        disagreement::<WrongKind>().expect("a number"),
        "/limit: the schema accepts \"text\", the type does not: invalid type: string \"text\", \
         expected u32 (in {\"limit\":\"text\"}); make the two agree"
    );
    assert_eq!(
        disagreement::<WrongName>().expect("another name"),
        "the schema accepts {\"max\":1}, the type does not: missing field `limit`; make the two agree"
    );
    let told = |sentence: Option<String>, parts: [&str; 2]| {
        let Some(sentence) = sentence else {
            panic!("no disagreement: {parts:?}")
        };
        assert!(
            parts.iter().all(|part| sentence.contains(part)),
            "{sentence}"
        );
    };
    told(disagreement::<TooWide>(), ["/limit", "65535"]);
    told(
        disagreement::<NotOptional>(),
        ["accepts {}", "missing field `limit`"],
    );
    told(disagreement::<WrongVariants>(), ["/colour", "Green"]);
    told(disagreement::<AnyText>(), ["/colour", "unknown variant"]);
    told(disagreement::<WrongLength>(), ["/four", "length"]);
    told(disagreement::<WrongExample>(), ["/ticket", "TASK-1"]);
    told(disagreement::<WrongDefault>(), ["/ticket", "TASK-1"]);
    told(disagreement::<Deep>(), ["/list/0/limit", "expected u32"]);
    told(disagreement::<BehindOwnParser>(), ["/yes", "expected u8"]);
    told(disagreement::<ChosenLimit>(), ["/share", "1000"]);
}

/// Ensures that the test above does not pass by trying nothing.
#[test]
fn nearly_all_samples_are_read() {
    let schema = derive_input::<Everything>().expect("an object").schema;
    let compiled = CompiledSchema::compile(schema.clone()).expect("a schema");
    let samples = samples::samples(&schema);
    let samples: Vec<Value<'_>> = samples.iter().map(Value::from).collect();
    let accepted = samples.iter().filter(|sample| compiled.accepts(sample));
    let (read, refused): (Vec<_>, Vec<_>) =
        accepted.partition(|sample| to_arguments::<Everything>(sample).is_ok());
    assert!(read.len() > 100, "{} of {}", read.len(), samples.len());
    for sample in refused {
        let mismatch = to_arguments::<Everything>(sample)
            .err()
            .expect("refused before");
        let path = mismatch.path();
        let own = ["/by_colour/some_key", "/by_letter/some_key", "/time"];
        assert!(own.contains(&path.as_pointer()), "{mismatch}");
    }
}

#[test]
fn objections_of_the_type_alone_are_not_disagreements() {
    tool!(Own { ticket: Ticket, by_boolean: BTreeMap<bool, u8> });
    assert_eq!(disagreement::<Own>(), None);
    assert_eq!(disagreement::<FreeNumber>(), None);
}

#[test]
fn schemas_written_by_hand_are_followed() {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only read")]
    struct Taken {
        a: Option<u8>,
        b: Option<String>,
    }
    let byte = json!({"type": "integer", "minimum": 0, "maximum": 255});
    let good = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/byte"}, "b": {"type": "string", "format": "uuid"}},
        "dependentRequired": {"a": ["b"]},
        "not": {"required": ["c"]},
        "additionalProperties": false,
        "$defs": {"byte": byte}
    });
    assert_eq!(input_disagreement::<Taken>(&good), None);
    let open = json!({"type": "object", "properties": {"a": byte}, "additionalProperties": {}});
    let sentence = input_disagreement::<Taken>(&open).expect("an unknown key");
    assert!(sentence.contains("unknown field"), "{sentence}");
    let union = json!({"allOf": [
        {"properties": {"a": byte}},
        {"anyOf": [{"properties": {"b": {"type": "string"}}}, {"properties": {"b": {"const": 7}}}]}
    ]});
    let sentence = input_disagreement::<Taken>(&union).expect("a number");
    assert!(sentence.starts_with("/b"), "{sentence}");
    let circle = json!({"$ref": "#"});
    assert_eq!(input_disagreement::<Taken>(&circle), None);
}

#[test]
fn samples_are_bounded() {
    let many: Vec<String> = (0..1000).map(|at| format!("value_{at}")).collect();
    let property = json!({"type": "string", "enum": many});
    let properties: serde_json::Map<String, Schema> = (0..200)
        .map(|at| (format!("p{at}"), property.clone()))
        .collect();
    let inner = json!({"type": "object", "properties": properties});
    let schema = json!({"type": "object", "properties": {"a": inner, "b": inner}});
    let samples = samples::samples(&schema);
    assert!(!samples.is_empty() && samples.len() <= 256);
}
