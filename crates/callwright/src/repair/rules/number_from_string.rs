//! A number that was sent as text: `"10"`, `" 5"`, `"+5"` for a number.
//!
//! The commonest slip of all: everything between quotes. Lossless, digit for digit; `"5 apples"` and
//! `"1,000"` are not numbers, and `"1.000"` is a thousand in half of the world.

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
    let wants_whole = site.node().and_then(|node| node.get("type")?.as_str()) == Some("integer");
    (is_number(digits) && !may_be_thousands(digits, wants_whole))
        .then(|| site.replace(Value::Number(Number::from_literal(digits.to_owned()))))
}

/// Whether a point may set off thousands: three digits after it, of an integer or all zero.
fn may_be_thousands(text: &str, wants_whole: bool) -> bool {
    let Some((whole, fraction)) = text.trim_start_matches('-').split_once('.') else {
        return false;
    };
    let grouped = (1..=3).contains(&whole.len()) && whole != "0" && fraction.len() == 3;
    grouped && (wants_whole || fraction == "000")
}
