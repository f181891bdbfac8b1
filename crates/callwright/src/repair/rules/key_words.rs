//! The one key that is missing and the one key that is unknown have the same words: `grades` for `gradeDict`.
//!
//! Lossless: nothing else is missing, nothing else is left over, the value is a list or an object that fits, and the words
//! are the same but for plurals and for words that only say what kind of value follows. Any other word may turn the
//! meaning round (`exclude_grades`, `old_grades`).

use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::Value;
use crate::nearest::words;
use crate::validate::Properties;
use crate::words::IssueCode;

pub(super) const RULE: Rule = Rule {
    name: "key_words",
    grade: Grade::Lossless,
    cost: 2,
    up_to: Stakes::Destroys,
    about: "The only unknown key takes the place of the only missing one, if it has the same words: `grades` for `gradeDict`.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    let pair = only_pair(site)?;
    let (sent, missing) = (full_words(pair.unknown), full_words(&pair.missing));
    (!sent.is_empty() && sent == missing).then(|| pair.rename(site))
}

/// The only unknown key of an object and the only key that it lacks.
pub(super) struct Pair<'s> {
    pub(super) unknown: &'s str,
    missing: String,
}

impl Pair<'_> {
    pub(super) fn rename(&self, site: &Site<'_>) -> Change {
        let place = site.path().parent();
        Change::Rename(place.key(self.unknown), self.missing.clone())
    }
}

/// The pair of keys, if the value is a list or an object: a text fits anywhere.
pub(super) fn only_pair<'s>(site: &Site<'s>) -> Option<Pair<'s>> {
    if site.code() != IssueCode::Required {
        return None;
    }
    let place = site.path().parent();
    let members = site.root.at(&place).and_then(Value::as_object)?;
    let properties = Properties::of(site.schema, &site.finding.owner);
    let missing = site
        .node()?
        .get("required")?
        .as_array()?
        .iter()
        .filter_map(serde_json::Value::as_str)
        .filter(|key| !members.iter().any(|(name, _)| name == key))
        .count();
    let mut unknown = members.iter().filter(|(name, _)| !properties.has(name));
    match (missing, unknown.next(), unknown.next()) {
        (1, Some((name, Value::Array(_) | Value::Object(_))), None) if is_plain(name) => {
            Some(Pair {
                unknown: name,
                missing: site.path().last()?.into_owned(),
            })
        }
        _ => None,
    }
}

/// Whether a name has no sign that may turn its meaning round: `!scopes`, `-scopes`.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ');
    name.starts_with(|c: char| c.is_alphanumeric() || c == '_') && name.chars().all(plain)
}

/// Words of keys that say only what kind of value follows.
const EMPTY_WORDS: [&str; 24] = [
    "a",
    "an",
    "the",
    "my",
    "data",
    "value",
    "values",
    "list",
    "array",
    "items",
    "input",
    "inputs",
    "param",
    "params",
    "parameter",
    "parameters",
    "arg",
    "args",
    "argument",
    "arguments",
    "field",
    "object",
    "dict",
    "json",
];

/// The words of a key that say something, in the singular.
pub(super) fn full_words(name: &str) -> Vec<String> {
    let mut words = words(name);
    words.retain(|word| !EMPTY_WORDS.contains(&word.as_str()));
    for word in &mut words {
        word.truncate(word.trim_end_matches('s').len());
    }
    words
}
