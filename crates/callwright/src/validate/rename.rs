//! A key that is missing and a key that nobody knows are often one mistake: `path` for `filePath`.
//!
//! In come the findings, out go fewer: the missing key's issue says under which name it came, and
//! the unknown key's own issue goes. Only names are compared; the value may still be wrong.

use super::explain::{Finding, parent, property_names};
use super::issue::IssueCode;
use super::schema::CompiledSchema;
use crate::json::{Path, Value};
use crate::nearest::similarity;
use crate::text::quoted;

/// Pairs this close are taken for one mistake. The same value as for other proposals, see
/// [`crate::nearest`].
const CLOSE: f64 = 0.6;

/// How many missing or unknown keys are compared with each other; more than this in one call is not
/// a matter of names.
const MOST_KEYS: usize = 32;

/// Which missing key came under which name.
pub(crate) struct Renames(Vec<Rename>);

struct Rename {
    missing: Path,
    came_as: Path,
}

impl Renames {
    /// Pairs up missing and unknown keys of the same object, the closest names first.
    pub(crate) fn find(
        schema: &CompiledSchema,
        arguments: &Value<'_>,
        found: &[Finding],
    ) -> Renames {
        let mut pairs: Vec<(f64, Rename)> = Vec::new();
        let missing = found
            .iter()
            .filter(|finding| finding.issue.code == IssueCode::Required)
            .take(MOST_KEYS);
        for finding in missing {
            let place = parent(&finding.issue.path);
            let Some(wanted) = finding.issue.path.last() else {
                continue;
            };
            let known = property_names(schema.node(&finding.owner));
            let members = arguments.at(&place).and_then(Value::as_object);
            let unknown = members
                .into_iter()
                .flatten()
                .map(|(key, _)| key.as_ref())
                .filter(|key| !known.contains(key))
                .take(MOST_KEYS);
            for key in unknown {
                let score = similarity(&wanted, key);
                if score >= CLOSE {
                    let rename = Rename {
                        missing: finding.issue.path.clone(),
                        came_as: place.key(key),
                    };
                    pairs.push((score, rename));
                }
            }
        }
        pairs.sort_by(|left, right| right.0.total_cmp(&left.0));
        let mut chosen: Vec<Rename> = Vec::new();
        for (_, pair) in pairs {
            let taken = chosen
                .iter()
                .any(|other| other.missing == pair.missing || other.came_as == pair.came_as);
            if !taken {
                chosen.push(pair);
            }
        }
        Renames(chosen)
    }

    /// Writes the pairs into the findings.
    pub(crate) fn apply(self, found: &mut Vec<Finding>) {
        for Rename { missing, came_as } in self.0 {
            found.retain(|finding| {
                finding.issue.code != IssueCode::UnknownKey || finding.issue.path != came_as
            });
            let (Some(wanted), Some(sent)) = (missing.last(), came_as.last()) else {
                continue;
            };
            let sent = quoted(&sent, 30);
            for finding in found.iter_mut().filter(|finding| {
                finding.issue.code == IssueCode::Required && finding.issue.path == missing
            }) {
                finding.issue.received = format!("unknown key {sent}");
                finding.issue.suggestion =
                    Some(format!("rename {sent} to {}", quoted(&wanted, 30)));
            }
        }
    }
}
