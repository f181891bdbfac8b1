//! The one key that is missing and the one key that is unknown: `the_scores` or `data` for `scores`.
//!
//! A guess, on strong evidence: nothing else is missing, nothing else is left over, the value is a list or an object
//! that fits, and the unknown key says nothing beyond the missing one: it has the same words, but for those that mean
//! nothing by themselves. Any other word may turn the meaning round (`exclude_scores`, `old_scores`).

use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::Value;
use crate::nearest::words;
use crate::validate::{IssueCode, Properties};

pub(super) const RULE: Rule = Rule {
    name: "only_key_left",
    grade: Grade::Guess,
    cost: 2,
    up_to: Stakes::Changes,
    about: "The only unknown key takes the place of the only missing one, if it has the same words: `the_scores`, `data`.",
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
            says_no_more(only, &key).then(|| Change::Rename(place.key(only), key))
        }
        _ => None,
    }
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

/// Whether a key has no word that the missing one lacks, but for empty ones, and the other way round.
fn says_no_more(sent: &str, missing: &str) -> bool {
    let full = |name: &str| -> Vec<String> {
        let mut words = words(name);
        words.retain(|word| !EMPTY_WORDS.contains(&word.as_str()));
        for word in &mut words {
            // `grades` for `grade`.
            word.truncate(word.trim_end_matches('s').len());
        }
        words
    };
    let (sent, missing) = (full(sent), full(missing));
    sent.is_empty() || sent == missing
}
