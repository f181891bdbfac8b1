//! One list too many around a list: `[[[1, 2], [3, 4]]]` for a list of points.
//!
//! Models add a level of brackets to nested lists. Lossless where the outer list holds nothing else and
//! what is inside is a list of lists or of objects that fits: each stays what it was. A list of plain
//! values is left alone: `[["ls", "-l"]]` for a list of commands may be one command with its option, and
//! `[[1, 5]]` a range.

use super::super::Grade;
use super::{Change, Rule, Site};
use crate::json::{Path, Value};

pub(super) const RULE: Rule = Rule {
    name: "list_layer",
    grade: Grade::Lossless,
    cost: 2,
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
    let mut layers = candidates
        .iter()
        .filter_map(|path| Some((path, inside(site.root, path)?)));
    match (layers.next(), layers.next()) {
        (Some((path, inner)), None) => Some(Change::Replace(path.clone(), inner.clone())),
        _ => None,
    }
}

/// The only item of the list at a path, if it is a list of lists or of objects.
fn inside<'v>(root: &'v Value<'static>, path: &Path) -> Option<&'v Value<'static>> {
    let Value::Array(outer) = root.at(path)? else {
        return None;
    };
    let [only @ Value::Array(items)] = outer.as_slice() else {
        return None;
    };
    let lists = items.iter().all(|item| matches!(item, Value::Array(_)));
    let objects = items.iter().all(|item| matches!(item, Value::Object(_)));
    (!items.is_empty() && (lists || objects)).then_some(only)
}
