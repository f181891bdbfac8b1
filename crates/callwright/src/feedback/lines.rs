//! Groups issues that share a line: the same objection to several keys of one object, or to several items of one list.
//!
//! Takes the issues of a failure, the most useful first; returns the lines to show, and how many issues are not covered by
//! them. Never produces text.

use std::sync::Arc;

use crate::words::{Correction, Expected, Issue, IssueCode};

/// How many characters the names of keys that share a line may take. The objection itself needs the rest.
const NAMES: usize = 48;

/// One or more issues that are reported in one line.
#[derive(Debug)]
pub(super) struct IssueLine<'i> {
    /// The first issue.
    pub(super) first: &'i Issue,
    /// The other issues, with the same objection.
    pub(super) others: Vec<&'i Issue>,
    pub(super) shared: Shared,
    /// How many characters the names of their keys take.
    names: usize,
}

/// How the issues of a line differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shared {
    /// There is only one.
    Nothing,
    /// The key: they are about members of one object.
    Keys,
    /// The index: they are about items of one list, or about the same place within each.
    Items,
}

impl<'i> IssueLine<'i> {
    pub(super) fn new(first: &'i Issue) -> Self {
        IssueLine {
            first,
            others: Vec::new(),
            shared: Shared::Nothing,
            names: name(first).len(),
        }
    }

    /// All issues of the line.
    pub(super) fn issues(&self) -> impl Iterator<Item = &'i Issue> {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }

    /// Adds an issue if it can share the line.
    fn take(&mut self, issue: &'i Issue) -> bool {
        let shared = match shared(self.first, issue) {
            Some(shared) if self.shared == Shared::Nothing || self.shared == shared => shared,
            _ => return false,
        };
        let names = self.names + name(issue).len();
        if shared == Shared::Keys && names > NAMES {
            return false;
        }
        (self.shared, self.names) = (shared, names);
        self.others.push(issue);
        true
    }
}

/// At most `max` lines, and how many issues are not covered by them.
pub(super) fn lines(issues: &[Issue], max: usize) -> (Vec<IssueLine<'_>>, usize) {
    let mut lines: Vec<IssueLine<'_>> = Vec::with_capacity(issues.len().min(max));
    let mut left = 0;
    for issue in issues {
        if lines.iter_mut().any(|line| line.take(issue)) {
            continue;
        }
        if lines.len() < max {
            lines.push(IssueLine::new(issue));
        } else {
            left += 1;
        }
    }
    (lines, left)
}

/// How two issues differ, if they differ in one way only.
fn shared(left: &Issue, right: &Issue) -> Option<Shared> {
    if left.code != right.code {
        return None;
    }
    let shared = if left.item.is_some() && left.item == right.item {
        let (list, inner) = around_index(left)?;
        (around_index(right)? == (list, inner)).then_some(Shared::Items)?
    } else {
        let is_beside = left.path.is_root() == right.path.is_root()
            && left.path.parent_pointer() == right.path.parent_pointer();
        is_beside.then_some(Shared::Keys)?
    };
    let is_same = match (shared, left.code) {
        (Shared::Keys, IssueCode::UnknownKey) => {
            matches!(left.suggestion, None | Some(Correction::LeaveOut))
        }
        (Shared::Keys, _) => left.suggestion.is_none() && left.received == right.received,
        _ => true,
    };
    let is_same = is_same && left.suggestion == right.suggestion;
    (is_same && expect_same(&left.expected, &right.expected)).then_some(shared)
}

/// Whether two issues expect the same. Issues that may share a line come from one part of a schema, so a long list of keys that
/// they have in common is shared: it is not compared key by key for each pair.
fn expect_same(left: &Expected, right: &Expected) -> bool {
    match (left, right) {
        (Expected::Key(left), Expected::Key(right))
        | (Expected::KeyMatching(left), Expected::KeyMatching(right))
        | (Expected::ObjectWith(left), Expected::ObjectWith(right)) => Arc::ptr_eq(left, right),
        _ => left == right,
    }
}

/// The path of the innermost list around an issue, and the rest of the path after the item's index, as pointers.
pub(super) fn around_index(issue: &Issue) -> Option<(&str, &str)> {
    let pointer = issue.path.as_pointer();
    let (list, inside) = pointer.split_at_checked(issue.item?.list)?;
    let index_end = inside.get(1..)?.find('/').map(|at| at + 1);
    Some((list, inside.get(index_end.unwrap_or(inside.len())..)?))
}

/// The index of the item that an issue is about.
pub(super) fn index(issue: &Issue) -> &str {
    let pointer = issue.path.as_pointer();
    let inside = issue.item.and_then(|item| pointer.get(item.list + 1..));
    inside.map_or("", |inside| inside.split('/').next().unwrap_or_default())
}

fn name(issue: &Issue) -> &str {
    issue.path.last_escaped().unwrap_or_default()
}
