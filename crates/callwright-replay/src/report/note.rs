//! What a reader must know before believing the numbers: what could not be read, and what was left out.

use super::number::{count, thousands};
use super::printable::cut;
use super::{Report, window};

/// How many tools are named in one note; the rest is counted.
const NAMED: usize = 5;

/// The longest text of a stranger in a note: a line or two.
const LONGEST: usize = 160;

/// Records that could not be read.
pub(crate) struct Unread {
    /// What is wrong with them.
    pub(crate) what: String,
    pub(crate) records: u64,
    /// Some of them: `file:line`.
    pub(crate) places: Vec<String>,
}

/// What could not be read, the most frequent first.
pub(crate) fn unread(report: &Report) -> Vec<Unread> {
    let mut all: Vec<_> = report.summary.input.troubles.iter().collect();
    all.sort_by_key(|(what, trouble)| (std::cmp::Reverse(trouble.records), *what));
    all.into_iter()
        .map(|(what, trouble)| Unread {
            what: cut(what, LONGEST),
            records: trouble.records,
            places: trouble
                .places
                .iter()
                .map(|(file, line)| place(file, *line))
                .collect(),
        })
        .collect()
}

fn place(file: &str, line: u64) -> String {
    let file = cut(file, LONGEST);
    if line == 0 {
        file
    } else {
        format!("{file}:{line}")
    }
}

/// Everything else that bears on the numbers, one sentence each.
pub(crate) fn notes(report: &Report) -> Vec<String> {
    let summary = &report.summary;
    let input = &summary.input;
    let mut notes = Vec::new();
    if input.interrupted {
        notes.push("The run was interrupted: this is what was done until then.".to_owned());
    }
    tools(report, &mut notes);
    let unplaced = report.proposals.unplaced.len() as u64;
    if unplaced > 0 {
        let clusters = count(unplaced, "kind of violation", "kinds of violations");
        notes.push(format!(
            "For {clusters} that may be legitimate no change of the schema is known."
        ));
    }
    if summary.calls.calls > 0 && summary.time.is_empty() {
        notes.push("The log carries no times, so nothing is known of when.".to_owned());
    }
    let far = window::window(&summary.time).map_or(0, |window| window.far(&summary.time));
    if far > 0 {
        notes.push(format!(
            "{} with times far from all others, as of a clock that jumped: counted, and left out of charts.",
            count(far, "call", "calls")
        ));
    }
    let mut told = |number: u64, one: &str, many: &str, rest: &str| {
        if number > 0 {
            notes.push(format!("{} {rest}.", count(number, one, many)));
        }
    };
    told(
        input.without_calls,
        "record",
        "records",
        "in a known format without call, result or tool",
    );
    told(
        input.shown_again,
        "call",
        "calls",
        "shown again by later requests, and counted once",
    );
    told(
        input.results_without_call,
        "result",
        "results",
        "without a call in the log",
    );
    told(
        input.forgotten_sessions,
        "conversation",
        "conversations",
        "forgotten before the end, for want of room: what their last calls led to is unknown",
    );
    let kinds = "of trouble beyond those that are listed";
    told(input.troubles.dropped(), "kind", "kinds", kinds);
    let room = "beyond those that there is room for, not in this report";
    told(summary.clusters.dropped(), "cluster", "clusters", room);
    told(summary.tools.dropped(), "tool", "tools", room);
    told(summary.models.dropped(), "model", "models", room);
    let kinds = "of changed verdicts beyond those that there is room for";
    told(summary.changes.dropped(), "kind", "kinds", kinds);
    told(
        summary.combinations.dropped(),
        "combination",
        "combinations",
        "of faults beyond those that there is room for: what changes allow is counted too low",
    );
    notes
}

fn tools(report: &Report, notes: &mut Vec<String>) {
    let tools = || report.summary.tools.iter();
    let undeclared: Vec<&str> = tools()
        .filter(|(_, tool)| tool.undeclared_calls() > 0)
        .map(|(name, _)| name.as_str())
        .collect();
    if !undeclared.is_empty() {
        let calls = report.summary.undeclared_calls();
        let verb = if calls == 1 { "was" } else { "were" };
        notes.push(format!(
            "{} {verb} not judged, since nothing declares their tools (give --tools): {}.",
            count(calls, "call", "calls"),
            named(&undeclared)
        ));
    }
    for (name, why) in tools()
        .filter_map(|(name, tool)| Some((name, tool.newest()?.quarantined.as_ref()?)))
        .take(NAMED)
    {
        notes.push(format!(
            "The schema of `{}` does not compile, its calls pass unvalidated: {}.",
            cut(name, LONGEST),
            cut(why, LONGEST)
        ));
    }
    let quarantined = tools()
        .filter(|(_, tool)| {
            tool.newest()
                .is_some_and(|newest| newest.quarantined.is_some())
        })
        .count();
    if quarantined > NAMED {
        let more = thousands((quarantined - NAMED) as u64);
        notes.push(format!("{more} more schemas do not compile."));
    }
    let idle = tools().filter(|(_, tool)| tool.tally.calls == 0).count();
    if idle > 0 {
        let number = count(idle as u64, "tool", "tools");
        notes.push(format!("{number} declared but never called."));
    }
}

fn named(names: &[&str]) -> String {
    let shown: Vec<String> = names
        .iter()
        .take(NAMED)
        .map(|name| cut(name, LONGEST))
        .collect();
    let more = names.len().saturating_sub(NAMED);
    if more == 0 {
        shown.join(", ")
    } else {
        format!("{} and {} more", shown.join(", "), thousands(more as u64))
    }
}
