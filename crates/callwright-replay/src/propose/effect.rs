//! Counts the recorded calls that a change would accept.
//!
//! Kept values are judged by the new schema; if none were kept, the change is assumed to work, and the number is an
//! estimate.

use std::collections::HashMap;

use callwright::json::Path;
use callwright::validate::IssueCode as Code;
use serde_json::Value as Json;

use super::node::{forbids, number, requires};
use crate::decide::{ClusterJudgement, ViolationKind, ratio};
use crate::schema::{PartValidator, SchemaPart, SizeLimit, fragments, nodes, places};
use crate::summary::{Cluster, ClusterKey, Side, Summary};

/// The clusters and calls of one side of a tool.
pub(super) struct RecordedCalls<'r> {
    clusters: Vec<(&'r ClusterKey, &'r Cluster, ViolationKind)>,
    /// Calls by the clusters that they belong to.
    calls: Vec<(Vec<usize>, u64)>,
    /// Whether there are calls whose clusters are unknown.
    is_cut: bool,
}

/// What a change does to the recorded calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ChangeEffect {
    pub(super) accepts: u64,
    pub(super) touches: u64,
    pub(super) accepts_bugs: u64,
    pub(super) is_estimate: bool,
}

impl<'r> RecordedCalls<'r> {
    /// All sides of all tools.
    pub(super) fn all(
        summary: &'r Summary,
        judgements: &[ClusterJudgement],
    ) -> HashMap<(&'r str, Side), RecordedCalls<'r>> {
        let kinds: HashMap<&ClusterKey, ViolationKind> = judgements
            .iter()
            .map(|judgement| (&judgement.cluster, judgement.kind))
            .collect();
        let mut all: HashMap<(&str, Side), RecordedCalls<'_>> = HashMap::new();
        let mut known: HashMap<u64, (Side, usize)> = HashMap::new();
        let is_cut = summary.combinations.dropped() > 0;
        for (key, cluster) in summary.clusters.iter() {
            let recorded =
                all.entry((key.tool.as_str(), key.side))
                    .or_insert_with(|| RecordedCalls {
                        clusters: Vec::new(),
                        calls: Vec::new(),
                        is_cut,
                    });
            known.insert(key.hash(), (key.side, recorded.clusters.len()));
            let kind = kinds.get(key).copied().unwrap_or(ViolationKind::Unclear);
            recorded.clusters.push((key, cluster, kind));
        }
        for (combination, calls) in summary.combinations.iter() {
            for side in [Side::Input, Side::Output] {
                let found: Vec<Option<(Side, usize)>> = combination
                    .clusters
                    .iter()
                    .map(|hash| known.get(hash).copied())
                    .collect();
                let Some(recorded) = all.get_mut(&(combination.tool.as_str(), side)) else {
                    continue;
                };
                // A cluster that was dropped for lack of room may be of either side, so nothing can be said.
                let own: Option<Vec<usize>> = found
                    .iter()
                    .filter(|cluster| cluster.is_none_or(|(its, _)| its == side))
                    .map(|cluster| cluster.map(|(_, at)| at))
                    .collect();
                match own {
                    Some(own) if !own.is_empty() => recorded.calls.push((own, *calls)),
                    Some(_) => {}
                    None => recorded.is_cut = true,
                }
            }
        }
        all
    }

    /// The effect of a change for some clusters. `nodes` are the parts that were changed, if nothing refers to them;
    /// without them every cluster is examined.
    pub(super) fn effect(
        &self,
        old: &Json,
        new: &Json,
        own: &[&ClusterKey],
        nodes: Option<&[Path]>,
    ) -> ChangeEffect {
        let mut versions = BothVersions {
            old,
            new,
            old_validator: PartValidator::of(old),
            new_validator: PartValidator::of(new),
        };
        let shares: Vec<(f64, bool)> = self
            .clusters
            .iter()
            .map(|(key, cluster, _)| {
                if nodes.is_some_and(|nodes| !is_near(old, key, nodes)) {
                    return (0.0, false);
                }
                versions.share(key, cluster, own.contains(key))
            })
            .collect();
        let mut effect = ChangeEffect {
            is_estimate: self.is_cut,
            ..ChangeEffect::default()
        };
        for (clusters, calls) in &self.calls {
            let is_own = |at: &usize| own.contains(&self.clusters[*at].0);
            if clusters.iter().any(is_own) {
                effect.touches += calls;
            }
            let share = clusters.iter().map(|at| shares[*at].0).fold(1.0, f64::min);
            if share <= 0.0 {
                continue;
            }
            let accepted = part_of(*calls, share);
            effect.accepts += accepted;
            effect.is_estimate |= share < 1.0 || clusters.iter().any(|at| shares[*at].1);
            if clusters
                .iter()
                .any(|at| self.clusters[*at].2 == ViolationKind::Bug)
            {
                effect.accepts_bugs += accepted;
            }
        }
        effect
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate where it is not one"
)]
fn part_of(calls: u64, share: f64) -> u64 {
    if share >= 1.0 {
        return calls;
    }
    (calls as f64 * share).round() as u64
}

/// Whether a changed part is about the place of a cluster, or about what surrounds it or is inside it.
fn is_near(schema: &Json, key: &ClusterKey, nodes: &[Path]) -> bool {
    let path = Path::from_pointer(key.path.as_str());
    let is_about_key = matches!(key.issue_code(), Some(Code::Required | Code::UnknownKey));
    let path = if is_about_key { path.parent() } else { path };
    let places = places(schema, path.as_pointer());
    places.iter().any(|place| {
        let mut nodes = nodes.iter();
        nodes.any(|node| place.at.contains(node) || node.contains(&place.at))
    })
}

struct BothVersions<'s> {
    old: &'s Json,
    new: &'s Json,
    old_validator: PartValidator<'s>,
    new_validator: PartValidator<'s>,
}

impl BothVersions<'_> {
    /// The share of a cluster that the change allows, and whether that is an estimate.
    fn share(&mut self, key: &ClusterKey, cluster: &Cluster, is_own: bool) -> (f64, bool) {
        let path = Path::from_pointer(key.path.as_str());
        let around = path.parent();
        let name = path.last().unwrap_or_default().replace("~2", "*");
        match key.issue_code() {
            Some(Code::Required) => {
                let requires = |node: &Json| requires(node, &name);
                (self.gone(around.as_pointer(), &requires), false)
            }
            Some(Code::UnknownKey) => {
                let forbids = |node: &Json| forbids(node, &name);
                if self.gone(around.as_pointer(), &forbids) <= 0.0 {
                    return (0.0, false);
                }
                if places(self.new, &key.path).is_empty() {
                    return (1.0, false);
                }
                self.by_values(key, cluster, is_own)
            }
            _ => self.by_values(key, cluster, is_own),
        }
    }

    /// One if the old schema says something about a place and the new one no longer does, otherwise zero.
    fn gone(&self, around: &str, says: &dyn Fn(&Json) -> bool) -> f64 {
        let saying = |root: &Json| -> Vec<SchemaPart> {
            let places = places(root, around);
            let parts = places.iter().flat_map(|place| fragments(root, place));
            let says = |part: &SchemaPart| root.pointer(part.at.as_pointer()).is_some_and(says);
            parts.filter(says).collect()
        };
        let (before, after) = (saying(self.old), saying(self.new));
        let is_gone = after.len() < before.len() && after.iter().all(|part| part.is_alternative);
        f64::from(u8::from(is_gone))
    }

    fn by_values(&mut self, key: &ClusterKey, cluster: &Cluster, is_own: bool) -> (f64, bool) {
        let mut kept: Vec<(Json, u64)> = cluster
            .values
            .iter()
            .filter_map(|(text, calls)| Some((serde_json::from_str(text).ok()?, *calls)))
            .collect();
        if kept.is_empty() {
            let whole = cluster.examples.iter().filter(|example| example.whole);
            let values = whole.filter_map(|example| serde_json::from_str(&example.value).ok());
            kept = values.map(|value| (value, 1)).collect();
        }
        if kept.is_empty() {
            return (self.by_limit(key, cluster, is_own), true);
        }
        let all: u64 = kept.iter().map(|(_, calls)| calls).sum();
        let mut accepted = 0;
        for (value, calls) in &kept {
            if self.new_validator.accepts_at(&key.path, value)
                && !self.old_validator.accepts_at(&key.path, value)
            {
                accepted += calls;
            }
        }
        let is_cut =
            cluster.values.is_empty() || cluster.values.dropped() > 0 || all < cluster.calls;
        let share = if all == accepted {
            1.0
        } else {
            ratio(accepted, all)
        };
        (share, share > 0.0 && is_cut)
    }

    /// For values that were too long to keep, only their lengths are known.
    fn by_limit(&self, key: &ClusterKey, cluster: &Cluster, is_own: bool) -> f64 {
        let limit = key.issue_code().and_then(SizeLimit::of);
        let Some(limit) = limit.filter(|limit| matches!(limit.unit, "characters" | "items")) else {
            return f64::from(u8::from(is_own));
        };
        let Some(farthest) = limit.farthest(cluster) else {
            return 0.0;
        };
        let is_within = |root: &Json| {
            nodes(root, &key.path).iter().all(|node| {
                let stated = node.get(limit.keyword).and_then(number);
                stated.is_none_or(|stated| !limit.is_tighter(stated, farthest))
            })
        };
        f64::from(u8::from(is_within(self.new) && !is_within(self.old)))
    }
}
