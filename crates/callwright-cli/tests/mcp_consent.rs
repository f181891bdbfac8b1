//! A user's consent passes through `callwright mcp`, from the official Python client to a real server: over stdio, over
//! HTTP, with several servers, and from a client on stdio to an HTTP server.
//!
//! If Python or its package is missing, the tests say so and pass.
#![cfg(unix)]
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use std::path::Path;
use std::process::Command;

use serde_json::json;
use support::http::{Guard, Server};
use support::mcp::{python, script, servers};
use support::{Folder, program};

/// Marks the tool as destructive, so that it may run only once.
const POLICY: &str = "[tool.\"*pay\"]\neffect = \"destructive\"\n";

/// Runs the client, and returns what it prints.
fn client(python: &str, how: &[&str], server: &[&str]) -> Vec<String> {
    let output = Command::new(python)
        .arg(script("mcp_consent.py"))
        .args(how)
        .args(server)
        .output()
        .expect("Python runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{how:?} {printed} {said}");
    printed.lines().map(str::to_owned).collect()
}

/// The client's output with each kind of guard: `several` for more than one server, `bridge` for stdio to HTTP.
fn output_with(kind: &str, python: &str, how: [&str; 3]) -> Vec<String> {
    let folder = Folder::new();
    let policy = folder.file("policy.toml", POLICY);
    let (policy, guard) = (utf8(&policy), program());
    let guard = guard.get_program().to_str().expect("UTF-8");
    let bank = script("mcp_pay.py");
    let bank = utf8(&bank);
    let guarded = [guard, "mcp", "--policy", policy];
    let [how, mode, answer] = how;
    let run = |tool: &str, server: &[&str]| client(python, &[how, mode, answer, tool], server);
    match kind {
        "stdio" => run("pay", &[&guarded[..], &["--", python, bank]].concat()),
        "several" => {
            let bank = json!({"command": python, "args": [bank]});
            let file = servers(&folder, &json!({"bank": bank, "other": bank}));
            run(
                "bank__pay",
                // Python starts slowly on a busy machine.
                &[
                    &guarded[..],
                    &["--start-limit", "60", "--servers", utf8(&file)],
                ]
                .concat(),
            )
        }
        // The same stdio server, for clients that use HTTP.
        "listen" => {
            let arguments = ["--policy", policy, "--", python, bank];
            let guard = Guard::listen(&mut program(), &arguments);
            run("pay", &[&guard.url])
        }
        "bridge" => {
            let server = Server::start_with(python, Path::new(bank), &[Path::new("http")]);
            let url = server.url.replace("https", "http");
            run("pay", &[&guarded[..], &["--upstream", &url]].concat())
        }
        _ => {
            let server = Server::start_with(python, Path::new(bank), &[Path::new("http")]);
            let url = server.url.replace("https", "http");
            let guard = Guard::start(&url, &["--policy", policy]);
            let printed = run("pay", &[&guard.url]);
            let (code, said) = guard.end();
            assert_eq!(code, Some(0), "{said}");
            printed
        }
    }
}

fn utf8(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn a_client_with_forms_asks_its_user() {
    let Some(python) = python() else { return };
    for (kind, mode, answer, says) in [
        ("stdio", "legacy", "allow_once", "ok paid Ann, 2"),
        ("stdio", "legacy", "cancel", "error \""),
        ("stdio", "2026-07-28", "allow_once", "ok paid Ann, 2"),
        (
            "stdio",
            "2026-07-28",
            "decline",
            "error The user said to stop.",
        ),
        ("stdio", "2026-07-28", "cancel", "error \""),
        ("several", "legacy", "allow_tool", "ok paid Ann, 2"),
        ("several", "2026-07-28", "allow_once", "ok paid Ann, 2"),
        ("bridge", "legacy", "allow_once", "ok paid Ann, 2"),
        ("listen", "legacy", "allow_once", "ok paid Ann, 2"),
        ("listen", "auto", "cancel", "error \""),
        ("http", "legacy", "allow_once", "ok paid Ann, 2"),
        ("http", "legacy", "decline", "error The user said to stop."),
    ] {
        let printed = output_with(kind, &python, ["form", mode, answer]);
        let shown = format!("{kind} {mode} {answer}: {printed:#?}");
        assert_eq!(printed.len(), 4, "{shown}");
        assert_eq!(printed[0], "ok paid Ann, 1", "{shown}");
        assert!(
            printed[1].starts_with("asked The model wants to call"),
            "{shown}"
        );
        assert!(printed[2].starts_with("meanwhile "), "{shown}");
        assert!(printed[3].starts_with(says), "{shown}");
    }
}

#[test]
fn a_program_passes_on_what_its_user_said() {
    let Some(python) = python() else { return };
    for (kind, mode, answer, says) in [
        ("stdio", "legacy", "allow_once", "ok paid Ann, 2"),
        (
            "stdio",
            "2026-07-28",
            "stop",
            "error The user said to stop.",
        ),
        ("several", "auto", "allow_once", "ok paid Ann, 2"),
        ("bridge", "2026-07-28", "allow_once", "ok paid Ann, 2"),
        ("http", "legacy", "allow_once", "ok paid Ann, 2"),
    ] {
        let printed = output_with(kind, &python, ["program", mode, answer]);
        let shown = format!("{kind} {mode} {answer}: {printed:#?}");
        assert!(printed[1].starts_with("error "), "{shown}");
        assert!(
            printed[2].starts_with("asked The model wants to call"),
            "{shown}"
        );
        assert!(printed[3].starts_with(says), "{shown}");
    }
}
