//! Keys that stand twice in one object.
//!
//! JSON leaves their meaning open and readers disagree (first wins, last wins), so whoever sends one
//! cannot know what the tool will see. The parser asks [`has_duplicate`] for every object; only if
//! one says yes does anybody walk the tree to name the places.

use std::collections::HashSet;

use super::{Member, Path, Value};

/// Up to here comparing all pairs is cheaper than hashing: 16 keys are at most 120 comparisons, most
/// of which end at the length.
const PAIRWISE_LIMIT: usize = 16;

/// Whether a key stands twice among the members of one object.
pub(crate) fn has_duplicate(members: &[Member<'_>]) -> bool {
    if members.len() <= PAIRWISE_LIMIT {
        members
            .iter()
            .enumerate()
            .any(|(at, (key, _))| members[..at].iter().any(|(earlier, _)| earlier == key))
    } else {
        let mut seen = HashSet::with_capacity(members.len());
        !members.iter().all(|(key, _)| seen.insert(key.as_ref()))
    }
}

/// Every place in `value` whose key stands more than once in its object, each place once.
pub(crate) fn duplicate_keys(value: &Value<'_>) -> Vec<Path> {
    let mut found = Vec::new();
    collect(value, &Path::root(), &mut found);
    found
}

fn collect(value: &Value<'_>, path: &Path, found: &mut Vec<Path>) {
    match value {
        Value::Object(members) => {
            let mut seen = HashSet::with_capacity(members.len());
            let mut reported = HashSet::new();
            for (key, inner) in members {
                let here = path.key(key);
                if !seen.insert(key.as_ref()) && reported.insert(key.as_ref()) {
                    found.push(here.clone());
                }
                collect(inner, &here, found);
            }
        }
        Value::Array(items) => {
            for (at, inner) in items.iter().enumerate() {
                collect(inner, &path.index(at), found);
            }
        }
        _ => {}
    }
}
