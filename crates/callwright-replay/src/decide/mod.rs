//! Bug or edge case? A cluster → a judgement with its reasons.
//!
//! Points for and against, each with the sentence that says why. Nothing is weighed that a person cannot look up in the
//! summary.

mod company;
mod facts;
mod farther;
mod outcome;
mod points;
mod rollout;
mod slip;
mod spelling;
mod spread;
mod words;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

pub(crate) use self::facts::{Declared, values};
pub(crate) use self::outcome::ratio;

use self::company::Company;
use self::facts::Facts;
use crate::summary::{ClusterKey, Side, Summary};

pub use self::points::{BUG_UP_TO, EDGE_CASE_FROM};

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
    let mut declared: HashMap<&str, Declared> = HashMap::new();
    let company = Company::of(summary);
    let mut judged = Vec::with_capacity(summary.clusters.len());
    for (key, cluster) in summary.clusters.iter() {
        let tool = summary.tools.get(&key.tool);
        let declared = declared
            .entry(&key.tool)
            .or_insert_with(|| Declared::of(tool));
        let facts = Facts::gather(key, cluster, tool, declared);
        judged.push((cluster.calls, judge(&facts, &company)));
    }
    farther::than_a_few(summary, &mut judged);
    judged.sort_by(|(more, left), (calls, right)| {
        (calls, &left.cluster).cmp(&(more, &right.cluster))
    });
    judged.into_iter().map(|(_, judgement)| judgement).collect()
}

/// Adds up the points.
fn judge(facts: &Facts<'_>, company: &Company<'_>) -> Judgement {
    let mut reasons = Vec::new();
    slip::in_general(facts, &mut reasons);
    let general = reasons.len();
    if facts.key.side == Side::Input {
        outcome::what_the_tool_made_of_it(facts, company, &mut reasons);
        outcome::what_the_model_did_next(facts, &mut reasons);
        company::others_of_the_place(facts, company, &mut reasons);
        company::one_of_many_keys(facts, company, &mut reasons);
        spread::over_models(facts, &mut reasons);
        spread::alone(facts, &mut reasons);
        spread::rare_and_unknown(facts, &mut reasons);
    }
    spread::over_time(facts, &mut reasons);
    spread::over_sessions(facts, &mut reasons);
    spread::share(facts, company, &mut reasons);
    company::nothing_given(facts, company, &mut reasons);
    words::own_default(facts, &mut reasons);
    words::described(facts, &mut reasons);
    slip::slips(facts, &mut reasons);
    let score = reasons.iter().map(|reason| reason.points).sum();
    let kind = match kind_of(score) {
        // What such violations are in general says nothing about this one, unless it is what they never are.
        Kind::Bug if reasons.len() == general && score > points::NEVER => Kind::Unclear,
        kind => kind,
    };
    Judgement {
        cluster: facts.key.clone(),
        kind,
        score,
        reasons,
    }
}

fn kind_of(score: i32) -> Kind {
    match score {
        EDGE_CASE_FROM.. => Kind::EdgeCase,
        ..=BUG_UP_TO => Kind::Bug,
        _ => Kind::Unclear,
    }
}

/// Adds a reason.
fn say(reasons: &mut Vec<Reason>, points: i32, why: impl Into<String>) {
    reasons.push(Reason {
        points,
        why: why.into(),
    });
}
