//! Recorded calls of real models, if available: set `CALLWRIGHT_RECORDED_CALLS` to a folder with `tools.jsonl` (`ref`,
//! `input_schema`), `calls-valid.jsonl` and `calls-failing.jsonl` (`schema_ref`, `raw_arguments`).
#![allow(clippy::expect_used, reason = "a test may panic")]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use callwright::{Call, Gate, ToolSpec, Verdict};
use serde_json::Value;

fn lines(folder: &Path, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.join(name)).expect("readable");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON Lines"))
        .collect()
}

fn text<'v>(row: &'v Value, key: &str) -> &'v str {
    row[key].as_str().unwrap_or_default()
}

/// The numbers of a JSON text as they are written: a `serde_json::Value` would not notice a lost digit.
fn number_literals(json: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let (mut in_string, mut escaped) = (false, false);
    for character in json.chars() {
        match character {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            '0'..='9' | '-' | '+' | '.' | 'e' | 'E' if !in_string => {
                found.last_mut().expect("never empty").push(character);
                continue;
            }
            _ => {}
        }
        if found.last().is_some_and(|literal| !literal.is_empty()) {
            found.push(String::new());
        }
    }
    found.retain(|literal| literal.contains(|c: char| c.is_ascii_digit()));
    found
}

#[test]
fn valid_calls_pass_unchanged_and_no_invalid_one_does() {
    let Some(folder) = std::env::var_os("CALLWRIGHT_RECORDED_CALLS").map(PathBuf::from) else {
        println!("skipped: CALLWRIGHT_RECORDED_CALLS is not set");
        return;
    };
    let schemas: HashMap<String, Value> = lines(&folder, "tools.jsonl")
        .into_iter()
        .map(|mut row| (text(&row, "ref").to_owned(), row["input_schema"].take()))
        .collect();
    let specs = schemas
        .iter()
        .map(|(name, schema)| ToolSpec::new(name, schema.clone()));
    let gate = Gate::builder().tools(specs).build().expect("tools");

    let valid = lines(&folder, "calls-valid.jsonl");
    for row in &valid {
        let arguments = text(row, "raw_arguments");
        let call = Call::from_text(text(row, "schema_ref"), arguments);
        let verdict = gate.judge(&call);
        let Verdict::Valid(passed) = verdict else {
            panic!("{}: {:?}", row["id"], verdict.failure());
        };
        let sent: Value = serde_json::from_str(arguments).expect("JSON");
        assert_eq!(Value::from(passed.arguments()), sent, "{}", row["id"]);
        let printed = passed.arguments().to_string();
        assert_eq!(
            number_literals(&printed),
            number_literals(arguments),
            "{}",
            row["id"]
        );
    }

    let mut refused = 0;
    for row in lines(&folder, "calls-failing.jsonl") {
        let Some(schema) = schemas.get(text(&row, "schema_ref")) else {
            continue;
        };
        let arguments = text(&row, "raw_arguments");
        let call = Call::from_text(text(&row, "schema_ref"), arguments);
        match gate.judge(&call) {
            Verdict::Valid(_) => {
                let sent = serde_json::from_str::<Value>(arguments).expect("JSON");
                let accepted = jsonschema::is_valid(schema, &sent);
                assert!(accepted, "{} passed, but its schema rejects it", row["id"]);
            }
            _ => refused += 1,
        }
    }
    println!(
        "{} valid calls passed, {refused} failing ones refused",
        valid.len()
    );
}
