//! Verdicts that change when other tools or another policy judge: which come first, and what is said of them.

use std::cmp::Reverse;

use crate::summary::{Change, ChangeKey};

use super::number::{count, thousands};
use super::{Report, phrase};

/// All kinds of changes: those that get stricter first, then by calls.
pub(crate) fn ranked(report: &Report) -> Vec<(&ChangeKey, &Change)> {
    let mut all: Vec<_> = report.summary.changes.iter().collect();
    all.sort_by_key(|(key, change)| (Reverse(key.stricter), Reverse(change.calls), *key));
    all
}

/// What changes, as one sentence; empty if nothing was compared.
pub(crate) fn sentence(report: &Report) -> String {
    let summary = &report.summary;
    if !summary.compared {
        return String::new();
    }
    let side = |stricter: bool| {
        let of_it = summary.changes.iter();
        let of_it = of_it.filter(|(key, _)| key.stricter == stricter);
        of_it.fold((0u64, 0u64), |(kinds, calls), (_, change)| {
            (kinds + 1, calls.saturating_add(change.calls))
        })
    };
    let calls = |calls: u64| count(calls, "call", "calls");
    let kinds = |kinds: u64| count(kinds, "kind of calls gets", "kinds of calls get");
    match (side(true), side(false)) {
        ((0, _), (0, _)) => "Compared: no verdict changes.".to_owned(),
        ((0, _), (looser, fewer)) => format!(
            "Compared: nothing gets stricter; {} looser ({}).",
            kinds(looser),
            calls(fewer)
        ),
        ((stricter, more), (0, _)) => format!(
            "Compared: {} stricter ({}); nothing gets looser.",
            kinds(stricter),
            calls(more)
        ),
        ((stricter, more), (looser, fewer)) => {
            let verb = if looser == 1 { "gets" } else { "get" };
            format!(
                "Compared: {} stricter ({}); {} {verb} looser ({}).",
                kinds(stricter),
                calls(more),
                thousands(looser),
                calls(fewer)
            )
        }
    }
}

/// Which way a verdict changes, in one word.
pub(crate) fn direction(key: &ChangeKey) -> &'static str {
    if key.stricter { "stricter" } else { "looser" }
}

/// What the stricter judge objects to, in words.
pub(crate) fn objection(key: &ChangeKey) -> String {
    if key.issue.is_empty() {
        return "no reason is known".to_owned();
    }
    phrase::issue(&key.issue)
}
