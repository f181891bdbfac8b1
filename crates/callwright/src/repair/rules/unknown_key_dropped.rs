//! A key that the schema forbids is left out.
//!
//! Lossy: what stood there is gone. Only where the schema says that there are no other keys, and none that
//! it lists is close.

use super::super::Grade;
use super::{Change, Rule, Site};
use crate::nearest::{CLOSE, similarity};
use crate::validate::{IssueCode, Properties};

pub(super) const RULE: Rule = Rule {
    name: "unknown_key_dropped",
    grade: Grade::Lossy,
    cost: 1,
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
    // A key that is close to a known one is most likely that one.
    let properties = Properties::of(site.schema, &site.finding.owner);
    let close = properties
        .names()
        .iter()
        .any(|name| similarity(name, &key) >= CLOSE);
    (!close).then(|| Change::Remove(site.path().clone()))
}
