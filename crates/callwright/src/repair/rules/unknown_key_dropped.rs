//! A key that the schema forbids and that says nothing is left out.
//!
//! Nothing is said by null and by an empty value. A key that holds anything else is never dropped: it may forbid the call
//! (`dry_run`), narrow it (`exclude`, which repeats a value by nature) or give it a unit. Lossy, since the key itself is
//! gone, and for tools that read, since its name may say something. Only where the schema says that there are no other
//! keys, and none that it lists is close.

use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::Value;
use crate::nearest::{CLOSE, similarity};
use crate::validate::Properties;
use crate::words::IssueCode;

pub(super) const RULE: Rule = Rule {
    name: "unknown_key_dropped",
    grade: Grade::Lossy,
    cost: 1,
    up_to: Stakes::Reads,
    about: "A key that the schema forbids is left out if it says nothing: null or empty.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    let around = site.root.at(&site.path().parent())?.as_object()?;
    // An object of which nothing is left was meant to say something else.
    let leaves_something = around.len() > 1;
    if site.code() != IssueCode::UnknownKey || !leaves_something {
        return None;
    }
    let key = site.path().last()?;
    // These name a tool, and it may be another one.
    if matches!(
        key.as_ref(),
        "name" | "tool" | "tool_name" | "function" | "method"
    ) {
        return None;
    }
    let value = site.value()?;
    if !is_empty(value) {
        return None;
    }
    // A key that is close to a known one is most likely that one.
    let properties = Properties::of(site.schema, &site.finding.owner);
    let close = properties
        .names()
        .iter()
        .any(|name| similarity(name, &key) >= CLOSE);
    (!close).then(|| Change::Remove(site.path().clone()))
}

fn is_empty(value: &Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
