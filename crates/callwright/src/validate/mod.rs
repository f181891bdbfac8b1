//! Stage 4: the only judge.
//!
//! In come arguments that could be read, out goes [`Valid`] or the list of [`Issue`]s. The fast path
//! asks one yes-or-no question; issues are collected only after a no. Nothing is changed here, and
//! nobody else can make a [`Valid`].

mod cache;
mod describe;
mod engine;
mod explain;
mod fault;
mod loosen;
mod normalise;
mod phrases;
mod properties;
mod rename;
mod schema;
mod secrets;
mod standard;
mod union;

pub use crate::words::{BranchChoice, BranchReason, Issue, IssueCode};
pub use cache::SchemaCache;
pub(crate) use cache::text_size;
pub(crate) use explain::Finding;
pub use loosen::{Loosening, only_loosens};
pub use normalise::normalise;
pub(crate) use properties::Properties;
pub use schema::CompiledSchema;
pub(crate) use secrets::{Secrets, marks_secret};

use crate::json::{Kind, Path, Value, duplicate_keys};

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

/// How many keys that stand twice are named.
const MOST_DUPLICATES: usize = 64;

#[cold]
fn collect_issues(
    arguments: &Value<'_>,
    has_duplicates: bool,
    schema: Option<&CompiledSchema>,
    takes_secrets: bool,
) -> Vec<Issue> {
    if arguments.kind() != Kind::Object {
        return vec![Issue {
            path: Path::root(),
            code: IssueCode::Type,
            expected: "object".to_owned(),
            received: if takes_secrets {
                describe::received_hidden(arguments)
            } else {
                describe::received(arguments)
            },
            suggestion: None,
            branch: None,
        }];
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
                // Keys that came in the stead of this one: they are told below.
                issue.received.clear();
            }
        }
        issues.extend(twice.into_iter().take(MOST_DUPLICATES).map(|path| Issue {
            path,
            code: IssueCode::DuplicateKey,
            expected: "each key once".to_owned(),
            received: "the same key again".to_owned(),
            suggestion: None,
            branch: None,
        }));
        issues.sort_by_key(|issue| issue.code);
    }
    if issues.is_empty() {
        // The engine said no and gave no reason: a pattern that took too many steps does that.
        issues.push(Issue {
            path: Path::root(),
            code: IssueCode::Other,
            expected: "arguments that fit the tool's schema".to_owned(),
            received: describe::received(arguments),
            suggestion: None,
            branch: None,
        });
    }
    issues
}
