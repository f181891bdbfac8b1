//! Does a schema agree with its type? Tried out when a tool is registered.
//!
//! In come a schema and a type, out goes a sentence for the operator if some value is accepted by the schema
//! and refused by the type. A derived schema agrees by itself; a part that somebody wrote by hand may not
//! (`#[schemars(with = …)]`, a `JsonSchema` or `Deserialize` of one's own, a rename in one of two places).
//!
//! A few sample values are made of the schema ([`samples`]), those that our own validator accepts are turned
//! into the type, and the first that fails counts, under this rule, which is made to give no false alarms:
//!
//! - The wrong kind of value, a missing or unknown field, an unknown variant, a wrong number of items or an
//!   integer outside the limits of its Rust type is a disagreement: the schema could have said it.
//! - Any other objection is the type's own (`try_from`, a parser for a text, a check across fields). It
//!   is a disagreement only against a value that the schema itself names: one of its `enum`, its
//!   `const`, `default`, `examples`, a limit that somebody chose, `null`. Against a value that we made up it
//!   is not; no schema says everything. Such a call fails later, as what it is.
//! - The same holds for a key that we made up for a map.
//!
//! It never runs a tool, and it never says that schema and type do agree: samples prove nothing.

mod declared;
mod objects;
mod samples;
mod scalars;

use serde::de::DeserializeOwned;
use serde_json::Value as Schema;

use self::declared::Declared;
use crate::json::{Cause, Mismatch, Value, to_arguments};
use crate::text::snippet;
use crate::validate::CompiledSchema;

/// How much of a sample is shown, in characters: a line or two.
const SHOWN: usize = 160;

/// Why the schema of a tool's arguments and their type do not agree, as a sentence for the operator; `None`
/// if nothing speaks against them.
pub(crate) fn input_disagreement<A: DeserializeOwned>(schema: &Schema) -> Option<String> {
    // A schema that does not compile is told of elsewhere.
    let compiled = CompiledSchema::compile(schema.clone()).ok()?;
    let mut declared = None;
    for sample in samples::samples(schema) {
        let sample = Value::from(&sample);
        if !compiled.accepts(&sample) {
            continue;
        }
        let Err(mismatch) = to_arguments::<A>(&sample) else {
            continue;
        };
        let declared = declared.get_or_insert_with(|| Declared::of(schema));
        if is_disagreement(&mismatch, &sample, declared) {
            return Some(sentence(&mismatch, &sample));
        }
    }
    None
}

fn is_disagreement(mismatch: &Mismatch, sample: &Value<'_>, declared: &Declared<'_>) -> bool {
    let path = mismatch.path();
    let cause = mismatch.cause();
    if mismatch.is_about_key() && cause != Cause::UnknownField {
        return path.last().is_some_and(|key| declared.has_key(&key));
    }
    let value = sample.at(&path);
    match cause {
        Cause::Kind
        | Cause::Variant
        | Cause::UnknownField
        | Cause::MissingField
        | Cause::RepeatedField => true,
        Cause::Length if matches!(value, Some(Value::Array(_))) => true,
        Cause::Value if is_about_limits(mismatch) => true,
        Cause::Length | Cause::Value | Cause::Own => {
            value.is_some_and(|value| declared.has_value(&value.into()))
        }
    }
}

/// Whether serde says that an integer is outside of what its type holds.
fn is_about_limits(mismatch: &Mismatch) -> bool {
    let Some((value, expected)) = mismatch.message().rsplit_once(", expected ") else {
        return false;
    };
    let expected = expected.strip_prefix("a nonzero ").unwrap_or(expected);
    let integers = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize",
    ];
    value.starts_with("invalid value: integer") && integers.contains(&expected)
}

fn sentence(mismatch: &Mismatch, sample: &Value<'_>) -> String {
    let path = mismatch.path();
    let message = mismatch.message();
    let whole = snippet(&sample.to_string(), SHOWN);
    if path.is_root() {
        return format!(
            "the schema accepts {whole}, the type does not: {message}; make the two say the same"
        );
    }
    let part = sample.at(&path).unwrap_or(&Value::Null).to_string();
    let part = snippet(&part, SHOWN);
    format!(
        "{path}: the schema accepts {part}, the type does not: {message} (in {whole}); make the two say the same"
    )
}

#[cfg(test)]
mod tests;
