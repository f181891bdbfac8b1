//! Attributes of a span or an event, in either notation.

use std::borrow::Cow;

use callwright::json::Value;

use crate::read::pick::{inner_json, list};

/// Keys with their values.
#[derive(Debug, Default)]
pub(super) struct Attributes<'a>(Vec<(Cow<'a, str>, Value<'a>)>);

impl<'a> Attributes<'a> {
    /// `[{"key": …, "value": {"stringValue": …}}]` as in OTLP, or an object.
    pub(super) fn new(attributes: Option<Value<'a>>) -> Self {
        Attributes(match attributes {
            Some(Value::Object(members)) => members,
            Some(Value::Array(items)) => items
                .into_iter()
                .filter_map(|mut item| match item.take("key") {
                    Some(Value::String(key)) => {
                        Some((key, plain(item.take("value").unwrap_or_default())))
                    }
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        })
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value<'a>> {
        let found = self.0.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value)
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Value::as_str)
    }

    /// Takes the first of these space-separated keys that exists.
    pub(super) fn take(&mut self, keys: &str) -> Option<Value<'a>> {
        keys.split(' ').find_map(|key| {
            let at = self.0.iter().position(|(name, _)| name == key)?;
            Some(self.0.swap_remove(at).1).filter(|value| *value != Value::Null)
        })
    }

    /// Takes the first of these as JSON, which is mostly inside a string.
    pub(super) fn take_json(&mut self, keys: &str) -> Option<Value<'a>> {
        match self.take(keys)? {
            Value::String(text) => inner_json(&text),
            value => Some(value),
        }
    }

    /// All of them.
    pub(super) fn into_all(self) -> Vec<(Cow<'a, str>, Value<'a>)> {
        self.0
    }
}

/// The value in an OTLP `AnyValue`.
fn plain(value: Value<'_>) -> Value<'_> {
    let Value::Object(mut members) = value else {
        return value;
    };
    if members.len() != 1 {
        return Value::Object(members);
    }
    let Some((kind, mut inner)) = members.pop() else {
        return Value::Null;
    };
    match kind.as_ref() {
        "stringValue" | "string_value" | "boolValue" | "doubleValue" => inner,
        // Written as text, so that no digit is lost.
        "intValue" | "int_value" => match &inner {
            Value::String(digits) => digits.parse::<i64>().map_or(Value::Null, |number| {
                Value::Number(callwright::json::Number::from(number))
            }),
            _ => inner,
        },
        "arrayValue" | "array_value" => {
            Value::Array(list(&mut inner, "values").into_iter().map(plain).collect())
        }
        "kvlistValue" | "kvlist_value" => {
            let values = inner.take("values");
            Value::Object(Attributes::new(values).0)
        }
        _ => Value::Object(vec![(kind, inner)]),
    }
}
