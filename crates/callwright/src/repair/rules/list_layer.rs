//! One list too many around a list: `[[[1, 2], [3, 4]]]` for a list of points.
//!
//! Models add a level of brackets to nested lists. Lossless where the outer list holds nothing else and
//! what is inside is a list of lists or of objects that fits: each stays what it was. A list of plain
//! values is left alone: `[["ls", "-l"]]` for a list of commands may be one command with its option, and
//! `[[1, 5]]` a range.

use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::{Path, Value};

pub(super) const RULE: Rule = Rule {
    name: "list_layer",
    grade: Grade::Lossless,
    cost: 2,
    up_to: Stakes::Destroys,
    about: "One list too many around a list of lists or of objects is taken off.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    let too_deep = site.wrong_type()?;
    if !matches!(too_deep, Value::Array(_)) || site.path().is_root() {
        return None;
    }
    // The list that is too much is the one around the objection, or the one around that.
    let around = site.path().parent();
    let candidates = [around.clone(), around.parent()];
    let mut layers = candidates.iter().filter(|path| is_layer(site.root, path));
    match (layers.next(), layers.next()) {
        (Some(path), None) => Some(Change::Unwrap(path.clone())),
        _ => None,
    }
}

/// How many items are looked at here. Each of many may be objected to, and each objection comes here; the
/// validator sees them all.
const LOOKED_AT: usize = 64;

/// Whether the list at a path holds nothing but a list of lists or of objects.
fn is_layer(root: &Value<'static>, path: &Path) -> bool {
    let Some(Value::Array(outer)) = root.at(path) else {
        return false;
    };
    let [Value::Array(items)] = outer.as_slice() else {
        return false;
    };
    let mut first = items.iter().take(LOOKED_AT);
    let lists = first.clone().all(|item| matches!(item, Value::Array(_)));
    let objects = first.all(|item| matches!(item, Value::Object(_)));
    !items.is_empty() && (lists || objects)
}
