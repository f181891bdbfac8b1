//! A single value that was sent as a list of one: `["a"]` for a string.
//!
//! Lossless: the one value is still there. A list of two is never cut to one.

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
            [Value::String(text)] if matches!(text.as_ref(), "" | "null" | "None") => None,
            [only] => Some(site.replace(only.clone())),
            _ => None,
        },
        _ => None,
    }
}
