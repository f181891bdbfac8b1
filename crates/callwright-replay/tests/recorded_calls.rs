//! Recorded calls of real models, if available: accepted answers that their schema refuses are found as edge cases, and
//! the proposals accept them.
//!
//! Set `CALLWRIGHT_RECORDED_CALLS` to a folder with `tools.jsonl` (`ref`, `input_schema`, `description`),
//! `calls-valid.jsonl` and `calls-failing.jsonl` (`schema_ref`, `raw_arguments`, `model`, `gold`: the accepted values
//! of each parameter, with `""` for one that may be left out). They are turned into a log in which accepted answers and
//! valid calls ran fine, and all others failed.
#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test for people who have the data"
)]

#[path = "support/engine.rs"]
mod engine;
#[path = "support/objections.rs"]
mod objections;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use callwright::ToolSpec;
use callwright_replay::decide::ViolationKind;
use callwright_replay::propose::{apply, suggestions_file};
use callwright_replay::report::Report;
use callwright_replay::summary::ClusterKey;
use serde_json::{Value, json};

fn rows(folder: &Path, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join(name)).expect("readable");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON Lines"))
        .collect()
}

/// Whether arguments are one of the accepted answers.
fn is_accepted(arguments: &Value, gold: &Value, schema: &Value) -> bool {
    let Some(arguments) = arguments.as_object() else {
        return false;
    };
    let answers = gold.as_array().map_or(&[][..], Vec::as_slice);
    let answers = answers.iter().filter_map(Value::as_object);
    answers.into_iter().any(|answer| {
        let given = arguments.iter().all(|(key, value)| {
            // Null means "left out" if it is the default in the schema.
            let is_default_null = value.is_null()
                && schema["properties"][key].get("default") == Some(&Value::Null)
                && answer.get(key).is_some_and(may_be_left_out);
            is_default_null
                || answer
                    .get(key)
                    .is_some_and(|listed| is_one_of(value, listed))
        });
        let all = answer
            .iter()
            .all(|(key, listed)| arguments.contains_key(key) || may_be_left_out(listed));
        given && all
    })
}

fn may_be_left_out(listed: &Value) -> bool {
    let listed = listed.as_array();
    listed.is_some_and(|values| values.iter().any(|value| value == ""))
}

fn is_one_of(value: &Value, listed: &Value) -> bool {
    let single = std::slice::from_ref(listed);
    let listed = listed.as_array().map_or(single, Vec::as_slice);
    listed.iter().any(|known| is_same(value, known))
}

/// Compares numbers by value, and objects by the accepted values of their keys.
fn is_same(value: &Value, known: &Value) -> bool {
    match (value, known) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            let pairs = one.iter().zip(other);
            one.len() == other.len() && pairs.into_iter().all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_known = |(key, value): (&String, &Value)| {
                other.get(key).is_some_and(|known| is_one_of(value, known))
            };
            one.iter().all(is_known)
        }
        _ => value == known,
    }
}

/// A call line, and whether it is an accepted answer.
fn line(row: &Value, number: usize, schemas: &HashMap<String, Value>) -> Option<(String, bool)> {
    let tool = row["schema_ref"].as_str()?;
    let schema = schemas.get(tool)?;
    let text = row["raw_arguments"].as_str()?;
    let arguments: Value = serde_json::from_str(text).unwrap_or(Value::Null);
    let accepted = is_accepted(&arguments, &row["gold"], schema);
    let minute = number % (60 * 24 * 7);
    let mut line = json!({
        "time": format!("2026-04-{:02}T{:02}:{:02}:00Z", 6 + minute / 1_440, minute / 60 % 24, minute % 60),
        "session": format!("s{number}"),
        "model": row["model"],
        "id": format!("c{number}"),
        "tool": tool,
        "arguments": text,
        "output": "ok",
    });
    if !accepted && row["valid"] != true {
        line["output"] = json!("400 the arguments are not acceptable");
        line["is_error"] = json!(true);
    }
    Some((line.to_string(), accepted))
}

/// The log, and the accepted answers that fail their schema: tool and line.
fn log(folder: &Path, schemas: &HashMap<String, Value>) -> (String, Vec<(String, String)>) {
    let mut log = String::new();
    let mut answers = Vec::new();
    let mut calls = rows(folder, "calls-failing.jsonl");
    let failing = calls.len();
    calls.extend(rows(folder, "calls-valid.jsonl"));
    // The data is grouped by tool; real traffic is not.
    let order = |number: usize| (number * 7_919) % calls.len();
    for number in 0..calls.len() {
        let at = order(number);
        let mut row = calls[at].clone();
        row["valid"] = json!(at >= failing);
        if let Some((line, accepted)) = line(&row, number, schemas) {
            let _ = writeln!(log, "{line}");
            if accepted && at < failing {
                answers.push((
                    row["schema_ref"].as_str().unwrap_or_default().to_owned(),
                    line,
                ));
            }
        }
    }
    (log, answers)
}

/// The clusters of one call.
fn clusters(spec: &ToolSpec, line: &str, folder: &Path) -> Vec<ClusterKey> {
    let file = folder.join("one.jsonl");
    std::fs::write(&file, line).expect("the folder can be written to");
    let one = std::num::NonZero::new(1);
    let summary = engine::replay(vec![spec.clone()], &file, one);
    summary
        .clusters
        .iter()
        .map(|(key, _)| key.clone())
        .collect()
}

#[test]
fn accepted_answers_that_their_schema_refuses_are_edge_cases() {
    let Some(folder) = std::env::var_os("CALLWRIGHT_RECORDED_CALLS").map(PathBuf::from) else {
        println!("skipped: CALLWRIGHT_RECORDED_CALLS is not set");
        return;
    };
    let mut schemas = HashMap::new();
    let mut declared = Vec::new();
    for row in rows(&folder, "tools.jsonl") {
        let name = row["ref"].as_str().unwrap_or_default().to_owned();
        let input = row["input_schema"].clone();
        declared.push(json!({
            "name": name, "description": row["description"], "inputSchema": input,
        }));
        schemas.insert(name, input);
    }
    let tools_file = Value::from(declared).to_string();
    let specs = callwright::wire::read_tools(&tools_file).expect("tools");
    let by_name: HashMap<&str, &ToolSpec> = specs
        .iter()
        .map(|spec| (spec.name.as_str(), spec))
        .collect();

    let own = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recorded-calls");
    std::fs::create_dir_all(&own).expect("a folder for the test");
    let (log, answers) = log(&folder, &schemas);
    let path = own.join("log.jsonl");
    std::fs::write(&path, log).expect("the folder can be written to");
    let report = Report::new(engine::replay(specs.clone(), &path, None));

    let gate = objections::gate(specs.iter().cloned());
    let accept: Vec<usize> = report
        .proposals
        .changes
        .iter()
        .filter(|proposal| proposal.kind == ViolationKind::EdgeCase)
        .map(|proposal| proposal.number)
        .collect();
    let suggestions = suggestions_file(&report.proposals, Some(&tools_file));
    let changed = apply(&tools_file, &suggestions, &accept, true).expect("they go together");
    let changed = callwright::wire::read_tools(&changed).expect("the new tools can be read");
    let new_gate = objections::gate(changed);

    let kinds: HashMap<&ClusterKey, &callwright_replay::decide::ClusterJudgement> = report
        .judgements
        .iter()
        .map(|judgement| (&judgement.cluster, judgement))
        .collect();
    let (mut refused, mut proposed, mut accepted) = (0, 0, 0);
    let mut found: BTreeMap<ViolationKind, usize> = BTreeMap::new();
    let mut missed: BTreeMap<String, usize> = BTreeMap::new();
    for (tool, line) in &answers {
        let recorded = objections::read(line);
        if objections::to_arguments(&gate, &recorded).is_empty() {
            continue;
        }
        refused += 1;
        let own = clusters(by_name[tool.as_str()], line, &own);
        let judgements: Vec<_> = own.iter().filter_map(|key| kinds.get(key)).collect();
        let Some(worst) = judgements.iter().max_by_key(|judgement| judgement.kind) else {
            continue;
        };
        *found.entry(worst.kind).or_default() += 1;
        let has_change = own.iter().all(|key| {
            let mut all = report.proposals.changes.iter();
            all.any(|proposal| proposal.clusters.contains(key))
        });
        proposed += usize::from(has_change);
        let is_taken = objections::to_arguments(&new_gate, &recorded).is_empty();
        accepted += usize::from(is_taken);
        if worst.kind != ViolationKind::EdgeCase || !is_taken {
            let ClusterKey {
                path, issue, shape, ..
            } = &worst.cluster;
            let why: Vec<String> = worst
                .reasons
                .iter()
                .map(|reason| format!("{:+} {}", reason.points, reason.why))
                .collect();
            let text = format!(
                "{:?} {issue} {shape} at {path} of {tool}: {why:?}",
                worst.kind
            );
            *missed.entry(text).or_default() += 1;
        }
    }
    for (text, times) in &missed {
        println!("{times} × {text}");
    }
    println!("accepted answers that are refused: {refused}");
    println!(
        "taken for: {found:?}; proposed: {proposed}; accepted by the changed tools: {accepted}"
    );
    std::fs::remove_dir_all(&own).expect("the folder can be removed");
    assert!(refused > 0, "the data has such calls");
    assert!(accepted * 10 >= refused * 9, "nine in ten are accepted");
}
