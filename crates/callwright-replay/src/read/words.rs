//! Messages about unreadable records. The same reason always has the same words, so that it can be counted.

use std::borrow::Cow;

use callwright::json::Value;
use callwright::parse::{Problem, SyntaxError};

/// How many keys of a record are named.
const KEYS: usize = 6;

/// How many characters of a key are shown.
const KEY_LENGTH: usize = 24;

pub(super) fn not_json(error: &SyntaxError, text: &str) -> Cow<'static, str> {
    let begins_as_json = text.starts_with(['{', '[']);
    match error.problem {
        Problem::CutOff => Cow::Borrowed("not JSON: the record is cut off"),
        Problem::TooDeep => Cow::Borrowed("nested deeper than 1,000 levels, which is not read"),
        Problem::TrailingText => {
            Cow::Borrowed("not JSON: something follows the document; write one per line")
        }
        _ if begins_as_json => Cow::Borrowed("not JSON: a syntax error"),
        _ => Cow::Borrowed("not JSON, and not a known kind of log line"),
    }
}

/// A JSON value in no known format.
pub(super) fn unknown(value: &Value<'_>) -> Cow<'static, str> {
    let Some(members) = value.as_object() else {
        let found = value.kind().name();
        return Cow::Owned(format!("in no known format: {found} instead of an object"));
    };
    let mut keys: Vec<String> = members
        .iter()
        .take(KEYS)
        .map(|(key, _)| plain(key))
        .collect();
    if members.len() > KEYS {
        keys.push("…".to_owned());
    }
    let keys = if keys.is_empty() {
        "no keys".to_owned()
    } else {
        format!("the keys {}", keys.join(", "))
    };
    Cow::Owned(format!(
        "in no known format: an object with {keys}; see docs/replay-formats.md"
    ))
}

/// The beginning of a text from the log, with everything replaced that could break a line.
pub(super) fn plain(text: &str) -> String {
    let shown = |character: char| match character {
        '\u{20}'..='\u{7e}' => character,
        other if other.is_alphanumeric() => other,
        _ => '?',
    };
    let mut out: String = text.chars().take(KEY_LENGTH).map(shown).collect();
    if text.chars().nth(KEY_LENGTH).is_some() {
        out.push('…');
    }
    out
}
