//! A boolean that was sent as text: `"true"`, `"False"`.
//!
//! Lossless. `"yes"`, `"1"` and the like are not taken: they may be values of their own.

use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::Value;

pub(super) const RULE: Rule = Rule {
    name: "boolean_from_string",
    grade: Grade::Lossless,
    cost: 1,
    up_to: Stakes::Destroys,
    about: "A boolean that was sent as text, `\"true\"` or `\"False\"`, becomes one.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    let text = site.misplaced_text()?.trim();
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    match (is("true"), is("false")) {
        (true, _) => Some(site.replace(Value::Bool(true))),
        (_, true) => Some(site.replace(Value::Bool(false))),
        _ => None,
    }
}
