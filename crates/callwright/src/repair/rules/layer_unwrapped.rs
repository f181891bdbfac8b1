//! One layer too many: `{"arguments": {"command": "ls"}}`.
//!
//! Models wrap the arguments as they see them wrapped in transcripts. Lossless, where the layer is the
//! only key and the schema does not know it.

use super::super::Grade;
use super::{Change, Rule, Site};
use crate::json::{Path, Value};
use crate::validate::Properties;

pub(super) const RULE: Rule = Rule {
    name: "layer_unwrapped",
    grade: Grade::Lossless,
    cost: 0,
    propose,
};

const LAYERS: [&str; 7] = [
    "arguments",
    "parameters",
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
    let is_layer = LAYERS.contains(&key.as_ref())
        && !Properties::of(site.schema, &Path::root()).has(key)
        && matches!(inner, Value::Object(_) | Value::String(_));
    is_layer.then(|| Change::Replace(Path::root(), inner.clone()))
}
