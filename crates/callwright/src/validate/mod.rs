//! Stage 4: the only judge.
//!
//! Takes arguments that could be read; says that they are valid, or returns the list of [`Issue`]s. The fast path
//! asks one yes-or-no question; issues are collected only after a no. Nothing is changed here.

mod cache;
mod cost;
mod engine;
mod expect;
mod explain;
mod normalise;
mod properties;
mod rename;
mod schema;
mod secrets;
mod union;
mod violation;

pub use crate::words::{
    BranchChoice, BranchReason, Comparison, Correction, Expected, Issue, IssueCode, Received,
    ReceivedKeys, SchemaType, Unit,
};
pub(crate) use cache::CompileBudget;
pub use cache::SchemaCache;
pub(crate) use cost::Cost;
pub use engine::{Loosening, only_loosens};
pub(crate) use explain::{LocatedIssue, free_names, near_value};
pub use normalise::normalise;
pub(crate) use properties::Properties;
pub use schema::CompiledSchema;
pub(crate) use secrets::{Secrets, marks_secret};

use crate::json::{Kind, Value, duplicate_keys};

/// Judges arguments against a schema; without one only their form counts.
pub(crate) fn validate(
    arguments: &Value<'_>,
    has_duplicates: bool,
    schema: Option<&CompiledSchema>,
    takes_secrets: bool,
) -> Result<(), Vec<Issue>> {
    let accepted = arguments.kind() == Kind::Object
        && !has_duplicates
        && schema.is_none_or(|schema| schema.accepts(arguments));
    if accepted {
        return Ok(());
    }
    Err(collect_issues(
        arguments,
        has_duplicates,
        schema,
        takes_secrets,
    ))
}

/// How many repeated keys are named.
const MOST_DUPLICATES: usize = 64;

#[cold]
fn collect_issues(
    arguments: &Value<'_>,
    has_duplicates: bool,
    schema: Option<&CompiledSchema>,
    takes_secrets: bool,
) -> Vec<Issue> {
    if arguments.kind() != Kind::Object {
        return vec![Issue::not_an_object(if takes_secrets {
            Received::Hidden(arguments.kind())
        } else {
            Received::value(arguments)
        })];
    }
    let mut issues = schema
        .map(|schema| schema.issues(arguments))
        .unwrap_or_default();
    if has_duplicates {
        let twice = duplicate_keys(arguments);
        // Whatever else is wrong there may be about either of the two.
        issues.retain(|issue| {
            !twice
                .iter()
                .take(MOST_DUPLICATES)
                .any(|path| path.contains(&issue.path))
        });
        for issue in issues.iter_mut().filter(|issue| issue.suggestion.is_none()) {
            if issue.code == IssueCode::Required {
                // Keys that came instead of this one: they have their own issues below.
                issue.received = Received::Nothing;
            }
        }
        issues.extend(twice.into_iter().take(MOST_DUPLICATES).map(|path| {
            let (expected, received) = (Expected::EachKeyOnce, Received::KeyAgain);
            Issue::new(path, IssueCode::DuplicateKey, expected, received)
        }));
        issues.sort_by_key(|issue| issue.code);
    }
    issues
}
