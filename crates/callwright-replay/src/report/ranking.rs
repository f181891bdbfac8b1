//! In which order things are shown: what matters most comes first, and the order is the same in every report.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::decide::{Judgement, Kind};
use crate::propose::Proof;
use crate::summary::{Cluster, ClusterKey, Tally, ToolSummary};

use super::Report;

/// A cluster with everything that is known of it.
pub(crate) struct Ranked<'r> {
    /// From one on, the most frequent first. Reports name clusters by it.
    pub(crate) number: usize,
    pub(crate) key: &'r ClusterKey,
    pub(crate) cluster: &'r Cluster,
    pub(crate) judgement: Option<&'r Judgement>,
    /// The numbers of the proposals that allow it.
    pub(crate) proposals: Vec<usize>,
    /// Calls of its tool, or its results if it is about results.
    pub(crate) of: u64,
}

impl Ranked<'_> {
    /// What it is. Where nobody judged, nobody knows.
    pub(crate) fn kind(&self) -> Kind {
        self.judgement
            .map_or(Kind::Unclear, |judgement| judgement.kind)
    }
}

/// All clusters, the most frequent first.
pub(crate) fn clusters(report: &Report) -> Vec<Ranked<'_>> {
    let summary = &report.summary;
    let judgements: HashMap<&ClusterKey, &Judgement> = report
        .judgements
        .iter()
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
    all.into_iter()
        .enumerate()
        .map(|(index, (key, cluster))| Ranked {
            number: index + 1,
            key,
            cluster,
            judgement: judgements.get(key).copied(),
            proposals: proposals.remove(key).unwrap_or_default(),
            of: calls_of(report, key),
        })
        .collect()
}

fn calls_of(report: &Report, key: &ClusterKey) -> u64 {
    use crate::summary::Side;
    let tally = report
        .summary
        .tools
        .get(&key.tool)
        .map_or(report.summary.calls, |tool| tool.tally);
    match key.side {
        Side::Input => tally.calls,
        Side::Output => tally.results,
    }
}

/// All tools, those whose calls break their schema most often first.
pub(crate) fn tools(report: &Report) -> Vec<(&str, &ToolSummary)> {
    let mut all: Vec<(&str, &ToolSummary)> = report
        .summary
        .tools
        .iter()
        .map(|(name, tool)| (name.as_str(), tool))
        .collect();
    all.sort_by_key(|(name, tool)| (weight(&tool.tally), *name));
    all
}

/// All models, likewise.
pub(crate) fn models(report: &Report) -> Vec<(&str, &Tally)> {
    let mut all: Vec<(&str, &Tally)> = report
        .summary
        .models
        .iter()
        .map(|(name, tally)| (name.as_str(), tally))
        .collect();
    all.sort_by_key(|(name, tally)| (weight(tally), *name));
    all
}

fn weight(tally: &Tally) -> Reverse<(u64, u64, u64)> {
    Reverse((tally.violations(), tally.results_refused, tally.calls))
}

/// The most frequent of a map, the most frequent first.
pub(crate) fn most<'m>(map: impl Iterator<Item = (&'m String, &'m u64)>) -> Vec<(&'m str, u64)> {
    let mut all: Vec<(&str, u64)> = map.map(|(name, count)| (name.as_str(), *count)).collect();
    all.sort_by_key(|(name, count)| (Reverse(*count), *name));
    all
}

/// The proposals that can be accepted without a second look: edge cases, proved, and no bug comes in with them.
pub(crate) fn safe_to_accept(report: &Report) -> Vec<usize> {
    let changes = report.proposals.changes.iter();
    changes
        .filter(|change| {
            change.kind == Kind::EdgeCase
                && change.accepts_bugs == 0
                && matches!(change.proof, Proof::Proved(_))
        })
        .map(|change| change.number)
        .collect()
}
