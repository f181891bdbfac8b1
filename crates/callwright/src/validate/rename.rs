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

/// Which missing key came under which name.
pub(crate) struct Renames(Vec<Rename>);

#[derive(Clone)]
struct Rename {
    missing: Path,
    came_as: Path,
}

impl Renames {
    /// Pairs up missing and unknown keys of the same object, the closest names first.
    pub(crate) fn find(
        schema: &CompiledSchema,
        arguments: &Value<'_>,
        found: &[LocatedIssue],
    ) -> Renames {
        let mut pairs: Vec<(f64, Rename)> = Vec::new();
        let missing = found
            .iter()
            .filter(|located| located.issue.code == IssueCode::Required)
            .take(MOST_KEYS);
        for located in missing {
            let place = located.issue.path.parent();
            let Some(wanted) = located.issue.path.last() else {
                continue;
            };
            let known = Properties::of(schema, &located.owner);
            let members = arguments.at(&place).and_then(Value::as_object);
            let unknown = members
                .into_iter()
                .flatten()
                .map(|(key, _)| key.as_ref())
                .filter(|key| !known.has(key) && known.patterns().is_empty())
                .take(MOST_KEYS);
            for key in unknown {
                let score = similarity(&wanted, key);
                if score >= CLOSE {
                    let rename = Rename {
                        missing: located.issue.path.clone(),
                        came_as: place.key(key),
                    };
                    pairs.push((score, rename));
                }
            }
        }
        pairs.sort_by(|left, right| right.0.total_cmp(&left.0));
        let mut chosen: Vec<Rename> = Vec::new();
        let shares = |one: &Rename, other: &Rename| {
            one.missing == other.missing || one.came_as == other.came_as
        };
        for (score, pair) in &pairs {
            // Two keys are equally close to one: either could be meant.
            let tied = pairs.iter().any(|(other_score, other)| {
                other_score.total_cmp(score).is_eq()
                    && shares(pair, other)
                    && (pair.missing != other.missing || pair.came_as != other.came_as)
            });
            if !tied && !chosen.iter().any(|other| shares(pair, other)) {
                chosen.push(pair.clone());
            }
        }
        Renames(chosen)
    }

    /// Writes the pairs into the issues.
    pub(crate) fn apply(self, found: &mut Vec<LocatedIssue>) {
        for Rename { missing, came_as } in self.0 {
            found.retain(|located| {
                located.issue.code != IssueCode::UnknownKey || located.issue.path != came_as
            });
            let (Some(wanted), Some(sent)) = (missing.last(), came_as.last()) else {
                continue;
            };
            for located in found.iter_mut().filter(|located| {
                located.issue.code == IssueCode::Required && located.issue.path == missing
            }) {
                located.issue.received = Received::UnknownKey(sent.clone().into_owned());
                located.issue.suggestion = Some(Correction::Rename {
                    from: sent.clone().into_owned(),
                    to: wanted.clone().into_owned(),
                });
            }
        }
    }
}
