//! Groups clusters that one change can allow, and turns the groups into proposals.

use std::collections::{BTreeMap, HashMap, HashSet};

use callwright::validate::IssueCode;
use serde_json::Value as Json;

use super::editor::{ChangeRequest, Edited, Editor};
use super::effect::RecordedCalls;
use super::excerpt::excerpt;
use super::patch::patch;
use super::proof::prove;
use super::relaxation::{Family, Relaxation};
use super::schema_hash::schema_hash;
use super::title::title;
use super::{ChangeKind, Proposal, Proposals, Unplaced};
use crate::decide::{ClusterJudgement, Declarations, ViolationKind, values};
use crate::schema::places;
use crate::summary::{Cluster, ClusterKey, Side, Summary, ValueShape};

/// From this many legitimate keys on, they are no longer named.
const ANY_KEY_FROM: usize = 21;

/// How many values a change is tried with: the others of a cluster look the same.
const MOST_SAMPLES: usize = 64;

/// What the clusters that one change can allow have in common.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct GroupKey<'k> {
    tool: &'k str,
    side: Side,
    path: String,
    family: Family,
    kind: ViolationKind,
}

/// The clusters of one change.
#[derive(Debug, Default)]
struct ClusterGroup<'k> {
    clusters: Vec<(&'k ClusterKey, &'k Cluster)>,
    relaxations: Vec<Relaxation>,
}

type Groups<'k> = BTreeMap<GroupKey<'k>, ClusterGroup<'k>>;

/// Makes all proposals, in no particular order.
pub(super) fn plan(summary: &Summary, judgements: &[ClusterJudgement], proposals: &mut Proposals) {
    let groups = group(summary, judgements, proposals);
    let recorded = RecordedCalls::all(summary, judgements);
    // Where something violates a keyword and is not an edge case.
    let others: HashSet<_> = (judgements.iter())
        .filter(|judgement| judgement.kind != ViolationKind::EdgeCase)
        .map(|it| place(&it.cluster))
        .collect();
    let mut declarations = Declarations::of(summary);
    for (key, group) in groups {
        let schema = declarations.get(key.tool).schema(key.side);
        let made = match schema.zip(recorded.get(&(key.tool, key.side))) {
            Some((schema, recorded)) => {
                let mut clusters = group.clusters.iter();
                let beside_others = clusters.any(|(key, _)| others.contains(&place(key)));
                make(schema, recorded, &key, &group, beside_others)
            }
            None => Err("the schema is not known"),
        };
        match made {
            Ok(proposal) => proposals.changes.push(proposal),
            Err(why) => {
                let unplaced = group.clusters.iter().map(|(key, _)| Unplaced {
                    cluster: (*key).clone(),
                    why: why.to_owned(),
                });
                proposals.unplaced.extend(unplaced);
            }
        }
    }
}

/// The place of a cluster, and what is wrong there.
fn place(key: &ClusterKey) -> (&str, &str, Option<IssueCode>) {
    (&key.tool, &key.path, key.issue_code())
}

fn group<'k>(
    summary: &'k Summary,
    judgements: &'k [ClusterJudgement],
    proposals: &mut Proposals,
) -> Groups<'k> {
    let mut groups = Groups::new();
    for judgement in judgements.iter().filter(|it| it.kind != ViolationKind::Bug) {
        let key = &judgement.cluster;
        let Some(cluster) = summary.clusters.get(key) else {
            continue;
        };
        match Relaxation::of(key, cluster) {
            Ok(relaxation) => {
                let group = groups.entry(GroupKey {
                    tool: &key.tool,
                    side: key.side,
                    path: relaxation.place(key),
                    family: relaxation.family(),
                    kind: judgement.kind,
                });
                let group = group.or_default();
                group.clusters.push((key, cluster));
                if !group.relaxations.contains(&relaxation) {
                    group.relaxations.push(relaxation);
                }
            }
            Err(why) => proposals.unplaced.push(Unplaced {
                cluster: key.clone(),
                why,
            }),
        }
    }
    any_keys(groups)
}

/// One group for all keys of an object, if too many are missing.
fn any_keys(groups: Groups<'_>) -> Groups<'_> {
    let object = |key: &GroupKey<'_>| {
        let is_key = matches!(key.family, Family::Key(_));
        is_key.then(|| (key.tool.to_owned(), key.side, key.path.clone(), key.kind))
    };
    let mut counts: HashMap<_, usize> = HashMap::new();
    for key in groups.keys() {
        if let Some(object) = object(key) {
            *counts.entry(object).or_insert(0) += 1;
        }
    }
    let mut merged = Groups::new();
    for (mut key, group) in groups {
        let keys = object(&key).and_then(|object| counts.get(&object));
        if keys.is_some_and(|keys| *keys >= ANY_KEY_FROM) {
            key.family = Family::AnyKey;
        }
        let into = merged.entry(key).or_default();
        into.clusters.extend(group.clusters);
        into.relaxations.extend(group.relaxations);
    }
    merged
}

fn make(
    schema: &Json,
    recorded: &RecordedCalls<'_>,
    group_key: &GroupKey<'_>,
    group: &ClusterGroup<'_>,
    beside_others: bool,
) -> Result<Proposal, &'static str> {
    let samples = samples(group);
    let mut editor = Editor::of(schema);
    let key = match group.relaxations.first() {
        Some(Relaxation::Optional(key) | Relaxation::Key(key, _)) => Some(key.as_str()),
        _ => None,
    };
    let edited = match key.filter(|_| group_key.family == Family::AnyKey) {
        Some(key) => editor.any_key(&group_key.path, key)?,
        None => editor.carry_out(&ChangeRequest {
            path: &group_key.path,
            relaxations: &group.relaxations,
            samples: &samples,
            beside_others,
        })?,
    };
    let Edited {
        schema: new,
        change,
        nodes,
        by_construction,
        what,
    } = edited;
    let proof = prove(schema, &new, &nodes, &editor.positions, by_construction)
        .ok_or("the change would refuse something that was accepted")?;
    let clusters: Vec<&ClusterKey> = group.clusters.iter().map(|(key, _)| *key).collect();
    let is_shared = nodes.iter().any(|node| editor.positions.uses(node) > 0);
    let alone = (!is_shared).then_some(nodes.as_slice());
    let effect = recorded.effect(schema, &new, &clusters, alone);
    let change = own_default(schema, &group_key.path, &samples, change);
    let node = nodes.first().ok_or("nothing was changed")?;
    let (before, after) = excerpt(schema, &new, node);
    Ok(Proposal {
        number: 0,
        tool: group_key.tool.to_owned(),
        side: group_key.side,
        change,
        title: title(group_key.side, &group_key.path, key, change, &what),
        kind: group_key.kind,
        clusters: clusters.into_iter().cloned().collect(),
        patch: patch(schema, &new),
        before,
        after,
        pointer: node.as_pointer().to_owned(),
        shared_by: editor.positions.uses(node),
        accepts: effect.accepts,
        touches: effect.touches,
        accepts_bugs: effect.accepts_bugs,
        is_estimate: effect.is_estimate,
        proof,
        schema_hash: schema_hash(schema),
    })
}

/// Values that the change must allow.
fn samples(group: &ClusterGroup<'_>) -> Vec<Json> {
    let mut samples: Vec<Json> = Vec::new();
    for (key, cluster) in &group.clusters {
        let is_null = key.shape == ValueShape::Null;
        let seen = is_null.then_some(Json::Null).into_iter();
        for value in seen.chain(values(cluster)) {
            if samples.len() < MOST_SAMPLES && !samples.contains(&value) {
                samples.push(value);
            }
        }
    }
    samples
}

/// A change that allows a schema's own default is a separate kind: the schema contradicts itself.
fn own_default(schema: &Json, path: &str, samples: &[Json], change: ChangeKind) -> ChangeKind {
    let [only] = samples else { return change };
    let is_about_values = matches!(
        change,
        ChangeKind::Nullable
            | ChangeKind::WiderType
            | ChangeKind::WiderEnum
            | ChangeKind::WiderRange
    );
    let mut nodes = places(schema, path)
        .into_iter()
        .filter_map(|place| schema.pointer(place.at.as_pointer()));
    if is_about_values && nodes.any(|node| node.get("default") == Some(only)) {
        return ChangeKind::DefaultAllowed;
    }
    change
}
