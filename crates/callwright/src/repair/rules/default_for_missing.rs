//! A required argument that is missing and for which the schema itself has a default.
//!
//! Schemas that are generated from code often list a key as required although it has a default. It is
//! the only value that is ever filled in.

use super::super::Grade;
use super::{Change, Rule, Site};
use crate::json::Value;
use crate::validate::{IssueCode, Properties};

pub(super) const RULE: Rule = Rule {
    name: "default_for_missing",
    grade: Grade::Lossless,
    cost: 2,
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
    // A key that nobody knows may be the missing one under another name.
    if members.iter().any(|(name, _)| !properties.has(name)) {
        return None;
    }
    let default = site.schema.follow(properties.get(&key)?).get("default")?;
    let default = Value::from(default).into_owned();
    Some(Change::Insert(site.path().clone(), default))
}
