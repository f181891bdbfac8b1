//! The value of the only parameter without its key: `"Berlin"` for `{"city": "Berlin"}`.
//!
//! A guess, where the tool has exactly one required parameter and the value fits it.

use serde_json::Value as Schema;

use super::super::Grade;
use super::{Change, Rule, Site};
use crate::json::{Path, Value};

pub(super) const RULE: Rule = Rule {
    name: "sole_parameter",
    grade: Grade::Guess,
    cost: 4,
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    let bare = match site.root {
        Value::Object(_) | Value::Null => false,
        // Text that looks like JSON is broken JSON, and says nothing about one parameter.
        Value::String(text) => {
            let text = text.trim();
            !matches!(text, "" | "null" | "None") && !text.contains(['{', '[', '"'])
        }
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
