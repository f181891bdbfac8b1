//! Groups issues that share a line: the same objection to several keys of one object, or to several items of one list.
//!
//! Takes the issues of a failure, the most useful first; returns the lines to show, and how many issues are not covered by
//! them. Never produces text.

use std::sync::Arc;

use crate::vocabulary::{Correction, Expected, Issue, IssueCode};

/// How many characters the names of keys that share a line may take. The objection itself needs the rest.
const NAMES: usize = 48;

/// One or more issues that are reported in one line.
#[derive(Debug)]
pub(super) struct IssueLine<'i> {
    /// The first issue.
    pub(super) first: &'i Issue,
    /// The other issues, with the same objection.
    pub(super) others: Vec<&'i Issue>,
    pub(super) difference: LineDifference,
    /// How many characters the names of their keys take.
    names: usize,
}

/// How the issues of a line differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineDifference {
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
            difference: LineDifference::Nothing,
            names: name(first).len(),
        }
    }

    /// All issues of the line.
    pub(super) fn issues(&self) -> impl Iterator<Item = &'i Issue> {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }

    /// Adds an issue if it can share the line.
    fn take(&mut self, issue: &'i Issue) -> bool {
        let difference = match difference(self.first, issue) {
            Some(difference)
                if self.difference == LineDifference::Nothing || self.difference == difference =>
            {
                difference
            }
            _ => return false,
        };
        let names = self.names + name(issue).len();
        if difference == LineDifference::Keys && names > NAMES {
            return false;
        }
        (self.difference, self.names) = (difference, names);
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
fn difference(left: &Issue, right: &Issue) -> Option<LineDifference> {
    if left.code != right.code {
        return None;
    }
    let difference = if left.item.is_some() && left.item == right.item {
        let (list, inner) = around_index(left)?;
        (around_index(right)? == (list, inner)).then_some(LineDifference::Items)?
    } else {
        let is_beside = left.path.is_root() == right.path.is_root()
            && left.path.parent_pointer() == right.path.parent_pointer();
        is_beside.then_some(LineDifference::Keys)?
    };
    let is_same = match (difference, left.code) {
        (LineDifference::Keys, IssueCode::UnknownKey) => {
            matches!(left.suggestion, None | Some(Correction::LeaveOut))
        }
        (LineDifference::Keys, _) => left.suggestion.is_none() && left.received == right.received,
        _ => true,
    };
    let is_same = is_same && left.suggestion == right.suggestion;
    (is_same && expect_same(&left.expected, &right.expected)).then_some(difference)
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
