//! `callwright check --policy`, as a user runs it.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use serde_json::Value;
use support::{Folder, Run, program, repository, run};

const TOOLS: &str = r#"[
    {"name": "search", "inputSchema": {
        "type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["query"]}},
    {"name": "get_order", "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}}}]"#;

/// The same call with the same result in three rounds of a conversation.
const THRICE: &str = r#"{"tool": "search", "arguments": {"query": "a"}, "session": "s", "round": 1, "output": "none"}
{"tool": "search", "arguments": {"query": "a"}, "session": "s", "round": 2, "output": "none"}
{"tool": "search", "arguments": {"query": "a"}, "session": "s", "round": 3, "output": "none"}
"#;

/// `check --format json --policy callwright.toml` in a temporary folder, with more flags.
fn check(policy: impl AsRef<[u8]>, calls: &str, flags: &[&str]) -> Run {
    let folder = Folder::new();
    folder.file("tools.json", TOOLS);
    folder.file("calls.jsonl", calls);
    folder.file("callwright.toml", policy);
    run(program()
        .current_dir(folder.path())
        .args(["check", "--format", "json", "--tools", "tools.json"])
        .args(["--policy", "callwright.toml"])
        .args(flags)
        .arg("calls.jsonl"))
}

fn verdicts(run: &Run) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let verdict = |line: &Value| match &line["failure"]["code"] {
        Value::Null => text(&line["verdict"]),
        code => text(code),
    };
    run.lines().iter().map(verdict).collect()
}

#[test]
fn a_threshold_can_be_lowered_or_turned_off() {
    let sooner = check("[loops]\nrepeated_result = { refuse = 2 }", THRICE, &[]);
    assert_eq!(
        verdicts(&sooner),
        ["valid", "repeated_result", "repeated_result"]
    );
    assert_eq!(sooner.code, 1);
    let never = check(
        "[loops]\nrepeated_result = false\ncycle = false",
        THRICE,
        &[],
    );
    assert_eq!(verdicts(&never), ["valid", "valid", "valid"]);
    assert_eq!((never.code, never.stderr.as_str()), (0, ""));
}

#[test]
fn an_effect_brings_its_budget() {
    let calls = r#"{"tool": "search", "arguments": {"query": "a"}, "session": "s"}"#;
    let calls = format!("{calls}\n{calls}\n");
    let unknown = check("", &calls, &[]);
    assert_eq!(verdicts(&unknown), ["valid", "valid"]);
    let write = check("[tool.'se*']\neffect = 'write'", &calls, &[]);
    assert_eq!(verdicts(&write), ["valid", "retry_budget_exceeded"]);
}

#[test]
fn a_flag_beats_the_file() {
    let call = r#"{"tool": "search", "arguments": {"query": "a", "limit": "5"}}"#;
    let policy = "repair = 'none'\n[tool.search]\nrepair = 'none'";
    assert_eq!(verdicts(&check(policy, call, &[])), ["invalid_arguments"]);
    for grade in ["lossless", "by_effect"] {
        let flag = check(policy, call, &["--repair", grade]);
        assert_eq!(verdicts(&flag), ["repaired"]);
    }
    let policy = "repair = 'guess'\n[tool.search]\nrepair = 'guess'";
    assert_eq!(verdicts(&check(policy, call, &[])), ["repaired"]);
    let flag = check(policy, call, &["--repair", "none"]);
    assert_eq!(verdicts(&flag), ["invalid_arguments"]);
}

#[test]
fn without_validation_calls_pass_and_no_text_is_added() {
    let call = r#"{"tool": "search", "arguments": {"limit": "many"}}"#;
    let run = check("[tool.search]\nvalidate = 'off'", call, &[]);
    assert_eq!(verdicts(&run), ["valid"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

#[test]
fn a_bad_file_is_named_with_its_line() {
    let run = check("[loops]\nrepeted_result = false\n", THRICE, &[]);
    assert_eq!(run.code, 2);
    assert_eq!(run.stdout, "");
    assert_eq!(
        run.stderr,
        "error: in the policy file callwright.toml: line 2, column 1: unknown key `repeted_result` in [loops], \
         did you mean `repeated_result`?\n  \
         2 | repeted_result = false\n    \
         | ^^^^^^^^^^^^^^\n"
    );
    let path = repository().join("docs/policy.md");
    let documentation = std::fs::read_to_string(path).expect("documentation");
    assert!(documentation.contains(&run.stderr), "{}", run.stderr);
}

#[test]
fn a_bad_condition_is_marked_as_documented() {
    let policy = "[[check]]\nwhen = \"true && outptu.page == 1\"\n\
                  class = 'partial_data'\ncode = 'a'\ndetail = 'A.'\n";
    let run = check(policy, THRICE, &[]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    let path = repository().join("docs/policy.md");
    let documentation = std::fs::read_to_string(path).expect("documentation");
    assert!(documentation.contains(&run.stderr), "{}", run.stderr);
}

#[test]
fn a_check_refuses_a_result() {
    let policy = "[[tool.search.check]]\nwhen = \"output == 'none'\"\n\
                  class = 'semantic_garbage'\ncode = 'nothing'\ndetail = 'Nothing came.'\n";
    let run = check(policy, THRICE, &[]);
    let first = &run.lines()[0];
    assert_eq!(first["output_verdict"], "refused", "{first}");
    assert_eq!(first["output_failure"]["code"], "nothing", "{first}");
    assert_eq!(
        first["output_failure"]["detail"], "Nothing came.",
        "{first}"
    );
}

#[test]
fn files_that_cannot_be_read_are_named() {
    for (policy, part) in [
        (
            &b"budget = \xff"[..],
            "is not UTF-8: invalid byte at offset 9",
        ),
        (
            &b"#".repeat(1_048_577),
            "is larger than the limit of 1048576 bytes",
        ),
        (
            &b"budget = 3\nbudget = 4"[..],
            "line 2, column 1: \"budget\" occurs twice",
        ),
    ] {
        let run = check(policy, THRICE, &[]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""));
        assert!(run.stderr.contains(part), "{part} in {}", run.stderr);
        assert!(run.stderr.contains("policy file callwright.toml"));
    }
    let folder = Folder::new();
    let tools = folder.file("tools.json", TOOLS);
    for (policy, part) in [
        ("missing.toml", "cannot open the policy file"),
        (".", "is a directory; give a file"),
    ] {
        let run = run(program()
            .current_dir(folder.path())
            .args(["check", "--policy", policy, "--tools"])
            .arg(&tools));
        assert_eq!((run.code, run.stdout.as_str()), (2, ""));
        assert!(run.stderr.contains(part), "{part} in {}", run.stderr);
    }
}

#[test]
fn names_that_match_no_tool_are_a_warning() {
    let run = check("[tool.serch]\nbudget = 1", THRICE, &[]);
    assert_eq!(run.code, 0);
    assert_eq!(
        run.stderr,
        "warning: in the policy file callwright.toml: line 1: \"serch\" matches no tool, did you mean \"search\"?\n"
    );
    let many: String = (0..30).map(|n| format!("[tool.zz{n}]\n")).collect();
    let run = check(many, THRICE, &[]);
    assert_eq!(run.stderr.lines().count(), 11, "{}", run.stderr);
    assert!(run.stderr.contains("20 more names match no tool"));
}

#[test]
fn no_file_is_looked_for() {
    let folder = Folder::new();
    for name in ["callwright.toml", ".callwright.toml"] {
        folder.file(name, "this is not TOML");
    }
    folder.file("tools.json", TOOLS);
    folder.file("calls.jsonl", THRICE);
    let run = run(program()
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .args([
            "check",
            "--format",
            "json",
            "--tools",
            "tools.json",
            "calls.jsonl",
        ]));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}
