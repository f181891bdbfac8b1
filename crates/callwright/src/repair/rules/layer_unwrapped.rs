//! One layer too many: `{"arguments": {"command": "ls"}}`.
//!
//! Models wrap the arguments as they see them wrapped in transcripts. Lossless, where the layer is the
//! only key, its name says nothing and the schema does not know it.

use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::{Path, Value, parse_at};
use crate::validate::Properties;

pub(super) const RULE: Rule = Rule {
    name: "layer_unwrapped",
    grade: Grade::Lossless,
    cost: 0,
    up_to: Stakes::Destroys,
    about: "A layer around the arguments whose name says nothing, `{\"arguments\": {…}}`, is taken off.",
    propose,
};

/// How deep an object in a text may be nested.
const DEEPEST: usize = 64;

const LAYERS: [&str; 8] = [
    "arguments",
    "parameters",
    // The word with which a schema lists the arguments.
    "properties",
    "input",
    "args",
    "params",
    "kwargs",
    "tool_input",
];

fn propose(site: &Site<'_>) -> Option<Change> {
    let [(key, inner)] = site.root.as_object()? else {
        return None;
    };
    let properties = Properties::of(site.schema, &Path::root());
    let takes_any_key = properties.names().is_empty()
        || !properties.patterns().is_empty()
        || site
            .schema
            .source()
            .get("additionalProperties")
            .is_some_and(serde_json::Value::is_object);
    let says_nothing = key.trim().is_empty() || LAYERS.contains(&key.as_ref());
    if !says_nothing || properties.has(key) || takes_any_key {
        return None;
    }
    let inner = match inner {
        Value::Object(_) => inner.clone(),
        // The layer may hold its object as text.
        Value::String(text) => match parse_at(text, 0, DEEPEST)? {
            (object @ Value::Object(_), end) if end == text.len() => object,
            _ => return None,
        },
        _ => return None,
    };
    Some(Change::Replace(Path::root(), inner))
}
