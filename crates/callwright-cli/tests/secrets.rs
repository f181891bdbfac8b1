//! The program shows no secret, whether in a table, in a message or in a report.
#![allow(clippy::expect_used, reason = "a test may panic")]

#[path = "../../callwright/tests/secrets/cases.rs"]
mod cases;
mod support;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;

use cases::{Case, leak};
use serde_json::{Value, json};
use support::{Folder, program, run};

/// Cases from a fixed pseudorandom sequence, each with its own tool.
fn all_cases(count: usize) -> Vec<Case> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut made = (0..).map(|number: usize| {
        let bytes = (0..32).map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        });
        Case::new(&bytes.collect::<Vec<u8>>(), &format!("tool{number}"))
    });
    // Numeric tokens would also match times and sizes by chance.
    let letters = made.by_ref().filter(|case| case.token.starts_with('z'));
    letters.take(count).collect()
}

fn assert_no_leak(cases: &[Case], what: &str, text: &str) {
    let lower = text.to_ascii_lowercase();
    let pieces: HashSet<&[u8]> = lower.as_bytes().windows(6).collect();
    let is_shown = |case: &&Case| {
        let token = case.token.to_ascii_lowercase();
        token
            .as_bytes()
            .windows(6)
            .any(|piece| pieces.contains(piece))
    };
    for case in cases.iter().filter(is_shown) {
        if let Some(found) = leak(&case.token, text) {
            let text = text.to_lowercase();
            let at = text.find(&found.to_lowercase()).expect("it is there");
            let start = (0..=at.saturating_sub(300))
                .rev()
                .find(|at| text.is_char_boundary(*at));
            let around: String = text[start.unwrap_or(0)..].chars().take(700).collect();
            panic!(
                "{what} shows {found:?}:\n{around}\n\ntool: {}\ncall: {}",
                case.tool, case.line
            );
        }
    }
}

fn tools_of(cases: &[Case]) -> String {
    Value::Array(cases.iter().map(|case| case.tool.clone()).collect()).to_string()
}

#[test]
fn check_shows_no_secret() {
    let cases = all_cases(200);
    let folder = Folder::new();
    let tools = folder.file("tools.json", tools_of(&cases));
    let mut lines = String::new();
    for (number, case) in cases.iter().enumerate() {
        let _ = writeln!(lines, "{}", case.line);
        let mut line = case.line.clone();
        line["session"] = json!(format!("s{number}"));
        for _ in 0..4 {
            let _ = writeln!(lines, "{line}");
        }
    }
    let calls = folder.file("calls.jsonl", lines);
    let ways: [&[&str]; 8] = [
        &[],
        &["--explain"],
        &["--repair", "guess", "--explain"],
        &["--repair", "none"],
        &["--style", "numbered"],
        &["--style", "json"],
        &["--format", "json", "--mask-secrets"],
        &["--format", "json", "--mask-secrets", "--repair", "guess"],
    ];
    for way in ways {
        let run = run(program()
            .args(["check", "--tools"])
            .args([&tools, &calls])
            .args(way));
        assert_ne!(run.code, 2, "{}", run.stderr);
        assert_no_leak(&cases, &format!("check {way:?}"), &run.stdout);
        assert_no_leak(&cases, &format!("stderr of check {way:?}"), &run.stderr);
    }
}

#[test]
fn a_replay_shows_no_secret() {
    let cases = all_cases(60);
    let folder = Folder::new();
    let tools = folder.file("tools.json", tools_of(&cases));
    let mut lines = String::new();
    for (number, case) in cases.iter().enumerate() {
        for round in 0..25 {
            let mut line = case.line.clone();
            line["session"] = json!(format!("s{number}-{}", round / 5));
            line["model"] = json!(format!("m{}", round % 3));
            let _ = writeln!(lines, "{line}");
        }
    }
    let log = folder.file("calls.jsonl", lines);
    let path = |name: &str| folder.path().join(name);
    let (page, suggestions, part) = (path("page.html"), path("suggest.json"), path("part.json"));
    for format in ["text", "json"] {
        let run = run(program()
            .args(["replay", "--format", format, "--tools"])
            .args([&tools, &log])
            .arg("--report")
            .arg(&page)
            .arg("--suggest")
            .arg(&suggestions)
            .arg("--emit-summary")
            .arg(&part));
        assert_ne!(run.code, 2, "{}", run.stderr);
        assert_no_leak(&cases, "a report", &run.stdout);
        assert_no_leak(&cases, "stderr of a replay", &run.stderr);
    }
    for file in [page, suggestions, part] {
        let text = fs::read_to_string(&file).expect("written");
        assert_no_leak(&cases, &file.display().to_string(), &text);
    }
}

/// A tool with a secret enum, and a model that often sends another value.
const MARKED_ENUM: &str = r#"[{"name": "unlock", "inputSchema": {
    "type": "object", "properties": {"code": {"enum": ["swordfish-one", "swordfish-two"], "writeOnly": true},
                                     "door": {"type": "string"}}}}]"#;

#[test]
fn no_advice_publishes_the_values_of_a_marked_enum() {
    let folder = Folder::new();
    let tools = folder.file("tools.json", MARKED_ENUM);
    let mut lines = String::new();
    for round in 0..40 {
        let _ = writeln!(
            lines,
            r#"{{"tool":"unlock","arguments":{{"code":"swordfsh-one","door":"{round}"}},"session":"s{round}"}}"#
        );
    }
    let log = folder.file("calls.jsonl", lines);
    let page = folder.path().join("page.html");
    for format in ["text", "json"] {
        let run = run(program()
            .args(["replay", "--format", format, "--tools"])
            .args([&tools, &log])
            .arg("--report")
            .arg(&page));
        for text in [run.stdout, fs::read_to_string(&page).expect("a page")] {
            assert!(!text.contains("swordf"), "{text}");
        }
    }
}

#[test]
fn of_a_line_that_is_not_json_nothing_is_quoted() {
    let folder = Folder::new();
    let tools = folder.file("tools.json", MARKED_ENUM);
    let line = r#"{"tool": "unlock", "arguments": {"code": swordfish-one}}"#;
    let calls = folder.file("calls.jsonl", line);
    let run = run(program().args(["check", "--tools"]).args([tools, calls]));
    assert_eq!(run.code, 2);
    assert!(
        run.stderr
            .contains("not JSON at column 42: expected a value; "),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("swordf"), "{}", run.stderr);
}

#[test]
fn programs_get_the_values_unless_they_ask_not_to() {
    let folder = Folder::new();
    let tools = folder.file(
        "tools.json",
        r#"[{"name": "log_in", "inputSchema": {"type": "object", "properties": {
            "pin": {"type": "integer", "writeOnly": true}, "user": {"type": "string"}}}}]"#,
    );
    let calls = folder.file(
        "calls.jsonl",
        r#"{"tool": "log_in", "arguments": {"pin": "48151623", "user": "ann"}}"#,
    );
    let check = |more: &[&str]| {
        let run = run(program()
            .args(["check", "--format", "json", "--tools"])
            .args([&tools, &calls])
            .args(more));
        run.lines().remove(0)
    };
    let line = check(&[]);
    assert_eq!(line["arguments"], json!({"pin": 48_151_623, "user": "ann"}));
    assert_eq!(line["edits"][0]["before"], "48151623");
    let line = check(&["--mask-secrets"]);
    assert_eq!(line["arguments"], json!({"pin": "[masked]", "user": "ann"}));
    assert_eq!(line["edits"][0]["before"], "[masked]");
    assert_eq!(line["edits"][0]["after"], "[masked]");
}
