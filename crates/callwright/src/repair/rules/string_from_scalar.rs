//! A text that was sent without quotes: `5` for a string.
//!
//! Ids, zip codes and versions are texts that look like numbers. Lossless: the digits are kept as they
//! were written. `true` is left alone: nobody knows whether `"true"`, `"True"` or `"yes"` is meant.

use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::Value;

pub(super) const RULE: Rule = Rule {
    name: "string_from_scalar",
    grade: Grade::Lossless,
    cost: 1,
    up_to: Stakes::Destroys,
    about: "A text that was sent without quotes, `5`, becomes a text.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    match site.wrong_type()? {
        scalar @ Value::Number(_) => Some(site.replace(Value::String(scalar.to_string().into()))),
        _ => None,
    }
}
