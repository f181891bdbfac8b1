//! An optional argument that was sent with the schema's own default, which the schema refuses: it is left
//! out.
//!
//! Schemas that are generated from code declare defaults that their own types do not allow: `true` for a
//! text, `"all"` beside allowed values without it. A model that sends it does as it was told. A guess, for
//! tools that read: absent means that value by the schema's word only, and a schema that contradicts itself may be
//! wrong twice. A required argument stays, and is refused.

use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::Value;
use crate::validate::Properties;
use crate::words::IssueCode;

pub(super) const RULE: Rule = Rule {
    name: "default_left_out",
    grade: Grade::Guess,
    cost: 1,
    up_to: Stakes::Reads,
    about: "An optional argument with the default of the schema, which the schema itself refuses, is left out.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    let sent = site.value()?;
    if site.path().is_root() || site.code() == IssueCode::UnknownKey {
        return None;
    }
    let key = site.path().last()?;
    let around = site.root.at(&site.path().parent())?;
    let parent = site.finding.owner.parent().parent();
    let properties = Properties::of(site.schema, &parent);
    if around.as_object().is_none() || site.requires(&parent, &key) {
        return None;
    }
    let default = site.schema.follow(properties.get(&key)?).get("default")?;
    (Value::from(default) == *sent).then(|| Change::Remove(site.path().clone()))
}
