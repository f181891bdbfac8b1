//! Reads the cases of `corpus/` and compares the expected values with the actual ones.

use std::fs;
use std::path::{Path, PathBuf};

use callwright::feedback::Style;
use serde_json::Value;

pub(crate) fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

/// Every file of a stage with its content.
pub(crate) fn files(stage: &str) -> Vec<(PathBuf, Value)> {
    let folder = corpus().join(stage);
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("readable").path())
        .collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).expect("readable");
            let json = serde_json::from_str(&text)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (path, json)
        })
        .collect()
}

/// Runs `check` on every case of the stages and reports all failures. Returns how many cases there were.
pub(crate) fn run(stages: &[&str], check: impl Fn(&Value, &Value) -> Result<(), String>) -> usize {
    let mut failures = Vec::new();
    let mut count = 0;
    for stage in stages {
        for (path, file) in files(stage) {
            let cases = file["cases"].as_array().expect("`cases` is a list");
            for case in cases {
                count += 1;
                if let Err(why) = check(&file, case) {
                    let file = path.strip_prefix(corpus()).unwrap_or(&path).display();
                    failures.push(format!("{file}: {}\n    {why}", case["name"]));
                }
            }
        }
    }
    let failed = failures.len();
    assert!(
        failures.is_empty(),
        "{failed} cases fail:\n{}",
        failures.join("\n")
    );
    count
}

/// Whether `actual` agrees with everything in `expected`.
pub(crate) fn agrees(expected: &Value, actual: &Value, place: &str) -> Result<(), String> {
    match (expected, actual) {
        (Value::Object(wanted), Value::Object(_)) => wanted.iter().try_for_each(|(key, wanted)| {
            let got = actual.get(key).unwrap_or(&Value::Null);
            agrees(wanted, got, &format!("{place}/{key}"))
        }),
        (Value::Array(wanted), Value::Array(got)) if wanted.len() == got.len() => {
            let mut pairs = wanted.iter().zip(got).enumerate();
            pairs.try_for_each(|(at, (wanted, got))| agrees(wanted, got, &format!("{place}/{at}")))
        }
        _ if expected == actual => Ok(()),
        _ => Err(format!("at {place}: expected {expected}\n    got {actual}")),
    }
}

pub(crate) fn style(case: &Value) -> Style {
    let name = case["style"].as_str().unwrap_or("instruction");
    let known = Style::ALL.iter().find(|(known, _)| *known == name);
    known.unwrap_or_else(|| panic!("no style {name}")).1
}

/// A misspelt key in a case would otherwise make it pass silently.
pub(crate) fn only_known_keys(case: &Value, known: &[&str]) -> Result<(), String> {
    let keys = case.as_object().expect("a case is an object").keys();
    let unknown: Vec<&String> = keys.filter(|key| !known.contains(&key.as_str())).collect();
    let judges = ["expect", "error", "calls", "shown"]
        .iter()
        .any(|key| case.get(key).is_some());
    match (unknown.as_slice(), judges) {
        ([], true) => Ok(()),
        ([], false) => Err("expects nothing".to_owned()),
        (unknown, _) => Err(format!("unknown keys {unknown:?}")),
    }
}
