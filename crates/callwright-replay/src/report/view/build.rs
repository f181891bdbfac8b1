//! Builds the view of a report: what is in it, and what comes first.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::{
    ByName, CallCounts, CallsView, ChangeView, ClusterView, ExampleView, LoopView, ModelView,
    PieceView, ProposalView, ReadView, Time, ToolView, TroublePlace, TroubleView, UnplacedView,
    View,
};
use crate::decide::ViolationKind;
use crate::number;
use crate::propose::{Proof, Proposal};
use crate::report::headline::Breakdown;
use crate::report::{Report, sentences};
use crate::summary::{Cluster, ClusterKey, Examples, Side, Tally};

/// The version of the JSON. Raised when a field is renamed or dropped.
const VERSION: u32 = 1;

impl<'r> View<'r> {
    /// # Errors
    /// If a template does not match its input: a bug in this crate.
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

/// What violates its schema most often comes first.
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
    // Stable: rows with equal counts stay in the order of their text.
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
    let mut all: Vec<(&ClusterKey, &Cluster)> = summary.clusters.iter().collect();
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
            judgement: judgements.get(key).copied(),
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
    let view = |proposal: &'r Proposal| {
        let (proved, proof) = match &proposal.proof {
            Proof::Proved(how) => (true, how),
            Proof::NotProved(why) => (false, why),
        };
        let clusters = proposal.clusters.iter();
        ProposalView {
            proposal,
            clusters: clusters
                .filter_map(|key| numbers.get(key).copied())
                .collect(),
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
