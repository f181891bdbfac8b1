//! To and from `serde_json::Value`, for callers that hold one.

use std::borrow::Cow;

use super::{Number, Value};

impl<'a> From<&'a serde_json::Value> for Value<'a> {
    fn from(value: &'a serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(yes) => Value::Bool(*yes),
            serde_json::Value::Number(number) => {
                Value::Number(Number::from_literal(number.to_string()))
            }
            serde_json::Value::String(text) => Value::String(Cow::Borrowed(text)),
            serde_json::Value::Array(items) => {
                Value::Array(items.iter().map(Value::from).collect())
            }
            serde_json::Value::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|(key, value)| (Cow::Borrowed(key.as_str()), Value::from(value)))
                    .collect(),
            ),
        }
    }
}

impl From<&Value<'_>> for serde_json::Value {
    /// Integers beyond 64 bits become floats here, because `serde_json::Number` has nothing better;
    /// of a key that occurs twice the last value stays.
    fn from(value: &Value<'_>) -> Self {
        match value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(yes) => serde_json::Value::Bool(*yes),
            Value::Number(number) => serde_json::Value::Number(number.into()),
            Value::String(text) => serde_json::Value::String(text.clone().into_owned()),
            Value::Array(items) => items.iter().map(serde_json::Value::from).collect(),
            Value::Object(members) => members
                .iter()
                .map(|(key, value)| (key.clone().into_owned(), serde_json::Value::from(value)))
                .collect(),
        }
    }
}

impl From<&Number<'_>> for serde_json::Number {
    fn from(number: &Number<'_>) -> Self {
        if let Some(small) = number.as_i64() {
            small.into()
        } else if let Some(large) = number.as_u64() {
            large.into()
        } else {
            // Finite by construction, so the fallback is never taken.
            serde_json::Number::from_f64(number.as_f64()).unwrap_or_else(|| 0.into())
        }
    }
}
