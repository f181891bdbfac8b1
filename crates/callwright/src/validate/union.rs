//! Finds the branch of a union that the model meant.
//!
//! A union that fails fails in every branch, and reporting all of it hides the one line that helps. Takes the objections of all
//! branches; returns those of one branch with the reason, or a single violation that names the choices if no branch is close.
//!
//! The rules, in order:
//! 1. A branch that does not accept the type of the value is out. If that leaves none, the types and values of all branches are
//!    the answer.
//! 2. If every remaining branch accepts only certain values, all of these are the answer.
//! 3. A property with constant values in every branch distinguishes them: branches that want a value other than the received
//!    one are out. If that leaves none, the values of all branches are the allowed values of that property.
//! 4. Of the rest, the branch with the fewest objections that knows most of the received keys, if there is exactly one and it
//!    knows any.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value as Schema;

use super::violation::{Violation, ViolationKind};
use crate::json::{Path, Value};
use crate::vocabulary::{BranchReason, SchemaType};

/// How many of the received keys are looked up in each branch. More would not distinguish branches any better.
const MOST_KEYS: usize = 64;

/// The outcome for one union.
pub(crate) enum Meant {
    /// The objections of this branch.
    Branch {
        index: usize,
        violations: Vec<Violation>,
        reason: BranchReason,
    },
    /// One violation that sums up what the branches accept at this path.
    Merged(ViolationKind, Path),
    /// Several branches match where only one may.
    Several,
    /// No branch is close.
    NoneNear,
}

/// Decides. `schemas` are the branches' schemas in order, with references resolved.
pub(crate) fn meant(
    at: &Path,
    branches: Vec<Vec<Violation>>,
    schemas: &[&Schema],
    received: Option<&Value<'_>>,
) -> Meant {
    if branches.iter().any(Vec::is_empty) {
        return Meant::Several;
    }
    let all: Vec<usize> = (0..branches.len()).collect();
    let of_type = without(&all, |index| refuses_type(&branches[index], at));
    match of_type[..] {
        [] => return merge_values(&branches, &all, at),
        [only] => return chosen(branches, only, BranchReason::Type),
        _ => {}
    }
    let open = without(&of_type, |index| {
        wanted_value(&branches[index], at).is_some()
    });
    let mut left = match open[..] {
        [] => return merge_values(&branches, &of_type, at),
        [only] => return chosen(branches, only, BranchReason::Type),
        _ => open,
    };
    if let Some(property) = discriminator(&left, schemas) {
        let place = at.key(property);
        let came = received.is_some_and(|value| value.get(property).is_some());
        let matching = without(&left, |index| {
            wanted_value(&branches[index], &place).is_some()
        });
        let reason = BranchReason::Discriminator {
            property: property.to_owned(),
        };
        match matching[..] {
            [] => return merge_values(&branches, &left, &place),
            [only] if came => return chosen(branches, only, reason),
            _ => left = matching,
        }
    }
    match nearest(&branches, &left, schemas, received) {
        Some(index) => chosen(branches, index, BranchReason::Nearest),
        None => Meant::NoneNear,
    }
}

fn without(indices: &[usize], out: impl Fn(usize) -> bool) -> Vec<usize> {
    indices
        .iter()
        .copied()
        .filter(|index| !out(*index))
        .collect()
}

fn chosen(mut branches: Vec<Vec<Violation>>, index: usize, reason: BranchReason) -> Meant {
    Meant::Branch {
        index,
        violations: branches.swap_remove(index),
        reason,
    }
}

/// Whether a branch objects to the type of the value, or to its presence.
fn refuses_type(violations: &[Violation], at: &Path) -> bool {
    violations.iter().any(|violation| {
        violation.at == *at
            && matches!(
                violation.kind,
                ViolationKind::Type(_) | ViolationKind::Never
            )
    })
}

/// The objection of a branch that wants another constant at a path.
fn wanted_value<'f>(violations: &'f [Violation], place: &Path) -> Option<&'f Violation> {
    violations.iter().find(|violation| {
        violation.at == *place
            && matches!(
                violation.kind,
                ViolationKind::Const(_) | ViolationKind::Enum(_)
            )
    })
}

/// The property that has constant values in every one of these branches, if there is one.
fn discriminator<'s>(indices: &[usize], schemas: &[&'s Schema]) -> Option<&'s str> {
    let constant = |index: usize, key: &str| {
        let property = schemas.get(index)?.get("properties")?.get(key)?;
        property.get("const").or_else(|| property.get("enum"))
    };
    let first = schemas.get(*indices.first()?)?;
    let keys = first.get("properties")?.as_object()?.keys();
    keys.map(String::as_str)
        .find(|key| indices.iter().all(|index| constant(*index, key).is_some()))
}

/// Everything these branches accept at a path: their types and their constants.
fn merge_values(branches: &[Vec<Violation>], indices: &[usize], at: &Path) -> Meant {
    let mut types: Vec<SchemaType> = Vec::new();
    let mut values: Vec<Schema> = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    let mut add = |value: &Schema| {
        if seen.insert(value.to_string()) {
            values.push(value.clone());
        }
    };
    let violations = indices.iter().flat_map(|index| &branches[*index]);
    for violation in violations.filter(|violation| violation.at == *at) {
        match &violation.kind {
            ViolationKind::Type(names) => {
                let new: Vec<_> = names.iter().filter(|name| !types.contains(name)).collect();
                types.extend(new);
            }
            ViolationKind::Enum(options) => {
                options.as_array().into_iter().flatten().for_each(&mut add);
            }
            ViolationKind::Const(value) => add(value),
            _ => {}
        }
    }
    // A branch `{"type": "string", "enum": […]}` objects twice to a number; its values say more than its type.
    if !values.is_empty() && values.iter().all(Schema::is_string) {
        types.retain(|name| *name != SchemaType::String);
    }
    if values.is_empty() {
        return if types.is_empty() {
            Meant::NoneNear
        } else {
            Meant::Merged(ViolationKind::Type(types), at.clone())
        };
    }
    if types.iter().all(|name| *name == SchemaType::Null) {
        values.extend(types.iter().map(|_| Schema::Null));
        return Meant::Merged(
            ViolationKind::Enum(Arc::new(Schema::Array(values))),
            at.clone(),
        );
    }
    Meant::NoneNear
}

/// The one branch with the fewest objections; on a tie, the one that knows most of the received keys.
fn nearest(
    branches: &[Vec<Violation>],
    candidates: &[usize],
    schemas: &[&Schema],
    received: Option<&Value<'_>>,
) -> Option<usize> {
    let members = received.and_then(Value::as_object).unwrap_or_default();
    let keys = members.iter().map(|(key, _)| key.as_ref());
    let keys: Vec<&str> = keys.take(MOST_KEYS).collect();
    let unknown = |index: usize| {
        let properties = schemas
            .get(index)
            .and_then(|schema| schema.get("properties"));
        keys.iter()
            .filter(|key| properties.is_none_or(|all| all.get(key).is_none()))
            .count()
    };
    let mut ranked: Vec<(usize, usize, usize)> = candidates
        .iter()
        .map(|index| (weight(&branches[*index]), unknown(*index), *index))
        .collect();
    ranked.sort_unstable();
    match ranked[..] {
        [first, second, ..] if (first.0, first.1) == (second.0, second.1) => None,
        // Keys were sent, and the best branch knows none of them: there is no evidence for it.
        [first, ..] if !keys.is_empty() && first.1 == keys.len() => None,
        [first, ..] => Some(first.2),
        [] => None,
    }
}

/// The weight of a branch's objections: every unknown key counts, every other objection once.
fn weight(violations: &[Violation]) -> usize {
    violations
        .iter()
        .map(|violation| match &violation.kind {
            ViolationKind::UnknownKeys(keys) => keys.len(),
            _ => 1,
        })
        .sum()
}
