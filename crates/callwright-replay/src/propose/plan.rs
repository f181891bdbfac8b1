//! Clusters → orders for one change each → proposals.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value as Json;

use super::edit::{Edited, Editor, Order};
use super::effect::Recorded;
use super::patch::patch;
use super::proof::prove;
use super::shown::{hash, shown};
use super::title::title;
use super::wish::Wish;
use super::{Change, Proposal, Proposals, Unplaced};
use crate::decide::{Declaration, Judgement, Kind, values};
use crate::schema::places;
use crate::summary::{Cluster, ClusterKey, Side, Summary};

/// From so many legitimate keys on an object is no list of keys any more.
const ANY_KEY_FROM: usize = 21;

/// Values that a change is tried with: the others of a cluster look the same.
const MOST_SAMPLES: usize = 64;

/// What goes together into one change.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Together<'k> {
    tool: &'k str,
    side: Side,
    path: String,
    family: String,
    kind: Kind,
}

/// The clusters of one change.
#[derive(Debug, Default)]
struct Group<'k> {
    clusters: Vec<(&'k ClusterKey, &'k Cluster)>,
    wishes: Vec<Wish>,
}

/// Makes all proposals, in no order.
pub(super) fn plan(summary: &Summary, judgements: &[Judgement], proposals: &mut Proposals) {
    let groups = group(summary, judgements, proposals);
    let recorded = Recorded::all(summary, judgements);
    let others = others(judgements);
    let mut declared: HashMap<&str, Declaration> = HashMap::new();
    for (together, group) in groups {
        let tool = summary.tools.get(together.tool);
        let declared = declared
            .entry(together.tool)
            .or_insert_with(|| Declaration::newest_of(tool));
        let made = match (
            declared.schema(together.side),
            recorded.get(&(together.tool, together.side)),
        ) {
            (Some(schema), Some(recorded)) => {
                let beside_others = group.clusters.iter().any(|(key, _)| {
                    others.contains(&(key.tool.as_str(), key.path.as_str(), key.issue.as_str()))
                });
                make(schema, recorded, &together, &group, beside_others)
            }
            _ => Err("the schema is not known".to_owned()),
        };
        match made {
            Ok(proposal) => proposals.changes.push(proposal),
            Err(why) => proposals
                .unplaced
                .extend(group.clusters.iter().map(|(key, _)| Unplaced {
                    cluster: (*key).clone(),
                    why: why.clone(),
                })),
        }
    }
}

/// Where something breaks a keyword that is no edge case.
fn others(judgements: &[Judgement]) -> HashSet<(&str, &str, &str)> {
    let others = judgements.iter().filter(|it| it.kind != Kind::EdgeCase);
    others
        .map(|judgement| {
            let key = &judgement.cluster;
            (key.tool.as_str(), key.path.as_str(), key.issue.as_str())
        })
        .collect()
}

fn group<'k>(
    summary: &'k Summary,
    judgements: &'k [Judgement],
    proposals: &mut Proposals,
) -> BTreeMap<Together<'k>, Group<'k>> {
    let mut groups: BTreeMap<Together<'k>, Group<'k>> = BTreeMap::new();
    for judgement in judgements.iter().filter(|it| it.kind != Kind::Bug) {
        let key = &judgement.cluster;
        let Some(cluster) = summary.clusters.get(key) else {
            continue;
        };
        match Wish::of(key, cluster) {
            Ok(wish) => {
                let together = Together {
                    tool: &key.tool,
                    side: key.side,
                    path: wish.place(key),
                    family: wish.family(),
                    kind: judgement.kind,
                };
                let group = groups.entry(together).or_default();
                group.clusters.push((key, cluster));
                if !group.wishes.contains(&wish) {
                    group.wishes.push(wish);
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

/// Where too many keys of one object are missing, one group for all of them.
fn any_keys<'k>(groups: BTreeMap<Together<'k>, Group<'k>>) -> BTreeMap<Together<'k>, Group<'k>> {
    let mut counts: HashMap<(&str, Side, String, Kind), usize> = HashMap::new();
    let object = |together: &Together<'k>| {
        let Together {
            tool,
            side,
            path,
            kind,
            ..
        } = together;
        (*tool, *side, path.clone(), *kind)
    };
    let is_key = |group: &Group<'_>| matches!(group.wishes.first(), Some(Wish::Key(_, _)));
    for (together, _) in groups.iter().filter(|(_, group)| is_key(group)) {
        *counts.entry(object(together)).or_insert(0) += 1;
    }
    let mut merged: BTreeMap<Together<'k>, Group<'k>> = BTreeMap::new();
    for (mut together, group) in groups {
        let many = counts.get(&object(&together)).copied().unwrap_or_default();
        if is_key(&group) && many >= ANY_KEY_FROM {
            "any key".clone_into(&mut together.family);
        }
        let into = merged.entry(together).or_default();
        into.clusters.extend(group.clusters);
        into.wishes.extend(group.wishes);
    }
    merged
}

fn make(
    schema: &Json,
    recorded: &Recorded<'_>,
    together: &Together<'_>,
    group: &Group<'_>,
    beside_others: bool,
) -> Result<Proposal, String> {
    let samples = samples(group);
    let mut editor = Editor::of(schema);
    let key = match group.wishes.first() {
        Some(Wish::Optional(key) | Wish::Key(key, _)) => Some(key.as_str()),
        _ => None,
    };
    let edited = match key.filter(|_| together.family == "any key") {
        Some(key) => editor.any_key(&together.path, key)?,
        None => editor.carry_out(&Order {
            path: &together.path,
            wishes: &group.wishes,
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
    let change = own_default(schema, &together.path, &samples, change);
    let node = nodes.first().ok_or("nothing was changed")?;
    let (before, after) = shown(schema, &new, node);
    Ok(Proposal {
        number: 0,
        tool: together.tool.to_owned(),
        side: together.side,
        change,
        title: title(together.side, &together.path, key, change, &what),
        kind: together.kind,
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
        schema_hash: hash(schema),
    })
}

/// Values that the change must allow.
fn samples(group: &Group<'_>) -> Vec<Json> {
    let mut samples: Vec<Json> = Vec::new();
    for (key, cluster) in &group.clusters {
        let is_null = key.shape == "null";
        let seen = is_null.then_some(Json::Null).into_iter();
        for value in seen.chain(values(cluster)) {
            if samples.len() < MOST_SAMPLES && !samples.contains(&value) {
                samples.push(value);
            }
        }
    }
    samples
}

/// A change that allows a schema's own default is one of its own: the schema contradicts itself.
fn own_default(schema: &Json, path: &str, samples: &[Json], change: Change) -> Change {
    let [only] = samples else { return change };
    let is_about_values = matches!(
        change,
        Change::Nullable | Change::WiderType | Change::WiderEnum | Change::WiderRange
    );
    let mut nodes = places(schema, path)
        .into_iter()
        .filter_map(|place| schema.pointer(place.at.as_pointer()));
    if is_about_values && nodes.any(|node| node.get("default") == Some(only)) {
        return Change::DefaultAllowed;
    }
    change
}
