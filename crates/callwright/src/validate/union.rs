//! Which branch of a union the model evidently meant.
//!
//! A union that fails fails in every branch, and telling the model all of it hides the one line that
//! helps. In come the objections of all branches, out go those of one branch with the reason, or a
//! single fault that names the choices when no branch is near.
//!
//! The rules, in order:
//! 1. A branch that does not even take the type of the value is out. If that leaves none, the types
//!    and values of all branches are the answer.
//! 2. A branch whose constant property (`"kind": {"const": "circle"}`) has another value than the
//!    one that came is out. If that leaves none and all name the same property, that property's
//!    value is what is wrong.
//! 3. Of the rest, the branch that objects least and knows most of the keys that came, if there is
//!    exactly one and it knows any.

use std::sync::Arc;

use serde_json::Value as Schema;

use super::fault::{Fault, FaultKind};
use super::issue::BranchReason;
use crate::json::{Path, Value};

/// The outcome for one union.
pub(crate) enum Meant {
    /// The objections of this branch.
    Branch {
        index: usize,
        faults: Vec<Fault>,
        reason: BranchReason,
    },
    /// No branch takes such a value: one fault that sums up what they take.
    Merged(FaultKind, Path),
    /// No branch is near.
    NoneNear,
}

/// Decides. `schemas` are the branches' schemas in order, references followed, as far as they could
/// be found.
pub(crate) fn meant(
    at: &Path,
    branches: Vec<Vec<Fault>>,
    schemas: &[Option<&Schema>],
    received: Option<&Value<'_>>,
) -> Meant {
    let total = branches.len();
    let of_type: Vec<usize> = (0..total)
        .filter(|index| !refuses_root(&branches[*index], at))
        .collect();
    if of_type.is_empty() {
        return merge_roots(branches, at);
    }
    if let [only] = of_type[..] {
        let reason = BranchReason::Type;
        return chosen(branches, only, reason);
    }

    let discriminated: Vec<usize> = of_type
        .iter()
        .copied()
        .filter(|index| discriminator(&branches[*index], at).is_none())
        .collect();
    let missed: Vec<Path> = of_type
        .iter()
        .filter_map(|index| discriminator(&branches[*index], at).map(|fault| fault.at.clone()))
        .collect();
    if discriminated.is_empty() {
        return merge_discriminators(&branches, &of_type, &missed, at);
    }
    if let ([only], Some(place)) = (&discriminated[..], missed.first()) {
        let property = place.last().unwrap_or_default().into_owned();
        return chosen(branches, *only, BranchReason::Discriminator { property });
    }
    match nearest(&branches, &discriminated, schemas, received) {
        Some(index) => chosen(branches, index, BranchReason::Nearest),
        None => Meant::NoneNear,
    }
}

fn chosen(mut branches: Vec<Vec<Fault>>, index: usize, reason: BranchReason) -> Meant {
    Meant::Branch {
        index,
        faults: branches.swap_remove(index),
        reason,
    }
}

/// Whether a branch objects to the value as such: its type, or the one constant it takes.
fn refuses_root(faults: &[Fault], at: &Path) -> bool {
    faults.iter().any(|fault| {
        fault.at == *at
            && matches!(
                fault.kind,
                FaultKind::Type(_) | FaultKind::Enum(_) | FaultKind::Const(_) | FaultKind::Never
            )
    })
}

/// The objection of a branch to the value of a property that tells branches apart.
fn discriminator<'f>(faults: &'f [Fault], at: &Path) -> Option<&'f Fault> {
    faults.iter().find(|fault| {
        let direct_child = fault.at.segments().count() == at.segments().count() + 1;
        direct_child
            && match &fault.kind {
                FaultKind::Const(_) => true,
                FaultKind::Enum(options) => options.as_array().is_some_and(|all| all.len() == 1),
                _ => false,
            }
    })
}

/// No branch takes a value of this type: what do they take, all in all?
fn merge_roots(branches: Vec<Vec<Fault>>, at: &Path) -> Meant {
    let mut types: Vec<&'static str> = Vec::new();
    let mut values: Vec<Schema> = Vec::new();
    for fault in branches
        .into_iter()
        .flatten()
        .filter(|fault| fault.at == *at)
    {
        match fault.kind {
            FaultKind::Type(names) => types.extend(names),
            FaultKind::Enum(options) => {
                values.extend(options.as_array().into_iter().flatten().cloned());
            }
            FaultKind::Const(value) => values.push((*value).clone()),
            _ => {}
        }
    }
    let mut seen = Vec::new();
    types.retain(|name| {
        !seen.contains(name) && {
            seen.push(*name);
            true
        }
    });
    // A branch `{"type": "string", "enum": […]}` objects twice where a number came; its values say
    // more than its type.
    if !values.is_empty() && values.iter().all(Schema::is_string) {
        types.retain(|name| *name != "string");
    }
    if values.is_empty() {
        return if types.is_empty() {
            Meant::NoneNear
        } else {
            Meant::Merged(FaultKind::Type(types), at.clone())
        };
    }
    if types.iter().all(|name| *name == "null") {
        values.extend(types.iter().map(|_| Schema::Null));
        return Meant::Merged(FaultKind::Enum(Arc::new(Schema::Array(values))), at.clone());
    }
    Meant::NoneNear
}

/// Every branch objects to a constant property: if it is one and the same, its value is wrong.
fn merge_discriminators(
    branches: &[Vec<Fault>],
    alive: &[usize],
    missed: &[Path],
    at: &Path,
) -> Meant {
    let Some(place) = missed.first() else {
        return Meant::NoneNear;
    };
    if missed.iter().any(|other| other != place) {
        return Meant::NoneNear;
    }
    let mut values = Vec::new();
    for index in alive {
        match discriminator(&branches[*index], at).map(|fault| &fault.kind) {
            Some(FaultKind::Const(value)) => values.push((**value).clone()),
            Some(FaultKind::Enum(options)) => {
                values.extend(options.as_array().into_iter().flatten().cloned());
            }
            _ => {}
        }
    }
    Meant::Merged(
        FaultKind::Enum(Arc::new(Schema::Array(values))),
        place.clone(),
    )
}

/// The one branch that objects least; on a tie, the one that knows most of the keys that came.
fn nearest(
    branches: &[Vec<Fault>],
    candidates: &[usize],
    schemas: &[Option<&Schema>],
    received: Option<&Value<'_>>,
) -> Option<usize> {
    let keys: Vec<&str> = received
        .and_then(Value::as_object)
        .map(|members| members.iter().map(|(key, _)| key.as_ref()).collect())
        .unwrap_or_default();
    let known = |index: usize| {
        let properties = schemas
            .get(index)
            .copied()
            .flatten()
            .and_then(|s| s.get("properties"));
        keys.iter()
            .filter(|key| properties.is_some_and(|all| all.get(key).is_some()))
            .count()
    };
    let mut ranked: Vec<(usize, usize, usize)> = candidates
        .iter()
        .map(|index| {
            (
                weight(&branches[*index]),
                usize::MAX - known(*index),
                *index,
            )
        })
        .collect();
    ranked.sort_unstable();
    match ranked[..] {
        [first, second, ..] if (first.0, first.1) == (second.0, second.1) => None,
        // Keys came, and the best branch knows none of them: that is no evidence for it.
        [first, ..] if !keys.is_empty() && first.1 == usize::MAX => None,
        [first, ..] => Some(first.2),
        [] => None,
    }
}

/// How much a branch objects: every unknown key counts, every other objection once.
fn weight(faults: &[Fault]) -> usize {
    faults
        .iter()
        .map(|fault| match &fault.kind {
            FaultKind::UnknownKeys(keys) => keys.len(),
            _ => 1,
        })
        .sum()
}
