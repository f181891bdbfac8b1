//! Limits how often the engine may visit values: counted, not timed.
//!
//! A schema can make the engine visit one value any number of times: two parts that refer to the same two parts, and so on,
//! double at each level. Each visit to an object or a list counts, and past the limit the engine is stopped and there is no
//! answer. Visits to texts and numbers do not count: how often a schema visits a single value is known before it is compiled
//! (`cost.rs`), and each level of a value has an object or a list around it.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::json::{Value, size};

/// How often the engine may visit any value: a few milliseconds. Real calls take a few hundred visits.
const LEAST: usize = 1_000_000;

/// And for a long value, per byte: a union of thirty branches takes about six.
const PER_BYTE: usize = 16;

/// How many visits it may make to find objections: a few milliseconds. If that is not enough, it is asked for fewer objections.
/// A hundred items that match none of thirty branches take a few thousand visits.
const LOOKS_FOR_OBJECTIONS: usize = 30_000;

/// How many visits it may make to the branches of unions, in total. Unions within unions take more the deeper they are.
const LOOKS_FOR_PARTS: usize = 2 * LOOKS_FOR_OBJECTIONS;

/// How many objections are requested if it cannot find all: as many as a model gets, and a few more.
const FEW_OBJECTIONS: usize = 8;

/// The weight of one objection. Objections take memory until all have been found.
const OBJECTION: usize = 64;

thread_local! {
    static LEFT: Cell<usize> = const { Cell::new(LEAST) };
    /// How many more objections are wanted.
    static WANTED: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Counts one objection.
pub(super) fn object() {
    spend(OBJECTION);
    WANTED.set(WANTED.get().saturating_sub(1));
}

/// Whether all wanted objections have been found. The engine finds every objection before it returns the first, so the lists
/// that it iterates over end here: what it would report about the rest comes after what is wanted.
#[inline]
pub(super) fn has_enough() -> bool {
    WANTED.get() == 0
}

/// Lets the engine collect this many objections.
pub(super) fn wanting<T>(objections: usize, ask: impl FnOnce() -> T) -> T {
    /// Resets even if the engine is stopped.
    struct All;
    impl Drop for All {
        fn drop(&mut self) {
            WANTED.set(usize::MAX);
        }
    }
    WANTED.set(objections);
    let _all = All;
    ask()
}

/// Stops the engine. It is thrown without a panic message, and caught in this file.
struct Exhausted;

/// Counts this many visits to a value.
#[inline]
pub(super) fn spend(looks: usize) {
    LEFT.with(|left| match left.get().checked_sub(looks) {
        Some(rest) => left.set(rest),
        None => stop(),
    });
}

#[cold]
fn stop() {
    resume_unwind(Box::new(Exhausted));
}

/// The engine's answer about a value; `None` if it would need too many visits.
pub(super) fn bounded<T>(value: &Value<'_>, ask: impl Fn() -> T) -> Option<T> {
    within(LEAST, &ask).or_else(|| {
        let more = size(value).saturating_mul(PER_BYTE);
        (more > LEAST).then(|| within(more, &ask))?
    })
}

/// The engine's objections to a value, if they do not take too many visits: `ask` gets the number of objections that are
/// wanted.
pub(super) fn objections<T>(value: &Value<'_>, most: usize, ask: impl Fn(usize) -> T) -> Option<T> {
    let few = most.min(FEW_OBJECTIONS);
    let found = within(LOOKS_FOR_OBJECTIONS, &|| ask(most))
        .or_else(|| within(LOOKS_FOR_OBJECTIONS / 4, &|| ask(few)))
        .or_else(|| bounded(value, || ask(1)));
    LEFT.set(LOOKS_FOR_PARTS);
    found
}

/// The same for a part of a value, with the remaining visits for all parts.
pub(super) fn objections_to_part<T>(ask: impl Fn() -> T) -> Option<T> {
    within(LEFT.get(), &ask)
}

fn within<T>(looks: usize, ask: &impl Fn() -> T) -> Option<T> {
    LEFT.set(looks);
    match catch_unwind(AssertUnwindSafe(ask)) {
        Ok(answer) => Some(answer),
        Err(thrown) if thrown.is::<Exhausted>() => None,
        Err(panic) => resume_unwind(panic),
    }
}
