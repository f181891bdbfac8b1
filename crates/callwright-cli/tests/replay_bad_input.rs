//! Malformed logs: each problem has its line in the report, and nothing is lost silently.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use std::io::Write as _;
use std::process::{Command, Stdio};

use support::replay::{TOOLS, log};
use support::{Folder, Run, program, run};

/// A replay of this log with [`TOOLS`], its text joined into one line.
fn replay(name: &str, content: impl AsRef<[u8]>, with_tools: bool) -> Run {
    let folder = Folder::new();
    let log = folder.file(name, content);
    let tools = folder.file("tools.json", TOOLS);
    let mut command = program();
    command.arg("replay");
    if with_tools {
        command.arg("--tools").arg(tools);
    }
    let mut shown = run(command.arg(log));
    let words: Vec<&str> = shown.stdout.split_whitespace().collect();
    shown.stdout = words.join(" ");
    shown
}

#[track_caller]
fn says(shown: &Run, code: i32, sentences: &[&str]) {
    assert_eq!(shown.code, code, "{shown:?}");
    for sentence in sentences {
        assert!(
            shown.stdout.contains(sentence),
            "{sentence:?} in {}",
            shown.stdout
        );
    }
}

const GOOD: &str = r#"{"tool": "search", "arguments": {"query": "tea"}}"#;

#[test]
fn an_empty_log() {
    let expected = [
        "Nothing was read: the log is empty.",
        "1 file, 0 bytes, 0 records",
    ];
    says(&replay("log.jsonl", "", true), 0, &expected);
    says(&replay("log.jsonl", "\n\n", true), 0, &["the log is empty"]);
}

#[test]
fn a_log_without_tools() {
    let shown = replay("log.jsonl", format!("{GOOD}\n{GOOD}\n"), false);
    says(
        &shown,
        2,
        &[
            "No tools are known, so none of the 2 calls could be judged by its schema: give --tools.",
            "2 calls were not judged, since nothing declares their tools (give --tools): search",
            "run it again with --tools FILE",
        ],
    );
}

/// Some tools are known, others are not.
#[test]
fn a_log_with_some_tools() {
    let request = r#"{"model": "m", "messages": [], "tools": [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]}"#;
    let read = r#"{"tool": "read", "arguments": {}}"#;
    let shown = replay("log.jsonl", format!("{request}\n{read}\n{GOOD}\n"), false);
    says(
        &shown,
        0,
        &[
            "All calls that could be judged fit their schema: 1 of 2.",
            "1 call was not judged, since nothing declares its tool (give --tools): search",
        ],
    );
}

#[test]
fn tools_without_calls() {
    let request = r#"{"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]}"#;
    let expected = [
        "No call was found in 1 record.",
        "1 tool declared but never called",
    ];
    says(&replay("log.jsonl", request, false), 0, &expected);
    says(&replay("log.jsonl", request, true), 0, &expected);
}

#[test]
fn an_empty_tools_file() {
    let folder = Folder::new();
    let (tools, log) = (
        folder.file("tools.json", "[]"),
        folder.file("log.jsonl", GOOD),
    );
    let shown = run(program().args(["replay", "--tools"]).args([tools, log]));
    assert_eq!(shown.code, 1);
    assert!(
        shown
            .stderr
            .contains("contains no tools, so every call is of an unknown tool")
    );
}

#[test]
fn a_log_of_which_nothing_can_be_read() {
    let shown = replay("log.txt", "what\nis this\n", true);
    says(
        &shown,
        2,
        &[
            "No call was found in 2 records.",
            "2 records not read: not JSON, and not a known kind of log line, first at",
        ],
    );
}

#[test]
fn a_bad_line_among_good_ones_changes_no_exit_code() {
    let shown = replay("log.jsonl", format!("{GOOD}\n{{\"tool\": \n{GOOD}\n"), true);
    says(
        &shown,
        0,
        &[
            "All 2 calls fit their schema.",
            "1 record not read: not JSON: the record is cut off, at",
            "log.jsonl:2",
        ],
    );
}

/// Compressed by the `gzip` program; `None` if it is not installed.
fn packed(text: &str) -> Option<Vec<u8>> {
    let mut child = Command::new("gzip")
        .arg("-c")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take()?;
    let text = text.to_owned();
    let writing = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().ok()?;
    writing.join().ok()?.ok()?;
    Some(output.stdout)
}

#[test]
fn gzip_whole_and_cut_off() {
    let Some(packed) = packed(&log(3_000)) else {
        return;
    };
    says(
        &replay("log.jsonl.gz", &packed, true),
        1,
        &["of 3,000 calls break their schema."],
    );
    // Files are recognised by their content, not by their name.
    says(
        &replay("log.jsonl", &packed, true),
        1,
        &["of 3,000 calls break their schema."],
    );
    let cut = replay("log.jsonl.gz", &packed[..packed.len() / 2], true);
    says(&cut, 1, &["calls break their schema.", "truncated"]);
    assert!(!cut.stdout.contains("of 3,000 calls"));
}

#[test]
fn mixed_encodings() {
    let mut bytes = format!("{GOOD}\n").into_bytes();
    bytes.extend_from_slice(b"{\"tool\": \"search\", \"arguments\": {\"query\": \"caf\xe9\"}}\n");
    bytes.extend_from_slice(GOOD.as_bytes());
    let shown = replay("log.jsonl", bytes, true);
    says(
        &shown,
        0,
        &[
            "All 2 calls fit their schema.",
            "1 record not read: not UTF-8 text; write the log in UTF-8, or in UTF-16 with a byte order mark, at",
            "log.jsonl:2",
        ],
    );
    let wide = format!("\u{feff}{GOOD}\n{GOOD}\n");
    let wide: Vec<u8> = wide.encode_utf16().flat_map(u16::to_le_bytes).collect();
    says(
        &replay("log.jsonl", wide, true),
        0,
        &["All 2 calls fit their schema."],
    );
}

#[test]
fn a_record_that_is_too_long() {
    let mut long = format!("{GOOD}\n{{\"tool\": \"search\", \"arguments\": {{\"query\": \"");
    long.push_str(&"x".repeat(65 * 1024 * 1024));
    long.push_str("\"}}\n");
    long.push_str(GOOD);
    let shown = replay("log.jsonl", long, true);
    says(
        &shown,
        0,
        &[
            "All 2 calls fit their schema.",
            "1 record not read:",
            "64 MB",
        ],
    );
}

#[test]
fn clocks_that_jump() {
    let jumped = r#"{"tool": "search", "arguments": {"query": "tea"}, "time": 12}"#;
    let shown = replay("log.jsonl", format!("{}{jumped}\n", log(50)), true);
    says(
        &shown,
        1,
        &[
            "1 call with times far from all others, as from a clock that jumped: counted, but left out of charts",
        ],
    );
    assert!(!replay("log.jsonl", log(50), true).stdout.contains("clock"));
}

#[test]
fn options_that_cannot_be_right() {
    let folder = Folder::new();
    let (tools, log) = (
        folder.file("tools.json", TOOLS),
        folder.file("log.jsonl", GOOD),
    );
    let other = folder.file("other.json", TOOLS);
    let there = folder.path().join("no/such/folder/report.html");
    for (arguments, why) in [
        (
            vec!["--report".into(), there],
            "does not exist; create it first",
        ),
        (
            vec!["--report".into(), folder.path().to_owned()],
            "it is a directory",
        ),
        (vec!["--review".into()], "--suggest"),
        (vec!["--state".into(), other.clone()], "in the state"),
        (vec!["--policy".into(), tools.clone()], "tools.json"),
        (vec!["--against".into(), log.clone()], "in the tool file"),
    ] {
        let shown = run(program()
            .args(["replay", "--tools"])
            .arg(&tools)
            .args(&arguments)
            .arg(&log));
        assert_eq!(shown.code, 2, "{arguments:?}");
        assert!(shown.stderr.contains(why), "{why} in {}", shown.stderr);
        assert_eq!(shown.stdout, "");
    }
    assert_eq!(run(program().arg("replay")).code, 2);
}

/// An output never overwrites an input or another output.
#[test]
fn no_output_replaces_an_input_or_another_output() {
    let folder = Folder::new();
    let (tools, log) = (
        folder.file("tools.json", TOOLS),
        folder.file("log.jsonl", GOOD),
    );
    let (page, around) = (
        folder.path().join("page"),
        folder.path().join("./log.jsonl"),
    );
    for outputs in [
        vec![("--report", &log)],
        vec![("--suggest", &around)],
        vec![("--emit-summary", &log)],
        vec![("--state", &log)],
        vec![("--suggest", &tools)],
        vec![("--report", &page), ("--suggest", &page)],
    ] {
        let mut replay = program();
        replay.arg("replay").arg("--tools").arg(&tools).arg(&log);
        for (option, path) in &outputs {
            replay.arg(option).arg(path);
        }
        let shown = run(&mut replay);
        assert_eq!(shown.code, 2, "{outputs:?}");
        assert!(
            shown.stderr.contains("give another file"),
            "{}",
            shown.stderr
        );
        assert_eq!(std::fs::read_to_string(&log).unwrap(), GOOD);
        assert_eq!(std::fs::read_to_string(&tools).unwrap(), TOOLS);
        assert!(!page.exists());
    }
}
