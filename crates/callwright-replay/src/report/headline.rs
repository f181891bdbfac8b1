//! What becomes of the calls that break their schema: the first sentences of every report.

use std::collections::{HashMap, HashSet};

use crate::decide::ViolationKind;
use crate::summary::{ClusterKey, Side};

use super::Report;
use crate::number::{count, noun, thousands};

/// Calls that break their schema, each counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Breakdown {
    /// All calls.
    pub(crate) calls: u64,
    /// Those that break their schema.
    pub(crate) violations: u64,
    /// Of these, calls that all proposals together make valid.
    pub(crate) allowed: u64,
    /// Of the others, calls with at least one violation that looks like a bug.
    pub(crate) bugs: u64,
    /// Of the others, calls whose violations are unclear, or are edge cases for which there is no proposal.
    pub(crate) undecided: u64,
    /// Calls that look like bugs and that proposals would let in.
    pub(crate) let_in: u64,
    /// Calls that were not judged, because nothing declares their tools.
    pub(crate) undeclared: u64,
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
            undeclared: report.summary.undeclared_calls(),
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
            // A summary from elsewhere may lack them. What each change allows alone is the best that is known then.
            breakdown.allowed = sum(|change| change.accepts);
        }
        breakdown.allowed = breakdown.allowed.min(breakdown.violations);
        breakdown
    }

    /// Calls of which it is not known what they are: there was no room for their combination of violations.
    fn unknown(&self) -> u64 {
        self.violations
            .saturating_sub(self.allowed)
            .saturating_sub(self.bugs)
            .saturating_sub(self.undecided)
    }
}

/// The sentences that there are, the most important first. There is always one.
pub(crate) fn sentences(report: &Report, breakdown: &Breakdown) -> Vec<String> {
    let mut sentences = vec![found(report, breakdown)];
    if report.summary.compared {
        sentences.insert(0, comparison(report));
    }
    if breakdown.calls > 0 && breakdown.violations > 0 {
        sentences.push(consequence(breakdown));
    }
    let tally = &report.summary.calls;
    if tally.results_refused > 0 {
        sentences.push(format!(
            "Of {}, the output check objects to {}.",
            count(tally.results, "result", "results"),
            thousands(tally.results_refused)
        ));
    }
    sentences
}

/// Which verdicts the other tools or the other policy change.
fn comparison(report: &Report) -> String {
    // How many kinds of changes there are in one direction, and how many calls they are about.
    let side = |stricter: bool| {
        let changes = report.summary.changes.iter();
        let of_side = changes.filter(|(key, _)| key.stricter == stricter);
        of_side.fold((0u64, 0u64), |(kinds, calls), (_, change)| {
            (kinds + 1, calls.saturating_add(change.calls))
        })
    };
    let (stricter, looser) = (side(true), side(false));
    if stricter.0 + looser.0 == 0 {
        return "Compared: no verdict changes.".to_owned();
    }
    let part = |(kinds, calls): (u64, u64), direction: &str, is_second: bool| match kinds {
        0 => format!("nothing gets {direction}"),
        _ => format!(
            "{}{} {direction} ({})",
            thousands(kinds),
            if is_second {
                noun(kinds, " gets", " get")
            } else {
                noun(kinds, " kind of calls gets", " kinds of calls get")
            },
            count(calls, "call", "calls")
        ),
    };
    let (first, second) = (
        part(stricter, "stricter", false),
        part(looser, "looser", stricter.0 > 0),
    );
    format!("Compared: {first}; {second}.")
}

/// What was found.
fn found(report: &Report, breakdown: &Breakdown) -> String {
    let Breakdown {
        calls,
        violations,
        undeclared,
        ..
    } = *breakdown;
    let unjudged = undeclared.saturating_add(report.summary.calls.unjudged);
    let input = &report.summary.input;
    let number_of_calls = count(calls, "call", "calls");
    match (calls, violations) {
        (0, _) if input.interrupted => "Interrupted before any call was found.".to_owned(),
        (0, _) if input.records == 0 => "Nothing was read: the log is empty.".to_owned(),
        (0, _) => {
            let records = count(input.records, "record", "records");
            format!("No call was found in {records}.")
        }
        _ if undeclared >= calls => {
            let verb = noun(calls, "was", "were");
            format!("No tools are known, so {number_of_calls} {verb} not judged: give --tools.")
        }
        (_, 0) if unjudged > 0 => format!(
            "All calls that could be judged fit their schema: {} of {}.",
            thousands(calls.saturating_sub(unjudged)),
            thousands(calls)
        ),
        (1, 0) => "The only call fits its schema.".to_owned(),
        (_, 0) => format!("All {number_of_calls} fit their schema."),
        (_, 1) => format!("1 of {number_of_calls} breaks its schema."),
        // More than one, so the noun is right.
        _ => format!(
            "{} of {number_of_calls} break their schema.",
            thousands(violations)
        ),
    }
}

/// What to make of it.
fn consequence(breakdown: &Breakdown) -> String {
    let mut parts = Vec::new();
    let changes = count(breakdown.changes as u64, "change", "changes");
    parts.push(match (breakdown.changes, breakdown.allowed) {
        (0, _) => "No change is proposed".to_owned(),
        (_, allowed) if allowed == breakdown.violations => {
            format!("{changes} would allow all of them")
        }
        (_, allowed) => format!("{changes} would allow {} of them", thousands(allowed)),
    });
    let (let_in, bugs) = (breakdown.let_in, breakdown.bugs);
    if let_in > 0 {
        let (number, verb) = (thousands(let_in), noun(let_in, "looks", "look"));
        parts.push(format!(
            "{number} that {verb} like bugs would come in with them"
        ));
    }
    if bugs > 0 {
        let verb = noun(bugs, "looks like a bug", "look like bugs");
        let others = if let_in > 0 { " others" } else { "" };
        parts.push(format!(
            "{}{others} {verb}, which the guard repairs or stops",
            thousands(bugs)
        ));
    }
    for (number, what) in [
        (breakdown.undecided, "left to look at"),
        (breakdown.unknown(), "not classified"),
    ] {
        if number > 0 {
            let verb = noun(number, "is", "are");
            parts.push(format!("{} {verb} {what}", thousands(number)));
        }
    }
    format!("{}.", parts.join("; "))
}
