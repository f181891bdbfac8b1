//! The report as data, from which the text, the JSON and the page are made.
//!
//! A [`View`] borrows from a [`Report`] and contains everything that is reported, in that order: numbers and names,
//! not yet words for people. Serialised, it is the JSON of a report ([`json()`](super::json())). The page gets the
//! same fields; only times and counts by name are passed to its template in the form that its filters take. `build`
//! decides what goes into it, and in which order. Nothing is counted or judged here.

mod build;

use std::cmp::Reverse;

use minijinja::value::serializing_for_value;
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};

use crate::decide::{ClusterJudgement, ViolationKind};
use crate::propose::{Proposal, SchemaAdvice};
use crate::summary::{ChangeKey, ClusterKey, LedTo, Tally, Timeline};

use super::printable::cut;
use super::{date, sentences};

/// Everything that is reported. [`json()`](super::json()) documents the fields.
#[derive(Serialize)]
pub(crate) struct View<'r> {
    v: u32,
    headline: String,
    pub(crate) compared: bool,
    pub(crate) changes: Vec<ChangeView<'r>>,
    pub(crate) read: ReadView<'r>,
    pub(crate) calls: CallsView<'r>,
    pub(crate) tools: Vec<ToolView<'r>>,
    pub(crate) models: Vec<ModelView<'r>>,
    time: Vec<PieceView<'r>>,
    pub(crate) clusters: Vec<ClusterView<'r>>,
    pub(crate) proposals: Vec<ProposalView<'r>>,
    unplaced: Vec<UnplacedView<'r>>,
    pub(crate) advice: &'r [SchemaAdvice],
    pub(crate) loops: Vec<LoopView<'r>>,
    pub(crate) repairs: ByName<'r>,
    /// The headline, sentence by sentence.
    #[serde(skip)]
    pub(crate) sentences: Vec<String>,
}

#[derive(Serialize)]
pub(crate) struct ChangeView<'r> {
    #[serde(flatten)]
    pub(crate) key: &'r ChangeKey,
    pub(crate) calls: u64,
    pub(crate) examples: Vec<ExampleView<'r>>,
}

#[derive(Serialize)]
pub(crate) struct ReadView<'r> {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) records: u64,
    pub(crate) formats: ByName<'r>,
    pub(crate) first: Option<Time>,
    pub(crate) last: Option<Time>,
    without_calls: u64,
    shown_again: u64,
    results_without_call: u64,
    forgotten_sessions: u64,
    interrupted: bool,
    pub(crate) troubles: Vec<TroubleView<'r>>,
    pub(crate) notes: Vec<String>,
}

/// Records that could not be read, for one reason.
#[derive(Serialize)]
pub(crate) struct TroubleView<'r> {
    pub(crate) what: &'r str,
    pub(crate) records: u64,
    pub(crate) places: Vec<TroublePlace<'r>>,
}

#[derive(Serialize)]
pub(crate) struct TroublePlace<'r> {
    pub(crate) file: &'r str,
    /// Zero if a whole file could not be read.
    pub(crate) line: u64,
}

/// A tally, with the sum that all reports show.
#[derive(Clone, Copy)]
pub(crate) struct CallCounts<'r>(pub(crate) &'r Tally);

impl Serialize for CallCounts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tally = self.0;
        serializer.collect_map([
            ("calls", tally.calls),
            ("valid", tally.valid),
            ("unjudged", tally.unjudged),
            ("warned", tally.warned),
            ("repaired", tally.repaired),
            ("refused", tally.refused),
            ("violations", tally.violations()),
            ("stopped", tally.stopped),
            ("results", tally.results),
            ("results_refused", tally.results_refused),
            ("tool_errors", tally.tool_errors),
        ])
    }
}

#[derive(Serialize)]
pub(crate) struct CallsView<'r> {
    #[serde(flatten)]
    pub(crate) counts: CallCounts<'r>,
    pub(crate) sessions: u64,
    allowed_by_proposals: u64,
    look_like_bugs: u64,
    undecided: u64,
    pub(crate) undeclared: u64,
}

#[derive(Serialize)]
pub(crate) struct ToolView<'r> {
    pub(crate) name: &'r str,
    #[serde(flatten)]
    pub(crate) counts: CallCounts<'r>,
    sessions: u64,
    versions: usize,
    quarantined: Option<&'r str>,
    latency_us: u64,
    models: ByName<'r>,
}

#[derive(Serialize)]
pub(crate) struct ModelView<'r> {
    name: &'r str,
    #[serde(flatten)]
    pub(crate) counts: CallCounts<'r>,
}

#[derive(Serialize)]
struct PieceView<'r> {
    from: Time,
    width_us: i64,
    #[serde(flatten)]
    counts: CallCounts<'r>,
}

#[derive(Serialize)]
pub(crate) struct ClusterView<'r> {
    /// Starting from one, the most frequent first. Every report uses it to name clusters.
    pub(crate) number: usize,
    #[serde(flatten)]
    pub(crate) key: &'r ClusterKey,
    pub(crate) calls: u64,
    share: f64,
    alone: u64,
    repaired: u64,
    rules: ByName<'r>,
    first: Option<Time>,
    last: Option<Time>,
    sessions: u64,
    models: ByName<'r>,
    values: ByName<'r>,
    smallest: Option<f64>,
    largest: Option<f64>,
    led_to: LedTo,
    judgement: Option<&'r ClusterJudgement>,
    proposals: Vec<usize>,
    examples: Vec<ExampleView<'r>>,
    /// Calls of its tool, or results if it is about results: the base of `share`. Only shown on the page.
    #[serde(skip_serializing_if = "for_programs")]
    of: u64,
    /// `unclear` if it was not judged. Programs find it in `judgement`.
    #[serde(skip_serializing_if = "for_programs")]
    pub(crate) kind: ViolationKind,
    /// What the page draws.
    #[serde(skip)]
    pub(crate) time: &'r Timeline<u64>,
}

#[derive(Serialize)]
pub(crate) struct ExampleView<'r> {
    pub(crate) value: &'r str,
    whole: bool,
    arguments: &'r str,
    pub(crate) place: &'r str,
    time: Option<Time>,
    session: Option<&'r str>,
    model: Option<&'r str>,
}

#[derive(Serialize)]
pub(crate) struct ProposalView<'r> {
    #[serde(flatten)]
    pub(crate) proposal: &'r Proposal,
    /// The numbers of the clusters that it allows.
    pub(crate) clusters: Vec<usize>,
    pub(crate) proved: bool,
    proof: &'r str,
}

/// A cluster for which no change is known.
#[derive(Serialize)]
struct UnplacedView<'r> {
    cluster: usize,
    why: &'r str,
}

/// What admission would have stopped, for one reason.
#[derive(Serialize)]
pub(crate) struct LoopView<'r> {
    code: &'r str,
    calls: u64,
    sessions: u64,
    pub(crate) latency_us: u64,
    pub(crate) result_bytes: u64,
    tools: ByName<'r>,
    examples: Vec<ExampleView<'r>>,
}

/// A moment, in microseconds since 1970. Programs get it in RFC 3339.
#[derive(Clone, Copy)]
pub(crate) struct Time(pub(crate) i64);

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializing_for_value() {
            serializer.serialize_i64(self.0)
        } else {
            serializer.serialize_str(&date::rfc_3339(self.0))
        }
    }
}

/// Counts by name, the most frequent first. Programs get an object in name order.
pub(crate) struct ByName<'r> {
    pub(crate) most: Vec<(&'r str, u64)>,
    /// Names that there was no room for.
    dropped: u64,
}

impl<'r> ByName<'r> {
    fn of(counts: impl Iterator<Item = (&'r String, &'r u64)>, dropped: u64) -> Self {
        let mut most: Vec<_> = counts
            .map(|(name, count)| (name.as_str(), *count))
            .collect();
        most.sort_by_key(|(name, count)| (Reverse(*count), *name));
        ByName { most, dropped }
    }

    pub(crate) fn sum(&self) -> u64 {
        let counts = self.most.iter().map(|(_, count)| *count);
        counts.fold(0, u64::saturating_add)
    }
}

impl Serialize for ByName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializing_for_value() {
            let mut map = serializer.serialize_map(Some(2))?;
            map.serialize_entry("most", &self.most)?;
            map.serialize_entry("dropped", &self.dropped)?;
            return map.end();
        }
        let mut names = self.most.clone();
        names.sort_unstable();
        serializer.collect_map(names)
    }
}

/// Whether something is serialised for programs, rather than for the page template.
fn for_programs<T>(_: &T) -> bool {
    !serializing_for_value()
}

impl ReadView<'_> {
    /// Records that could not be read.
    pub(crate) fn unread(&self) -> u64 {
        let records = self.troubles.iter().map(|trouble| trouble.records);
        records.fold(0, u64::saturating_add)
    }
}

impl TroublePlace<'_> {
    /// For people: `file:line`.
    pub(crate) fn shown(&self) -> String {
        let file = cut(self.file, sentences::LONGEST);
        match self.line {
            0 => file,
            line => format!("{file}:{line}"),
        }
    }
}
