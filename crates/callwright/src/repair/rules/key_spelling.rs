//! A key in another spelling: `file_path` for `filePath`.
//!
//! Models mix the conventions of the languages they know. Lossless where exactly one key is the same but
//! for case and separators; of a missing key also where signs are around it (`_class`, where a language reserves the
//! word).

use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::Value;
use crate::nearest::same_spelling;
use crate::validate::Properties;
use crate::words::IssueCode;

pub(super) const RULE: Rule = Rule {
    name: "key_spelling",
    grade: Grade::Lossless,
    cost: 1,
    up_to: Stakes::Destroys,
    about: "A key in another spelling, `file_path` for `filePath`, is written as the schema does.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    if !matches!(site.code(), IssueCode::Required | IssueCode::UnknownKey) {
        return None;
    }
    let key = site.path().last()?;
    let place = site.path().parent();
    let properties = Properties::of(site.schema, &site.finding.owner);
    match site.code() {
        IssueCode::Required => {
            let members = site.root.at(&place).and_then(Value::as_object)?;
            let mut same = members
                .iter()
                .map(|(name, _)| name.as_ref())
                .filter(|name| {
                    !properties.has(name) && (same_spelling(name, &key) || same_bare(name, &key))
                });
            match (same.next(), same.next()) {
                (Some(only), None) => Some(Change::Rename(place.key(only), key.into_owned())),
                _ => None,
            }
        }
        IssueCode::UnknownKey => {
            let mut same = properties
                .names()
                .into_iter()
                .filter(|name| same_spelling(name, &key));
            match (same.next(), same.next()) {
                (Some(only), None) => Some(Change::Rename(site.path().clone(), only.to_owned())),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether two names are the same but for signs around them.
fn same_bare(left: &str, right: &str) -> bool {
    let bare = |name: &str| name.trim_matches(['_', '.', ' ']).to_owned();
    !bare(left).is_empty() && bare(left) == bare(right)
}
