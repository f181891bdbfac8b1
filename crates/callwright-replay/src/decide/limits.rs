//! Signs from values beyond a limit: how far they are, and whether values even farther beyond it are edge cases.

use callwright::validate::IssueCode;
use serde_json::Value as Json;

use super::facts::Facts;
use super::signs::{FEW_RESULTS, REFUSES_UP_TO, Sign};
use super::{ClusterJudgement, EDGE_CASE_FROM, ScoredReason, ViolationKind, ratio};
use crate::schema::SizeLimit;
use crate::summary::{Cluster, ClusterKey, Summary};

/// How far a number or a length is from its limit.
pub(super) fn distance(facts: &Facts<'_>) -> Option<ScoredReason> {
    let keywords: &[&str] = match facts.code? {
        IssueCode::Maximum => &["maximum", "exclusiveMaximum"],
        IssueCode::MaxLength => &["maxLength"],
        IssueCode::MaxItems => &["maxItems"],
        _ => return None,
    };
    let extreme = facts.cluster.largest?;
    let limit = facts.nodes.iter().find_map(|node| {
        let mut limits = keywords.iter().filter_map(|keyword| node.get(*keyword));
        limits.find_map(Json::as_f64)
    });
    let limit = limit.filter(|limit| *limit > 0.0)?;
    if extreme <= limit * 10.0 {
        let why = format!("{extreme} is within ten times the limit of {limit}");
        return Some(Sign::NearLimit.because(why));
    }
    if extreme > limit * 1000.0 {
        let why = format!("{extreme} is more than a thousand times the limit of {limit}");
        return Some(Sign::FarFromLimit.because(why));
    }
    let number = facts.values.iter().find(|value| stands_for_all(value))?;
    Some(Sign::StandsForAll.because(format!("{number} stands for \"all of them\"")))
}

/// Only nines, four or more, or the largest number of a common type.
fn stands_for_all(value: &Json) -> bool {
    const LARGEST: [u64; 6] = [
        0x7fff,
        0xffff,
        0x7fff_ffff,
        0xffff_ffff,
        0x1f_ffff_ffff_ffff,
        0x7fff_ffff_ffff_ffff,
    ];
    value.as_u64().is_some_and(|number| {
        let digits = number.to_string();
        let is_nines = digits.len() >= 4 && digits.bytes().all(|digit| digit == b'9');
        is_nines || LARGEST.contains(&number)
    })
}

/// Adds a reason to a few values just beyond a limit, where many values farther beyond it are an edge case.
///
/// Numbers and lengths are clustered by their size, so a handful of calls may form a cluster between the limit and
/// the values that most callers send. A schema that allows the farther ones allows these too: limits have no holes.
/// Clusters that the tool refuses, and those that are bugs for strong reasons, stay.
pub(super) fn allow_values_before_edge_cases(
    summary: &Summary,
    judged: &mut [(u64, ClusterJudgement)],
) {
    let edge_cases: Vec<(ClusterKey, f64)> = (judged.iter())
        .filter(|(_, judgement)| judgement.kind == ViolationKind::EdgeCase)
        .filter_map(|(_, judgement)| {
            let key = &judgement.cluster;
            Some((key.clone(), beyond(key, summary.clusters.get(key)?)?))
        })
        .collect();
    for (_, judgement) in judged {
        let key = &judgement.cluster;
        let Some(cluster) = summary.clusters.get(key) else {
            continue;
        };
        let Some(own) = beyond(key, cluster) else {
            continue;
        };
        // A larger deficit means that another reason speaks against it.
        let lacks_little = judgement.score + Sign::FartherTaken.points() >= EDGE_CASE_FROM;
        if judgement.kind == ViolationKind::EdgeCase || !lacks_little || is_refused(cluster) {
            continue;
        }
        let is_farther = |(other, far): &&(ClusterKey, f64)| {
            (&other.tool, other.side, &other.path, other.issue_code())
                == (&key.tool, key.side, &key.path, key.issue_code())
                && *far >= own
        };
        if let Some((other, _)) = edge_cases.iter().find(is_farther) {
            let why = format!("{}, farther beyond the limit, is an edge case", other.shape);
            judgement.reasons.push(Sign::FartherTaken.because(why));
            judgement.score += Sign::FartherTaken.points();
            judgement.kind = ViolationKind::of(judgement.score);
        }
    }
}

fn is_refused(cluster: &Cluster) -> bool {
    let known = cluster.led_to.ran_fine + cluster.led_to.tool_refused;
    known >= FEW_RESULTS && ratio(cluster.led_to.ran_fine, known) <= REFUSES_UP_TO
}

/// How far the farthest value is beyond its limit, on a scale where more is farther.
fn beyond(key: &ClusterKey, cluster: &Cluster) -> Option<f64> {
    let limit = SizeLimit::of(key.issue_code()?)?;
    let farthest = limit.farthest(cluster)?;
    Some(if limit.is_upper { farthest } else { -farthest })
}
