//! A date or a time with other separators: `2026/01/31` for `2026-01-31`, `2026-01-31 10:00:00Z` for
//! `2026-01-31T10:00:00Z`.
//!
//! Models write dates as the languages they know do. Lossless where every digit stays where it is: the
//! year first, and as many digits as the format asks for. `01/02/2026` may be January or February, and a
//! time without its offset may be anywhere: both are left alone.

use serde_json::Value as Schema;

use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::Value;
use crate::words::IssueCode;

pub(super) const RULE: Rule = Rule {
    name: "date_separators",
    grade: Grade::Lossless,
    cost: 1,
    up_to: Stakes::Destroys,
    about: "A date or a time with other separators, `2026/01/31`, is written as its format asks.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
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
