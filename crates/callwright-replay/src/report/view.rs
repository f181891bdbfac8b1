//! The report as data, from which the text, the JSON and the page are made.
//!
//! A [`View`] borrows from a [`Report`] and holds everything that is reported, in the order in which it is reported: numbers
//! and names, not yet words for people. Serialised it is the JSON of a report ([`json()`](super::json())). The page gets the
//! same fields; only times and counts by name are handed to its template in the form that its filters take.
//! Nothing is counted or judged here.

use std::cmp::Reverse;
use std::collections::HashMap;

use minijinja::value::serializing_for_value;
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use serde_json::Value as Json;

use crate::decide::{ScoredReason, ViolationKind};
use crate::propose::{ChangeKind, Proof, SchemaAdvice};
use crate::summary::{self, ChangeKey, ClusterKey, Examples, LedTo, Side, Tally, Timeline};

use super::headline::Breakdown;
use super::printable::cut;
use super::{Report, date, sentences};
use crate::number;

/// The version of the JSON. Raised when a field is renamed or dropped.
const VERSION: u32 = 1;

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
    /// Zero where a whole file could not be read.
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
    /// From one on, the most frequent first. Every report names clusters by it.
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
    judgement: Option<JudgementView<'r>>,
    proposals: Vec<usize>,
    examples: Vec<ExampleView<'r>>,
    /// Calls of its tool, or results if it is about results: what `share` is of. Only the page shows it.
    #[serde(skip_serializing_if = "for_programs")]
    of: u64,
    /// `unclear` where it was not judged. Programs have it in `judgement`.
    #[serde(skip_serializing_if = "for_programs")]
    pub(crate) kind: ViolationKind,
    /// What the page draws.
    #[serde(skip)]
    pub(crate) time: &'r Timeline<u64>,
}

#[derive(Serialize)]
struct JudgementView<'r> {
    kind: ViolationKind,
    score: i32,
    reasons: &'r [ScoredReason],
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
    pub(crate) number: usize,
    pub(crate) tool: &'r str,
    side: Side,
    pub(crate) change: ChangeKind,
    pub(crate) title: &'r str,
    pub(crate) kind: ViolationKind,
    pub(crate) clusters: Vec<usize>,
    pointer: &'r str,
    pub(crate) before: &'r Json,
    pub(crate) after: &'r Json,
    pub(crate) patch: &'r json_patch::Patch,
    pub(crate) accepts: u64,
    pub(crate) accepts_bugs: u64,
    is_estimate: bool,
    touches: u64,
    shared_by: usize,
    pub(crate) proved: bool,
    pub(crate) proof: &'r str,
}

/// A cluster for which no change is known.
#[derive(Serialize)]
struct UnplacedView<'r> {
    cluster: usize,
    why: &'r str,
}

/// What admission would have stopped for one reason.
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

/// Counts by name, the most frequent first. Programs get an object in the order of the names.
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

/// Whether something is serialised for programs, and not for the template of the page.
fn for_programs<T>(_: &T) -> bool {
    !serializing_for_value()
}

impl<'r> View<'r> {
    /// # Errors
    /// If a template does not fit what it is given: a bug of this crate.
    pub(crate) fn of(report: &'r Report) -> Result<Self, minijinja::Error> {
        let summary = &report.summary;
        let breakdown = Breakdown::of(report);
        let sentences = sentences::headline(report, &breakdown)?;
        let clusters = clusters(report);
        let numbers: HashMap<&ClusterKey, usize> =
            clusters.iter().map(|it| (it.key, it.number)).collect();
        Ok(View {
            v: VERSION,
            headline: sentences.join(" "),
            compared: summary.compared,
            changes: changes(report),
            read: read(report, sentences::notes(report)?),
            calls: CallsView {
                counts: CallCounts(&summary.calls),
                sessions: summary.sessions.count(),
                allowed_by_proposals: breakdown.allowed,
                look_like_bugs: breakdown.bugs,
                undecided: breakdown.undecided,
                undeclared: breakdown.undeclared,
            },
            tools: tools(report),
            models: models(report),
            time: summary
                .time
                .iter()
                .map(|(from, tally)| PieceView {
                    from: Time(from),
                    width_us: summary.time.width_us(),
                    counts: CallCounts(tally),
                })
                .collect(),
            proposals: proposals(report, &numbers),
            unplaced: (report.proposals.unplaced.iter())
                .filter_map(|unplaced| {
                    let cluster = *numbers.get(&unplaced.cluster)?;
                    let why = &unplaced.why;
                    Some(UnplacedView { cluster, why })
                })
                .collect(),
            clusters,
            advice: &report.proposals.advice,
            loops: loops(report),
            repairs: ByName::of(summary.repairs.iter(), 0),
            sentences,
        })
    }
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

/// What breaks its schema most often comes first.
fn rank(tally: &Tally) -> Reverse<(u64, u64, u64)> {
    Reverse((tally.violations(), tally.results_refused, tally.calls))
}

fn examples(examples: &Examples) -> Vec<ExampleView<'_>> {
    let views = examples.iter().map(|example| ExampleView {
        value: &example.value,
        whole: example.whole,
        arguments: &example.arguments,
        place: &example.place,
        time: example.time.map(Time),
        session: example.session.as_deref(),
        model: example.model.as_deref(),
    });
    views.collect()
}

/// Verdicts that another judge changes: those that get stricter first, then by calls.
fn changes(report: &Report) -> Vec<ChangeView<'_>> {
    let mut all: Vec<_> = (report.summary.changes.iter())
        .map(|(key, change)| ChangeView {
            key,
            calls: change.calls,
            examples: examples(&change.examples),
        })
        .collect();
    all.sort_by_key(|it| (Reverse(it.key.stricter), Reverse(it.calls), it.key));
    all
}

fn read(report: &Report, notes: Vec<String>) -> ReadView<'_> {
    let input = &report.summary.input;
    let mut troubles: Vec<TroubleView<'_>> = (input.troubles.iter())
        .map(|(what, trouble)| TroubleView {
            what,
            records: trouble.records,
            places: (trouble.places.iter())
                .map(|(file, line)| TroublePlace { file, line: *line })
                .collect(),
        })
        .collect();
    // Stable: the same number stays in the order of the words.
    troubles.sort_by_key(|trouble| Reverse(trouble.records));
    ReadView {
        files: input.files,
        bytes: input.bytes,
        records: input.records,
        formats: ByName::of(input.formats.iter(), 0),
        first: input.first.map(Time),
        last: input.last.map(Time),
        without_calls: input.without_calls,
        shown_again: input.shown_again,
        results_without_call: input.results_without_call,
        forgotten_sessions: input.forgotten_sessions,
        interrupted: input.interrupted,
        troubles,
        notes,
    }
}

fn tools(report: &Report) -> Vec<ToolView<'_>> {
    let mut all: Vec<_> = (report.summary.tools.iter())
        .map(|(name, tool)| ToolView {
            name,
            counts: CallCounts(&tool.tally),
            sessions: tool.sessions.count(),
            versions: tool.versions.len(),
            quarantined: tool.newest().and_then(|it| it.quarantined.as_deref()),
            latency_us: tool.latency_us,
            models: ByName::of(tool.models.iter(), 0),
        })
        .collect();
    all.sort_by_key(|tool| (rank(tool.counts.0), tool.name));
    all
}

fn models(report: &Report) -> Vec<ModelView<'_>> {
    let mut all: Vec<_> = (report.summary.models.iter())
        .map(|(name, tally)| ModelView {
            name,
            counts: CallCounts(tally),
        })
        .collect();
    all.sort_by_key(|model| (rank(model.counts.0), model.name));
    all
}

fn clusters(report: &Report) -> Vec<ClusterView<'_>> {
    let summary = &report.summary;
    let judgements: HashMap<_, _> = (report.judgements.iter())
        .map(|judgement| (&judgement.cluster, judgement))
        .collect();
    let mut proposals: HashMap<&ClusterKey, Vec<usize>> = HashMap::new();
    for proposal in &report.proposals.changes {
        for key in &proposal.clusters {
            proposals.entry(key).or_default().push(proposal.number);
        }
    }
    let mut all: Vec<(&ClusterKey, &summary::Cluster)> = summary.clusters.iter().collect();
    all.sort_by_key(|(key, cluster)| (Reverse(cluster.calls), *key));
    let views = all.into_iter().enumerate().map(|(index, (key, cluster))| {
        let tool = summary.tools.get(&key.tool);
        let tally = tool.map_or(&summary.calls, |tool| &tool.tally);
        let of = match key.side {
            Side::Input => tally.calls,
            Side::Output => tally.results,
        };
        ClusterView {
            number: index + 1,
            key,
            calls: cluster.calls,
            share: number::share(cluster.calls, of),
            alone: cluster.alone,
            repaired: cluster.repaired,
            rules: ByName::of(cluster.rules.iter(), 0),
            first: cluster.first.map(Time),
            last: cluster.last.map(Time),
            sessions: cluster.sessions.count(),
            models: ByName::of(cluster.models.iter(), cluster.models.dropped()),
            values: ByName::of(cluster.values.iter(), cluster.values.dropped()),
            smallest: cluster.smallest,
            largest: cluster.largest,
            led_to: cluster.led_to,
            kind: (judgements.get(key)).map_or(ViolationKind::Unclear, |judgement| judgement.kind),
            judgement: judgements.get(key).map(|judgement| JudgementView {
                kind: judgement.kind,
                score: judgement.score,
                reasons: &judgement.reasons,
            }),
            proposals: proposals.remove(key).unwrap_or_default(),
            examples: examples(&cluster.examples),
            of,
            time: &cluster.time,
        }
    });
    views.collect()
}

fn proposals<'r>(
    report: &'r Report,
    numbers: &HashMap<&ClusterKey, usize>,
) -> Vec<ProposalView<'r>> {
    let view = |proposal: &'r crate::propose::Proposal| {
        let (proved, proof) = match &proposal.proof {
            Proof::Proved(how) => (true, how),
            Proof::NotProved(why) => (false, why),
        };
        ProposalView {
            number: proposal.number,
            tool: &proposal.tool,
            side: proposal.side,
            change: proposal.change,
            title: &proposal.title,
            kind: proposal.kind,
            clusters: (proposal.clusters.iter())
                .filter_map(|key| numbers.get(key).copied())
                .collect(),
            pointer: &proposal.pointer,
            before: &proposal.before,
            after: &proposal.after,
            patch: &proposal.patch,
            accepts: proposal.accepts,
            accepts_bugs: proposal.accepts_bugs,
            is_estimate: proposal.is_estimate,
            touches: proposal.touches,
            shared_by: proposal.shared_by,
            proved,
            proof,
        }
    };
    report.proposals.changes.iter().map(view).collect()
}

fn loops(report: &Report) -> Vec<LoopView<'_>> {
    let mut all: Vec<_> = (report.summary.loops.iter())
        .map(|(code, stopped)| LoopView {
            code,
            calls: stopped.calls,
            sessions: stopped.sessions.count(),
            latency_us: stopped.latency_us,
            result_bytes: stopped.result_bytes,
            tools: ByName::of(stopped.tools.iter(), 0),
            examples: examples(&stopped.examples),
        })
        .collect();
    all.sort_by_key(|it| (Reverse(it.calls), it.code));
    all
}
