//! Breaks down the calls that violate their schema: the numbers in the first sentences of every report.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::decide::ViolationKind;
use crate::summary::{ClusterKey, Side};

use super::Report;

/// Calls that violate their schema, each counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct Breakdown {
    /// All calls.
    pub(crate) calls: u64,
    /// Those that violate their schema.
    pub(crate) violations: u64,
    /// Of these, calls that all proposals together make valid.
    pub(crate) allowed: u64,
    /// Of the others, calls with at least one violation that looks like a bug.
    pub(crate) bugs: u64,
    /// Of the others, calls whose violations are unclear, or are edge cases without a proposal.
    pub(crate) undecided: u64,
    /// Calls that look like bugs but that proposals would allow.
    pub(crate) let_in: u64,
    /// Calls that were not judged, because their tools are not declared.
    pub(crate) undeclared: u64,
    /// Calls that were not judged, for this or another reason.
    pub(crate) unjudged: u64,
    /// How many changes are proposed to the schemas of arguments.
    pub(crate) changes: usize,
}

impl Breakdown {
    /// Counts. The violations of a call are known by their combination, so no call is counted twice.
    pub(crate) fn of(report: &Report) -> Self {
        let summary = &report.summary;
        let proposals = report.proposals.changes.iter();
        let inputs: Vec<_> = proposals.filter(|it| it.side == Side::Input).collect();
        let allowed: HashSet<u64> = (inputs.iter())
            .flat_map(|change| change.clusters.iter().map(ClusterKey::hash))
            .collect();
        let kinds: HashMap<u64, ViolationKind> = (report.judgements.iter())
            .map(|judgement| (judgement.cluster.hash(), judgement.kind))
            .collect();
        let of_results: HashSet<u64> = (summary.clusters.iter())
            .filter(|(key, _)| key.side == Side::Output)
            .map(|(key, _)| key.hash())
            .collect();
        let sum = |part: fn(&crate::propose::Proposal) -> u64| {
            (inputs.iter()).fold(0u64, |sum, change| sum.saturating_add(part(change)))
        };
        let mut breakdown = Breakdown {
            calls: summary.calls.calls,
            violations: summary.calls.violations(),
            let_in: sum(|change| change.accepts_bugs),
            changes: inputs.len(),
            undeclared: summary.undeclared_calls(),
            unjudged: summary.calls.unjudged,
            ..Breakdown::default()
        };
        for (combination, calls) in summary.combinations.iter() {
            // What is wrong with a result is not wrong with the call.
            let mut faults = combination.clusters.clone();
            faults.retain(|fault| !of_results.contains(fault));
            let is_bug = |fault: &u64| kinds.get(fault) == Some(&ViolationKind::Bug);
            let group = if faults.is_empty() {
                continue;
            } else if faults.iter().all(|fault| allowed.contains(fault)) {
                &mut breakdown.allowed
            } else if faults.iter().any(is_bug) {
                &mut breakdown.bugs
            } else {
                &mut breakdown.undecided
            };
            *group = group.saturating_add(*calls);
        }
        if summary.combinations.is_empty() {
            // A summary from elsewhere may lack them. Then the effect of each change alone is the best available.
            breakdown.allowed = sum(|change| change.accepts);
        }
        breakdown.allowed = breakdown.allowed.min(breakdown.violations);
        breakdown
    }

    /// Calls that could not be classified: there was no room for their combination of violations.
    pub(crate) fn unknown(&self) -> u64 {
        self.violations
            .saturating_sub(self.allowed)
            .saturating_sub(self.bugs)
            .saturating_sub(self.undecided)
    }
}
