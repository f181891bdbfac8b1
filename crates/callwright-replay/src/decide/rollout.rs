//! Did the tool learn to take such calls during the record?
//!
//! A new version is rolled out on some day: before it, not one such call ran fine; from it on, nearly all do. What counts
//! is what the tool does now. A tool that takes some and refuses some all the time has no such day.

use std::collections::BTreeMap;

use super::facts::Facts;
use super::points::{MANY_RESULTS, SOME_RESULTS};
use crate::summary::Timeline;

const DAY_US: i64 = 24 * 60 * 60 * 1_000_000;

/// What happened from the first day on which such a call ran fine.
#[derive(Debug)]
pub(super) struct Since {
    pub(super) calls: u64,
    pub(super) ran_fine: u64,
    before: u64,
    days: usize,
}

impl Since {
    pub(super) fn why(&self) -> String {
        let Since {
            calls,
            ran_fine,
            before,
            days,
        } = self;
        let first = if *days == 1 {
            "the first day".to_owned()
        } else {
            format!("the first {days} days")
        };
        format!("on {first} none of {before} calls ran fine, since then {ran_fine} of {calls} did")
    }
}

/// That day, if enough calls came before it and after it.
pub(super) fn since(facts: &Facts<'_>) -> Option<Since> {
    let calls = by_day(&facts.cluster.time);
    let fine = by_day(&facts.cluster.fine);
    let (first, _) = fine.first_key_value()?;
    let before: u64 = calls.range(..first).map(|(_, calls)| calls).sum();
    let since = Since {
        calls: calls.range(first..).map(|(_, calls)| calls).sum(),
        ran_fine: fine.values().sum(),
        before,
        days: calls.range(..first).count(),
    };
    (since.before >= SOME_RESULTS && since.calls >= MANY_RESULTS).then_some(since)
}

fn by_day(time: &Timeline<u64>) -> BTreeMap<i64, u64> {
    let mut days = BTreeMap::new();
    for (begin, calls) in time.iter() {
        *days.entry(begin.div_euclid(DAY_US)).or_insert(0) += *calls;
    }
    days
}
