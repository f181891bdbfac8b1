//! The published test vectors hold: `corpus/fingerprint`.
#![allow(clippy::expect_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::{fs, path::Path};

use callwright::admit::{Fingerprint, Shape};
use callwright::json;
use callwright::parse::read_value;
use serde_json::Value;

#[test]
fn every_vector_holds() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/fingerprint/vectors.json");
    let file: Value =
        serde_json::from_str(&fs::read_to_string(path).expect("readable")).expect("JSON");
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for case in file["cases"].as_array().expect("cases") {
        let text = |key: &str| case[key].as_str().expect("a text");
        let paths = case["volatile"].as_array().into_iter().flatten();
        let volatile: Vec<json::Path> = paths
            .filter_map(Value::as_str)
            .map(json::Path::from_pointer)
            .collect();
        let fingerprint = match read_value(text("arguments")) {
            Ok(arguments) => {
                let shape = Shape::new(case.get("schema"), &volatile);
                Fingerprint::of(text("tool"), &arguments, &shape)
            }
            Err(_) => Fingerprint::of_text(text("tool"), text("arguments")),
        };
        assert_eq!(
            fingerprint.to_string(),
            text("fingerprint"),
            "{}",
            text("name")
        );
        assert_eq!(text("fingerprint").parse(), Ok(fingerprint));
        // The same text gives the same fingerprint, and another text another one.
        let same = seen.insert(fingerprint.to_string(), text("text"));
        assert!(
            same.is_none_or(|known| known == text("text")),
            "{}",
            text("name")
        );
    }
    assert!(
        seen.len() >= 20,
        "the vectors have shrunk to {}",
        seen.len()
    );
}
