//! Shared by the fuzz targets: the corpus as seeds, bounds on the cost of an input, and promises that every verdict
//! keeps.

mod bounds;
mod said;

use std::fs;
use std::path::{Path, PathBuf};

use callwright::feedback::{Feedback, Style};
use callwright::json;
use callwright::parse::read_value;
use callwright::{Call, Verdict};
use serde_json::Value;

pub use self::bounds::{Bounds, bounded};
pub use self::said::{Kept, assert_can_miss, unescaped};

/// Every case of some stages of the corpus, each with its file, always in the same order.
pub fn cases(stages: &[&str]) -> Vec<(Value, Value)> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    let mut paths: Vec<PathBuf> = stages
        .iter()
        .flat_map(|stage| fs::read_dir(corpus.join(stage)).expect("a stage"))
        .map(|entry| entry.expect("a file").path())
        .collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).expect("a readable file");
        let mut file: Value = serde_json::from_str(&text).expect("JSON");
        let Value::Array(cases) = file["cases"].take() else {
            panic!("{} has no cases", path.display());
        };
        found.extend(cases.into_iter().map(|case| (file.clone(), case)));
    }
    found
}

/// The tools of a case.
pub fn tools<'c>(file: &'c Value, case: &'c Value) -> &'c Value {
    case.get("tools").unwrap_or(&file["tools"])
}

/// Writes seed inputs into the folder that `fuzz/run` names. They are not kept in the repository: the corpus is the
/// only copy.
pub fn plant(seeds: impl IntoIterator<Item = Vec<u8>>) {
    let folder = std::env::var_os("CALLWRIGHT_SEEDS").filter(|name| !name.is_empty());
    let Some(folder) = folder.map(PathBuf::from) else {
        return;
    };
    fs::create_dir_all(&folder).expect("a folder for seeds");
    for (number, seed) in seeds.into_iter().enumerate() {
        fs::write(folder.join(number.to_string()), seed).expect("a seed");
    }
}

/// The line of every verdict is JSON, and its words keep within their limits.
pub fn assert_presentable(call: &Call<'_>, verdict: &Verdict<'_>) {
    for (_, style) in Style::ALL {
        let feedback = Feedback::new(style);
        let line = verdict.line(call, &feedback).to_string();
        let read = read_value(&line).expect("a verdict line is JSON");
        let name = read.get("verdict").and_then(json::Value::as_str);
        assert_eq!(name, Some(verdict.name()));
        if let Some(failure) = verdict.failure() {
            let text = feedback.render(failure);
            assert!(!text.is_empty() && !text.replace('\n', "").contains(char::is_control));
            let lines = feedback.issue_lines(failure);
            assert!(lines.len() <= 6, "{lines:?}");
            assert!(
                lines.iter().all(|line| line.chars().count() <= 100),
                "{lines:?}"
            );
        }
        for edit in verdict.edits() {
            assert!(!feedback.edit_line(edit).contains(char::is_control));
        }
    }
}
