//! A date that was sent with a time of midnight: `2026-01-31T00:00:00` for `2026-01-31`.
//!
//! Programs print dates so, and models copy them. Lossy: the time is dropped, though it says nothing.
//! Any other time says something, and so does an offset: midnight there may be another day here.

use serde_json::Value as Schema;

use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::Value;
use crate::words::IssueCode;

pub(super) const RULE: Rule = Rule {
    name: "midnight_left_out",
    grade: Grade::Lossy,
    cost: 1,
    up_to: Stakes::Changes,
    about: "A date with a time of midnight, `2026-01-31T00:00:00`, becomes the date.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    let node = site.node()?;
    let wants_date = node.get("format").and_then(Schema::as_str) == Some("date");
    if site.code() != IssueCode::Format || !wants_date {
        return None;
    }
    let (date, time) = site.value()?.as_str()?.split_once(['T', ' '])?;
    matches!(time, "00:00:00" | "00:00:00.000" | "00:00")
        .then(|| site.replace(Value::String(date.to_owned().into())))
}
