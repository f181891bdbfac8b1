//! Edge cases → the smallest change of a schema that allows them.
//!
//! A proposal is a JSON Patch on a schema of one tool, as it was declared, with its effect on the recorded calls and a
//! proof that nothing becomes stricter. Bugs are never proposed; they are worth advice.

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// From one on, the most useful first. What `--accept` names.
    pub number: usize,
    /// The tool.
    pub tool: String,
    /// Which of its schemas.
    pub side: Side,
    /// What kind of change it is.
    pub change: ChangeKind,
    /// What it does, in a few words: "`priority` may also be \"urgent\"".
    pub title: String,
    /// What the clusters that it allows were judged to be: the least certain of them.
    pub kind: ViolationKind,
    /// The clusters that it allows.
    pub clusters: Vec<ClusterKey>,
    /// A JSON Patch (RFC 6902) on the schema.
    pub patch: json_patch::Patch,
    /// The part of the schema that changes, before.
    pub before: Json,
    /// And after.
    pub after: Json,
    /// Where that part is: a JSON Pointer into the schema.
    pub pointer: String,
    /// How many places of the schema refer to that part: the change loosens all of them. Zero if it is used in one
    /// place only.
    #[serde(default)]
    pub shared_by: usize,
    /// Recorded calls that would become valid by this change alone.
    pub accepts: u64,
    /// Recorded calls with one of the clusters, whatever else is wrong with them.
    pub touches: u64,
    /// Recorded calls that look like bugs, and would become valid too.
    pub accepts_bugs: u64,
    /// Whether `accepts` and `accepts_bugs` are estimates, since not all values were kept.
    #[serde(default)]
    pub is_estimate: bool,
    /// Whether everything that the old schema accepts is accepted by the new one.
    pub proof: Proof,
    /// A hash of the schema that the change is for.
    #[serde(default)]
    pub schema_hash: String,
}

/// The kinds of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeKind {
    /// `null` is allowed.
    Nullable,
    /// A key need not be there.
    Optional,
    /// More values of an enum.
    WiderEnum,
    /// Any value of the enum's type.
    OpenEnum,
    /// Another type beside the one that there is, or a wider one.
    WiderType,
    /// A wider range of numbers.
    WiderRange,
    /// A wider range of lengths.
    WiderLength,
    /// The format, or the pattern, goes.
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
    /// Shown; the text says by what.
    Proved(String),
    /// Not shown; the text says why. `apply` refuses it unless forced.
    NotProved(String),
}

/// Something worth telling that changes no verdict: a better description, a schema that is looser than all traffic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaAdvice {
    /// The tool.
    pub tool: String,
    /// Where: a JSON Pointer into the arguments.
    pub path: String,
    /// What, in one or two sentences.
    pub text: String,
}

/// A cluster that is worth a change, and for which none was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unplaced {
    /// The cluster.
    pub cluster: ClusterKey,
    /// Why there is no proposal.
    pub why: String,
}

/// Proposals and advice, out of a summary and the judgements on its clusters.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Proposals {
    /// Changes.
    pub changes: Vec<Proposal>,
    /// How to describe parameters better, and where a schema is looser than all traffic.
    pub advice: Vec<SchemaAdvice>,
    /// Edge cases for which there is no proposal.
    #[serde(default)]
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
