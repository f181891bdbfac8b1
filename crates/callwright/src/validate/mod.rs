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
mod issue;
mod loosen;
mod phrases;
mod properties;
mod rename;
mod schema;
mod secrets;
mod union;

use std::borrow::Cow;

pub use cache::SchemaCache;
pub(crate) use cache::text_size;
pub(crate) use explain::Finding;
pub use issue::{BranchChoice, BranchReason, Issue, IssueCode};
pub use loosen::{Loosening, only_loosens};
pub(crate) use properties::Properties;
pub use schema::CompiledSchema;
pub(crate) use secrets::{Secrets, marks_secret};

use crate::classify::{Failure, Refused};
use crate::json::{Kind, Path, Value, duplicate_keys};
use crate::parse::Parsed;
use crate::tool::Tool;

/// A call whose arguments its tool's schema accepts, exactly as they were sent. (Of a tool in quarantine
/// nobody can say, and where validation is off nobody asks; such calls pass if they can be read.)
///
/// Only the gate makes one: whoever holds a `Valid` holds a call that may run.
#[derive(Debug)]
pub struct Valid<'c> {
    tool: &'c Tool,
    arguments: Cow<'c, Value<'c>>,
    warning: Option<Box<Failure>>,
}

impl<'c> Valid<'c> {
    /// What the schema objects to, where the policy lets the call through all the same and only wants to hear of it.
    pub fn warning(&self) -> Option<&Failure> {
        self.warning.as_deref()
    }

    pub(crate) fn warning_mut(&mut self) -> Option<&mut Failure> {
        self.warning.as_deref_mut()
    }

    /// The tool that was called.
    pub fn tool(&self) -> &'c Tool {
        self.tool
    }

    /// The arguments, as they were sent.
    pub fn arguments(&self) -> &Value<'c> {
        &self.arguments
    }

    /// The arguments, as they were sent.
    pub fn into_arguments(self) -> Value<'c> {
        self.arguments.into_owned()
    }
}

/// Arguments that were refused, and why.
#[derive(Debug)]
pub(crate) struct Invalid<'c> {
    pub(crate) arguments: Cow<'c, Value<'c>>,
    pub(crate) issues: Vec<Issue>,
}

/// Judges arguments against a tool's schema.
pub(crate) fn validate<'c>(parsed: Parsed<'c>, tool: &'c Tool) -> Result<Valid<'c>, Invalid<'c>> {
    let Parsed {
        arguments,
        has_duplicates,
        ..
    } = parsed;
    let accepted = arguments.kind() == Kind::Object
        && !has_duplicates
        && tool
            .schema()
            .is_none_or(|schema| schema.accepts(&arguments));
    if accepted {
        return Ok(Valid {
            tool,
            arguments,
            warning: None,
        });
    }
    let issues = collect_issues(&arguments, has_duplicates, tool);
    Err(Invalid { arguments, issues })
}

/// Lets a call through although the schema objects, if it is an object: nothing else can be given to a tool.
pub(crate) fn pass_warned<'c>(
    tool: &'c Tool,
    refused: Refused<'c>,
) -> Result<Valid<'c>, Box<Refused<'c>>> {
    match refused.arguments {
        Some(arguments) if arguments.kind() == Kind::Object => Ok(Valid {
            tool,
            arguments,
            warning: Some(Box::new(refused.failure)),
        }),
        _ => Err(Box::new(refused)),
    }
}

/// How many keys that stand twice are named.
const MOST_DUPLICATES: usize = 64;

#[cold]
fn collect_issues(arguments: &Value<'_>, has_duplicates: bool, tool: &Tool) -> Vec<Issue> {
    if arguments.kind() != Kind::Object {
        return vec![Issue {
            path: Path::root(),
            code: IssueCode::Type,
            expected: "object".to_owned(),
            received: if tool.takes_secrets() {
                describe::received_hidden(arguments)
            } else {
                describe::received(arguments)
            },
            suggestion: None,
            branch: None,
        }];
    }
    let mut issues = tool
        .schema()
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
