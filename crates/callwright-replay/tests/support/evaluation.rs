//! Compares the outcome of a replay with the labels.
//!
//! # How it is counted
//!
//! - **Truth.** All calls with one planted pattern are replayed on their own. The clusters of that run belong to the
//!   pattern, with that many calls. A cluster is truly an edge case if more than half of its calls are.
//! - **Precision** by clusters: how many of the clusters judged to be edge cases truly are. By calls: how many of the
//!   calls in them are. A cluster that was not planted counts as wrong. A cluster that occurs only in calls with two
//!   patterns is not counted, because it is unknown which of the two it belongs to.
//! - **Recall** by patterns: a planted edge case is found if nine in ten of its calls are in clusters judged to be edge
//!   cases. By calls: how many of all planted edge-case calls are in such clusters.
//! - **Accepted**: every planted call, arguments and result, is judged again by the real gate, with repair off and with
//!   all proposals of the kind "edge case" applied to the tools. A call with a bug and an edge case is a bug.
//! - Patterns with fewer than [`ENOUGH`] calls are printed and counted by calls, but not by patterns. In a short log a
//!   pattern splits into one cluster per value, and three calls of one value are too few to tell a habit from a slip.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use callwright::ToolSpec;
use callwright_replay::decide::ViolationKind;
use callwright_replay::propose::{Proof, apply, suggestions_file};
use callwright_replay::report::Report;
use callwright_replay::summary::ClusterKey;

use super::engine::replay;
use super::objections;
use super::traffic::{Label, Pattern, World, planted};

/// The minimum number of calls for a pattern to be counted as a pattern.
///
/// A pattern has up to four common values or shapes; with twenty calls there are five of each, which is where the rule
/// begins to consider how they are spread.
pub(crate) const ENOUGH: u64 = 20;

/// How many calls of a kind there are, and how many of them have some property.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Part {
    pub(crate) of: u64,
    pub(crate) are: u64,
}

impl Part {
    fn add(&mut self, calls: u64, are: bool) {
        self.of += calls;
        self.are += if are { calls } else { 0 };
    }

    /// One if there are no calls.
    pub(crate) fn share(self) -> f64 {
        if self.of == 0 {
            1.0
        } else {
            self.are as f64 / self.of as f64
        }
    }
}

/// The numbers, and remarks for people.
#[derive(Debug, Default)]
pub(crate) struct Evaluation {
    pub(crate) precision_by_clusters: Part,
    pub(crate) precision_by_calls: Part,
    pub(crate) recall_by_patterns: Part,
    pub(crate) recall_by_calls: Part,
    /// Planted edge cases with enough calls whose calls are all accepted by the changed tools.
    pub(crate) edge_cases_accepted: Part,
    pub(crate) edge_calls_accepted: Part,
    pub(crate) bug_calls_accepted: Part,
    /// What went wrong, one line each.
    pub(crate) remarks: String,
}

/// The calls of the log in which something is planted: the numbers of the patterns, and the line.
pub(crate) type Planted = Vec<(Vec<usize>, String)>;

/// Collects the lines with planted calls.
pub(crate) fn keep_planted(line: &str, into: &mut Planted) {
    let numbers = planted(objections::id(&objections::read(line)));
    if !numbers.is_empty() {
        into.push((numbers, line.to_owned()));
    }
}

/// Key for calls with several patterns; pattern numbers begin with one.
const SEVERAL: usize = 0;

/// How many calls of each pattern are in a cluster.
type Truth = BTreeMap<ClusterKey, BTreeMap<usize, u64>>;

/// Compares the report with the labels.
pub(crate) fn evaluate(
    world: &World,
    tools: &[ToolSpec],
    report: &Report,
    calls: &Planted,
    folder: &Path,
) -> Evaluation {
    let mut evaluation = Evaluation::default();
    let truth = truth(tools, calls, folder);
    evaluation.precision(world, report, &truth);
    evaluation.recall(world, report, &truth);
    evaluation.proofs(report);
    evaluation.acceptance(world, &changed(&world.tools_file, report), calls);
    evaluation
}

/// Replays the calls of each pattern on their own.
fn truth(tools: &[ToolSpec], calls: &Planted, folder: &Path) -> Truth {
    let mut texts: BTreeMap<usize, String> = BTreeMap::new();
    for (numbers, line) in calls {
        let number = if let [only] = numbers[..] {
            only
        } else {
            SEVERAL
        };
        let text = texts.entry(number).or_default();
        text.push_str(line);
        text.push('\n');
    }
    let mut truth = Truth::new();
    for (number, text) in texts {
        let file = folder.join(format!("pattern-{number}.jsonl"));
        std::fs::write(&file, text).expect("the folder can be written to");
        let summary = replay(tools.to_vec(), &file, None);
        for (key, cluster) in summary.clusters.iter() {
            let patterns = truth.entry(key.clone()).or_default();
            *patterns.entry(number).or_default() += cluster.calls;
        }
    }
    truth
}

/// The clusters judged to be edge cases.
fn judged_edge_cases(report: &Report) -> impl Iterator<Item = &ClusterKey> {
    let judgements = report.judgements.iter();
    judgements
        .filter(|judgement| judgement.kind == ViolationKind::EdgeCase)
        .map(|judgement| &judgement.cluster)
}

fn is_edge(world: &World, number: usize) -> bool {
    world.patterns[number - 1].label == Label::EdgeCase
}

fn named(pattern: &Pattern) -> String {
    let Pattern {
        number,
        tool,
        path,
        issue,
        stands_for,
        ..
    } = pattern;
    format!("{number} {tool} {path} {issue} ({stands_for})")
}

impl Evaluation {
    fn precision(&mut self, world: &World, report: &Report, truth: &Truth) {
        for judgement in report
            .judgements
            .iter()
            .filter(|it| it.kind == ViolationKind::EdgeCase)
        {
            let key = &judgement.cluster;
            let patterns = truth.get(key);
            if patterns.is_some_and(|patterns| patterns.keys().all(|number| *number == SEVERAL)) {
                continue;
            }
            let (mut edge, mut bug) = (0, 0);
            for (number, calls) in patterns.into_iter().flatten() {
                if *number == SEVERAL {
                    continue;
                }
                if is_edge(world, *number) {
                    edge += calls;
                } else {
                    bug += calls;
                }
            }
            let is_right = edge > bug;
            self.precision_by_clusters.add(1, is_right);
            self.precision_by_calls.add(edge, true);
            self.precision_by_calls.add(bug, false);
            if !is_right {
                let ClusterKey {
                    tool,
                    path,
                    issue,
                    shape,
                    ..
                } = key;
                let _ = writeln!(
                    self.remarks,
                    "taken for an edge case: {tool} {path} {issue} {shape}, {bug} calls with a bug, {edge} without: {:?}",
                    judgement.reasons
                );
            }
        }
    }

    fn recall(&mut self, world: &World, report: &Report, truth: &Truth) {
        let judged: Vec<&ClusterKey> = judged_edge_cases(report).collect();
        let kinds: BTreeMap<&ClusterKey, ViolationKind> = report
            .judgements
            .iter()
            .map(|judgement| (&judgement.cluster, judgement.kind))
            .collect();
        for pattern in world
            .patterns
            .iter()
            .filter(|pattern| pattern.label == Label::EdgeCase)
        {
            let mut found = Part::default();
            let mut missed = String::new();
            for (key, patterns) in truth {
                let Some(calls) = patterns.get(&pattern.number) else {
                    continue;
                };
                let is_found = judged.contains(&key);
                found.add(*calls, is_found);
                if !is_found {
                    let _ = write!(
                        missed,
                        "; {} {}: {calls} calls, {:?}",
                        key.path,
                        key.shape,
                        kinds.get(key)
                    );
                }
            }
            self.recall_by_calls.of += found.of;
            self.recall_by_calls.are += found.are;
            let is_found = found.share() >= 0.9;
            if found.of >= ENOUGH {
                self.recall_by_patterns.add(1, is_found);
            }
            if !missed.is_empty() {
                let how = if is_found { "not all found" } else { "missed" };
                let _ = writeln!(self.remarks, "{how}: {}{missed}", named(pattern));
            }
        }
    }

    fn proofs(&mut self, report: &Report) {
        for proposal in &report.proposals.changes {
            if let (ViolationKind::EdgeCase, Proof::NotProved(why)) =
                (proposal.kind, &proposal.proof)
            {
                let _ = writeln!(
                    self.remarks,
                    "not proved: {} {}: {why}",
                    proposal.tool, proposal.title
                );
            }
        }
    }

    fn acceptance(&mut self, world: &World, tools: &[ToolSpec], calls: &Planted) {
        let gate = objections::gate(tools.iter().cloned());
        let mut by_pattern = vec![Part::default(); world.patterns.len() + 1];
        for (numbers, line) in calls {
            let recorded = objections::read(line);
            let mut found = objections::to_arguments(&gate, &recorded);
            found.extend(objections::to_result(&gate, &recorded));
            let accepted = found.is_empty();
            if numbers.iter().all(|number| is_edge(world, *number)) {
                self.edge_calls_accepted.add(1, accepted);
            } else {
                self.bug_calls_accepted.add(1, accepted);
            }
            if let [only] = numbers[..] {
                by_pattern[only].add(1, accepted);
            }
        }
        for pattern in &world.patterns {
            let part = by_pattern[pattern.number];
            let is_edge = pattern.label == Label::EdgeCase;
            if is_edge && part.of >= ENOUGH {
                self.edge_cases_accepted.add(1, part.are == part.of);
            }
            if is_edge && part.are < part.of {
                let _ = writeln!(
                    self.remarks,
                    "still refused: {} of {} calls of {}",
                    part.of - part.are,
                    part.of,
                    named(pattern)
                );
            }
            if !is_edge && part.are > 0 {
                let _ = writeln!(
                    self.remarks,
                    "accepted though a bug: {} of {} calls of {}",
                    part.are,
                    part.of,
                    named(pattern)
                );
            }
        }
    }
}

/// The tools with all proposals about edge cases applied, as `callwright replay apply` writes them.
fn changed(tools_file: &str, report: &Report) -> Vec<ToolSpec> {
    let proposals = &report.proposals;
    let edge_cases = proposals.changes.iter();
    let accept: Vec<usize> = edge_cases
        .filter(|proposal| proposal.kind == ViolationKind::EdgeCase)
        .map(|proposal| proposal.number)
        .collect();
    let suggestions = suggestions_file(proposals, Some(tools_file));
    let text = apply(tools_file, &suggestions, &accept, true).expect("the proposals go together");
    callwright::wire::read_tools(&text).expect("the new tools can be read")
}
