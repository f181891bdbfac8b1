//! Finds the parts of a schema that have to change.

use callwright::json::Path;
use serde_json::Value as Json;

use crate::schema::{PartValidator, SchemaPart, fragments, places};

/// Why there is no change.
pub(super) type Why = &'static str;

pub(super) const SEVERAL_MEANT: Why = "several alternatives of the schema could be meant";

/// What objects to a value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Targets {
    /// These parts, all of them.
    Nodes(Vec<Path>),
    /// All branches of this union, each of which lists values.
    Branches(Path, &'static str),
    /// Several alternatives, any of which may be meant.
    Several,
    /// Nothing.
    None,
}

/// Whether a part objects to one of the samples; without samples it is assumed to.
pub(super) fn objects(validator: &mut PartValidator<'_>, at: &Path, samples: &[Json]) -> bool {
    let mut samples_left = samples.iter();
    samples.is_empty() || samples_left.any(|sample| validator.accepts(at, sample) == Some(false))
}

/// The parts about a place that contain a keyword and object to one of the samples.
pub(super) fn targets(
    root: &Json,
    validator: &mut PartValidator<'_>,
    place: &SchemaPart,
    samples: &[Json],
    holds: &dyn Fn(&Json) -> bool,
) -> Targets {
    let mut found = fragments(root, place);
    found.retain(|fragment| {
        let node = root.pointer(fragment.at.as_pointer());
        node.is_some_and(holds) && objects(validator, &fragment.at, samples)
    });
    let is_firm =
        |it: &&SchemaPart| !it.is_alternative || place.is_alternative && it.at == place.at;
    let firm: Vec<Path> = (found.iter().filter(is_firm))
        .map(|it| it.at.clone())
        .collect();
    match &found[..] {
        [] => Targets::None,
        _ if !firm.is_empty() => Targets::Nodes(firm),
        [only] => Targets::Nodes(vec![only.at.clone()]),
        several => union_of(root, several),
    }
}

/// The union of which all parts are branches, if there is one.
fn union_of(root: &Json, parts: &[SchemaPart]) -> Targets {
    let Some(first) = parts.first() else {
        return Targets::None;
    };
    let list = first.at.parent();
    let at = list.parent();
    let union = match list.last().as_deref() {
        Some("anyOf") => "anyOf",
        Some("oneOf") => "oneOf",
        _ => return Targets::Several,
    };
    let branches = root.pointer(list.as_pointer()).and_then(Json::as_array);
    let is_whole = branches.is_some_and(|branches| branches.len() == parts.len());
    if is_whole && parts.iter().all(|part| part.at.parent() == list) {
        Targets::Branches(at, union)
    } else {
        Targets::Several
    }
}

/// The parts about a place that say something about one of its keys.
pub(super) fn around(
    root: &Json,
    path: &str,
    says: &dyn Fn(&Json) -> bool,
) -> Result<Vec<Path>, Why> {
    let mut found: Vec<SchemaPart> = Vec::new();
    for place in places(root, path) {
        for fragment in fragments(root, &place) {
            let node = root.pointer(fragment.at.as_pointer());
            let is_new = found.iter().all(|known| known.at != fragment.at);
            if is_new && node.is_some_and(says) {
                found.push(fragment);
            }
        }
    }
    let chosen = firm_or_only(found)?;
    Ok(chosen.into_iter().map(|place| place.at).collect())
}

/// The parts that hold in any case, or the only alternative.
pub(super) fn firm_or_only(mut found: Vec<SchemaPart>) -> Result<Vec<SchemaPart>, Why> {
    if found.iter().any(|place| !place.is_alternative) {
        found.retain(|place| !place.is_alternative);
        return Ok(found);
    }
    match found.len() {
        0 => Err("the newest declaration already allows it"),
        1 => Ok(found),
        _ => Err(SEVERAL_MEANT),
    }
}
