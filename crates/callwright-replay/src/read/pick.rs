//! Takes parts out of JSON values without copying.

use callwright::internal::take_list;
pub(super) use callwright::internal::{object, present};
use callwright::json::Value;
use callwright::parse::read_value;

/// Takes the first of these members that is there and not null.
pub(super) fn first_of<'a>(value: &mut Value<'a>, keys: &[&str]) -> Option<Value<'a>> {
    keys.iter().find_map(|key| present(value, key))
}

/// Takes a list; nothing if there is none.
pub(super) fn list<'a>(value: &mut Value<'a>, key: &str) -> Vec<Value<'a>> {
    take_list(value, key).unwrap_or_default()
}

/// A member that is a text.
pub(super) fn text<'v>(value: &'v Value<'_>, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

pub(super) fn has(value: &Value<'_>, key: &str) -> bool {
    value.get(key).is_some_and(|member| *member != Value::Null)
}

pub(super) fn has_list(value: &Value<'_>, key: &str) -> bool {
    matches!(value.get(key), Some(Value::Array(_)))
}

pub(super) fn has_object(value: &Value<'_>, key: &str) -> bool {
    matches!(value.get(key), Some(Value::Object(_)))
}

pub(super) fn is_true(value: &Value<'_>, key: &str) -> bool {
    value.get(key) == Some(&Value::Bool(true))
}

/// A value, or the one inside a string as JSON, as some logs store bodies.
pub(super) fn opened(value: Value<'_>) -> Value<'_> {
    match value {
        Value::String(text) => match inner_json(&text) {
            Some(inner) => inner,
            None => Value::String(text),
        },
        other => other,
    }
}

/// The JSON object or array inside a string.
pub(super) fn inner_json(text: &str) -> Option<Value<'static>> {
    let text = text.trim_ascii();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    read_value(text).ok().map(Value::into_owned)
}

/// Sets a member, replacing any previous value.
pub(super) fn set(value: &mut Value<'_>, key: &'static str, text: &'static str) {
    if let Value::Object(members) = value {
        members.retain(|(name, _)| name != key);
        members.push((key.into(), Value::String(text.into())));
    }
}
