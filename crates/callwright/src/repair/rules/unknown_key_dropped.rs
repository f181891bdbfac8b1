//! A key that the schema forbids is left out.
//!
//! Lossy: what stood there is gone. Only where the schema says that there are no other keys.

use super::super::Grade;
use super::{Change, Rule, Site};
use crate::validate::IssueCode;

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
    (site.code() == IssueCode::UnknownKey && leaves_something)
        .then(|| Change::Remove(site.path().clone()))
}
