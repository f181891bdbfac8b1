//! A single value that was sent as a list of one: `["a"]` for a string.
//!
//! Lossless: the one value is still there. A list of two is never cut to one, and a list of nothing stays one: `[null]` for a
//! filter must not become no filter.

use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::Value;

pub(super) const RULE: Rule = Rule {
    name: "scalar_from_array",
    grade: Grade::Lossless,
    cost: 2,
    up_to: Stakes::Destroys,
    about: "A list of one, `[\"a\"]`, for a single value becomes that value.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    if site.path().is_root() {
        return None;
    }
    match site.wrong_type()? {
        Value::Array(items) => match items.as_slice() {
            [only] if says_something(only) => Some(site.replace(only.clone())),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a value is more than a word or a bracket for nothing.
pub(super) fn says_something(value: &Value<'_>) -> bool {
    const NOTHING: [&str; 7] = ["", "null", "none", "nil", "undefined", "nan", "n/a"];
    match value {
        Value::Null => false,
        Value::String(text) => !NOTHING.contains(&text.trim().to_lowercase().as_str()),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}
