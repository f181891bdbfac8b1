//! A missing key and an unknown key are often one mistake: `path` for `filePath`.
//!
//! Takes the issues of a call and leaves fewer: the missing key's issue says under which name it came, and
//! the unknown key's own issue goes. Only names are compared; the value may still be wrong.

use super::explain::LocatedIssue;
use super::properties::Properties;
use super::schema::CompiledSchema;
use crate::json::{Path, Value};
use crate::nearest::{CLOSE, similarity};
use crate::words::{Correction, IssueCode, Received};

/// How many missing or unknown keys are compared with each other; more than this in one call is not
/// a matter of names.
const MOST_KEYS: usize = 32;

/// A missing key, and the key under which it came.
#[derive(Clone, PartialEq)]
struct Rename {
    missing: Path,
    came_as: Path,
}

/// Makes one issue of a missing and an unknown key of the same object, the closest names first.
pub(super) fn join_renamed(
    schema: &CompiledSchema,
    arguments: &Value<'_>,
    found: &mut Vec<LocatedIssue>,
) {
    let mut pairs = similar_keys(schema, arguments, found);
    pairs.sort_by(|left, right| right.0.total_cmp(&left.0));
    let mut chosen: Vec<&Rename> = Vec::new();
    let shares =
        |one: &Rename, other: &Rename| one.missing == other.missing || one.came_as == other.came_as;
    for (score, pair) in &pairs {
        // Two keys are equally close to one: either could be meant.
        let tied = pairs.iter().any(|(other_score, other)| {
            other_score.total_cmp(score).is_eq() && shares(pair, other) && pair != other
        });
        if !tied && !chosen.iter().any(|other| shares(pair, other)) {
            chosen.push(pair);
        }
    }
    for Rename { missing, came_as } in chosen {
        found.retain(|LocatedIssue { issue, .. }| {
            issue.code != IssueCode::UnknownKey || issue.path != *came_as
        });
        let (Some(to), Some(from)) = (missing.last(), came_as.last()) else {
            continue;
        };
        for LocatedIssue { issue, .. } in found.iter_mut() {
            if issue.code == IssueCode::Required && issue.path == *missing {
                issue.received = Received::UnknownKey(from.clone().into_owned());
                issue.suggestion = Some(Correction::Rename {
                    from: from.clone().into_owned(),
                    to: to.clone().into_owned(),
                });
            }
        }
    }
}

/// All pairs of a missing and an unknown key whose names are close, and how close.
fn similar_keys(
    schema: &CompiledSchema,
    arguments: &Value<'_>,
    found: &[LocatedIssue],
) -> Vec<(f64, Rename)> {
    let mut pairs = Vec::new();
    let is_missing = |located: &&LocatedIssue| located.issue.code == IssueCode::Required;
    for LocatedIssue { issue, owner } in found.iter().filter(is_missing).take(MOST_KEYS) {
        let place = issue.path.parent();
        let Some(wanted) = issue.path.last() else {
            continue;
        };
        for key in unknown_keys(schema, arguments, &place, owner).take(MOST_KEYS) {
            let score = similarity(&wanted, key);
            if score >= CLOSE {
                let (missing, came_as) = (issue.path.clone(), place.key(key));
                pairs.push((score, Rename { missing, came_as }));
            }
        }
    }
    pairs
}

/// The keys of the object at a place that its schema does not know; none, if any key may come.
pub(super) fn unknown_keys<'v>(
    schema: &CompiledSchema,
    arguments: &'v Value<'_>,
    place: &Path,
    owner: &Path,
) -> impl Iterator<Item = &'v str> {
    let properties = Properties::of(schema, owner);
    let members = arguments.at(place).and_then(Value::as_object);
    let keys = members.into_iter().flatten().map(|(key, _)| key.as_ref());
    keys.filter(move |key| !properties.has(key) && properties.patterns().is_empty())
}
