//! Checks that a schema agrees with its type when a tool is registered.
//!
//! Takes a schema and a type; returns a sentence for the operator if the schema accepts a value that the type rejects. A
//! derived schema agrees by construction, but a hand-written part may not (`#[schemars(with = …)]`, a custom `JsonSchema` or
//! `Deserialize`, a rename in one of two places). Found here, a disagreement is an error at program start; found later, it is a
//! call that fails although the model did nothing wrong.
//!
//! Sample values are made from the schema ([`samples`]), and those that our validator accepts are converted to the type. The
//! first conversion that fails counts, except that the following rules avoid false alarms:
//!
//! - The wrong type of value, a missing or unknown field, an unknown variant, a wrong number of items or an integer outside the
//!   limits of its Rust type is a disagreement: the schema could have expressed it.
//! - Any other objection is the type's own (`try_from`, a text parser, a check across fields). It is a disagreement only for a
//!   value that the schema names: in its `enum`, `const`, `default` or `examples`, as a limit that its author chose, or `null`.
//!   No schema expresses everything, so for a made-up value it is not. A call with such a value fails later, with that
//!   objection.
//! - The same holds for the made-up keys of a map.
//!
//! It never runs a tool, and never claims that schema and type do agree: samples cannot prove that.

mod samples;
mod scalars;

use serde::de::DeserializeOwned;
use serde_json::Value as Schema;

use super::schema::is_limit_of_a_type;
use crate::json::{Mismatch, MismatchCause, Value, to_arguments};
use crate::text::snippet;
use crate::validate::CompiledSchema;

/// How much of a sample is shown, in characters: a line or two.
const SHOWN: usize = 160;

/// Why the schema of a tool's arguments and their type disagree, as a sentence for the operator; `None` if no sample shows a
/// disagreement.
pub(crate) fn input_disagreement<A: DeserializeOwned>(schema: &Schema) -> Option<String> {
    // A schema that does not compile is reported elsewhere.
    let compiled = CompiledSchema::compile(schema.clone()).ok()?;
    let mut named = None;
    for sample in samples::samples(schema) {
        let sample = Value::from(&sample);
        if !compiled.accepts(&sample) {
            continue;
        }
        let Err(mismatch) = to_arguments::<A>(&sample) else {
            continue;
        };
        let named = named.get_or_insert_with(|| NamedBySchema::of(schema));
        if is_disagreement(&mismatch, &sample, named) {
            return Some(sentence(&mismatch, &sample));
        }
    }
    None
}

fn is_disagreement(mismatch: &Mismatch, sample: &Value<'_>, named: &NamedBySchema<'_>) -> bool {
    let path = mismatch.path();
    let cause = mismatch.cause();
    if mismatch.is_about_key() && cause != MismatchCause::UnknownField {
        return path
            .last()
            .is_some_and(|key| named.keys.contains(&key.as_ref()));
    }
    let value = sample.at(&path);
    match cause {
        MismatchCause::Kind
        | MismatchCause::Variant
        | MismatchCause::UnknownField
        | MismatchCause::MissingField
        | MismatchCause::RepeatedField => true,
        MismatchCause::Length if matches!(value, Some(Value::Array(_))) => true,
        MismatchCause::Value if is_about_limits(mismatch) => true,
        MismatchCause::Length | MismatchCause::Value | MismatchCause::Own => {
            value.is_some_and(|value| named.has_value(&value.into()))
        }
    }
}

/// Whether serde reports an integer outside the limits of its type.
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
            "the schema accepts {whole}, the type does not: {message}; make the two agree"
        );
    }
    let part = sample.at(&path).unwrap_or(&Value::Null).to_string();
    let part = snippet(&part, SHOWN);
    format!(
        "{path}: the schema accepts {part}, the type does not: {message} (in {whole}); make the two agree"
    )
}

/// The values and keys that a schema itself names, as opposed to made-up ones.
#[derive(Debug, Default)]
struct NamedBySchema<'s> {
    values: Vec<&'s Schema>,
    limits: Vec<f64>,
    keys: Vec<&'s str>,
}

impl<'s> NamedBySchema<'s> {
    fn of(schema: &'s Schema) -> Self {
        let mut named = NamedBySchema::default();
        named.collect(schema);
        named
    }

    /// Whether the schema names this value. A schema that allows `null` names it.
    fn has_value(&self, value: &Schema) -> bool {
        value.is_null()
            || self.values.contains(&value)
            || value
                .as_f64()
                .is_some_and(|number| self.limits.contains(&number))
    }

    fn collect(&mut self, schema: &'s Schema) {
        let Schema::Object(members) = schema else {
            return;
        };
        for (key, value) in members {
            match (key.as_str(), value) {
                ("const" | "default", value) => self.add(value),
                ("enum" | "examples", Schema::Array(values)) => {
                    for value in values {
                        self.add(value);
                    }
                }
                (
                    "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum",
                    Schema::Number(limit),
                ) if !is_limit_of_a_type(limit) => {
                    let inwards = match key.as_str() {
                        "exclusiveMinimum" => 1.0,
                        "exclusiveMaximum" => -1.0,
                        _ => 0.0,
                    };
                    self.limits
                        .extend(limit.as_f64().map(|limit| limit + inwards));
                }
                (
                    "properties" | "patternProperties" | "$defs" | "definitions"
                    | "dependentSchemas",
                    Schema::Object(parts),
                ) => {
                    if key == "properties" {
                        self.keys.extend(parts.keys().map(String::as_str));
                    }
                    parts.values().for_each(|part| self.collect(part));
                }
                (_, Schema::Array(parts)) => parts.iter().for_each(|part| self.collect(part)),
                (_, part) => self.collect(part),
            }
        }
    }

    /// Adds a value and everything inside it.
    fn add(&mut self, value: &'s Schema) {
        self.values.push(value);
        match value {
            Schema::Array(items) => items.iter().for_each(|item| self.add(item)),
            Schema::Object(members) => {
                self.keys.extend(members.keys().map(String::as_str));
                members.values().for_each(|member| self.add(member));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
