//! Instructions per call, counted by callgrind: stable on a noisy machine.
//!
//! `cargo bench --bench instructions` runs this program once per row under valgrind and prints how much more each row
//! costs than merely loading the data, next to a reference. The last line is the time that a repaired call takes,
//! measured without valgrind.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::cast_precision_loss,
    reason = "a table for people"
)]
#![allow(missing_docs)]

#[path = "support/callgrind.rs"]
mod callgrind;
#[path = "support/mod.rs"]
mod support;

use std::collections::HashMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use callgrind::instructions;
use callwright::feedback::Feedback;
use callwright::repair::{Grade, RepairPolicy};
use callwright::{Call, Gate, ToolSpec, Verdict};
use serde_json::Value;
use support::{Traffic, traffic};

/// Enough for a stable mean, few enough for valgrind.
const CALLS: usize = 3_000;

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench");
    match arguments.next() {
        Some(row) => run(&row, &traffic()),
        None => compare(),
    }
}

fn gate(traffic: &Traffic, policy: RepairPolicy) -> Gate {
    let specs = traffic
        .tools
        .iter()
        .map(|(name, schema)| ToolSpec::new(name, schema.clone()));
    let builder = Gate::builder().tools(specs).repair(policy);
    builder.build().expect("tools")
}

/// One row, in this process.
fn run(row: &str, traffic: &Traffic) {
    let failing = row.starts_with("failing");
    let calls = if failing {
        &traffic.failing
    } else {
        &traffic.valid
    };
    let calls = &calls[..calls.len().min(CALLS)];
    let policy = match row {
        "failing repair" => RepairPolicy::UpTo(Grade::Guess),
        _ => RepairPolicy::Never,
    };
    let gate = gate(traffic, policy);
    let validators: HashMap<&str, jsonschema::Validator> = traffic
        .tools
        .iter()
        .filter_map(|(name, schema)| Some((name.as_str(), jsonschema::validator_for(schema).ok()?)))
        .collect();
    match row {
        "valid load" | "failing load" => {
            black_box((&gate, &validators));
        }
        "valid parse" => {
            for (_, text) in calls {
                black_box(serde_json::from_str::<Value>(text).expect("JSON"));
            }
        }
        "valid plain" => {
            for (tool, text) in calls {
                let value = serde_json::from_str::<Value>(text).expect("JSON");
                let valid = validators
                    .get(tool.as_str())
                    .is_none_or(|v| v.is_valid(&value));
                black_box((valid, value));
            }
        }
        "valid gate" => {
            for (tool, text) in calls {
                let call = Call::from_text(tool.as_str(), text.as_str());
                let Verdict::Valid(valid) = gate.judge(&call) else {
                    panic!("{tool} {text}")
                };
                black_box(valid);
            }
        }
        "failing plain" => {
            for (tool, text) in calls {
                let value = serde_json::from_str::<Value>(text).expect("JSON");
                let validator = &validators[tool.as_str()];
                if !validator.is_valid(&value) {
                    let lines: Vec<String> = validator
                        .iter_errors(&value)
                        .map(|error| error.to_string())
                        .collect();
                    black_box(lines.join("; "));
                }
            }
        }
        "failing gate" => {
            let feedback = Feedback::default();
            for (tool, text) in calls {
                let call = Call::from_text(tool.as_str(), text.as_str());
                let verdict = gate.judge(&call);
                black_box(feedback.render(verdict.failure().expect("refused")));
            }
        }
        "failing repair" => {
            for (tool, text) in calls {
                let call = Call::from_text(tool.as_str(), text.as_str());
                black_box(gate.judge(&call).name());
            }
        }
        other => panic!("no row {other}"),
    }
}

/// All rows, each in its own process under valgrind.
fn compare() {
    let traffic = traffic();
    let count = |all: &Vec<_>| all.len().min(CALLS) as u64;
    println!("instructions per call, {}", traffic.origin);
    for (kind, rows, calls) in [
        (
            "valid",
            &["parse", "plain", "gate"][..],
            count(&traffic.valid),
        ),
        (
            "failing",
            &["plain", "gate", "repair"][..],
            count(&traffic.failing),
        ),
    ] {
        let Some(load) = instructions(&[&format!("{kind} load")]) else {
            println!("skipped: valgrind does not run here");
            return;
        };
        let mut first = None;
        for row in rows {
            let total = instructions(&[&format!("{kind} {row}")]).expect("it ran just now");
            let each = total.saturating_sub(load) / calls;
            let base = *first.get_or_insert(each);
            let ratio = each as f64 / base as f64;
            println!("{kind:>8} {row:<6} {each:>7}   {ratio:.2} x {}", rows[0]);
        }
    }
    println!("parse: serde_json to a Value; plain: parse, is_valid, iter_errors as text");
    println!(
        "gate: the verdict and the instruction; repair: the verdict after looking for repairs"
    );
    repaired(&traffic);
}

/// How long a repaired call takes: the shortest of several runs of each call, which is disturbed least by other
/// programs.
fn repaired(traffic: &Traffic) {
    const RUNS: usize = 7;
    let gate = gate(traffic, RepairPolicy::UpTo(Grade::Guess));
    let mut times: Vec<Duration> = Vec::new();
    for (tool, text) in &traffic.failing {
        let call = Call::from_text(tool.as_str(), text.as_str());
        if !matches!(gate.judge(&call), Verdict::Repaired(_)) {
            continue;
        }
        let runs = (0..RUNS).map(|_| {
            let start = Instant::now();
            black_box(gate.judge(&call).name());
            start.elapsed()
        });
        times.extend(runs.min());
    }
    times.sort();
    if let (Some(median), Some(most)) = (times.get(times.len() / 2), times.last()) {
        let count = times.len();
        println!("{count} repaired calls take {median:.1?} in the median, {most:.1?} at most");
    }
}
