//! A key with a slip: `qurey` for `query`.
//!
//! A guess, where exactly one key is near, one slip of the pen away, and the value fits. A similar name
//! (`path` for `filePath`) is only proposed to the model: it is the right one too seldom.

use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::Value;
use crate::nearest::{is_slip, single_nearest};
use crate::validate::Properties;
use crate::words::{Correction, IssueCode};

pub(super) const RULE: Rule = Rule {
    name: "key_near",
    grade: Grade::Guess,
    cost: 1,
    up_to: Stakes::Changes,
    about: "A key with one slip, `qurey`, becomes the only one that is near, unless it is a word of its own.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    if !matches!(site.code(), IssueCode::Required | IssueCode::UnknownKey) {
        return None;
    }
    let key = site.path().last()?;
    let place = site.path().parent();
    let members = site.root.at(&place).and_then(Value::as_object)?;
    let properties = Properties::of(site.schema, &site.finding.owner);
    let unknown = || {
        let names = members.iter().map(|(name, _)| name.as_ref());
        names.filter(|name| !properties.has(name))
    };
    match site.code() {
        IssueCode::Required => {
            let sent = single_nearest(&key, unknown()).filter(|sent| is_slip(sent, &key))?;
            Some(Change::Rename(place.key(sent), key.into_owned()))
        }
        IssueCode::UnknownKey => {
            let Some(Correction::Use(meant)) = &site.finding.issue.suggestion else {
                return None;
            };
            is_slip(&key, meant).then(|| Change::Rename(site.path().clone(), meant.clone()))
        }
        _ => None,
    }
}
