//! An optional argument that was sent as null: it is left out.
//!
//! Many models fill in every key they know. Lossless: null and absent say the same, except where something may be
//! destroyed: there the argument may be the filter that was lost. A required key stays, and is refused, unless the
//! schema has a default for it.

use super::super::{Grade, Stakes};
use super::default_for_missing::was_sent_elsewhere;
use super::{Change, Rule, Site};
use crate::json::Value;
use crate::validate::Properties;
use crate::words::IssueCode;

pub(super) const RULE: Rule = Rule {
    name: "null_left_out",
    grade: Grade::Lossless,
    cost: 2,
    up_to: Stakes::Changes,
    about: "An optional argument that was sent as null is left out; a required one gets the default of the schema.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    matches!(site.value()?, Value::Null).then_some(())?;
    leave_out(site)
}

/// Leaves an optional member out, or puts in the default of a required one.
pub(super) fn leave_out(site: &Site<'_>) -> Option<Change> {
    let around = site.root.at(&site.path().parent())?;
    if site.path().is_root() || around.as_object().is_none() {
        return None;
    }
    let key = site.path().last()?;
    let parent = site.finding.owner.parent().parent();
    let properties = Properties::of(site.schema, &parent);
    // In a map every key is data, and null may mean to delete it.
    if !properties.has(&key) || site.code() == IssueCode::UnknownKey {
        return None;
    }
    let default = properties
        .get(&key)
        .and_then(|property| site.schema.follow(property).get("default"))
        .filter(|default| !default.is_null());
    match default {
        Some(_) if site.requires(&parent, &key) && was_sent_elsewhere(site, &key, &properties) => {
            None
        }
        Some(default) if site.requires(&parent, &key) => {
            Some(site.replace(Value::from(default).into_owned()))
        }
        _ => Some(Change::Remove(site.path().clone())),
    }
}
