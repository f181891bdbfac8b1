//! The one key that is missing and the one key that nobody knows: `scores` for `gradeDict`.
//!
//! A guess, on strong evidence: nothing else is missing, nothing else is left over, and the value is a list
//! or an object that fits.

use super::super::Grade;
use super::{Change, Rule, Site};
use crate::json::Value;
use crate::validate::{IssueCode, Properties};

pub(super) const RULE: Rule = Rule {
    name: "only_key_left",
    grade: Grade::Guess,
    cost: 2,
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    if site.code() != IssueCode::Required {
        return None;
    }
    let place = site.path().parent();
    let members = site.root.at(&place).and_then(Value::as_object)?;
    let properties = Properties::of(site.schema, &site.finding.owner);
    let required = site.node()?.get("required")?;
    let missing = required
        .as_array()?
        .iter()
        .filter_map(serde_json::Value::as_str)
        .filter(|key| !members.iter().any(|(name, _)| name == key))
        .count();
    let mut unknown = members
        .iter()
        .map(|(name, _)| name.as_ref())
        .filter(|name| !properties.has(name));
    match (missing, unknown.next(), unknown.next()) {
        (1, Some(only), None) => {
            // A list or an object that fits is evidence; a text fits anywhere.
            let value = site.root.at(&place.key(only))?;
            matches!(value, Value::Array(_) | Value::Object(_)).then_some(())?;
            let key = site.path().last()?.into_owned();
            Some(Change::Rename(place.key(only), key))
        }
        _ => None,
    }
}
