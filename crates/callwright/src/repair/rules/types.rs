//! Rules for a value of the wrong type that contains the right one.

use std::borrow::Cow;

use serde_json::Value as Schema;

use super::super::tolerant::{self, is_number};
use super::super::{Edit, liberties};
use super::{ObjectionSite, ProposedEdit, only};
use crate::json::{Number, Value, keyword, read_value};

/// The most common mistake: everything in quotes. Lossless, digit for digit; `"5 apples"` and `"1,000"` are not numbers, and
/// `"1.000"` is a thousand in half of the world.
pub(super) fn number_from_string(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let digits = digits(site).filter(|digits| !is_grouped(digits))?;
    Some(number(site, digits))
}

/// The same for `"1.234"`. The point of JSON is a decimal point, so this is lossless as well; but people in half of Europe write
/// a thousand like this, and a tool that pays or deletes would take one for it.
pub(super) fn three_decimals_from_string(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let digits = digits(site).filter(|digits| is_grouped(digits))?;
    let wants_whole =
        site.node().and_then(|node| keyword(node, "type")?.as_str()) == Some("integer");
    (!may_be_thousands(digits, wants_whole)).then(|| number(site, digits))
}

/// The digits of a number in a text, without a plus sign.
fn digits<'s>(site: &ObjectionSite<'s, '_>) -> Option<&'s str> {
    let text = site.misplaced_text()?.trim();
    let digits = text
        .strip_prefix('+')
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        .unwrap_or(text);
    is_number(digits).then_some(digits)
}

fn number(site: &ObjectionSite<'_, '_>, digits: &str) -> ProposedEdit {
    site.replace(Value::Number(Number::from_literal(digits.to_owned())))
}

/// Whether a point may be a thousands separator: three digits after it, in an integer or with a zero at the end, which a
/// fraction does not need (`2.500`).
pub(super) fn may_be_thousands(text: &str, wants_whole: bool) -> bool {
    is_grouped(text) && (wants_whole || text.ends_with('0'))
}

/// Whether a number has up to three digits, a point and three more, as people who use it as a thousands separator write one.
fn is_grouped(text: &str) -> bool {
    let parts = text.trim_start_matches('-').split_once('.');
    parts.is_some_and(|(whole, fraction)| {
        (1..=3).contains(&whole.len()) && whole != "0" && fraction.len() == 3
    })
}

/// Lossless. `"yes"`, `"1"` and the like are not converted: they may be values in their own right.
pub(super) fn boolean_from_string(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let text = site.misplaced_text()?.trim();
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    match (is("true"), is("false")) {
        (true, _) => Some(site.replace(Value::Bool(true))),
        (_, true) => Some(site.replace(Value::Bool(false))),
        _ => None,
    }
}

/// A guess, for read-only tools, and only if nothing but a boolean is wanted: `1` may also count something.
pub(super) fn boolean_from_word(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let wanted = site.node().and_then(|node| keyword(node, "type")?.as_str());
    let word = match site.wrong_type()? {
        Value::String(text) => text.trim().to_lowercase(),
        number @ Value::Number(_) => number.to_string(),
        _ => return None,
    };
    let meant = match word.as_str() {
        "1" | "yes" => true,
        "0" | "no" => false,
        _ => return None,
    };
    (wanted == Some("boolean")).then(|| site.replace(Value::Bool(meant)))
}

/// Ids, zip codes and versions are strings that look like numbers. Lossless: the digits are kept as written. `true` is left
/// alone: `"true"`, `"True"` or `"yes"` could be meant.
pub(super) fn string_from_scalar(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    match site.wrong_type()? {
        scalar @ Value::Number(_) => Some(site.replace(Value::String(scalar.to_string().into()))),
        _ => None,
    }
}

/// The words for true and false, by spelling.
const SPELLINGS: [[&str; 2]; 3] = [["true", "false"], ["True", "False"], ["TRUE", "FALSE"]];

/// Tools that pass options on declare switches as strings. Lossless, and only if the schema itself has such a word among its
/// allowed values, as its default or example, or both words in its description: that shows that the string is a switch, and
/// whether it is `true`, `True` or `TRUE`. Otherwise the word is unknown (`yes`, `on`, `1`), and with two spellings neither is
/// certain. The word itself must be there, or be spelt as it was sent: nothing is invented.
pub(super) fn string_from_boolean(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let Value::Bool(sent) = site.value()? else {
        return None;
    };
    let node = site.schema.follow(site.node()?);
    if keyword(node, "type")?.as_str()? != "string" {
        return None;
    }
    let [yes, no] = only(SPELLINGS.iter().filter(|words| writes(node, words)))?;
    let word = if *sent { *yes } else { *no };
    let as_sent = [yes, no] == [&"true", &"false"];
    let mut written = values(node).chain(description(node));
    let known = as_sent || written.any(|written| written == word);
    known.then(|| site.replace(Value::String(word.into())))
}

/// Whether a schema node has one of these words as a value, or both in its description.
fn writes(node: &Schema, words: &[&str; 2]) -> bool {
    let described = |word: &&str| description(node).any(|said| said == *word);
    words.iter().all(described) || values(node).any(|value| words.contains(&value))
}

fn values(node: &Schema) -> impl Iterator<Item = &str> {
    let lists = ["enum", "examples"]
        .into_iter()
        .filter_map(|key| keyword(node, key)?.as_array());
    let single = ["default", "const"]
        .into_iter()
        .filter_map(|key| keyword(node, key));
    lists.flatten().chain(single).filter_map(Schema::as_str)
}

fn description(node: &Schema) -> impl Iterator<Item = &str> {
    let text = keyword(node, "description").and_then(Schema::as_str);
    text.unwrap_or_default()
        .split(|c: char| !c.is_alphanumeric())
}

/// How deep a value in a string may be nested.
const DEEPEST: usize = 64;

/// How many times a value may have been encoded once too often.
const MOST_ENCODED: usize = 3;

/// Models trained on JSON inside JSON encode once too often, or twice; some providers do it to nested values. The text may be
/// Python's notation (`"['a', 'b']"`). Lossless: the values are the same.
pub(super) fn json_from_string(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    const WRITTEN_BY_PYTHON: [&str; 2] = [liberties::SINGLE_QUOTES.name, liberties::LITERAL.name];
    let mut decoded = Cow::Borrowed(site.misplaced_text()?);
    for _ in 1..MOST_ENCODED {
        let Some(Value::String(inner)) = Some(decoded.trim())
            .filter(|text| text.starts_with('"'))
            .and_then(|text| read_value(text).ok())
        else {
            break;
        };
        decoded = Cow::Owned(inner.into_owned());
    }
    let text = decoded.trim();
    if !text.starts_with(['[', '{']) {
        return None;
    }
    let reading = tolerant::read(text, 0, DEEPEST).ok()?;
    let by_python = |edit: &Edit| WRITTEN_BY_PYTHON.contains(&edit.rule);
    // Escapes in Python's notation may belong to the string around it.
    let is_clear = reading.edits.is_empty() || !text.contains('\\');
    let is_whole = reading.end == text.len() && reading.edits.iter().all(by_python);
    (is_clear && is_whole).then(|| site.replace(reading.value))
}
