//! Which part of a schema is to be changed.

use callwright::json::Path;
use serde_json::Value as Json;

use crate::schema::{Judge, Place, fragments, places};

/// What objects to a value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// These parts, all of them.
    Nodes(Vec<Path>),
    /// All branches of this union, each of which lists values.
    Branches(Path, &'static str),
    /// Several alternatives, of which one may be meant.
    Several,
    /// Nothing.
    None,
}

/// The parts about a place that hold a keyword and object to one of the samples.
pub(super) fn targets(
    root: &Json,
    judge: &mut Judge<'_>,
    place: &Place,
    samples: &[Json],
    holds: &dyn Fn(&Json) -> bool,
) -> Target {
    let mut found = Vec::new();
    for fragment in fragments(root, place) {
        let node = root.pointer(fragment.at.as_pointer());
        if !node.is_some_and(holds) {
            continue;
        }
        let mut samples_left = samples.iter();
        if samples.is_empty()
            || samples_left.any(|sample| judge.accepts(&fragment.at, sample) == Some(false))
        {
            found.push(fragment);
        }
    }
    let is_firm = |it: &&Place| !it.is_alternative || place.is_alternative && it.at == place.at;
    let firm: Vec<Path> = found
        .iter()
        .filter(is_firm)
        .map(|it| it.at.clone())
        .collect();
    match &found[..] {
        [] => Target::None,
        _ if !firm.is_empty() => Target::Nodes(firm),
        [only] => Target::Nodes(vec![only.at.clone()]),
        several => union_of(root, several),
    }
}

/// The union that the parts are all branches of, if they are.
fn union_of(root: &Json, parts: &[Place]) -> Target {
    let Some(first) = parts.first() else {
        return Target::None;
    };
    let list = first.at.parent();
    let at = list.parent();
    let union = match list.last().as_deref() {
        Some("anyOf") => "anyOf",
        Some("oneOf") => "oneOf",
        _ => return Target::Several,
    };
    let branches = root.pointer(list.as_pointer()).and_then(Json::as_array);
    let is_whole = branches.is_some_and(|branches| branches.len() == parts.len());
    if is_whole && parts.iter().all(|part| part.at.parent() == list) {
        Target::Branches(at, union)
    } else {
        Target::Several
    }
}

/// The parts about a place that say something about a key of it.
pub(super) fn around(
    root: &Json,
    path: &str,
    says: &dyn Fn(&Json) -> bool,
) -> Result<Vec<Path>, String> {
    let mut found: Vec<Place> = Vec::new();
    for place in places(root, path) {
        for fragment in fragments(root, &place) {
            let node = root.pointer(fragment.at.as_pointer());
            let is_new = found.iter().all(|known| known.at != fragment.at);
            if is_new && node.is_some_and(says) {
                found.push(fragment);
            }
        }
    }
    let firm: Vec<Path> = found
        .iter()
        .filter(|it| !it.is_alternative)
        .map(|it| it.at.clone())
        .collect();
    match &found[..] {
        [] => Err("the newest declaration allows it already".to_owned()),
        _ if !firm.is_empty() => Ok(firm),
        [only] => Ok(vec![only.at.clone()]),
        _ => Err("several alternatives of the schema could be meant".to_owned()),
    }
}
