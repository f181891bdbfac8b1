//! Bug or edge case? A cluster → a judgement with its reasons.
//!
//! Points for and against, each with the sentence that says why. Nothing is weighed that a person cannot look up in the
//! summary.

use serde::{Deserialize, Serialize};

use crate::summary::{ClusterKey, Summary};

/// What a cluster of violations most likely is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Calls that are fine and that the schema forbids.
    EdgeCase,
    /// Too little is known, or the signs disagree.
    Unclear,
    /// A mistake that the guard is there for.
    Bug,
}

/// One reason, with its weight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// For an edge case if positive, against it if negative.
    pub points: i32,
    /// The fact, as a short sentence.
    pub why: String,
}

/// What was made of a cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The cluster.
    pub cluster: ClusterKey,
    /// What it is.
    pub kind: Kind,
    /// The sum of the points.
    pub score: i32,
    /// Why.
    pub reasons: Vec<Reason>,
}

/// Judges all clusters, the most frequent first.
pub fn decide(summary: &Summary) -> Vec<Judgement> {
    let _ = summary;
    Vec::new()
}
