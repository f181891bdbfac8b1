//! A Rust number type → the numbers it can hold.
//!
//! `format: "uint32"` means nothing to a model, and validators ignore it. This replaces it with the exact limits of the type,
//! unless the schema already has narrower ones.

use std::cmp::Ordering;

use serde_json::{Number, Value as Schema};

use super::SchemaMembers;

/// The least or the greatest number of a type.
struct TypeLimit {
    number: Number,
    /// `false` if JSON cannot express the limit exactly (128 bits): then it is a power of two that is not reached. Numbers so
    /// close to it that they are the same float are left out; the type would reject half of them.
    is_reached: bool,
}

/// Rust's integer types, by the formats that `schemars` gives them.
fn integer_types() -> impl Iterator<Item = (&'static str, [TypeLimit; 2])> {
    fn reached(number: impl Into<Number>) -> TypeLimit {
        TypeLimit {
            number: number.into(),
            is_reached: true,
        }
    }
    macro_rules! exact {
        ($($format:literal: $kind:ty),*) => {
            [$(($format, [reached(<$kind>::MIN), reached(<$kind>::MAX)])),*]
        };
    }
    let exact = exact![
        "int8": i8, "int16": i16, "int32": i32, "int64": i64, "int": isize,
        "uint8": u8, "uint16": u16, "uint32": u32, "uint64": u64, "uint": usize
    ];
    let unreached = |number| {
        let number = Number::from_f64(number)?;
        Some(TypeLimit {
            number,
            is_reached: false,
        })
    };
    let signed = unreached(-(2f64.powi(127))).zip(unreached(2f64.powi(127)));
    let unsigned = Some(reached(0)).zip(unreached(2f64.powi(128)));
    let wide = [("int128", signed), ("uint128", unsigned)];
    let wide = wide
        .into_iter()
        .filter_map(|(format, limits)| Some((format, limits?.into())));
    exact.into_iter().chain(wide)
}

/// Whether a number is the least or the greatest of some Rust integer type, and so not a limit that an author chose.
pub(crate) fn is_limit_of_a_type(number: &Number) -> bool {
    integer_types().any(|(_, limits)| limits.iter().any(|limit| limit.number == *number))
}

/// Replaces the name of a number type with its limits.
pub(super) fn exact_limits(members: &mut SchemaMembers) {
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
    let Some((_, [least, greatest])) = integer_types()
        .find(|(name, _)| *name == format)
        .filter(|_| allows(members, "integer"))
    else {
        return;
    };
    members.remove("format");
    if members.contains_key("enum") || members.contains_key("const") {
        return;
    }
    let keys = ["minimum", "exclusiveMinimum"];
    set_limit(members, keys, &least, Ordering::Less);
    let keys = ["maximum", "exclusiveMaximum"];
    set_limit(members, keys, &greatest, Ordering::Greater);
}

/// Sets one limit, unless the schema has one that is at least as narrow. `wider` is how a wider limit compares.
fn set_limit(
    members: &mut SchemaMembers,
    [inclusive, exclusive]: [&str; 2],
    limit: &TypeLimit,
    wider: Ordering,
) {
    let chosen =
        |key: &str, members: &SchemaMembers| members.get(key).and_then(Schema::as_number).cloned();
    let narrow = |chosen: &Number, limit: &Number| compare(chosen, limit) != wider;
    if let Some(outside) = chosen(exclusive, members).filter(|chosen| narrow(chosen, &limit.number))
    {
        // The generator also writes the inclusive limit of the type.
        if chosen(inclusive, members).is_some_and(|other| narrow(&outside, &other)) {
            members.remove(inclusive);
        }
        return;
    }
    members.remove(exclusive);
    if chosen(inclusive, members).is_some_and(|chosen| narrow(&chosen, &limit.number)) {
        return;
    }
    members.remove(inclusive);
    let key = if limit.is_reached {
        inclusive
    } else {
        exclusive
    };
    members.insert(key.to_owned(), limit.number.clone().into());
}

/// Compares integers exactly: as floats, the limits of 64 bits equal their neighbours.
fn compare(left: &Number, right: &Number) -> Ordering {
    if let (Some(left), Some(right)) = (left.as_i128(), right.as_i128()) {
        return left.cmp(&right);
    }
    let [left, right] = [left, right].map(|number| number.as_f64().unwrap_or_default());
    left.total_cmp(&right)
}

fn allows(members: &SchemaMembers, kind: &str) -> bool {
    match members.get("type") {
        Some(Schema::String(only)) => only == kind,
        Some(Schema::Array(kinds)) => kinds.iter().any(|one| one == kind),
        _ => false,
    }
}

/// The default of an `f32` is written with the digits of an `f64`: 0.1 as 0.10000000149011612.
fn short_default(members: &mut SchemaMembers) {
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
