//! An allowed value in another spelling: `"Shipped"` or `"in progress"` for `"shipped"`, `"in_progress"`.
//!
//! Lossless where exactly one allowed value is the same but for case, separators and white space. In short words and in
//! those with capitals inside, case may be the meaning (`Mbar`, `mbar`; `MBps`, `Mbps`), so there all allowed values must be
//! written alike: then it is a convention.

use serde_json::Value as Schema;

use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::Value;
use crate::nearest::same_spelling;
use crate::words::IssueCode;

pub(super) const RULE: Rule = Rule {
    name: "enum_spelling",
    grade: Grade::Lossless,
    cost: 1,
    up_to: Stakes::Destroys,
    about: "An allowed value in another spelling, `\"In Progress\"` for `\"in_progress\"`, is written as the schema does.",
    propose,
};

/// Names of units are short: `mbar`, `Mmol`.
const LONGEST_UNIT: usize = 4;

fn propose(site: &Site<'_>) -> Option<Change> {
    if !matches!(site.code(), IssueCode::Enum | IssueCode::Const) {
        return None;
    }
    let text = site.value()?.as_str()?;
    let node = site.node()?;
    let allowed: Vec<&str> = match site.code() {
        IssueCode::Enum => node
            .get("enum")?
            .as_array()?
            .iter()
            .filter_map(Schema::as_str)
            .collect(),
        _ => node.get("const")?.as_str().into_iter().collect(),
    };
    // `MBps` beside `KBps`, `Mbar` beside `kbar`: case may be all that tells two units apart.
    let short = text.chars().filter(|c| c.is_alphabetic()).count() <= LONGEST_UNIT;
    let units = short || !is_of_words(text) || !allowed.iter().all(|option| is_of_words(option));
    if units && !written_alike(&allowed) {
        return None;
    }
    let mut same = allowed
        .into_iter()
        .filter(|option| same_spelling(option, text));
    match (same.next(), same.next()) {
        (Some(only), None) => Some(site.replace(Value::String(only.to_owned().into()))),
        _ => None,
    }
}

/// Whether all are written in small letters, or all in capitals, or all with a capital in front of each word.
fn written_alike(allowed: &[&str]) -> bool {
    let small = |text: &&str| !text.contains(char::is_uppercase);
    let capital = |text: &&str| !text.contains(char::is_lowercase);
    let in_front = |text: &&str| text.starts_with(char::is_uppercase) && is_of_words(text);
    allowed.iter().all(small) || allowed.iter().all(capital) || allowed.iter().all(in_front)
}

/// Whether the text has no small letters, or every capital begins a word of them. `MBps` and `kWh` are not words.
fn is_of_words(text: &str) -> bool {
    let characters: Vec<char> = text.chars().collect();
    let begins_a_word = |at: usize| {
        characters
            .get(at + 1)
            .is_some_and(|next| next.is_lowercase())
    };
    let mut capitals = characters
        .iter()
        .enumerate()
        .filter(|(_, c)| c.is_uppercase());
    !text.contains(char::is_lowercase) || capitals.all(|(at, _)| begins_a_word(at))
}
