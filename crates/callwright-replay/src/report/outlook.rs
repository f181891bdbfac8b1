//! What becomes of the calls that break their schema: the first sentences of every report.

use std::collections::{HashMap, HashSet};

use crate::decide::Kind;
use crate::summary::{ClusterKey, Side};

use super::number::{count, thousands};
use super::{Report, comparison};

/// Calls that break their schema, each counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Outlook {
    /// All calls.
    pub(crate) calls: u64,
    /// Those that break their schema.
    pub(crate) violations: u64,
    /// Of these, calls that all proposals together make valid.
    pub(crate) allowed: u64,
    /// Of the others, calls with at least one fault that looks like a bug.
    pub(crate) bugs: u64,
    /// Of the others, calls whose faults are unclear, or are edge cases for which there is no proposal.
    pub(crate) undecided: u64,
    /// Calls that look like bugs, and that proposals would let in.
    pub(crate) let_in: u64,
    /// Calls that were not judged, because nothing declares their tools.
    pub(crate) undeclared: u64,
    /// How many changes are proposed to the schemas of arguments.
    pub(crate) changes: usize,
}

impl Outlook {
    /// Counts. The faults of a call are known by their combination, so no call is counted twice.
    pub(crate) fn of(report: &Report) -> Self {
        let summary = &report.summary;
        let inputs: Vec<_> = report
            .proposals
            .changes
            .iter()
            .filter(|change| change.side == Side::Input)
            .collect();
        let allowed: HashSet<u64> = inputs
            .iter()
            .flat_map(|change| change.clusters.iter().map(ClusterKey::hash))
            .collect();
        let kinds: HashMap<u64, Kind> = report
            .judgements
            .iter()
            .map(|judgement| (judgement.cluster.hash(), judgement.kind))
            .collect();
        let of_results: HashSet<u64> = summary
            .clusters
            .iter()
            .filter(|(key, _)| key.side == Side::Output)
            .map(|(key, _)| key.hash())
            .collect();
        let mut outlook = Outlook {
            calls: summary.calls.calls,
            violations: summary.calls.violations(),
            let_in: inputs
                .iter()
                .fold(0, |sum, change| change.accepts_bugs.saturating_add(sum)),
            changes: inputs.len(),
            undeclared: report.summary.undeclared_calls(),
            ..Outlook::default()
        };
        for (combination, calls) in summary.combinations.iter() {
            // Faults of results are no faults of the call.
            let faults: Vec<u64> = combination
                .clusters
                .iter()
                .copied()
                .filter(|fault| !of_results.contains(fault))
                .collect();
            let group = if faults.is_empty() {
                continue;
            } else if faults.iter().all(|fault| allowed.contains(fault)) {
                &mut outlook.allowed
            } else if faults
                .iter()
                .any(|fault| kinds.get(fault) == Some(&Kind::Bug))
            {
                &mut outlook.bugs
            } else {
                &mut outlook.undecided
            };
            *group = group.saturating_add(*calls);
        }
        if summary.combinations.is_empty() {
            // A summary from elsewhere may lack them. What each change allows alone is the best that is known then.
            outlook.allowed = inputs
                .iter()
                .fold(0, |sum, change| change.accepts.saturating_add(sum));
        }
        outlook.allowed = outlook.allowed.min(outlook.violations);
        outlook
    }

    /// Calls of which it is not known what they are: there was no room for their combination of faults.
    pub(crate) fn untold(&self) -> u64 {
        self.violations
            .saturating_sub(self.allowed)
            .saturating_sub(self.bugs)
            .saturating_sub(self.undecided)
    }
}

/// What was found, as one sentence.
pub(crate) fn headline(report: &Report, outlook: &Outlook) -> String {
    let Outlook {
        calls, violations, ..
    } = *outlook;
    let input = &report.summary.input;
    match (calls, violations) {
        (0, _) if input.interrupted => "Interrupted before any call was found.".to_owned(),
        (0, _) if input.records == 0 => "Nothing was read: the log is empty.".to_owned(),
        (0, _) => format!(
            "No call was found in {}.",
            count(input.records, "record", "records")
        ),
        _ if outlook.undeclared >= calls => {
            let verb = if calls == 1 { "was" } else { "were" };
            let calls = count(calls, "call", "calls");
            format!("No tools are known, so {calls} {verb} not judged: give --tools.")
        }
        (_, 0) if outlook.undeclared > 0 => format!(
            "All calls that could be judged fit their schema: {} of {}.",
            thousands(calls - outlook.undeclared),
            thousands(calls)
        ),
        (1, 0) => "The only call fits its schema.".to_owned(),
        (_, 0) => format!("All {} calls fit their schema.", thousands(calls)),
        (_, 1) => format!("1 of {} breaks its schema.", count(calls, "call", "calls")),
        _ => format!(
            "{} of {} calls break their schema.",
            thousands(violations),
            thousands(calls)
        ),
    }
}

/// What to make of it, as one sentence; empty if there is nothing to say.
pub(crate) fn consequence(outlook: &Outlook) -> String {
    if outlook.calls == 0 || outlook.violations == 0 {
        return String::new();
    }
    let mut parts = Vec::new();
    let changes = count(outlook.changes as u64, "change", "changes");
    parts.push(match (outlook.changes, outlook.allowed) {
        (0, _) => "No change is proposed".to_owned(),
        (_, allowed) if allowed == outlook.violations => {
            format!("{changes} would allow all of them")
        }
        (_, allowed) => format!("{changes} would allow {} of them", thousands(allowed)),
    });
    if outlook.let_in > 0 {
        let verb = if outlook.let_in == 1 { "looks" } else { "look" };
        let let_in = thousands(outlook.let_in);
        parts.push(format!(
            "{let_in} that {verb} like bugs would come in with them"
        ));
    }
    if outlook.bugs > 0 {
        let verb = if outlook.bugs == 1 {
            "looks like a bug"
        } else {
            "look like bugs"
        };
        let bugs = thousands(outlook.bugs);
        let others = if outlook.let_in > 0 { " others" } else { "" };
        parts.push(format!(
            "{bugs}{others} {verb}, which the guard repairs or stops"
        ));
    }
    for (number, what) in [
        (outlook.undecided, "left to look at"),
        (outlook.untold(), "not told apart"),
    ] {
        if number > 0 {
            let verb = if number == 1 { "is" } else { "are" };
            parts.push(format!("{} {verb} {what}", thousands(number)));
        }
    }
    format!("{}.", parts.join("; "))
}

/// What is wrong with the results, as one sentence; empty if nothing is.
pub(crate) fn results(report: &Report) -> String {
    let tally = &report.summary.calls;
    if tally.results_refused == 0 {
        return String::new();
    }
    format!(
        "Of {}, the output check objects to {}.",
        count(tally.results, "result", "results"),
        thousands(tally.results_refused)
    )
}

/// The sentences that there are, the most important first.
pub(crate) fn sentences(report: &Report, outlook: &Outlook) -> Vec<String> {
    let all = [
        comparison::sentence(report),
        headline(report, outlook),
        consequence(outlook),
        results(report),
    ];
    all.into_iter().filter(|text| !text.is_empty()).collect()
}
