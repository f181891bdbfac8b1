//! `callwright check --rescue`, as a user runs it.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use support::{Folder, Run, program, run};

const TOOLS: &str = r#"[{"name": "add", "inputSchema": {
    "type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}}]"#;

const LINES: &str = r#"{"id": "m1", "text": "<function=add><parameter=x>5</parameter></function><function=add><parameter=x>five</parameter></function>"}
{"id": "m2", "text": "For example: <tool_call>{\"name\": \"add\", \"arguments\": {\"x\": 1}}</tool_call>"}
{"role": "assistant", "content": "Five and five is ten."}
{"id": "c1", "tool": "add", "arguments": {"x": 7}}
{"role": "user", "content": "hello"}
"#;

fn check(options: &[&str]) -> Run {
    let folder = Folder::new();
    let (tools, lines) = (
        folder.file("tools.json", TOOLS),
        folder.file("lines.jsonl", LINES),
    );
    run(program()
        .args(["check", "--tools"])
        .arg(tools)
        .args(options)
        .arg(lines))
}

#[test]
fn every_line_gets_its_lines() {
    let run = check(&["--rescue", "--format", "json"]);
    assert_eq!(run.code, 2, "{run:?}");
    let lines = run.lines();
    let shown: Vec<_> = lines
        .iter()
        .map(|line| {
            [
                &line["id"],
                &line["verdict"],
                &line["rescued"],
                &line["reason"],
            ]
        })
        .map(|fields| fields.map(|field| field.as_str().unwrap_or("-")))
        .collect();
    assert_eq!(
        shown,
        [
            ["m1.1", "repaired", "function", "-"],
            ["m1.2", "refused", "function", "-"],
            ["m2", "no_call", "-", "text_before"],
            ["-", "no_call", "-", "no_mark"],
            ["c1", "valid", "-", "-"],
        ]
    );
    assert_eq!(lines[0]["arguments"]["x"], 5);
    assert!(
        run.stderr.contains("line 5: not a message"),
        "{}",
        run.stderr
    );
}

#[test]
fn people_see_why_and_how_many() {
    let run = check(&["--rescue"]);
    for part in [
        "     2  no call         text_before\n        there is text before the call\n",
        "     1  repaired  add\n",
    ] {
        assert!(run.stdout.contains(part), "{part} in {}", run.stdout);
    }
    let summary =
        "3 calls: 1 valid, 1 repaired, 1 refused (1 invalid_arguments); 2 messages without a call";
    assert!(run.stderr.contains(summary), "{}", run.stderr);
}

#[test]
fn messages_without_calls_are_not_findings() {
    let folder = Folder::new();
    let tools = folder.file("tools.json", TOOLS);
    let lines = folder.file("lines.jsonl", r#"{"text": "hello"}"#);
    let run = run(program()
        .args(["check", "--rescue", "--tools"])
        .args([tools, lines]));
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn nothing_is_rescued_unless_asked_for() {
    let run = check(&["--format", "json"]);
    assert_eq!(run.code, 2);
    assert_eq!(run.lines().len(), 1, "{run:?}");
    assert!(run.stderr.contains("line 1: not a call"), "{}", run.stderr);
}
