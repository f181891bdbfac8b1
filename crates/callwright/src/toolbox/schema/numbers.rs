//! How Rust holds a number → which numbers it can be.
//!
//! `format: "uint32"` tells a model nothing and is checked by nobody. Out goes the same schema with the exact
//! limits of the type instead, unless a narrower limit is there already.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value as Schema};

type Members = Map<String, Schema>;

/// The integers that a Rust type can be.
struct Limits {
    lowest: Limit,
    highest: Limit,
}

enum Limit {
    /// The type reaches it.
    Inclusive(Number),
    /// Where JSON cannot write the limit exactly (128 bits): a power of two that is not reached. Numbers
    /// so close to it that they are the same float are left out; the type would not take half of them.
    Exclusive(Number),
}

impl Limit {
    fn number(&self) -> &Number {
        match self {
            Limit::Inclusive(number) | Limit::Exclusive(number) => number,
        }
    }
}

fn limits(lowest: impl Into<Number>, highest: impl Into<Number>) -> Limits {
    Limits {
        lowest: Limit::Inclusive(lowest.into()),
        highest: Limit::Inclusive(highest.into()),
    }
}

fn limits_of(format: &str) -> Option<Limits> {
    Some(match format {
        "int8" => limits(i8::MIN, i8::MAX),
        "int16" => limits(i16::MIN, i16::MAX),
        "int32" => limits(i32::MIN, i32::MAX),
        "int64" => limits(i64::MIN, i64::MAX),
        "int" => limits(isize::MIN, isize::MAX),
        "uint8" => limits(u8::MIN, u8::MAX),
        "uint16" => limits(u16::MIN, u16::MAX),
        "uint32" => limits(u32::MIN, u32::MAX),
        "uint64" => limits(u64::MIN, u64::MAX),
        "uint" => limits(usize::MIN, usize::MAX),
        "int128" => Limits {
            lowest: Limit::Exclusive(Number::from_f64(-(2f64.powi(127)))?),
            highest: Limit::Exclusive(Number::from_f64(2f64.powi(127))?),
        },
        "uint128" => Limits {
            lowest: Limit::Inclusive(0.into()),
            highest: Limit::Exclusive(Number::from_f64(2f64.powi(128))?),
        },
        _ => return None,
    })
}

/// Whether a number is the least or the greatest of some integer type of Rust: a limit that nobody chose.
pub(crate) fn is_limit_of_a_type(number: &Number) -> bool {
    let formats = [
        "int8", "int16", "int32", "int64", "int", "uint8", "uint16", "uint32", "uint64", "uint",
        "int128", "uint128",
    ];
    formats
        .into_iter()
        .filter_map(limits_of)
        .any(|limits| limits.lowest.number() == number || limits.highest.number() == number)
}

/// Replaces the name of a number type by its limits.
pub(super) fn exact_limits(members: &mut Members) {
    let Some(format) = members.get("format").and_then(Schema::as_str) else {
        return;
    };
    if matches!(format, "float" | "double") && allows(members, "number") {
        if format == "float" {
            short_default(members);
        }
        members.remove("format");
        return;
    }
    let Some(limits) = limits_of(format).filter(|_| allows(members, "integer")) else {
        return;
    };
    members.remove("format");
    if members.contains_key("enum") || members.contains_key("const") {
        return;
    }
    let keys = ["minimum", "exclusiveMinimum"];
    set_limit(members, keys, &limits.lowest, Ordering::Less);
    let keys = ["maximum", "exclusiveMaximum"];
    set_limit(members, keys, &limits.highest, Ordering::Greater);
}

/// Sets one limit, unless the schema has one that is as narrow. `wider` is how a wider one compares.
fn set_limit(
    members: &mut Members,
    [inclusive, exclusive]: [&str; 2],
    limit: &Limit,
    wider: Ordering,
) {
    let chosen =
        |key: &str, members: &Members| members.get(key).and_then(Schema::as_number).cloned();
    let narrow = |chosen: &Number, limit: &Number| compare(chosen, limit) != wider;
    if let Some(outside) =
        chosen(exclusive, members).filter(|chosen| narrow(chosen, limit.number()))
    {
        // The generator writes the inclusive limit of the type beside it.
        if chosen(inclusive, members).is_some_and(|other| narrow(&outside, &other)) {
            members.remove(inclusive);
        }
        return;
    }
    members.remove(exclusive);
    if chosen(inclusive, members).is_some_and(|chosen| narrow(&chosen, limit.number())) {
        return;
    }
    members.remove(inclusive);
    let key = match limit {
        Limit::Inclusive(_) => inclusive,
        Limit::Exclusive(_) => exclusive,
    };
    members.insert(key.to_owned(), limit.number().clone().into());
}

/// Integers exactly; as floats, the limits of 64 bits look like their neighbours.
fn compare(left: &Number, right: &Number) -> Ordering {
    if let (Some(left), Some(right)) = (left.as_i128(), right.as_i128()) {
        return left.cmp(&right);
    }
    let [left, right] = [left, right].map(|number| number.as_f64().unwrap_or_default());
    left.total_cmp(&right)
}

fn allows(members: &Members, kind: &str) -> bool {
    match members.get("type") {
        Some(Schema::String(only)) => only == kind,
        Some(Schema::Array(kinds)) => kinds.iter().any(|one| one == kind),
        _ => false,
    }
}

/// The default of an `f32` comes with the digits of an `f64`: 0.1 as 0.10000000149011612.
fn short_default(members: &mut Members) {
    let Some(default) = members.get_mut("default") else {
        return;
    };
    #[expect(clippy::cast_possible_truncation, reason = "it was an f32 before")]
    let short = default.as_f64().map(|wide| format!("{:?}", wide as f32));
    if let Some(number) = short
        .and_then(|text| text.parse::<f64>().ok())
        .and_then(Number::from_f64)
    {
        *default = number.into();
    }
}
