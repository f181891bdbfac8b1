//! Characters that are invisible, reverse the text direction or control a terminal, in everything that an attacker can
//! write: tool names, keys, values, file names, policies. None of them may reach a terminal or a page.
#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may panic, and says what it skips"
)]

mod support;

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};
use support::{Folder, Run, program, run};

/// Right-to-left override, isolates, zero width, a byte order mark, an invisible letter, escape sequences, a bell, a
/// carriage return and an annotation.
const HIDDEN: &str = "\u{202e}\u{2066}\u{2069}\u{200b}\u{200d}\u{feff}\u{3164}\u{1b}[31m\u{7}\r\u{9b}2J\u{fff9}\u{ad}";

/// A word with all of them inserted.
fn odd(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    format!("{first}{HIDDEN}{rest}")
}

fn tools() -> String {
    let schema = json!({
        "type": "object",
        "additionalProperties": false,
        "required": [odd("query")],
        "properties": {
            odd("query"): {"type": "string", "maxLength": 200},
            odd("limit"): {"type": "integer", "maximum": 10, "description": odd("many")},
            odd("sort"): {"enum": [odd("up"), odd("down")]},
            odd("day"): {"type": "string", "pattern": odd("day")},
        },
    });
    let broken = json!({"$ref": odd("nowhere")});
    json!([
        {"name": odd("search"), "description": odd("finds"), "inputSchema": schema,
         "annotations": {"readOnlyHint": true}},
        {"name": odd("broken"), "inputSchema": broken},
        {"name": "plain", "inputSchema": {"type": "object"},
         "outputSchema": {"type": "object", "required": [odd("rows")]}},
    ])
    .to_string()
}

fn policy() -> String {
    let (tool, hint) = (json!(odd("search")), json!(odd("hint")));
    // TOML's escapes differ from JSON's, and it has none for these.
    let plain = |text: &Json| {
        text.to_string()
            .replace("\\u001b", "\\u001B")
            .replace('\u{9b}', "\\u009B")
    };
    format!(
        "[tool.{}.advice]\ninvalid_arguments = {}\n[tool.{}]\nrepair = \"guess\"\n",
        plain(&tool),
        plain(&hint),
        plain(&json!(odd("missing"))),
    )
}

/// Calls that are wrong in many ways, some of them in a conversation.
fn calls() -> String {
    let search = odd("search");
    let good = json!({odd("query"): "tea"});
    let arguments = [
        good.clone(),
        json!({odd("query"): "tea", odd("limit"): odd("five")}),
        json!({odd("query"): "tea", odd("limit"): "5"}),
        json!({odd("query"): "tea", odd("limit"): 500}),
        json!({odd("query"): "tea", odd("sort"): odd("sideways")}),
        json!({odd("query"): "tea", odd("sort"): format!("{}x", odd("up"))}),
        json!({odd("query"): "tea", odd("day"): odd("monday")}),
        json!({odd("quarry"): odd("tea")}),
        json!({odd("query"): "tea", odd("extra"): {odd("inner"): odd("value")}}),
        json!(format!("{{\"{}\": ", odd("query"))),
        json!(format!("{} {{}}", odd("words"))),
    ];
    let mut lines: Vec<Json> = Vec::new();
    for (round, arguments) in arguments.iter().cycle().take(44).enumerate() {
        lines.push(json!({"tool": search, "arguments": arguments, "session": odd("session"), "turn": 0,
            "round": round, "model": odd("model"), "output": odd("found"), "is_error": round % 3 == 0,
            "time": format!("2026-11-{:02}T10:00:00Z", round % 28 + 1)}));
    }
    for round in 0..12 {
        lines.push(json!({"tool": search, "arguments": good, "session": odd("loop"), "turn": 0, "round": round,
            "output": odd("same")}));
    }
    lines.push(json!({"tool": odd("serch"), "arguments": {}}));
    lines.push(json!({"tool": odd("broken"), "arguments": {}}));
    lines.push(json!({"tool": "plain", "arguments": {}, "output": {odd("columns"): odd("none")}}));
    lines.push(json!({odd("unknown"): odd("shape")}));
    lines.push(json!({"tool": "plain", "arguments": {}, "session": [odd("list")]}));
    lines.push(
        json!({"text": format!("<tool_call>{{\"name\": \"{}\"}}</tool_call>", odd("search"))}),
    );
    lines.push(json!({"text": format!("I would call {}", odd("search"))}));
    let mut text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    text.push_str(&format!("{{\"{}\": {}\n", odd("torn"), odd("line")));
    text
}

#[track_caller]
fn assert_visible(what: &str, text: &str) {
    let hidden =
        |character: &char| *character != '\n' && callwright::internal::is_invisible(*character);
    if let Some((at, character)) = text.char_indices().find(|(_, it)| hidden(it)) {
        let around: String = text[..at].chars().rev().take(120).collect();
        let around: String = around.chars().rev().collect();
        panic!("{what}: {character:?} after {around:?}");
    }
}

#[track_caller]
fn assert_shown(what: &str, shown: &Run) {
    assert_visible(&format!("{what}, stdout"), &shown.stdout);
    assert_visible(&format!("{what}, stderr"), &shown.stderr);
}

struct Files {
    folder: Folder,
    tools: std::path::PathBuf,
    policy: std::path::PathBuf,
    calls: std::path::PathBuf,
}

fn files() -> Files {
    let folder = Folder::new();
    Files {
        tools: folder.file(&format!("{}.json", odd("tools")), tools()),
        policy: folder.file(&format!("{}.toml", odd("policy")), policy()),
        calls: folder.file(&format!("{}\nFORGED: line.jsonl", odd("calls")), calls()),
        folder,
    }
}

fn callwright(command: &str, options: &[&OsStr]) -> Run {
    run(program().arg(command).args(options))
}

#[test]
fn check_shows_nothing_that_cannot_be_seen() {
    let files = files();
    let all = |more: &[&str]| {
        let mut options: Vec<&OsStr> = more.iter().map(OsStr::new).collect();
        options.extend([
            OsStr::new("--tools"),
            files.tools.as_os_str(),
            files.calls.as_os_str(),
        ]);
        callwright("check", &options)
    };
    let policy = files.policy.to_str().expect("UTF-8");
    for options in [
        &[][..],
        &["--policy", policy],
        &["--explain"],
        &["--rescue"],
        &["--repair", "guess", "--explain", "--rescue"],
        &["--style", "instruction"],
        &["--style", "numbered"],
        &["--style", "json"],
        &["--style", "tool_error"],
    ] {
        let shown = all(options);
        assert_shown(&format!("check {options:?}"), &shown);
        assert!(shown.stdout.lines().count() > 60, "{}", shown.stdout);
        assert!(
            shown.stderr.contains("tool \"b\\u{202e}"),
            "{}",
            shown.stderr
        );
        assert!(!shown.stderr.contains("\nFORGED"), "{}", shown.stderr);
    }
    // Programs get the original text.
    assert!(all(&["--format", "json"]).stdout.contains('\u{202e}'));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of mistakes")]
fn mistakes_are_named_visibly() {
    let files = files();
    let twice = files.folder.file("twice.json", {
        let tool = json!({"name": odd("same")});
        json!([tool, tool]).to_string()
    });
    let bad = files.folder.file(&odd("bad.json"), "{".to_owned() + HIDDEN);
    let wrong = files
        .folder
        .file("wrong.toml", format!("{} = 1\n", json!(odd("key"))));
    let missing = files.folder.path().join(odd("missing"));
    let (tools, calls) = (files.tools.as_os_str(), files.calls.as_os_str());
    let path = |path: &'static str| OsStr::new(path);
    let odd_word = odd("word");
    let word = OsStr::new(&odd_word);
    for (command, options) in [
        ("check", vec![path("--tools"), twice.as_os_str(), calls]),
        ("check", vec![path("--tools"), bad.as_os_str(), calls]),
        ("check", vec![path("--tools"), missing.as_os_str(), calls]),
        ("check", vec![path("--tools"), tools, missing.as_os_str()]),
        (
            "check",
            vec![
                path("--tools"),
                tools,
                files.folder.path().as_os_str(),
                word,
            ],
        ),
        (
            "check",
            vec![
                path("--tools"),
                tools,
                path("--policy"),
                wrong.as_os_str(),
                calls,
            ],
        ),
        (
            "check",
            vec![
                path("--tools"),
                tools,
                path("--policy"),
                bad.as_os_str(),
                calls,
            ],
        ),
        (
            "check",
            vec![path("--tools"), tools, path("--style"), word, calls],
        ),
        ("explain", vec![word]),
        (&odd_word, vec![]),
        ("replay", vec![path("--tools"), tools, missing.as_os_str()]),
        (
            "replay",
            vec![
                path("--tools"),
                tools,
                path("--state"),
                bad.as_os_str(),
                calls,
            ],
        ),
        (
            "replay",
            vec![
                path("--tools"),
                tools,
                path("--report"),
                bad.as_os_str(),
                word,
            ],
        ),
        ("replay", vec![path("--tools"), twice.as_os_str(), calls]),
        ("replay", vec![path("--threads"), word, calls]),
        ("replay", vec![path("merge"), bad.as_os_str()]),
        ("replay", vec![path("review"), bad.as_os_str()]),
        (
            "replay",
            vec![
                path("apply"),
                path("--tools"),
                tools,
                path("--suggestions"),
                bad.as_os_str(),
            ],
        ),
        ("mcp", vec![path("--servers"), bad.as_os_str()]),
        (
            "mcp",
            vec![path("--policy"), missing.as_os_str(), path("--"), word],
        ),
        ("mcp", vec![path("--"), missing.as_os_str()]),
    ] {
        let shown = callwright(command, &options);
        assert!(shown.code > 0, "{command} {options:?}");
        assert!(!shown.stderr.is_empty(), "{command} {options:?}");
        assert_shown(&format!("{command} {options:?}"), &shown);
    }
}

#[test]
fn replay_shows_nothing_that_cannot_be_seen() {
    let files = files();
    let page = files.folder.path().join("report.html");
    let suggestions = files.folder.path().join(odd("changes.json"));
    let against = files.folder.file(
        "against.json",
        tools().replace("\"maximum\":10", "\"maximum\":1000"),
    );
    let policy = [OsStr::new("--policy"), files.policy.as_os_str()];
    let compared = [OsStr::new("--against"), against.as_os_str()];
    for more in [&[][..], &policy, &compared] {
        let mut options = vec![
            OsStr::new("--tools"),
            files.tools.as_os_str(),
            OsStr::new("--report"),
            page.as_os_str(),
            OsStr::new("--suggest"),
            suggestions.as_os_str(),
        ];
        options.extend(more);
        options.push(files.calls.as_os_str());
        let shown = callwright("replay", &options);
        // In a comparison only a stricter result is a finding, and there is none.
        let finding = i32::from(!more.contains(&OsStr::new("--against")));
        assert_eq!(shown.code, finding, "{}", shown.stderr);
        assert_shown("replay", &shown);
        assert!(shown.stdout.contains("\\u{202e}"), "{}", shown.stdout);
        let html = fs::read_to_string(&page).expect("a page");
        // The page's own layout uses these kinds of whitespace.
        let html = html.replace(['\t', '\u{a0}', '\u{202f}'], " ");
        assert_visible("the page", &html);
        assert!(html.contains("\\u{202e}"));
    }
    reviewed(&suggestions);
}

/// The proposals as a terminal review shows them.
fn reviewed(suggestions: &Path) {
    let command = format!(
        "'{}' replay review \"$SUGGESTIONS\"",
        env!("CARGO_BIN_EXE_callwright")
    );
    let child = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .env("SUGGESTIONS", suggestions)
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: no `script`, which makes a terminal");
        return;
    };
    let keyboard = child.stdin.take().map(|mut keyboard| {
        std::io::Write::write_all(&mut keyboard, b"ynq").expect("typed");
        keyboard
    });
    let output = child.wait_with_output().expect("it ends");
    drop(keyboard);
    // The terminal ends lines with a carriage return.
    let shown = String::from_utf8(output.stdout)
        .expect("UTF-8")
        .replace("\r\n", "\n");
    assert_visible("the review", &shown);
    assert!(shown.contains("1 of "), "{shown}");
}

/// A server in a few lines of Python, with a tool whose name has these characters.
const SERVER: &str = r#"
import json, sys
name = json.loads(sys.argv[1])
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    results = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "odd", "version": "1"}},
        "tools/list": {"tools": [{"name": name, "inputSchema": {"$ref": name}},
                                 {"name": name + "2", "inputSchema": {"type": "object", "required": [name]}}]},
        "tools/call": {"content": [{"type": "text", "text": name}]},
    }
    result = results.get(message["method"], {})
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

#[test]
fn the_guard_of_a_server_reports_visibly() {
    let folder = Folder::new();
    let server = folder.file("server.py", SERVER);
    let name = odd("search");
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
            "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": name, "arguments": {}}}),
        json!({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": format!("{name}2"),
            "arguments": {odd("key"): odd("value")}}}),
        json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": odd("made up"), "arguments": {}}}),
    ];
    for mode in ["strict", "warn"] {
        let child = program()
            .args(["mcp", "--mode", mode, "--", "python3"])
            .arg(&server)
            .arg(json!(name).to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.expect("the program runs");
        let mut stdin = child.stdin.take().expect("piped");
        let mut stdout = std::io::BufReader::new(child.stdout.take().expect("piped"));
        let mut answered = true;
        for message in &messages {
            std::io::Write::write_all(&mut stdin, format!("{message}\n").as_bytes())
                .expect("it reads");
            if answered && message.get("id").is_some() {
                let mut line = String::new();
                let read = std::io::BufRead::read_line(&mut stdout, &mut line).expect("UTF-8");
                answered = read > 0;
            }
        }
        drop(stdin);
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        if !answered {
            eprintln!("skipped: no python3");
            return;
        }
        assert_visible("mcp, stderr", &said);
        assert!(said.contains("guarded: s\\u{202e}"), "{said}");
    }
}
