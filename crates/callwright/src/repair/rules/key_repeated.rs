//! A value inside an object that repeats its key: `{"city": {"city": "Berlin"}}`.
//!
//! Models write the key once for the argument and once more inside it. Lossless, where the object holds
//! nothing else and an object is not what the schema wants there.

use super::super::{Grade, Stakes};
use super::scalar_from_array::says_something;
use super::{Change, Rule, Site};
use crate::json::Value;

pub(super) const RULE: Rule = Rule {
    name: "key_repeated",
    grade: Grade::Lossless,
    cost: 2,
    up_to: Stakes::Destroys,
    about: "An object that only repeats its key, `{\"city\": {\"city\": \"Berlin\"}}`, becomes the value inside.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    let Value::Object(members) = site.wrong_type()? else {
        return None;
    };
    let key = site.path().last()?;
    let around = site.root.at(&site.path().parent())?;
    match members.as_slice() {
        [(name, inner)] if *name == key && around.as_object().is_some() => {
            says_something(inner).then(|| site.replace(inner.clone()))
        }
        _ => None,
    }
}
