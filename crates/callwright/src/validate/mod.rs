//! Stage 4: the only judge of arguments.
//!
//! Takes parsed arguments; returns that they are valid, or the `Objections`, which become the list of [`Issue`]s if they are
//! reported to a model. The fast path asks one yes-or-no question; objections are collected only after a no. Never changes a
//! value.

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

pub use crate::vocabulary::{
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

/// What is wrong with arguments, in the order and the terms of the schema. Repair works on this, and most repaired calls need
/// no more. [`explain`](Self::explain) turns it into what the model is told.
#[derive(Debug)]
pub(crate) struct Objections {
    /// The schema's objections; `None` if the arguments are not an object and it was not asked.
    located: Option<Vec<LocatedIssue>>,
    has_duplicates: bool,
}

/// Judges arguments against a schema; without one, only their form matters.
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

/// How many repeated keys are reported.
const MOST_DUPLICATES: usize = 64;

impl Objections {
    /// The schema's objections, if it was asked.
    pub(crate) fn located(&self) -> Option<&[LocatedIssue]> {
        self.located.as_deref()
    }

    /// Whether repair may try: if a key occurs twice, it is unknown which value is meant.
    pub(crate) fn may_be_repaired(&self) -> bool {
        !self.has_duplicates
    }

    /// The issues for the model: what was received, what was probably meant, the most useful first.
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
    // Any other issue there may be about either of the two.
    issues.retain(|issue| {
        !twice
            .iter()
            .take(MOST_DUPLICATES)
            .any(|path| path.contains(&issue.path))
    });
    for issue in issues.iter_mut().filter(|issue| issue.suggestion.is_none()) {
        if issue.code == IssueCode::Required {
            // The keys that were sent instead have their own issues below.
            issue.received = Received::Nothing;
        }
    }
    issues.extend(twice.into_iter().take(MOST_DUPLICATES).map(|path| {
        let (expected, received) = (Expected::EachKeyOnce, Received::KeyAgain);
        Issue::new(path, IssueCode::DuplicateKey, expected, received)
    }));
    issues.sort_by_key(|issue| issue.code);
}
