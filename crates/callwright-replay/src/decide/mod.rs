//! Bug or edge case? Takes a cluster; returns a judgement with its reasons.
//!
//! Every sign for or against has its points and a sentence that says why. Never weighs anything that a person cannot
//! look up in the summary.

mod descriptions;
mod facts;
mod limits;
mod neighbours;
mod outcome;
mod signs;
mod slip;
mod spelling;
mod spread;

use serde::{Deserialize, Serialize};

pub(crate) use self::facts::{Declarations, ToolDeclaration, values};
pub(crate) use self::outcome::ratio;

use self::facts::Facts;
use self::neighbours::Neighbours;
use self::signs::Sign;
use crate::summary::{ClusterKey, Side, Summary};

pub use self::signs::{BUG_UP_TO, EDGE_CASE_FROM};

/// What a cluster of violations most likely is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViolationKind {
    /// Legitimate calls that the schema forbids.
    EdgeCase,
    /// Too little is known, or the signs disagree.
    Unclear,
    /// A mistake that the guard exists for.
    Bug,
}

/// One reason, with its weight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScoredReason {
    /// For an edge case if positive, against it if negative.
    pub points: i32,
    /// The fact, as a short sentence.
    pub why: String,
}

/// The judgement on a cluster.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClusterJudgement {
    /// The cluster.
    #[serde(skip)]
    pub cluster: ClusterKey,
    /// The verdict.
    pub kind: ViolationKind,
    /// The sum of the points.
    pub score: i32,
    /// Why.
    pub reasons: Vec<ScoredReason>,
}

/// Looks for one sign.
type SignCheck = fn(&Facts<'_>) -> Option<ScoredReason>;

/// Signs from calls: what the tool and the model did, which results do not show.
const OF_CALLS: [SignCheck; 7] = [
    outcome::of_tool,
    outcome::of_model,
    neighbours::others_of_the_place,
    neighbours::one_of_many_keys,
    spread::over_models,
    spread::seldom_alone,
    spread::rare_and_unknown,
];

/// Signs from calls and results.
const OF_BOTH: [SignCheck; 6] = [
    spread::over_time,
    spread::over_sessions,
    spread::share,
    neighbours::nothing_given,
    descriptions::own_default,
    descriptions::described,
];

/// Judges all clusters, the most frequent first.
pub fn decide(summary: &Summary) -> Vec<ClusterJudgement> {
    let mut declarations = Declarations::of(summary);
    let neighbours = Neighbours::of(summary);
    let mut judged = Vec::with_capacity(summary.clusters.len());
    for (key, cluster) in summary.clusters.iter() {
        let tool = summary.tools.get(&key.tool);
        let declaration = declarations.get(&key.tool);
        let facts = Facts::gather(key, cluster, tool, declaration, &neighbours);
        judged.push((cluster.calls, judge(&facts)));
    }
    limits::allow_values_before_edge_cases(summary, &mut judged);
    judged.sort_by(|(more, left), (calls, right)| {
        (calls, &left.cluster).cmp(&(more, &right.cluster))
    });
    judged.into_iter().map(|(_, judgement)| judgement).collect()
}

/// Adds up the points.
fn judge(facts: &Facts<'_>) -> ClusterJudgement {
    let mut reasons = Vec::from_iter(slip::in_general(facts));
    let general = reasons.len();
    if facts.key.side == Side::Input {
        reasons.extend(OF_CALLS.iter().filter_map(|check| check(facts)));
    }
    reasons.extend(OF_BOTH.iter().filter_map(|check| check(facts)));
    reasons.extend(slip::slips(facts));
    let score = reasons.iter().map(|reason| reason.points).sum();
    let kind = match ViolationKind::of(score) {
        // What such violations generally are says nothing about this one, unless they are never legitimate.
        ViolationKind::Bug if reasons.len() == general && score > Sign::Never.points() => {
            ViolationKind::Unclear
        }
        kind => kind,
    };
    ClusterJudgement {
        cluster: facts.key.clone(),
        kind,
        score,
        reasons,
    }
}

impl ViolationKind {
    fn of(score: i32) -> Self {
        match score {
            EDGE_CASE_FROM.. => ViolationKind::EdgeCase,
            ..=BUG_UP_TO => ViolationKind::Bug,
            _ => ViolationKind::Unclear,
        }
    }
}
