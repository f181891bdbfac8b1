//! A list of one that was sent as its only value: `"a"` for a list of strings.
//!
//! A guess: the value may be a list in some notation, or the wrong thing altogether. A text with
//! separators is left alone, and so is an item of a list: there a list is missing, not its brackets.

use super::super::Grade;
use super::{Change, Rule, Site};
use crate::json::Value;

pub(super) const RULE: Rule = Rule {
    name: "array_from_scalar",
    grade: Grade::Guess,
    cost: 3,
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    let around = site.root.at(&site.path().parent())?;
    if site.path().is_root() || around.as_object().is_none() {
        return None;
    }
    match site.wrong_type()? {
        Value::Null | Value::Array(_) => None,
        Value::String(text)
            if text.contains([',', ';', '\n', '[', '{', '|']) || text.is_empty() =>
        {
            None
        }
        single => Some(site.replace(Value::Array(vec![single.clone()]))),
    }
}
