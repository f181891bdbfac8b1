//! Joins a missing key and an unknown key that are one mistake: `path` for `filePath`.
//!
//! Takes the issues of a call and reduces them: the missing key's issue names the key that was used instead, and the unknown
//! key's own issue is removed. Only names are compared; the value may still be wrong.

use std::collections::BTreeMap;
use std::ops::Range;

use ahash::{AHashMap, AHashSet};

use super::explain::LocatedIssue;
use super::properties::{Properties, PropertiesByOwner};
use crate::json::{Indexed, Path, Value};
use crate::nearest::{CLOSE, Wanted, is_worth_proposing};
use crate::vocabulary::{Correction, IssueCode, Received, Work};

/// How many missing or unknown keys are compared with each other; more than this in one call is not a matter of names.
const MOST_KEYS: usize = 32;

/// A missing key and a key that was sent instead, by their numbers, and how close their names are.
struct Pair {
    score: f64,
    missing: usize,
    came_as: usize,
}

/// Merges the issues of a missing and an unknown key of the same object, the closest names first.
pub(super) fn join_renamed(
    properties: &PropertiesByOwner<'_>,
    places: &Indexed<'_, '_>,
    found: &mut Vec<LocatedIssue>,
    work: &Work,
) {
    let (mut missing, mut unknown) = (Vec::new(), Vec::new());
    let mut pairs = similar_keys(
        properties,
        places,
        found,
        work,
        (&mut missing, &mut unknown),
    );
    if pairs.is_empty() {
        return;
    }
    pairs.sort_by(|left, right| right.score.total_cmp(&left.score));
    let mut taken = (vec![false; missing.len()], vec![false; unknown.len()]);
    let mut came_as: AHashMap<Path, Path> = AHashMap::new();
    for equal in pairs.chunk_by(|left, right| left.score.total_cmp(&right.score).is_eq()) {
        // If two keys are equally close to one, either could be meant.
        let mut counts = (vec![0; missing.len()], vec![0; unknown.len()]);
        for pair in equal {
            counts.0[pair.missing] += 1;
            counts.1[pair.came_as] += 1;
        }
        for pair in equal {
            let tied = counts.0[pair.missing] > 1 || counts.1[pair.came_as] > 1;
            if !tied && !taken.0[pair.missing] && !taken.1[pair.came_as] {
                (taken.0[pair.missing], taken.1[pair.came_as]) = (true, true);
                let (place, key): &(Path, &str) = &unknown[pair.came_as];
                came_as.insert(Path::clone(&missing[pair.missing]), place.key(key));
            }
        }
    }
    let settled: AHashSet<&Path> = came_as.values().collect();
    found.retain(|LocatedIssue { issue, .. }| {
        issue.code != IssueCode::UnknownKey || !settled.contains(&issue.path)
    });
    for LocatedIssue { issue, .. } in found.iter_mut() {
        if issue.code == IssueCode::Required
            && let Some(from) = came_as.get(&issue.path).and_then(Path::last)
            && let Some(to) = issue.path.last()
        {
            let (from, to) = (from.into_owned(), to.into_owned());
            issue.received = Received::UnknownKey(from.clone());
            issue.suggestion = Some(Correction::Rename { from, to });
        }
    }
}

/// All pairs of a missing and an unknown key with similar names. Both kinds are numbered in `keys`, the unknown ones with the
/// path of their object.
fn similar_keys<'v>(
    properties: &PropertiesByOwner<'_>,
    places: &Indexed<'v, '_>,
    found: &[LocatedIssue],
    work: &Work,
    keys: (&mut Vec<Path>, &mut Vec<(Path, &'v str)>),
) -> Vec<Pair> {
    let (missing, unknown) = keys;
    let mut pairs = Vec::new();
    let mut of_object: BTreeMap<Path, Range<usize>> = BTreeMap::new();
    let is_missing = |located: &&LocatedIssue| located.issue.code == IssueCode::Required;
    for LocatedIssue { issue, owner } in found.iter().filter(is_missing).take(MOST_KEYS) {
        let place = issue.path.parent();
        let Some(name) = issue.path.last().filter(|_| !missing.contains(&issue.path)) else {
            continue;
        };
        let here = of_object.entry(place.clone()).or_insert_with(|| {
            let first = unknown.len();
            let properties = properties.of(owner);
            let keys = unknown_keys(&properties, places, &place).take(MOST_KEYS);
            unknown.extend(keys.map(|key| (place.clone(), key)));
            first..unknown.len()
        });
        if Range::is_empty(here) {
            continue;
        }
        let wanted = Wanted::new(&name);
        for came_as in here.clone() {
            let score = wanted.similarity(unknown[came_as].1, work);
            if score >= CLOSE && is_worth_proposing(unknown[came_as].1, &name) {
                pairs.push(Pair {
                    score,
                    missing: missing.len(),
                    came_as,
                });
            }
        }
        missing.push(issue.path.clone());
    }
    pairs
}

/// The keys of the object at a path that its schema does not know; none, if any key is allowed.
pub(super) fn unknown_keys<'v>(
    properties: &Properties<'_>,
    places: &Indexed<'v, '_>,
    place: &Path,
) -> impl Iterator<Item = &'v str> {
    let members = places.at(place).and_then(Value::as_object);
    let keys = members.into_iter().flatten().map(|(key, _)| key.as_ref());
    keys.filter(|key| !properties.has(key) && properties.patterns().is_empty())
}
