//! Keys that occur twice in one object.
//!
//! JSON leaves their meaning open and parsers disagree (first wins, last wins), so a caller that sends one cannot know what the
//! tool will see. The parser calls [`has_duplicate`] for every object; only if it returns true is the tree walked to name the
//! places.

use std::collections::HashSet;

use super::{Member, Path, Value};

/// Up to here keys are compared directly: most comparisons end at the length.
const FEW: usize = 8;

/// Up to here comparing all pairs is cheaper than hashing: 48 keys take about 1,100 comparisons of numbers, several of which a
/// processor does at once.
const PAIRWISE_LIMIT: usize = 48;

/// Whether a key occurs twice among the members of one object.
pub(crate) fn has_duplicate(members: &[Member<'_>]) -> bool {
    if members.len() <= FEW {
        let mut keys = members.iter().enumerate();
        return keys.any(|(at, (key, _))| members[..at].iter().any(|(earlier, _)| earlier == key));
    }
    if members.len() > PAIRWISE_LIMIT {
        let mut seen = HashSet::with_capacity(members.len());
        return !members.iter().all(|(key, _)| seen.insert(key.as_ref()));
    }
    let mut signs = [0; PAIRWISE_LIMIT];
    for (at, (key, _)) in members.iter().enumerate() {
        let sign = sign(key);
        let before = &signs[..at];
        // Almost never true.
        if before.contains(&sign) {
            let mut earlier = members[..at].iter();
            if earlier.any(|(earlier, _)| earlier == key) {
                return true;
            }
        }
        signs[at] = sign;
    }
    false
}

/// A number that is equal for equal keys: made from the length, the beginning and the end.
fn sign(key: &str) -> u32 {
    let (bytes, length) = (key.as_bytes(), key.len());
    let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
    let [length_byte, ..] = length.to_le_bytes();
    u32::from_le_bytes([
        length_byte,
        byte(0),
        byte(length / 2),
        byte(length.wrapping_sub(1)),
    ])
}

/// Every path in `value` whose key occurs more than once in its object, without duplicates.
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
