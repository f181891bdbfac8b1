//! A few values just beyond a limit, where many that are farther beyond it are an edge case.
//!
//! Numbers and lengths are clustered by their size, so a handful of calls may be a cluster of its own between the limit
//! and what everybody sends. A schema that allows the farther ones allows these too: limits have no holes.

use super::points::{FARTHER_TAKEN, FEW_RESULTS, REFUSES_UP_TO};
use super::{Judgement, Kind, kind_of, ratio, say};
use crate::summary::{Cluster, ClusterKey, Summary};

/// Adds the reason where it is due. Clusters that the tool refuses, and those that are bugs for strong reasons, stay.
pub(super) fn than_a_few(summary: &Summary, judged: &mut [(u64, Judgement)]) {
    let edge_cases: Vec<(ClusterKey, f64)> = judged
        .iter()
        .filter(|(_, judgement)| judgement.kind == Kind::EdgeCase)
        .filter_map(|(_, judgement)| {
            let cluster = summary.clusters.get(&judgement.cluster)?;
            Some((
                judgement.cluster.clone(),
                beyond(&judgement.cluster, cluster)?,
            ))
        })
        .collect();
    for (_, judgement) in judged {
        let key = &judgement.cluster;
        // What lacks more than this has a reason of its own against it.
        let lacks_little = judgement.score + FARTHER_TAKEN >= super::EDGE_CASE_FROM;
        let Some(cluster) = summary.clusters.get(key) else {
            continue;
        };
        let Some(own) = beyond(key, cluster) else {
            continue;
        };
        if judgement.kind == Kind::EdgeCase || !lacks_little || is_refused(cluster) {
            continue;
        }
        let is_farther = |(other, far): &&(ClusterKey, f64)| {
            (&other.tool, other.side, &other.path, &other.issue)
                == (&key.tool, key.side, &key.path, &key.issue)
                && *far >= own
        };
        if let Some((other, _)) = edge_cases.iter().find(is_farther) {
            let why = format!("{}, farther beyond the limit, is an edge case", other.shape);
            say(&mut judgement.reasons, FARTHER_TAKEN, why);
            judgement.score += FARTHER_TAKEN;
            judgement.kind = kind_of(judgement.score);
        }
    }
}

fn is_refused(cluster: &Cluster) -> bool {
    let known = cluster.led_to.ran_fine + cluster.led_to.tool_refused;
    known >= FEW_RESULTS && ratio(cluster.led_to.ran_fine, known) <= REFUSES_UP_TO
}

/// How far the farthest value is beyond its limit, on a scale of its own.
fn beyond(key: &ClusterKey, cluster: &Cluster) -> Option<f64> {
    match key.issue.as_str() {
        "maximum" | "max_length" | "max_items" | "max_properties" => cluster.largest,
        "minimum" | "min_length" | "min_items" | "min_properties" => {
            cluster.smallest.map(|smallest| -smallest)
        }
        _ => None,
    }
}
