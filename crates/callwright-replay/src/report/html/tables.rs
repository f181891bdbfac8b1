//! Tools, models, loops and repairs as rows.

use serde::Serialize;

use crate::summary::{Tally, ToolSummary};

use super::super::number::{about, bytes, duration, percent, share, thousands};
use super::super::printable::cut;
use super::super::{Report, phrase, ranking};
use super::clusters::{Sample, samples};
use super::view::LONGEST;

/// A tool or a model.
#[derive(Serialize)]
pub(super) struct Row {
    name: String,
    /// Why its numbers say less than those of others; mostly empty.
    note: String,
    calls: Cell,
    broken: Cell,
    rate: Cell,
    repaired: Cell,
    refused: Cell,
    stopped: Cell,
    results_refused: Cell,
    tool_errors: Cell,
    latency: Cell,
    /// Lengths of the two parts of the bar, between 0 and 100: the worst row has all of it.
    bar: (f64, f64),
    /// Whether the bar would be longer.
    beyond: bool,
}

/// A number to sort by and how it reads.
#[derive(Serialize)]
pub(super) struct Cell {
    number: u64,
    text: String,
}

impl Cell {
    pub(super) fn count(number: u64) -> Self {
        Cell {
            number,
            text: thousands(number),
        }
    }

    fn share(part: u64, whole: u64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most a million"
        )]
        let number = (share(part, whole) * 1e6) as u64;
        Cell {
            number,
            text: percent(part, whole),
        }
    }
}

pub(super) fn tools(tools: &[(&str, &ToolSummary)], most: usize) -> Vec<Row> {
    let largest = largest(tools.iter().map(|(_, tool)| &tool.tally));
    tools
        .iter()
        .take(most)
        .map(|(name, tool)| {
            let newest = tool.newest();
            let note = match newest.map(|version| version.quarantined.is_some()) {
                None => "never declared",
                Some(true) => "schema does not compile",
                Some(false) => "",
            };
            row(name, note, &tool.tally, tool.latency_us, largest)
        })
        .collect()
}

pub(super) fn models(models: &[(&str, &Tally)], most: usize) -> Vec<Row> {
    let largest = largest(models.iter().map(|(_, tally)| *tally));
    models
        .iter()
        .take(most)
        .map(|(name, tally)| row(name, "", tally, 0, largest))
        .collect()
}

/// The largest rate of those that have enough calls for one: a hundredth of the busiest. A name that was called twice must
/// not press all others together.
fn largest<'t>(tallies: impl Iterator<Item = &'t Tally> + Clone) -> f64 {
    let busiest = tallies.clone().map(|tally| tally.calls).max().unwrap_or(0);
    tallies
        .filter(|tally| share(tally.calls, busiest) >= 0.01)
        .map(|tally| share(tally.violations(), tally.calls))
        .fold(0.0, f64::max)
}

fn row(name: &str, note: &str, tally: &Tally, latency: u64, largest: f64) -> Row {
    let length = |part: u64| {
        if largest > 0.0 {
            (10_000.0 * share(part, tally.calls) / largest).round() / 100.0
        } else {
            0.0
        }
    };
    let repaired = length(tally.repaired).min(100.0);
    let refused = length(tally.refused);
    Row {
        name: cut(name, LONGEST),
        note: note.to_owned(),
        calls: Cell::count(tally.calls),
        broken: Cell::count(tally.violations()),
        rate: Cell::share(tally.violations(), tally.calls),
        repaired: Cell::count(tally.repaired),
        refused: Cell::count(tally.refused),
        stopped: Cell::count(tally.stopped),
        results_refused: Cell::count(tally.results_refused),
        tool_errors: Cell::count(tally.tool_errors),
        latency: Cell {
            number: latency,
            text: duration(latency),
        },
        bar: (repaired, refused.min(100.0 - repaired)),
        beyond: repaired + refused > 100.1,
    }
}

/// What admission would have stopped.
#[derive(Serialize)]
pub(super) struct Loops {
    /// All of it together.
    calls: String,
    latency: String,
    bytes: String,
    rows: Vec<Loop>,
}

#[derive(Serialize)]
struct Loop {
    code: String,
    what: String,
    calls: Cell,
    sessions: Cell,
    latency: Cell,
    bytes: Cell,
    tools: Vec<(String, String)>,
    examples: Vec<Sample>,
}

impl Loops {
    /// How many tools are named for each code.
    const TOOLS: usize = 5;

    pub(super) fn of(report: &Report) -> Self {
        let loops = &report.summary.loops;
        let mut all: Vec<_> = loops.iter().collect();
        all.sort_by_key(|(code, stopped)| (std::cmp::Reverse(stopped.calls), *code));
        let sum = |part: fn(&crate::summary::Stopped) -> u64| {
            loops
                .values()
                .fold(0u64, |sum, stopped| sum.saturating_add(part(stopped)))
        };
        Loops {
            calls: thousands(report.summary.calls.stopped),
            latency: duration(sum(|stopped| stopped.latency_us)),
            bytes: bytes(sum(|stopped| stopped.result_bytes)),
            rows: all
                .into_iter()
                .map(|(code, stopped)| Loop {
                    code: cut(code, LONGEST),
                    what: phrase::stopped(code),
                    calls: Cell::count(stopped.calls),
                    sessions: Cell {
                        number: stopped.sessions.count(),
                        text: about(stopped.sessions.count()),
                    },
                    latency: Cell {
                        number: stopped.latency_us,
                        text: duration(stopped.latency_us),
                    },
                    bytes: Cell {
                        number: stopped.result_bytes,
                        text: bytes(stopped.result_bytes),
                    },
                    tools: ranking::most(stopped.tools.iter())
                        .into_iter()
                        .take(Self::TOOLS)
                        .map(|(name, calls)| (cut(name, LONGEST), thousands(calls)))
                        .collect(),
                    examples: samples(&stopped.examples),
                })
                .collect(),
        }
    }
}

/// A rule of repair.
#[derive(Serialize)]
pub(super) struct Rule {
    name: String,
    times: Cell,
    share: Cell,
    /// Between 0 and 100.
    bar: f64,
}

pub(super) fn repairs(report: &Report) -> Vec<Rule> {
    let repairs = ranking::most(report.summary.repairs.iter());
    let most = repairs.first().map_or(0, |(_, times)| *times);
    let all = repairs
        .iter()
        .fold(0u64, |sum, (_, times)| sum.saturating_add(*times));
    repairs
        .into_iter()
        .map(|(name, times)| Rule {
            name: cut(name, LONGEST),
            times: Cell::count(times),
            share: Cell::share(times, all),
            bar: (10_000.0 * share(times, most)).round() / 100.0,
        })
        .collect()
}
