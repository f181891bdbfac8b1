//! What a reader must know before believing the numbers, one sentence each.

use super::printable::cut;
use super::{Report, window};
use crate::number::{count, noun, thousands};

/// How many tools are named in one note; the rest is counted.
const NAMED: usize = 5;

/// The longest text of the log in a note: a line or two.
pub(crate) const LONGEST: usize = 160;

// What is said of a number of calls, records and so on.
const FAR: &str =
    "with times far from all others, as from a clock that jumped: counted, but left out of charts";
const WITHOUT_CALLS: &str = "in a known format but without a call, result or tool";
const SHOWN_AGAIN: &str = "shown again by later requests, and counted once";
const WITHOUT_CALL: &str = "without a call in the log";
const FORGOTTEN: &str =
    "forgotten before the end for lack of room: what their last calls led to is unknown";
const MORE_TROUBLES: &str = "of trouble not listed";
const NO_ROOM: &str = "left out of this report for lack of room";
const MORE_CHANGES: &str = "of changed verdicts left out for lack of room";
const MORE_COMBINATIONS: &str =
    "of violations left out for lack of room: what changes allow is counted too low";

/// All notes.
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
            "No change of the schema is known for {clusters} that may be legitimate."
        ));
    }
    if summary.calls.calls > 0 && summary.time.is_empty() {
        notes.push("The log has no times, so it is not known when calls were made.".to_owned());
    }
    let far = window::window(&summary.time).map_or(0, |window| window.far(&summary.time));
    let counted = [
        (far, "call", FAR),
        (input.without_calls, "record", WITHOUT_CALLS),
        (input.shown_again, "call", SHOWN_AGAIN),
        (input.results_without_call, "result", WITHOUT_CALL),
        (input.forgotten_sessions, "conversation", FORGOTTEN),
        (input.troubles.dropped(), "kind", MORE_TROUBLES),
        (summary.clusters.dropped(), "cluster", NO_ROOM),
        (summary.tools.dropped(), "tool", NO_ROOM),
        (summary.models.dropped(), "model", NO_ROOM),
        (summary.changes.dropped(), "kind", MORE_CHANGES),
        (
            summary.combinations.dropped(),
            "combination",
            MORE_COMBINATIONS,
        ),
    ];
    for (number, one, rest) in counted {
        if number > 0 {
            notes.push(format!(
                "{} {rest}.",
                count(number, one, &format!("{one}s"))
            ));
        }
    }
    notes
}

fn tools(report: &Report, notes: &mut Vec<String>) {
    let tools = || report.summary.tools.iter();
    let undeclared: Vec<String> = tools()
        .filter(|(_, tool)| tool.undeclared_calls() > 0)
        .map(|(name, _)| cut(name, LONGEST))
        .collect();
    if !undeclared.is_empty() {
        let calls = report.summary.undeclared_calls();
        let more = match undeclared.len().saturating_sub(NAMED) as u64 {
            0 => String::new(),
            more => format!(" and {} more", thousands(more)),
        };
        let named = undeclared.into_iter().take(NAMED).collect::<Vec<_>>();
        notes.push(format!(
            "{} {} not judged, since nothing declares their tools (give --tools): {}{more}.",
            count(calls, "call", "calls"),
            noun(calls, "was", "were"),
            named.join(", ")
        ));
    }
    let quarantined: Vec<_> = tools()
        .filter_map(|(name, tool)| Some((name, tool.newest()?.quarantined.as_ref()?)))
        .collect();
    for (name, why) in quarantined.iter().take(NAMED) {
        notes.push(format!(
            "The schema of `{}` does not compile, its calls pass unvalidated: {}.",
            cut(name, LONGEST),
            cut(why, LONGEST)
        ));
    }
    if let more @ 1.. = quarantined.len().saturating_sub(NAMED) as u64 {
        notes.push(format!("{} more schemas do not compile.", thousands(more)));
    }
    let idle = tools().filter(|(_, tool)| tool.tally.calls == 0).count() as u64;
    if idle > 0 {
        let number = count(idle, "tool", "tools");
        notes.push(format!("{number} declared but never called."));
    }
}
