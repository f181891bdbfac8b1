//! `callwright replay`, as a user runs it.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may panic, and says what it skips"
)]

mod support;

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};
use support::replay::{TOOLS, log, replay, replay_json, without_files};
use support::{Folder, program, repository, run};

/// These documents show the exact output for the example.
#[test]
fn the_documents_show_what_is_printed() {
    let shown = run(program().current_dir(repository()).args([
        "replay",
        "--tools",
        "examples/replay/tools.json",
        "examples/replay/log.jsonl",
    ]));
    assert_eq!((shown.code, shown.stderr.as_str()), (1, ""));
    let whole = shown.stdout.trim_end();
    let guide = fs::read_to_string(repository().join("docs/replay.md")).expect("a guide");
    assert!(
        guide.contains(whole),
        "docs/replay.md should show this:\n{whole}"
    );
}

/// The guide also shows a comparison.
#[test]
fn a_report_in_every_form() {
    let folder = Folder::new();
    let (tools, log) = (
        folder.file("tools.json", TOOLS),
        folder.file("log.jsonl", log(400)),
    );
    let page = folder.path().join("report.html");
    let shown = replay(&[
        "--tools".as_ref(),
        tools.as_os_str(),
        "--report".as_ref(),
        page.as_os_str(),
        log.as_os_str(),
    ]);
    assert_eq!(shown.code, 1, "{shown:?}");
    assert!(shown.stdout.contains(" of 400 calls break their schema."));
    assert!(!shown.stdout.contains('\u{1b}'), "no colours in a file");
    let page = fs::read_to_string(page).expect("a page");
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert_eq!(page.matches("<html").count(), 1);
    assert!(!page.contains("http://") && !page.contains("https://"));
    let (code, report) = replay_json(&tools, &log);
    assert_eq!((code, &report["calls"]["calls"]), (1, &json!(400)));
    assert_eq!(report["compared"], false);
    assert_eq!(report["clusters"][0]["judgement"]["kind"], "edge_case");
}

#[test]
fn nothing_to_object_to_is_zero() {
    let folder = Folder::new();
    let tools = folder.file("tools.json", TOOLS);
    let call = r#"{"tool": "search", "arguments": {"query": "tea"}}"#;
    let (code, report) = replay_json(&tools, &folder.file("log.jsonl", call));
    assert_eq!(code, 0);
    assert_eq!(report["headline"], "The only call fits its schema.");
}

/// Parts that are split by session merge into the same report as the whole log.
#[test]
fn parts_say_the_same_as_the_whole() {
    let folder = Folder::new();
    let tools = folder.file("tools.json", TOOLS);
    let text = log(600);
    let whole = folder.file("whole.jsonl", &text);
    let (code, whole) = replay_json(&tools, &whole);
    let mut parts = Vec::new();
    for part in 0..3 {
        // Split by session, because a conversation in two parts counts as two.
        let lines = text.lines().enumerate();
        let lines: Vec<&str> = lines
            .filter(|(call, _)| call % 12 % 3 == part)
            .map(|(_, line)| line)
            .collect();
        let log = folder.file(&format!("part-{part}.jsonl"), lines.join("\n") + "\n");
        let end = ["json", "json.gz", "json.gz"][part];
        let summary = folder.path().join(format!("part-{part}.{end}"));
        run(program()
            .args(["replay", "--tools"])
            .arg(&tools)
            .args(["--part", &part.to_string()])
            .arg("--emit-summary")
            .args([&summary, &log]));
        parts.push(summary);
    }
    parts.rotate_left(1);
    // A part given twice counts once.
    parts.push(parts[0].clone());
    let merged = run(program()
        .args(["replay", "merge", "--format", "json"])
        .args(&parts));
    assert_eq!(merged.code, code);
    assert!(
        merged
            .stderr
            .contains("its parts have already been counted"),
        "{}",
        merged.stderr
    );
    let merged: Json = serde_json::from_str(&merged.stdout).expect("JSON");
    assert_eq!(without_files(&merged), without_files(&whole));
    let packed = fs::read(&parts[0]).expect("written");
    assert_eq!(packed[..2], [0x1f, 0x8b]);
    // The same part number, from another log.
    let log = folder.file("other.jsonl", log(30));
    let other = folder.path().join("other.json.gz");
    run(program()
        .args(["replay", "--part", "1", "--tools"])
        .args([&tools, &log])
        .arg("--emit-summary")
        .arg(&other));
    let refused = run(program()
        .args(["replay", "merge"])
        .args([&parts[0], &other]));
    assert_eq!(refused.code, 2);
    assert!(
        refused
            .stderr
            .contains("two summaries of the part `1` differ"),
        "{}",
        refused.stderr
    );
    let wrong = run(program().args(["replay", "merge"]).arg(&tools));
    assert_eq!(wrong.code, 2);
    assert!(
        wrong.stderr.contains("not a replay summary"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn logs_are_read_from_folders_patterns_and_stdin() {
    let folder = Folder::new();
    let tools = folder.file("tools.json", TOOLS);
    let logs = folder.path().join("logs/november");
    fs::create_dir_all(&logs).expect("a folder");
    let text = log(120);
    let (first, rest) = text.split_at(text.match_indices('\n').nth(49).expect("lines").0 + 1);
    fs::write(logs.join("01.jsonl"), first).expect("writable");
    fs::write(logs.join("02.jsonl"), rest).expect("writable");
    fs::write(logs.join("03.notes"), "not a log").expect("writable");
    let pattern = folder.path().join("logs/**/*.jsonl");
    let count = |log: &std::path::Path| replay_json(&tools, log).1["calls"]["calls"].clone();
    assert_eq!(count(&folder.path().join("logs")), 120);
    assert_eq!(count(&pattern), 120);
    let mut child = program()
        .args(["replay", "--format", "json", "--tools"])
        .arg(&tools)
        .arg("-")
        .stdin(fs::File::open(logs.join("01.jsonl")).expect("a file"))
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut shown = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().expect("piped"), &mut shown)
        .expect("text");
    child.wait().expect("it ends");
    let report: Json = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(report["calls"]["calls"], 50);
    for (log, why) in [
        ("missing.jsonl", "no such file or directory"),
        ("missing/*.jsonl", "no file matches this pattern"),
    ] {
        let missing = run(program()
            .args(["replay", "--tools"])
            .arg(&tools)
            .arg(folder.path().join(log)));
        assert_eq!(missing.code, 2);
        assert!(missing.stderr.contains(why), "{}", missing.stderr);
    }
}

#[test]
fn formats_may_be_mixed_and_carry_the_tools() {
    let folder = Folder::new();
    let declared = r#"{"name": "search", "parameters": {"type": "object", "required": ["query"]}}"#;
    let log = folder.file(
        "log.jsonl",
        format!(
            r#"{{"model": "m", "messages": [{{"role": "user", "content": "tea?"}}], "tools": [{{"type": "function", "function": {declared}}}]}}
{{"type": "tool_use", "id": "a", "name": "search", "input": {{"query": "tea"}}}}
{{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {{"name": "search", "arguments": {{}}}}}}
{{"tool": "search", "arguments": {{"query": "tea"}}}}"#
        ),
    );
    let shown = run(program().args(["replay", "--format", "json"]).arg(&log));
    let report: Json = serde_json::from_str(&shown.stdout).expect("JSON");
    assert_eq!(shown.code, 1, "{report:#}");
    assert_eq!(report["calls"]["calls"], 3);
    assert_eq!(report["calls"]["refused"], 1);
    assert_eq!(report["calls"]["undeclared"], 0);
    let formats = report["read"]["formats"].as_object().expect("formats");
    assert!(formats.len() >= 3, "{formats:?}");
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = Folder::new();
    let (tools, log) = (
        folder.file("tools.json", TOOLS),
        folder.file("log.jsonl", log(2_000)),
    );
    let mut child = program()
        .args(["replay", "--tools"])
        .args([tools, log])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

/// A machine without a network gets the same report.
#[test]
fn no_network_is_needed() {
    let folder = Folder::new();
    let (tools, log) = (
        folder.file("tools.json", TOOLS),
        folder.file("log.jsonl", log(100)),
    );
    let alone = Command::new("unshare")
        .args(["--user", "--map-root-user", "--net", "true"])
        .stderr(Stdio::null())
        .status();
    if !alone.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no `unshare` that takes the network away");
        return;
    }
    let shown = run(Command::new("unshare")
        .args(["--user", "--map-root-user", "--net"])
        .arg(env!("CARGO_BIN_EXE_callwright"))
        .args(["replay", "--format", "json", "--tools"])
        .args([&tools, &log]));
    let report: Json = serde_json::from_str(&shown.stdout).expect("JSON");
    assert_eq!(report, replay_json(&tools, &log).1);
}

#[test]
fn secrets_are_in_no_output() {
    let folder = Folder::new();
    let tools = folder.file("tools.json", TOOLS);
    let log = folder.file(
        "log.jsonl",
        r#"{"tool": "search", "arguments": {"query": "tea", "key": ["hunter2", "hunter2"]}}
{"tool": "search", "arguments": {"query": {"a": 1}, "key": "hunter2"}}"#,
    );
    let names = ["report.html", "changes.json", "part.json"];
    let files = names.map(|name| folder.path().join(name));
    let shown = run(program()
        .args(["replay", "--format", "json", "--tools"])
        .arg(&tools)
        .arg("--report")
        .arg(&files[0])
        .arg("--suggest")
        .arg(&files[1])
        .arg("--emit-summary")
        .args([&files[2], &log]));
    assert_eq!(shown.code, 1);
    let mut all = vec![shown.stdout];
    all.extend(files.map(|file| fs::read_to_string(file).expect("written")));
    for text in all {
        assert!(!text.contains("hunter2"), "{text}");
    }
}
