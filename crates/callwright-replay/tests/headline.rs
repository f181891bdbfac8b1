//! The first lines of a report: no call is counted twice, and nothing is promised that the numbers do not support.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

mod support;

use callwright_replay::propose::Proposals;
use callwright_replay::report::{Report, json};
use callwright_replay::summary::{Bounded, Combination};
use serde_json::Value as Json;
use support::sample;

fn headline(report: &Report) -> String {
    let value = json(report).expect("JSON");
    value["headline"].as_str().unwrap().to_owned()
}

/// Allowed by proposals, bugs, undecided.
fn counts(report: &Report) -> [Json; 3] {
    let value = json(report).expect("JSON");
    ["allowed_by_proposals", "look_like_bugs", "undecided"]
        .map(|field| value["calls"][field].clone())
}

fn with_faults(clusters: &[usize], more: &[u64]) -> Report {
    let mut report = sample::plain();
    let mut faults: Vec<u64> = clusters
        .iter()
        .map(|index| report.judgements[*index].cluster.hash())
        .collect();
    faults.extend(more);
    let combination = Combination {
        tool: "create_ticket".to_owned(),
        clusters: faults,
    };
    report.summary.combinations = Bounded::default();
    report.summary.combinations.add(combination, 1_000);
    report
}

#[test]
fn proposals_allow_bugs_are_stopped() {
    let report = sample::plain();
    assert_eq!(counts(&report), [10_739, 1_664, 0]);
    let text = headline(&report);
    assert!(text.starts_with(
        "12,403 of 1,000,000 calls break their schema. 5 changes would allow 10,739 of them;"
    ));
}

#[test]
fn without_proposals_a_person_has_to_look() {
    let mut report = sample::plain();
    report.proposals = Proposals::default();
    assert_eq!(counts(&report), [0, 1_664, 10_739]);
    assert!(headline(&report).contains(
        "No change is proposed; 1,664 look like bugs, which the guard repairs or stops; 10,739 are left to review."
    ));
}

#[test]
fn all_faults_of_a_call_must_be_allowed() {
    // Two edge cases together.
    assert_eq!(counts(&with_faults(&[0, 4], &[])), [1_000, 0, 0]);
    // An edge case together with a bug.
    assert_eq!(counts(&with_faults(&[0, 2], &[])), [0, 1_000, 0]);
    // An edge case together with a fault that did not fit into the summary.
    assert_eq!(counts(&with_faults(&[0], &[77])), [0, 0, 1_000]);
    // A fault in the result does not count against the call.
    assert_eq!(counts(&with_faults(&[0, 7], &[])), [1_000, 0, 0]);
    assert_eq!(counts(&with_faults(&[7], &[])), [0, 0, 0]);
    assert!(headline(&with_faults(&[0], &[])).contains("11,403 are not classified"));
}

#[test]
fn without_combinations_each_change_counts_alone() {
    let mut report = sample::plain();
    report.summary.combinations = Bounded::default();
    assert_eq!(counts(&report), [10_739, 0, 0]);
}

#[test]
fn nothing_is_promised_beyond_the_calls() {
    let mut report = with_faults(&[0], &[]);
    report.summary.calls.repaired = 0;
    report.summary.calls.refused = 1;
    report.proposals.changes.truncate(1);
    assert!(
        headline(&report).starts_with(
            "1 of 1,000,000 calls breaks its schema. 1 change would allow all of them."
        )
    );
}

#[test]
fn no_calls_is_said_plainly() {
    assert_eq!(
        headline(&sample::empty()),
        "Nothing was read: the log is empty."
    );
    let mut report = sample::empty();
    report.summary.input.records = 3;
    assert_eq!(headline(&report), "No call was found in 3 records.");
    assert_eq!(
        headline(&sample::spotless()),
        "All 12 calls fit their schema."
    );
}
