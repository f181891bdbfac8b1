//! An allowed value, a date or a time that is written in another way.

use std::slice;

use serde_json::Value as Schema;

use super::{ProposedEdit, Site, only};
use crate::json::Value;
use crate::nearest::{is_slip, same_spelling};
use crate::validate::near_value;
use crate::words::{Expected, IssueCode};

/// Names of units are short: `mbar`, `Mmol`.
const LONGEST_UNIT: usize = 4;

/// Lossless where exactly one allowed value is the same but for case, separators and white space. In short words and in
/// those with capitals inside, case may be the meaning (`Mbar`, `mbar`; `MBps`, `Mbps`), so there all allowed values must be
/// written alike: then it is a convention.
pub(super) fn enum_spelling(site: &Site<'_, '_>) -> Option<ProposedEdit> {
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
    site.compare_with(allowed.len())?;
    let same = only(allowed.iter().filter(|option| same_spelling(option, text)))?;
    // `MBps` beside `KBps`, `Mbar` beside `kbar`: case may be all that tells two units apart.
    let short = text.chars().filter(|c| c.is_alphabetic()).count() <= LONGEST_UNIT;
    let units = short || !is_of_words(text) || !allowed.iter().all(|option| is_of_words(option));
    if units && !written_alike(&allowed) {
        return None;
    }
    Some(site.replace(Value::String((*same).to_owned().into())))
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

/// A guess, where exactly one allowed value is near (the one that the feedback would propose) and one
/// slip of the pen away.
pub(super) fn enum_near(site: &Site<'_, '_>) -> Option<ProposedEdit> {
    let allowed = match &site.located.issue.expected {
        Expected::OneOf(values) if site.code() == IssueCode::Enum => values.as_array()?,
        Expected::Constant(value) if site.code() == IssueCode::Const => slice::from_ref(&**value),
        _ => return None,
    };
    let sent = site.value()?.as_str()?;
    let meant = near_value(site.value()?, allowed, site.scope.work)?;
    is_slip(sent, meant).then(|| site.replace(Value::String(meant.to_owned().into())))
}

/// Models write dates as the languages they know do. Lossless where every digit stays where it is: the
/// year first, and as many digits as the format asks for. `01/02/2026` may be January or February, and a
/// time without its offset may be anywhere: both are left alone.
pub(super) fn date_separators(site: &Site<'_, '_>) -> Option<ProposedEdit> {
    if site.code() != IssueCode::Format {
        return None;
    }
    let text = site.value()?.as_str()?;
    let node = site.node()?;
    let rewritten = match node.get("format").and_then(Schema::as_str)? {
        "date" => date(text)?,
        "date-time" => {
            // A date of ten characters, a blank, and a time; the validator sees to the rest.
            let (day, time) = text.split_once(' ')?;
            format!("{}T{time}", date(day)?)
        }
        _ => return None,
    };
    Some(site.replace(Value::String(rewritten.into())))
}

/// Four, two and two digits with the same sign between them, as the standard writes them.
fn date(text: &str) -> Option<String> {
    let sign = text.chars().find(|c| !c.is_ascii_digit())?;
    let mut parts = text.split(sign);
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let digits =
        |part: &str, count| part.len() == count && part.bytes().all(|b| b.is_ascii_digit());
    let whole = parts.next().is_none() && matches!(sign, '/' | '.' | '-');
    (whole && digits(year, 4) && digits(month, 2) && digits(day, 2))
        .then(|| format!("{year}-{month}-{day}"))
}

/// Programs print dates so, and models copy them. Lossy: the time is dropped, though it says nothing.
/// Any other time says something, and so does an offset: midnight there may be another day here.
pub(super) fn midnight_left_out(site: &Site<'_, '_>) -> Option<ProposedEdit> {
    if site.code() != IssueCode::Format {
        return None;
    }
    if site.node()?.get("format").and_then(Schema::as_str) != Some("date") {
        return None;
    }
    let (date, time) = site.value()?.as_str()?.split_once(['T', ' '])?;
    matches!(time, "00:00:00" | "00:00:00.000" | "00:00")
        .then(|| site.replace(Value::String(date.to_owned().into())))
}
