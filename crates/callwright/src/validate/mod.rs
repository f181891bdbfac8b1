//! Stage 4: the only judge.
//!
//! Takes arguments that could be read; says that they are valid, or returns the `Objections`, which become the list of
//! [`Issue`]s where a model is told of them. The fast path asks one yes-or-no question; objections are collected only after a no. Nothing is changed here.

mod advise;
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
pub(crate) use advise::{free_names, near_value};
pub(crate) use cache::CompileBudget;
pub use cache::SchemaCache;
pub(crate) use cost::Cost;
pub use engine::{Loosening, only_loosens};
pub(crate) use explain::LocatedIssue;
pub(crate) use normalise::misplaced_enums;
pub use normalise::normalise;
pub(crate) use properties::{Properties, PropertiesByOwner};
pub use schema::CompiledSchema;
pub(crate) use secrets::{Secrets, marks_secret};

use crate::json::{Kind, Value, duplicate_keys};

/// What is wrong with arguments, in the order and the terms of the schema. Repair works on this; most calls that are
/// repaired need no more. What the model is told is made of it by [`explain`](Self::explain).
#[derive(Debug)]
pub(crate) struct Objections {
    /// What the schema objects to; it is not asked about arguments that are not an object.
    located: Option<Vec<LocatedIssue>>,
    has_duplicates: bool,
}

/// Judges arguments against a schema; without one only their form counts.
pub(crate) fn validate(
    arguments: &Value<'_>,
    has_duplicates: bool,
    schema: Option<&CompiledSchema>,
) -> Result<(), Objections> {
    let is_object = arguments.kind() == Kind::Object;
    let accepted =
        is_object && !has_duplicates && schema.is_none_or(|schema| schema.accepts(arguments));
    if accepted {
        return Ok(());
    }
    let objections = || schema.map_or_else(Vec::new, |schema| schema.objections(arguments));
    Err(Objections {
        located: is_object.then(objections),
        has_duplicates,
    })
}

/// How many repeated keys are named.
const MOST_DUPLICATES: usize = 64;

impl Objections {
    /// What the schema objects to, if it was asked.
    pub(crate) fn located(&self) -> Option<&[LocatedIssue]> {
        self.located.as_deref()
    }

    /// Whether repair may try: of a key that occurs twice it is unknown which value is meant.
    pub(crate) fn may_be_repaired(&self) -> bool {
        !self.has_duplicates
    }

    /// What the model is told: what came, what was probably meant, the most useful first.
    #[cold]
    pub(crate) fn explain(
        self,
        arguments: &Value<'_>,
        schema: Option<&CompiledSchema>,
        takes_secrets: bool,
    ) -> Vec<Issue> {
        let Some(located) = self.located else {
            return vec![Issue::not_an_object(if takes_secrets {
                Received::Hidden(arguments.kind())
            } else {
                Received::value(arguments)
            })];
        };
        let explain = |schema: &CompiledSchema| schema.explain(arguments, located);
        let mut issues = schema.map(explain).unwrap_or_default();
        if self.has_duplicates {
            add_duplicates(arguments, &mut issues);
        }
        issues
    }
}

fn add_duplicates(arguments: &Value<'_>, issues: &mut Vec<Issue>) {
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
