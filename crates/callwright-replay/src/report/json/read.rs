//! What was read, for programs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::{Report, date, note};

#[derive(Serialize)]
pub(super) struct Read {
    files: u64,
    /// After decompression.
    bytes: u64,
    records: u64,
    /// Records by format.
    formats: BTreeMap<String, u64>,
    first: Option<String>,
    last: Option<String>,
    /// Records that hold neither a call nor a result nor tools.
    without_calls: u64,
    /// Calls that later requests show again; counted once.
    shown_again: u64,
    results_without_call: u64,
    forgotten_sessions: u64,
    /// Whether the run ended before the log did.
    interrupted: bool,
    /// What could not be read.
    troubles: Vec<Trouble>,
    /// Whatever else bears on the numbers, as sentences for people.
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Trouble {
    what: String,
    records: u64,
    /// Five at most.
    places: Vec<Place>,
}

#[derive(Serialize)]
struct Place {
    file: String,
    line: u64,
}

impl Read {
    pub(super) fn of(report: &Report) -> Self {
        let input = &report.summary.input;
        let mut troubles: Vec<Trouble> = input
            .troubles
            .iter()
            .map(|(what, trouble)| Trouble {
                what: what.clone(),
                records: trouble.records,
                places: trouble
                    .places
                    .iter()
                    .map(|(file, line)| Place {
                        file: file.clone(),
                        line: *line,
                    })
                    .collect(),
            })
            .collect();
        // Stable: the same number stays in the order of the words.
        troubles.sort_by_key(|trouble| std::cmp::Reverse(trouble.records));
        Read {
            files: input.files,
            bytes: input.bytes,
            records: input.records,
            formats: input.formats.clone(),
            first: input.first.map(date::rfc_3339),
            last: input.last.map(date::rfc_3339),
            without_calls: input.without_calls,
            shown_again: input.shown_again,
            results_without_call: input.results_without_call,
            forgotten_sessions: input.forgotten_sessions,
            interrupted: input.interrupted,
            troubles,
            notes: note::notes(report),
        }
    }
}
