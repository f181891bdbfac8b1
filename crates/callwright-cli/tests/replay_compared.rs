//! `callwright replay apply` and `--against`, as a user runs them.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

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

fn apply(arguments: &[&OsStr]) -> Run {
    run(program().args(["replay", "apply"]).args(arguments))
}

/// Tools, a log, and what `--suggest` wrote about them.
struct Suggested {
    folder: Folder,
    tools: PathBuf,
    log: PathBuf,
    suggestions: PathBuf,
}

impl Suggested {
    fn new() -> Self {
        let folder = Folder::new();
        let (tools, log) = (
            folder.file("tools.json", TOOLS),
            folder.file("log.jsonl", log(400)),
        );
        let suggestions = folder.path().join("changes.json");
        let shown = replay(&[
            "--tools".as_ref(),
            tools.as_os_str(),
            "--suggest".as_ref(),
            suggestions.as_os_str(),
            log.as_os_str(),
        ]);
        assert!(shown.stdout.contains("--accept 1 "), "{}", shown.stdout);
        Suggested {
            folder,
            tools,
            log,
            suggestions,
        }
    }

    /// Applies the proposals with these numbers to some tools.
    fn accept(&self, numbers: &str, tools: &Path, output: &Path) -> Run {
        let accept = format!("--accept={numbers}");
        apply(&[
            "--tools".as_ref(),
            tools.as_os_str(),
            "--suggestions".as_ref(),
            self.suggestions.as_os_str(),
            accept.as_ref(),
            "--output".as_ref(),
            output.as_os_str(),
        ])
    }

    /// `--against`, as JSON.
    fn compare(&self, first: &Path, other: &Path) -> (i32, Json) {
        let run = run(program()
            .args(["replay", "--format", "json", "--tools"])
            .arg(first)
            .arg("--against")
            .args([other, self.log.as_path()]));
        let report: Json = serde_json::from_str(&run.stdout).expect("JSON");
        (run.code, report)
    }
}

/// Proposals are applied, and the new tools only allow more.
#[test]
fn proposals_make_a_round_trip() {
    let suggested = Suggested::new();
    let tools = &suggested.tools;
    let new = suggested.folder.path().join("new-tools.json");
    let applied = suggested.accept("1", tools, &new);
    assert_eq!(
        (applied.code, applied.stderr.as_str()),
        (0, "applied: 1 proposal\n")
    );
    let written = fs::read_to_string(&new).expect("new tools");
    assert!(written.contains(r#""newest""#), "{written}");

    let (code, looser) = suggested.compare(tools, &new);
    assert_eq!((code, &looser["compared"]), (0, &json!(true)));
    assert_eq!(looser["changes"].as_array().map(Vec::len), Some(1));
    let change = &looser["changes"][0];
    let fields = ["stricter", "tool", "side", "from", "to", "path", "issue"];
    assert_eq!(
        json!(fields.map(|field| &change[field])),
        json!([
            false, "search", "input", "refused", "valid", "/sort", "enum"
        ])
    );
    assert_eq!(change["calls"], looser["clusters"][0]["calls"]);
    assert_eq!(change["examples"][0]["value"], "\"newest\"");

    let (code, stricter) = suggested.compare(&new, tools);
    let first = &stricter["changes"][0]["stricter"];
    assert_eq!((code, first), (1, &json!(true)));
    let (code, same) = suggested.compare(&new, &new);
    assert_eq!((code, &same["changes"]), (0, &json!([])));
}

/// A proposal that cannot be applied changes nothing and says why.
#[test]
fn what_cannot_be_applied_says_why() {
    let suggested = Suggested::new();
    let tools = &suggested.tools;
    let new = suggested.folder.path().join("new-tools.json");
    suggested.accept("1", tools, &new);
    let untouched = suggested.folder.path().join("untouched.json");
    for (numbers, tools, why) in [
        ("99", tools, "unknown proposal 99; the numbers go from 1 to"),
        (
            "1",
            &new,
            "the schema of \"search\" has changed since; run replay again",
        ),
    ] {
        let refused = suggested.accept(numbers, tools, &untouched);
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
        assert!(!untouched.exists());
    }
    let apply = |suggestions: &Path, more: &[&str]| {
        let mut arguments = vec![
            "--tools".as_ref(),
            tools.as_os_str(),
            "--suggestions".as_ref(),
            suggestions.as_os_str(),
        ];
        arguments.extend(more.iter().map(AsRef::<OsStr>::as_ref));
        apply(&arguments)
    };
    for (suggestions, more, why) in [
        (
            &suggested.suggestions,
            &[][..],
            "no proposal is accepted; select some with --accept",
        ),
        (tools, &["--accept=1"], "not a suggestions file"),
        (&suggested.log, &["--accept=1"], "log.jsonl"),
    ] {
        let refused = apply(suggestions, more);
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
    }
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
    assert!(without_tools.stderr.contains("add --tools"));
}
