//! The bridge between Rust types and JSON trees, compared with `serde_json`.
#![allow(clippy::expect_used, reason = "a test may panic")]

#[allow(dead_code, reason = "not every test needs all of it")]
mod support;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

use callwright::json::{Value, from_type, to_type};
use callwright::parse::read_value;
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

/// Bytes as serde knows them, not as a list of numbers.
#[derive(Debug, Clone, PartialEq)]
struct Bytes(Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Bytes;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }

            fn visit_str<E>(self, text: &str) -> Result<Bytes, E> {
                Ok(Bytes(text.as_bytes().to_vec()))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut items: A,
            ) -> Result<Bytes, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = items.next_element()? {
                    bytes.push(byte);
                }
                Ok(Bytes(bytes))
            }
        }
        deserializer.deserialize_byte_buf(Visitor)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Unit;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Newtype(i16);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Pair(u8, String);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Colour {
    DarkRed,
    Blue,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum External {
    Nothing,
    One(i32),
    Two(u8, bool),
    Fields { left: String, right: Option<f64> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Internal {
    Nothing,
    One(Inner),
    Fields { count: u32 },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "data")]
enum Adjacent {
    Nothing,
    One(i64),
    Two(i8, String),
    Fields { yes: bool },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Float(f64),
    Text(String),
    Fields { a: bool },
    List(Vec<u8>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Inner {
    a: i8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    b: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Flattened {
    id: u64,
    #[serde(flatten)]
    inner: Inner,
    #[serde(flatten)]
    rest: BTreeMap<String, serde_json::Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Everything {
    numbers: (u8, u16, u32, u64, i8, i16, i32, i64),
    size: usize,
    float: f64,
    yes: bool,
    letter: char,
    text: String,
    unit: (),
    unit_struct: Unit,
    newtype: Newtype,
    pair: Pair,
    optional: Option<Inner>,
    boxed_optional: Option<Box<Option<u8>>>,
    list: Vec<External>,
    bytes: Bytes,
    by_number: BTreeMap<i32, Colour>,
    by_boolean: BTreeMap<bool, Internal>,
    by_letter: BTreeMap<char, Adjacent>,
    by_colour: BTreeMap<Colour, Untagged>,
    flattened: Flattened,
    any: serde_json::Value,
}

fn inner() -> impl Strategy<Value = Inner> {
    (any::<i8>(), any::<Option<String>>()).prop_map(|(a, b)| Inner { a, b })
}

fn colour() -> impl Strategy<Value = Colour> {
    prop_oneof![Just(Colour::DarkRed), Just(Colour::Blue)]
}

fn float() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("finite", |float| float.is_finite())
}

fn external() -> impl Strategy<Value = External> {
    prop_oneof![
        Just(External::Nothing),
        any::<i32>().prop_map(External::One),
        any::<(u8, bool)>().prop_map(|(a, b)| External::Two(a, b)),
        (any::<String>(), proptest::option::of(float()))
            .prop_map(|(left, right)| External::Fields { left, right }),
    ]
}

fn internal() -> impl Strategy<Value = Internal> {
    prop_oneof![
        Just(Internal::Nothing),
        inner().prop_map(Internal::One),
        any::<u32>().prop_map(|count| Internal::Fields { count }),
    ]
}

fn adjacent() -> impl Strategy<Value = Adjacent> {
    prop_oneof![
        Just(Adjacent::Nothing),
        any::<i64>().prop_map(Adjacent::One),
        any::<(i8, String)>().prop_map(|(a, b)| Adjacent::Two(a, b)),
        any::<bool>().prop_map(|yes| Adjacent::Fields { yes }),
    ]
}

fn untagged() -> impl Strategy<Value = Untagged> {
    prop_oneof![
        any::<i64>().prop_map(Untagged::Number),
        (0.01..0.99).prop_map(Untagged::Float),
        any::<String>().prop_map(Untagged::Text),
        any::<bool>().prop_map(|a| Untagged::Fields { a }),
        any::<Vec<u8>>().prop_map(Untagged::List),
    ]
}

/// The same with a fraction in every float: we read `5.0` as `5`, `serde_json` as `5.0`.
fn with_fractions(value: serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Number(number) if number.is_f64() => json!(0.25),
        serde_json::Value::Array(items) => items.into_iter().map(with_fractions).collect(),
        serde_json::Value::Object(members) => members
            .into_iter()
            .map(|(key, value)| (key, with_fractions(value)))
            .collect(),
        other => other,
    }
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    support::json().prop_map(with_fractions)
}

fn flattened() -> impl Strategy<Value = Flattened> {
    let rest = proptest::collection::btree_map("[c-h]{1,3}", any_json(), 0..3);
    (any::<u64>(), inner(), rest).prop_map(|(id, inner, rest)| Flattened { id, inner, rest })
}

fn everything() -> impl Strategy<Value = Everything> {
    use proptest::collection::{btree_map, vec};
    let plain = (
        any::<(u8, u16, u32, u64, i8, i16, i32, i64)>(),
        any::<usize>(),
        float(),
        any::<bool>(),
        any::<char>(),
        any::<String>(),
        any::<i16>(),
        any::<(u8, String)>(),
    );
    let inside = (
        proptest::option::of(inner()),
        any::<Option<u8>>(),
        vec(external(), 0..4),
        any::<Vec<u8>>(),
    );
    let maps = (
        btree_map(any::<i32>(), colour(), 0..4),
        btree_map(any::<bool>(), internal(), 0..3),
        btree_map(any::<char>(), adjacent(), 0..4),
        btree_map(colour(), untagged(), 0..3),
    );
    (plain, inside, maps, flattened(), any_json()).prop_map(
        |(plain, inside, maps, flattened, any)| Everything {
            numbers: plain.0,
            size: plain.1,
            float: plain.2,
            yes: plain.3,
            letter: plain.4,
            text: plain.5,
            unit: (),
            unit_struct: Unit,
            newtype: Newtype(plain.6),
            pair: Pair(plain.7.0, plain.7.1),
            optional: inside.0,
            boxed_optional: inside.1.map(|number| Box::new(Some(number))),
            list: inside.2,
            bytes: Bytes(inside.3),
            by_number: maps.0,
            by_boolean: maps.1,
            by_letter: maps.2,
            by_colour: maps.3,
            flattened,
            any,
        },
    )
}

/// Both parsers on the same value: the same result, or both reject it.
fn same_reading<T: DeserializeOwned + PartialEq + Debug>(value: &serde_json::Value) {
    let theirs = serde_json::from_value::<T>(value.clone());
    let ours = to_type::<T>(&Value::from(value));
    match (&ours, &theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs, "{value}"),
        (Err(_), Err(_)) => {}
        _ => panic!("{value}: ours {ours:?}, theirs {theirs:?}"),
    }
}

fn same_reading_by_all(value: &serde_json::Value) {
    same_reading::<Everything>(value);
    same_reading::<Flattened>(value);
    same_reading::<External>(value);
    same_reading::<Internal>(value);
    same_reading::<Adjacent>(value);
    same_reading::<Untagged>(value);
    same_reading::<Inner>(value);
    same_reading::<Colour>(value);
    same_reading::<(u8, String)>(value);
    same_reading::<[i64; 2]>(value);
    same_reading::<Vec<u8>>(value);
    same_reading::<Bytes>(value);
    same_reading::<Option<char>>(value);
    same_reading::<BTreeMap<u8, serde_json::Value>>(value);
    same_reading::<BTreeMap<i128, serde_json::Value>>(value);
    same_reading::<BTreeMap<bool, i8>>(value);
    same_reading::<HashMap<String, Option<i16>>>(value);
    same_reading::<serde_json::Value>(value);
    same_reading::<u8>(value);
    same_reading::<i32>(value);
    same_reading::<u64>(value);
    same_reading::<i128>(value);
    same_reading::<u128>(value);
    same_reading::<f32>(value);
    same_reading::<f64>(value);
    same_reading::<bool>(value);
    same_reading::<char>(value);
    same_reading::<String>(value);
    same_reading::<()>(value);
    same_reading::<Unit>(value);
    same_reading::<Newtype>(value);
}

/// The given value with one change somewhere.
fn disturbed(value: &serde_json::Value, at: usize, with: &serde_json::Value) -> serde_json::Value {
    fn walk(value: &mut serde_json::Value, left: &mut usize, with: &serde_json::Value) {
        if *left == 0 {
            *value = with.clone();
        }
        *left = left.wrapping_sub(1);
        match value {
            serde_json::Value::Array(items) => {
                for item in items {
                    walk(item, left, with);
                }
            }
            serde_json::Value::Object(members) => {
                for item in members.values_mut() {
                    walk(item, left, with);
                }
            }
            _ => {}
        }
    }
    let mut copy = value.clone();
    walk(&mut copy, &mut at.clone(), with);
    copy
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn types_are_written_as_serde_json_writes_them(value in everything()) {
        let theirs = serde_json::to_value(&value).expect("JSON");
        let ours = from_type(&value).expect("JSON");
        prop_assert_eq!(serde_json::Value::from(&ours), theirs);
    }

    #[test]
    fn types_round_trip(value in everything()) {
        let tree = from_type(&value).expect("JSON");
        prop_assert_eq!(to_type::<Everything>(&tree).expect("the same type"), value);
    }

    #[test]
    fn values_are_read_as_serde_json_reads_them(value in any_json()) {
        same_reading_by_all(&value);
    }

    #[test]
    fn nearly_valid_values_get_the_same_verdict(value in everything(), at in 0usize..80, with in any_json()) {
        let whole = serde_json::to_value(&value).expect("JSON");
        let changed = with_fractions(disturbed(&whole, at, &with));
        same_reading_by_all(&changed);
        for part in changed.as_object().into_iter().flat_map(serde_json::Map::values) {
            same_reading_by_all(part);
        }
    }

    #[test]
    fn wide_integers_keep_their_digits(large in any::<u128>(), small in any::<i128>()) {
        let tree = from_type(&(large, small)).expect("JSON");
        prop_assert_eq!(tree.to_string(), format!("[{large},{small}]"));
        prop_assert_eq!(to_type::<(u128, i128)>(&tree).expect("integers"), (large, small));
    }

    #[test]
    fn small_floats_have_their_own_digits(float in any::<f32>().prop_filter("finite", |float| float.is_finite())) {
        let tree = from_type(&float).expect("JSON");
        // Nine digits distinguish any two of them; as a double it would have seventeen.
        let text = tree.to_string();
        let digits: String = text.split(['e', 'E']).take(1).flat_map(str::chars).filter(char::is_ascii_digit).collect();
        prop_assert!(digits.trim_matches('0').len() <= 9, "{text}");
        prop_assert_eq!(to_type::<f32>(&tree).expect("a float").to_bits(), float.to_bits());
    }

    /// What JSON Schema calls an integer is read as one.
    #[test]
    fn integers_are_read_however_they_are_written(number in any::<i64>(), zeros in 0usize..4) {
        let texts = [
            format!("{number}.{}", "0".repeat(zeros + 1)),
            format!("{number}e0"),
            format!("{number}{}E-{zeros}", "0".repeat(zeros)),
        ];
        for text in texts {
            let tree = read_value(&text).expect("JSON");
            prop_assert_eq!(to_type::<i64>(&tree).expect("an integer"), number);
            prop_assert_eq!(to_type::<Untagged>(&tree).expect("an integer"), Untagged::Number(number));
            prop_assert_eq!(to_type::<i128>(&tree).expect("an integer"), i128::from(number));
        }
    }
}

#[test]
fn fractions_do_not_become_integers() {
    for text in [
        "5.5",
        "1e-1",
        "1e300",
        "12345678901234567890.5",
        "300.0",
        "-1.0",
    ] {
        let tree = read_value(text).expect("JSON");
        assert!(to_type::<u8>(&tree).is_err(), "{text}");
    }
    let tree = read_value("1e2").expect("JSON");
    assert_eq!(to_type::<u8>(&tree).expect("an integer"), 100);
    let tree = read_value("[-0, -0.0]").expect("JSON");
    assert_eq!(to_type::<(u8, i64)>(&tree).expect("zeros"), (0, 0));
    let zeros = to_type::<(f64, f64)>(&tree).expect("zeros");
    assert!(zeros.0.is_sign_negative() && zeros.1.is_sign_negative());
}

#[test]
fn text_is_borrowed_from_the_tree() {
    #[derive(Deserialize)]
    struct Borrowing<'a> {
        plain: &'a str,
        #[serde(borrow)]
        escaped: Cow<'a, str>,
        #[serde(borrow)]
        by_name: BTreeMap<&'a str, &'a str>,
    }
    let text = r#"{"plain":"a","escaped":"b\n","by_name":{"k":"v"}}"#;
    let tree = read_value(text).expect("JSON");
    let read: Borrowing<'_> = to_type(&tree).expect("text");
    assert_eq!(read.plain.as_ptr(), text[10..].as_ptr());
    assert!(matches!(read.escaped, Cow::Borrowed("b\n")));
    assert_eq!(read.by_name["k"], "v");
}

#[test]
fn raw_values_keep_every_digit() {
    #[derive(Serialize, Deserialize)]
    struct Raw {
        any: Box<RawValue>,
    }
    let text = r#"{"any":{"id":12345678901234567890123,"share":0.10}}"#;
    let tree = read_value(text).expect("JSON");
    let raw: Raw = to_type(&tree).expect("raw");
    assert_eq!(
        raw.any.get(),
        r#"{"id":12345678901234567890123,"share":0.10}"#
    );
    assert_eq!(from_type(&raw).expect("JSON").to_string(), text);
    // Our own trees go through unchanged too.
    assert_eq!(from_type(&tree).expect("JSON").to_string(), text);
}

#[test]
fn floats_without_a_json_form_are_reported_with_their_path() {
    let mismatch = from_type(&json_like(f64::NAN)).expect_err("no NaN in JSON");
    assert_eq!(mismatch.path().as_pointer(), "/rows/1/Fields/right");
    assert_eq!(
        mismatch.to_string(),
        "/rows/1/Fields/right: NaN has no JSON form"
    );
    assert!(from_type(&f32::NEG_INFINITY).is_err());
    assert!(from_type(&BTreeMap::from([("a", vec![f64::INFINITY])])).is_err());
}

fn json_like(right: f64) -> BTreeMap<&'static str, Vec<External>> {
    let fields = External::Fields {
        left: String::new(),
        right: Some(right),
    };
    BTreeMap::from([("rows", vec![External::Nothing, fields])])
}

#[test]
fn depth_is_bounded() {
    #[derive(Serialize)]
    struct Nested(Option<Box<(Nested,)>>);
    fn nested(depth: usize) -> Nested {
        (0..depth).fold(Nested(None), |inner, _| Nested(Some(Box::new((inner,)))))
    }
    assert!(from_type(&nested(100)).is_ok());
    let mismatch = from_type(&nested(101)).expect_err("too deep");
    assert_eq!(mismatch.path().segments().count(), 100);
    let raw = RawValue::from_string(format!("{}{}", "[".repeat(99), "]".repeat(99))).expect("JSON");
    assert!(from_type(&[&raw]).is_ok());
    assert!(from_type(&[[&raw]]).is_err());
}

#[test]
fn repeated_keys_do_no_harm() {
    struct Twice;
    impl Serialize for Twice {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map([("a", 1), ("b", 2), ("a", 3)])
        }
    }

    let tree = read_value(r#"{"a":1,"a":2}"#).expect("JSON");
    assert_eq!(
        to_type::<HashMap<String, u8>>(&tree).expect("a map")["a"],
        2
    );
    let mismatch = to_type::<Inner>(&tree).expect_err("twice");
    assert_eq!(mismatch.message(), "duplicate field `a`");
    assert_eq!(
        from_type(&Twice).expect("JSON").to_string(),
        r#"{"a":3,"b":2}"#
    );
}

#[test]
fn a_mismatch_names_its_path_and_reason() {
    let read = |text: &str| {
        let tree = read_value(text).expect("JSON");
        let mismatch = to_type::<BTreeMap<String, Vec<Inner>>>(&tree).expect_err("does not fit");
        mismatch.to_string()
    };
    assert_eq!(
        read(r#"{"x":[{"a":1},{"a":"one"}]}"#),
        r#"/x/1/a: invalid type: string "one", expected i8"#
    );
    assert_eq!(read(r#"{"x":[{}]}"#), "/x/0: missing field `a`");
    assert_eq!(
        read(r#"{"x":[{"a":300}]}"#),
        "/x/0/a: invalid value: integer `300`, expected i8"
    );
    assert_eq!(
        read(r#"{"x":[{"a":1,"b":null},null]}"#),
        "/x/1: invalid type: null, expected struct Inner"
    );
    let tree = read_value(r#""green""#).expect("JSON");
    assert_eq!(
        to_type::<Colour>(&tree).expect_err("no colour").to_string(),
        "unknown variant `green`, expected `dark_red` or `blue`"
    );
}
