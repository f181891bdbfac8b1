//! A required argument that is missing and for which the schema itself has a default.
//!
//! Schemas that are generated from code often list a key as required although it has a default. It is
//! the only value that is ever filled in, and only where no value for that key is anywhere in the call: in
//! `{"params": {"env": "staging"}}` it would displace what was sent. Where something may be destroyed, the model has
//! to say it.

use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::{Member, Value};
use crate::nearest::{CLOSE, similarity};
use crate::validate::Properties;
use crate::words::IssueCode;

pub(super) const RULE: Rule = Rule {
    name: "default_for_missing",
    grade: Grade::Lossless,
    cost: 2,
    up_to: Stakes::Changes,
    about: "A required argument that is missing gets the default of the schema, if no value for it is anywhere in the call.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    // A key that is only required under a condition may be left out with the condition.
    let conditional = site
        .finding
        .owner
        .segments()
        .any(|part| matches!(part.as_ref(), "then" | "else" | "if" | "dependentSchemas"));
    if site.code() != IssueCode::Required || conditional {
        return None;
    }
    let key = site.path().last()?;
    let properties = Properties::of(site.schema, &site.finding.owner);
    let members = site
        .root
        .at(&site.path().parent())
        .and_then(Value::as_object)?;
    // An unknown key may be the missing one under another name.
    let is_unknown = |(name, _): &Member<'_>| !properties.has(name);
    if members.iter().any(is_unknown) || was_sent_elsewhere(site, &key, &properties) {
        return None;
    }
    let default = site.schema.follow(properties.get(&key)?).get("default")?;
    let default = Value::from(default).into_owned();
    Some(Change::Insert(site.path().clone(), default))
}

/// Whether a value for this key may have been sent somewhere else: under a key that is close and that the schema does not
/// list beside it, or in a text that names it.
pub(super) fn was_sent_elsewhere(site: &Site<'_>, key: &str, properties: &Properties<'_>) -> bool {
    let place = site.path().parent();
    let beside = site.root.at(&place).and_then(Value::as_object);
    let mut siblings = beside
        .unwrap_or_default()
        .iter()
        .filter(|(name, _)| name != key);
    let is_close = |name: &str| !properties.has(name) && similarity(name, key) >= CLOSE;
    siblings.any(|(name, inner)| is_close(name) || names(inner, key))
        || (!place.is_root() && names(site.root, key))
}

/// Whether a key or a text inside a value names this key.
fn names(value: &Value<'_>, key: &str) -> bool {
    match value {
        Value::Object(members) => members
            .iter()
            .any(|(name, inner)| similarity(name, key) >= CLOSE || names(inner, key)),
        Value::Array(items) => items.iter().any(|item| names(item, key)),
        Value::String(text) => text.to_lowercase().contains(&key.to_lowercase()),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
