//! `callwright replay apply` and `--against`, as a user runs them.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use std::fs;

use serde_json::{Value as Json, json};
use support::replay::{TOOLS, log, replay};
use support::{Folder, Run, program, repository, run};

#[test]
fn the_guide_shows_a_comparison() {
    let folder = Folder::new();
    let (suggestions, new) = (
        folder.path().join("changes.json"),
        folder.path().join("new-tools.json"),
    );
    let tools = repository().join("examples/replay/tools.json");
    let log = "examples/replay/log.jsonl";
    run(program()
        .current_dir(repository())
        .args(["replay", "--tools"])
        .arg(&tools)
        .arg("--suggest")
        .args([suggestions.as_os_str(), log.as_ref()]));
    apply(&[
        "--tools".as_ref(),
        tools.as_os_str(),
        "--suggestions".as_ref(),
        suggestions.as_os_str(),
        "--accept=1,2".as_ref(),
        "--output".as_ref(),
        new.as_os_str(),
    ]);
    let shown = run(program()
        .current_dir(repository())
        .args(["replay", "--tools"])
        .arg(&new)
        .arg("--against")
        .args([tools.as_os_str(), log.as_ref()]));
    assert_eq!(shown.code, 1);
    let until = shown.stdout.find("\nread ").expect("more follows");
    let guide = fs::read_to_string(repository().join("docs/replay.md")).expect("a guide");
    let beginning = &shown.stdout[..until];
    assert!(
        guide.contains(beginning),
        "docs/replay.md should show this:\n{beginning}"
    );
}

fn apply(arguments: &[&std::ffi::OsStr]) -> Run {
    run(program().args(["replay", "apply"]).args(arguments))
}

#[test]
fn proposals_make_a_round_trip() {
    let folder = Folder::new();
    let (tools, log) = (
        folder.file("tools.json", TOOLS),
        folder.file("log.jsonl", log(400)),
    );
    let suggestions = folder.path().join("changes.json");
    let new = folder.path().join("new-tools.json");
    let shown = replay(&[
        "--tools".as_ref(),
        tools.as_os_str(),
        "--suggest".as_ref(),
        suggestions.as_os_str(),
        log.as_os_str(),
    ]);
    assert!(shown.stdout.contains("--accept 1 "), "{}", shown.stdout);
    let accept = |numbers: &str, tools: &std::path::Path, output: &std::path::Path| {
        let accept = format!("--accept={numbers}");
        apply(&[
            "--tools".as_ref(),
            tools.as_os_str(),
            "--suggestions".as_ref(),
            suggestions.as_os_str(),
            accept.as_ref(),
            "--output".as_ref(),
            output.as_os_str(),
        ])
    };
    let applied = accept("1", &tools, &new);
    assert_eq!(
        (applied.code, applied.stderr.as_str()),
        (0, "applied: 1 proposal\n")
    );
    let written = fs::read_to_string(&new).expect("new tools");
    assert!(written.contains(r#""newest""#), "{written}");

    let compare = |first: &std::path::Path, other: &std::path::Path| {
        let run = run(program()
            .args(["replay", "--format", "json", "--tools"])
            .arg(first)
            .arg("--against")
            .args([other, log.as_path()]));
        let report: Json = serde_json::from_str(&run.stdout).expect("JSON");
        (run.code, report)
    };
    let (code, looser) = compare(&tools, &new);
    assert_eq!((code, &looser["compared"]), (0, &json!(true)));
    let change = &looser["changes"][0];
    assert_eq!(change["stricter"], false);
    assert_eq!(
        (&change["from"], &change["to"]),
        (&json!("refused"), &json!("valid"))
    );
    assert_eq!(
        (&change["path"], &change["issue"]),
        (&json!("/sort"), &json!("enum"))
    );
    assert_eq!(change["calls"], looser["clusters"][0]["calls"]);
    assert_eq!(looser["changes"].as_array().map(Vec::len), Some(1));
    let (code, stricter) = compare(&new, &tools);
    assert_eq!(
        (code, &stricter["changes"][0]["stricter"]),
        (1, &json!(true))
    );
    let (code, same) = compare(&new, &new);
    assert_eq!((code, &same["changes"]), (0, &json!([])));

    // What cannot be applied changes nothing and says why.
    let untouched = folder.path().join("untouched.json");
    for (numbers, tools, why) in [
        ("99", &tools, "there is no proposal 99; there are 1 to"),
        (
            "1",
            &new,
            "the schema of \"search\" has changed since; run replay again",
        ),
    ] {
        let refused = accept(numbers, tools, &untouched);
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
        assert!(!untouched.exists());
    }
    let nothing = apply(&[
        "--tools".as_ref(),
        tools.as_os_str(),
        "--suggestions".as_ref(),
        suggestions.as_os_str(),
    ]);
    assert_eq!(nothing.code, 2);
    assert!(
        nothing
            .stderr
            .contains("no proposal is accepted; give --accept")
    );
    let other = apply(&[
        "--tools".as_ref(),
        tools.as_os_str(),
        "--suggestions".as_ref(),
        tools.as_os_str(),
        "--accept=1".as_ref(),
    ]);
    assert_eq!(other.code, 2);
    assert!(
        other.stderr.contains("these are no suggestions"),
        "{}",
        other.stderr
    );
}

#[test]
fn results_are_compared() {
    let folder = Folder::new();
    let tool = |required: &str| {
        format!(
            r#"[{{"name": "weather", "inputSchema": {{"type": "object"}},
                "outputSchema": {{"type": "object", "required": [{required}]}}}}]"#
        )
    };
    let (tools, other) = (
        folder.file("tools.json", tool("")),
        folder.file("other.json", tool("\"celsius\"")),
    );
    let log = folder.file(
        "log.jsonl",
        r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "weather", "arguments": {}}}
{"jsonrpc": "2.0", "id": 1, "result": {"content": [], "structuredContent": {"kelvin": 290}}}"#,
    );
    let shown = run(program()
        .args(["replay", "--format", "json", "--tools"])
        .arg(&tools)
        .arg("--against")
        .args([&other, &log]));
    let report: Json = serde_json::from_str(&shown.stdout).expect("JSON");
    let change = &report["changes"][0];
    assert_eq!(
        (shown.code, &change["side"]),
        (1, &json!("output")),
        "{report:#}"
    );
    assert_eq!(
        (&change["from"], &change["to"]),
        (&json!("ok"), &json!("refused"))
    );
    assert_eq!(change["issue"], "required");
}

#[test]
fn policies_are_compared() {
    let folder = Folder::new();
    let (tools, log) = (
        folder.file("tools.json", TOOLS),
        folder.file(
            "log.jsonl",
            r#"{"tool": "search", "arguments": {"query": "tea", "limit": "5"}}"#,
        ),
    );
    let policy = folder.file("policy.toml", "repair = \"none\"\n");
    let shown = run(program()
        .args(["replay", "--tools"])
        .arg(&tools)
        .arg("--against-policy")
        .args([&policy, &log]));
    assert_eq!(shown.code, 1, "{shown:?}");
    assert!(
        shown
            .stdout
            .contains("stricter  search: repaired → refused, 1 call\n"),
        "{}",
        shown.stdout
    );
    let without_tools = run(program()
        .args(["replay", "--against-policy"])
        .args([&policy, &log]));
    assert_eq!(without_tools.code, 2);
    assert!(without_tools.stderr.contains("give that too"));
}
