//! Runs the official JSON Schema test suite through our API.
//!
//! Runs if the suite is available: set `JSON_SCHEMA_TEST_SUITE` to its folder (the one with `tests/`).
#![allow(clippy::expect_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use callwright::json::Value;
use callwright::validate::CompiledSchema;

/// Does not apply to us: remote schemas are never loaded, formats are always asserted here while the suite's
/// `format.json` tests that they are not, and a UUID may be written without dashes.
const SKIPPED_FILES: [&str; 3] = ["format.json", "refRemote.json", "uuid.json"];

#[test]
fn the_suite_gets_the_same_verdicts() {
    let Some(suite) = std::env::var_os("JSON_SCHEMA_TEST_SUITE").map(PathBuf::from) else {
        println!("skipped: JSON_SCHEMA_TEST_SUITE is not set");
        return;
    };
    let mut tested = 0;
    let mut not_compiled = 0;
    let mut wrong = Vec::new();
    for draft in ["draft4", "draft6", "draft7", "draft2019-09", "draft2020-12"] {
        for file in json_files(&suite.join("tests").join(draft)) {
            let text = fs::read_to_string(&file).expect("readable");
            let groups: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            for group in groups.as_array().expect("a list") {
                let place = format!("{draft}/{}: {}", name(&file), group["description"]);
                let schema = match CompiledSchema::compile(with_draft(draft, &group["schema"])) {
                    Ok(schema) => schema,
                    // The suite serves its remote schemas here, but nothing is ever loaded.
                    Err(_)
                        if group["schema"]
                            .to_string()
                            .contains("http://localhost:1234") =>
                    {
                        not_compiled += 1;
                        continue;
                    }
                    Err(why) => panic!("{place}: {why}"),
                };
                for test in group["tests"].as_array().expect("a list") {
                    tested += 1;
                    let value = Value::from(&test["data"]);
                    let expected = test["valid"].as_bool().expect("a boolean");
                    let agrees = schema.accepts(&value) == expected
                        && schema.issues(&value).is_empty() == expected;
                    if !agrees {
                        wrong.push(format!("{place}: {}", test["description"]));
                    }
                }
            }
        }
    }
    println!("{tested} tests, {not_compiled} schemas refer to remote ones");
    assert!(tested > 4_000, "only {tested} tests found");
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Formats, big numbers and everything else that is optional: our verdict is the one that the engine's crate gives for
/// its own values.
#[test]
fn optional_parts_get_the_engines_verdicts() {
    let Some(suite) = std::env::var_os("JSON_SCHEMA_TEST_SUITE").map(PathBuf::from) else {
        println!("skipped: JSON_SCHEMA_TEST_SUITE is not set");
        return;
    };
    let mut tested = 0;
    for draft in ["draft7", "draft2019-09", "draft2020-12"] {
        let optional = suite.join("tests").join(draft).join("optional");
        for file in [json_files(&optional), json_files(&optional.join("format"))].concat() {
            let text = fs::read_to_string(&file).expect("readable");
            let groups: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            for group in groups.as_array().expect("a list") {
                let schema = with_draft(draft, &group["schema"]);
                let options = jsonschema::options()
                    .offline()
                    .should_validate_formats(true);
                let reference = options.build(&schema);
                let ours = CompiledSchema::compile(schema);
                assert_eq!(ours.is_ok(), reference.is_ok(), "{}", group["description"]);
                let (Ok(ours), Ok(reference)) = (ours, reference) else {
                    continue;
                };
                for test in group["tests"].as_array().expect("a list") {
                    tested += 1;
                    assert_eq!(
                        ours.accepts(&Value::from(&test["data"])),
                        reference.is_valid(&test["data"]),
                        "{}: {}: {}",
                        file.display(),
                        group["description"],
                        test["description"],
                    );
                }
            }
        }
    }
    println!("{tested} optional tests");
    assert!(tested > 1_000, "only {tested} tests found");
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .filter(|path| !SKIPPED_FILES.contains(&name(path).as_str()))
        .collect();
    files.sort();
    files
}

fn name(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The suite omits `$schema` in schemas of older drafts, but we need it to recognise the draft.
fn with_draft(draft: &str, schema: &serde_json::Value) -> serde_json::Value {
    let address = match draft {
        "draft4" => "http://json-schema.org/draft-04/schema#",
        "draft6" => "http://json-schema.org/draft-06/schema#",
        "draft7" => "http://json-schema.org/draft-07/schema#",
        "draft2019-09" => "https://json-schema.org/draft/2019-09/schema",
        _ => "https://json-schema.org/draft/2020-12/schema",
    };
    let mut schema = schema.clone();
    if let Some(members) = schema.as_object_mut() {
        members.entry("$schema").or_insert_with(|| address.into());
    }
    schema
}
