//! Clusters and proposals, for programs.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use serde_json::Value as Json;

use crate::decide::{Kind, Reason};
use crate::propose::{Change, Proof};
use crate::summary::{ClusterKey, Example, LedTo, Side};

use super::super::ranking::{self, Ranked};
use super::super::{Report, date, number};

#[derive(Serialize)]
pub(super) struct ClusterObject {
    /// From one on. The pages and the terminal use the same numbers.
    number: usize,
    tool: String,
    /// `input` or `output`.
    side: Side,
    /// A JSON Pointer in which `*` stands for any index or unnamed key.
    path: String,
    /// The code of what is wrong.
    issue: String,
    /// What the value looks like.
    shape: String,
    calls: u64,
    /// Of the calls of the tool, or of its results: between 0 and 1.
    share: f64,
    /// Calls of which it is the only fault.
    alone: u64,
    /// Calls that repair makes valid.
    repaired: u64,
    /// By which rules.
    rules: BTreeMap<String, u64>,
    first: Option<String>,
    last: Option<String>,
    sessions: u64,
    /// Calls by model.
    models: BTreeMap<String, u64>,
    /// Different short values, as JSON texts, and how often they came.
    values: BTreeMap<String, u64>,
    smallest: Option<f64>,
    largest: Option<f64>,
    led_to: LedToObject,
    judgement: Option<JudgementObject>,
    /// The numbers of the proposals that allow it.
    proposals: Vec<usize>,
    examples: Vec<ExampleObject>,
}

#[derive(Serialize)]
struct JudgementObject {
    /// `edge_case`, `unclear` or `bug`.
    kind: Kind,
    /// The sum of the points.
    score: i32,
    reasons: Vec<ReasonObject>,
}

#[derive(Serialize)]
struct ReasonObject {
    /// For an edge case if positive.
    points: i32,
    why: String,
}

/// What calls led to: the first three add up to the calls.
#[derive(Serialize)]
struct LedToObject {
    ran_fine: u64,
    tool_refused: u64,
    unknown: u64,
    corrected: u64,
    repeated: u64,
    gave_up: u64,
}

#[derive(Serialize)]
pub(super) struct ExampleObject {
    /// The value as JSON text, secrets masked; empty for a key that is missing.
    value: String,
    /// Whether `value` is all of it.
    whole: bool,
    /// The file and the line.
    place: String,
    time: Option<String>,
    session: Option<String>,
    model: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Proposal {
    number: usize,
    tool: String,
    side: Side,
    change: Change,
    title: String,
    /// What the clusters behind it were taken for, the least certain of them.
    kind: Kind,
    /// The numbers of the clusters that it allows.
    clusters: Vec<usize>,
    /// Where the schema changes: a JSON Pointer into it.
    pointer: String,
    before: Json,
    after: Json,
    /// RFC 6902, on the schema.
    patch: json_patch::Patch,
    accepts: u64,
    accepts_bugs: u64,
    /// Whether the two numbers before are estimates, since not all values were kept.
    is_estimate: bool,
    touches: u64,
    /// How many places of the schema refer to the part that changes; the change loosens all of them.
    shared_by: usize,
    proved: bool,
    /// How it was proved, or why it was not.
    proof: String,
}

impl From<&Ranked<'_>> for ClusterObject {
    fn from(ranked: &Ranked<'_>) -> Self {
        let Ranked { key, cluster, .. } = ranked;
        ClusterObject {
            number: ranked.number,
            tool: key.tool.clone(),
            side: key.side,
            path: key.path.clone(),
            issue: key.issue.clone(),
            shape: key.shape.clone(),
            calls: cluster.calls,
            share: number::share(cluster.calls, ranked.of),
            alone: cluster.alone,
            repaired: cluster.repaired,
            rules: cluster.rules.clone(),
            first: cluster.first.map(date::rfc_3339),
            last: cluster.last.map(date::rfc_3339),
            sessions: cluster.sessions.count(),
            models: super::owned(cluster.models.iter()),
            values: super::owned(cluster.values.iter()),
            smallest: cluster.smallest,
            largest: cluster.largest,
            led_to: cluster.led_to.into(),
            judgement: ranked.judgement.map(|judgement| JudgementObject {
                kind: judgement.kind,
                score: judgement.score,
                reasons: judgement.reasons.iter().map(ReasonObject::from).collect(),
            }),
            proposals: ranked.proposals.clone(),
            examples: cluster.examples.iter().map(ExampleObject::from).collect(),
        }
    }
}

impl From<&Reason> for ReasonObject {
    fn from(reason: &Reason) -> Self {
        ReasonObject {
            points: reason.points,
            why: reason.why.clone(),
        }
    }
}

impl From<LedTo> for LedToObject {
    fn from(led_to: LedTo) -> Self {
        LedToObject {
            ran_fine: led_to.ran_fine,
            tool_refused: led_to.tool_refused,
            unknown: led_to.unknown,
            corrected: led_to.corrected,
            repeated: led_to.repeated,
            gave_up: led_to.gave_up,
        }
    }
}

impl From<&Example> for ExampleObject {
    fn from(example: &Example) -> Self {
        ExampleObject {
            value: example.value.clone(),
            whole: example.whole,
            place: example.place.clone(),
            time: example.time.map(date::rfc_3339),
            session: example.session.clone(),
            model: example.model.clone(),
        }
    }
}

/// A cluster for which no change is known.
#[derive(Serialize)]
pub(super) struct UnplacedObject {
    /// The number of the cluster.
    cluster: usize,
    why: String,
}

fn numbers(report: &Report) -> HashMap<&ClusterKey, usize> {
    ranking::clusters(report)
        .iter()
        .map(|ranked| (ranked.key, ranked.number))
        .collect()
}

/// Clusters that are no bugs, and for which no change is known.
pub(super) fn unplaced(report: &Report) -> Vec<UnplacedObject> {
    let numbers = numbers(report);
    let unplaced = report.proposals.unplaced.iter();
    unplaced
        .filter_map(|unplaced| {
            Some(UnplacedObject {
                cluster: *numbers.get(&unplaced.cluster)?,
                why: unplaced.why.clone(),
            })
        })
        .collect()
}

/// All proposals, with the clusters by their numbers.
pub(super) fn proposals(report: &Report) -> Vec<Proposal> {
    let numbers = numbers(report);
    report
        .proposals
        .changes
        .iter()
        .map(|proposal| {
            let (proved, proof) = match &proposal.proof {
                Proof::Proved(how) => (true, how),
                Proof::NotProved(why) => (false, why),
            };
            Proposal {
                number: proposal.number,
                tool: proposal.tool.clone(),
                side: proposal.side,
                change: proposal.change,
                title: proposal.title.clone(),
                kind: proposal.kind,
                clusters: proposal
                    .clusters
                    .iter()
                    .filter_map(|key| numbers.get(key).copied())
                    .collect(),
                pointer: proposal.pointer.clone(),
                before: proposal.before.clone(),
                after: proposal.after.clone(),
                patch: proposal.patch.clone(),
                accepts: proposal.accepts,
                accepts_bugs: proposal.accepts_bugs,
                is_estimate: proposal.is_estimate,
                touches: proposal.touches,
                shared_by: proposal.shared_by,
                proved,
                proof: proof.clone(),
            }
        })
        .collect()
}
