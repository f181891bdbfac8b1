//! The cases of `corpus/replay/read`.

use std::path::Path;

use serde_json::Value;

use crate::shown;

#[test]
fn every_case_of_the_corpus_is_read_as_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/replay/read");
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for case in file["cases"].as_array().unwrap() {
            let text = match case.get("record") {
                Some(record) => record.to_string(),
                None => case["text"].as_str().unwrap().to_owned(),
            };
            let found = shown(&text);
            count += 1;
            if let Some(where_) = difference(&case["expect"], &found) {
                let name = case["name"].as_str().unwrap();
                wrong.push(format!("{}: {name}: {where_}\n{found:#}", path.display()));
            }
        }
    }
    assert!(count > 50);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The first place where the result differs from the expectation. Only the expected keys are compared.
fn difference(expected: &Value, found: &Value) -> Option<String> {
    match (expected, found) {
        (Value::Object(expected), _) => expected.iter().find_map(|(key, expected)| {
            let found = found.get(key).unwrap_or(&Value::Null);
            let differs = if key == "troubles" {
                troubles(expected, found)
            } else {
                difference(expected, found)
            };
            differs.map(|inner| format!("/{key}{inner}"))
        }),
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            let mut pairs = expected.iter().zip(found).enumerate();
            pairs.find_map(|(at, (expected, found))| {
                difference(expected, found).map(|inner| format!("/{at}{inner}"))
            })
        }
        _ if expected == found => None,
        _ => Some(format!(": expected {expected}, found {found}")),
    }
}

/// Each trouble contains the expected text.
fn troubles(expected: &Value, found: &Value) -> Option<String> {
    let (expected, found) = (expected.as_array().unwrap(), found.as_array().unwrap());
    let contains = |(expected, found): (&Value, &Value)| {
        found.as_str().unwrap().contains(expected.as_str().unwrap())
    };
    let agree = expected.len() == found.len() && expected.iter().zip(found).all(contains);
    (!agree).then(|| format!(": expected {expected:?}, found {found:?}"))
}
