//! A number that was sent as text: `"10"`, `" 5"`, `"+5"` for a number.
//!
//! The commonest slip of all: everything between quotes. Lossless, digit for digit; `"5 apples"` and
//! `"1,000"` are not numbers.

use super::super::tolerant::is_number;
use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::{Number, Value};

pub(super) const RULE: Rule = Rule {
    name: "number_from_string",
    grade: Grade::Lossless,
    cost: 1,
    up_to: Stakes::Destroys,
    about: "A number that was sent as text, `\"10\"`, becomes a number, digit for digit.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    let text = site.misplaced_text()?.trim();
    let digits = text
        .strip_prefix('+')
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        .unwrap_or(text);
    is_number(digits).then(|| site.replace(Value::Number(Number::from_literal(digits.to_owned()))))
}
