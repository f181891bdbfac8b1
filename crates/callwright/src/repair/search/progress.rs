//! Whether an edit helped: compares the objections before and after it.

use ahash::AHashSet;

use super::super::Edit;
use crate::json::Path;
use crate::validate::LocatedIssue;

/// Whether an edit removed the objection without raising others: new ones may only lie within the edited place (a list that was
/// text may have items to repair).
pub(super) fn improves(
    before: &[LocatedIssue],
    removed: &LocatedIssue,
    edit: &Edit,
    after: &[LocatedIssue],
) -> bool {
    !after.iter().any(|located| is_same(located, removed))
        && none_new(before, std::slice::from_ref(edit), after)
}

fn is_same(left: &LocatedIssue, right: &LocatedIssue) -> bool {
    left.issue.path == right.issue.path
        && left.issue.code == right.issue.code
        && left.issue.expected == right.issue.expected
}

/// Whether every objection is an old one, or lies within an edited place.
pub(super) fn none_new(before: &[LocatedIssue], edits: &[Edit], after: &[LocatedIssue]) -> bool {
    if after.is_empty() {
        return true;
    }
    let edited: AHashSet<&str> = edits.iter().map(|edit| edit.path.as_pointer()).collect();
    let is_inside = |path: &Path| {
        let pointer = path.as_pointer();
        let mut around = pointer.match_indices('/').map(|(at, _)| &pointer[..at]);
        around.any(|around| edited.contains(around))
    };
    let mut outside = after.iter().filter(|it| !is_inside(&it.issue.path));
    // Both lists are in the engine's order, so the next old one is found where the last one was.
    let mut old = before.iter().cycle();
    outside.all(|located| {
        let mut olds = old.by_ref().take(before.len());
        olds.any(|old| is_same(old, located))
    })
}
