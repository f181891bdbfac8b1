//! An optional argument that was sent as null: it is left out.
//!
//! Many models fill in every key they know. Lossless: null and absent say the same. `"null"`, `"None"`
//! and an empty text count as null where no text is accepted, or only a few that are listed. Where any
//! text of a certain form is accepted, an empty one may be meant to clear a value. A required key stays,
//! and is refused; unless the schema has a default for it.

use super::super::Grade;
use super::{Change, Rule, Site};
use crate::json::Value;
use crate::validate::{IssueCode, Properties};

pub(super) const RULE: Rule = Rule {
    name: "null_left_out",
    grade: Grade::Lossless,
    cost: 2,
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    let value = site.value()?;
    let stands_for_null = match value {
        Value::Null => true,
        _ => site
            .misplaced_text()
            .or_else(|| value.as_str().filter(|_| site.code() == IssueCode::Enum))
            .is_some_and(|text| matches!(text.trim(), "" | "null" | "None" | "undefined")),
    };
    let around = site.root.at(&site.path().parent())?;
    if !stands_for_null || site.path().is_root() || around.as_object().is_none() {
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
        Some(default) if site.requires(&parent, &key) => {
            Some(site.replace(Value::from(default).into_owned()))
        }
        _ => Some(Change::Remove(site.path().clone())),
    }
}
