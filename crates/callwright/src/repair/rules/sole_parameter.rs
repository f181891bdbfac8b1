//! The value of the only parameter without its key: `"Berlin"` for `{"city": "Berlin"}`.
//!
//! A guess, where the tool has exactly one required parameter and the value fits it. Of texts only a single word counts:
//! a sentence may say that the model does not want to call anything.

use serde_json::Value as Schema;

use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::{Path, Value};

pub(super) const RULE: Rule = Rule {
    name: "sole_parameter",
    grade: Grade::Guess,
    cost: 4,
    up_to: Stakes::Reads,
    about: "A bare value or word, `\"Berlin\"`, becomes the only required parameter.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    let bare = match site.root {
        Value::Object(_) | Value::Null => false,
        Value::String(text) => is_word(text.trim()),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    };
    if !site.path().is_root() || !bare {
        return None;
    }
    let required = site.schema.source().get("required")?.as_array()?;
    let [Schema::String(only)] = required.as_slice() else {
        return None;
    };
    let member = (only.clone().into(), site.root.clone());
    Some(Change::Replace(Path::root(), Value::Object(vec![member])))
}

/// Whether a text is one word or name. Text that looks like JSON is broken JSON, and says nothing about one parameter.
fn is_word(text: &str) -> bool {
    let ends_like_a_sentence = text.ends_with(['.', '!', '?', ':', '…', '。']);
    !matches!(text, "" | "null" | "None" | "undefined" | "NaN")
        && !text.contains(char::is_whitespace)
        && !text.contains(['{', '[', '"'])
        && !ends_like_a_sentence
}
