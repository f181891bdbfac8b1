//! A list of one that was sent as its only value: `5` for a list of numbers.
//!
//! A guess: whoever sends one value where a list belongs may have lost the others. So it takes evidence
//! that the value is an item: a number or a boolean that fits, an object whose keys the schema lists, or a
//! text that it lists among the allowed items. Any other text fits every list of texts (it may be a list
//! in some notation, or a word for nothing) and is left alone; so is an item of a list: there a list is
//! missing, not its brackets.

use serde_json::Value as Schema;

use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::Value;

pub(super) const RULE: Rule = Rule {
    name: "array_from_scalar",
    grade: Grade::Guess,
    cost: 3,
    up_to: Stakes::Changes,
    about: "A single value for a list becomes a list of one, if it is a number, an allowed text or an object with known keys.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    let around = site.root.at(&site.path().parent())?;
    if site.path().is_root() || around.as_object().is_none() {
        return None;
    }
    let single = site.wrong_type()?;
    let is_item = match single {
        Value::Null | Value::Array(_) => false,
        Value::String(text) => site
            .items()
            .and_then(|items| items.get("enum")?.as_array())
            .is_some_and(|allowed| allowed.iter().filter_map(Schema::as_str).any(|a| a == text)),
        Value::Object(members) => {
            let listed = site.items().and_then(|items| items.get("properties"));
            let is_listed = |key: &str| listed.is_some_and(|keys| keys.get(key).is_some());
            !members.is_empty() && members.iter().all(|(key, _)| is_listed(key))
        }
        Value::Bool(_) | Value::Number(_) => true,
    };
    is_item.then(|| site.replace(Value::Array(vec![single.clone()])))
}
