//! Proposes the smallest schema change that allows an edge case.
//!
//! Takes a summary and the judgements on its clusters; returns proposals and advice. A proposal is a JSON Patch on a
//! schema of one tool, as declared, with its effect on the recorded calls and a proof that nothing becomes stricter.
//! Never proposes to allow a bug; bugs only lead to advice.

mod advice;
mod apply;
mod combine;
mod editor;
mod effect;
mod excerpt;
mod node;
mod patch;
mod plan;
mod proof;
mod relaxation;
mod rewrite;
mod schema_hash;
mod suggest;
mod target;
mod title;
mod tools_file;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::decide::{ClusterJudgement, ViolationKind};
use crate::summary::{ClusterKey, Side, Summary};

pub use apply::{ApplyError, apply};
pub use suggest::suggestions_file;

/// One change of a schema.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proposal {
    /// Starting from one, the most useful first. The number that `--accept` takes.
    pub number: usize,
    /// The tool.
    pub tool: String,
    /// Which of its schemas.
    pub side: Side,
    /// What kind of change it is.
    pub change: ChangeKind,
    /// What it does, in a few words: "`priority` may also be \"urgent\"".
    pub title: String,
    /// The judgement on the clusters that it allows: the least certain one.
    pub kind: ViolationKind,
    /// The clusters that it allows. (Reports name them by their numbers.)
    #[serde(skip)]
    pub clusters: Vec<ClusterKey>,
    /// A JSON Patch (RFC 6902) on the schema.
    pub patch: json_patch::Patch,
    /// The part of the schema that changes, before.
    pub before: Json,
    /// The same part, after.
    pub after: Json,
    /// Where that part is: a JSON Pointer into the schema.
    pub pointer: String,
    /// How many places of the schema refer to that part: the change loosens all of them. Zero if it is only used in
    /// one place.
    pub shared_by: usize,
    /// Recorded calls that would become valid by this change alone.
    pub accepts: u64,
    /// Recorded calls with one of the clusters, whatever else is wrong with them.
    pub touches: u64,
    /// Recorded calls that look like bugs, but would also become valid.
    pub accepts_bugs: u64,
    /// Whether `accepts` and `accepts_bugs` are estimates, because not all values were kept.
    pub is_estimate: bool,
    /// Whether the new schema accepts everything that the old one accepts.
    #[serde(skip)]
    pub proof: Proof,
    /// A hash of the schema that the change is for.
    #[serde(skip)]
    pub schema_hash: String,
}

/// The kinds of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeKind {
    /// `null` is allowed.
    Nullable,
    /// A key may be missing.
    Optional,
    /// More values of an enum.
    WiderEnum,
    /// Any value of the enum's type.
    OpenEnum,
    /// Another type besides the existing one, or a wider one.
    WiderType,
    /// A wider range of numbers.
    WiderRange,
    /// A wider range of lengths.
    WiderLength,
    /// The format or the pattern is dropped.
    NoFormat,
    /// Keys that the schema does not name are allowed.
    MoreKeys,
    /// The default contradicts the schema.
    DefaultAllowed,
}

/// Whether a change only loosens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict", content = "how")]
pub enum Proof {
    /// Shown; the text says how.
    Proved(String),
    /// Not shown; the text says why. `apply` refuses it unless forced.
    NotProved(String),
}

/// A remark that changes no verdict: a better description, a schema that is looser than all traffic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SchemaAdvice {
    /// The tool.
    pub tool: String,
    /// Where: a JSON Pointer into the arguments.
    pub path: String,
    /// What, in one or two sentences.
    pub text: String,
}

/// A cluster that deserves a change, but for which none was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unplaced {
    /// The cluster.
    pub cluster: ClusterKey,
    /// Why there is no proposal.
    pub why: String,
}

/// Proposals and advice, from a summary and the judgements on its clusters.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Proposals {
    /// Changes.
    pub changes: Vec<Proposal>,
    /// How to describe parameters better, and where a schema is looser than all traffic.
    pub advice: Vec<SchemaAdvice>,
    /// Edge cases for which there is no proposal.
    pub unplaced: Vec<Unplaced>,
}

/// Makes proposals: edge cases first, the most frequent first.
pub fn propose(summary: &Summary, judgements: &[ClusterJudgement]) -> Proposals {
    let mut proposals = Proposals::default();
    plan::plan(summary, judgements, &mut proposals);
    proposals.changes.sort_by(|left, right| {
        (left.kind, right.touches, &left.tool, &left.title).cmp(&(
            right.kind,
            left.touches,
            &right.tool,
            &right.title,
        ))
    });
    for (at, proposal) in proposals.changes.iter_mut().enumerate() {
        proposal.number = at + 1;
    }
    advice::describe_better(summary, judgements, &mut proposals.advice);
    advice::tighten(summary, &mut proposals.advice);
    proposals
}
