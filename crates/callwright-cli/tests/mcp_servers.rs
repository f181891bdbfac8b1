//! `callwright mcp` between real servers and real clients: the official Python package, and the official example server
//! for Node.
//!
//! If one of them is missing, the test says so and passes.
#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may panic, and says what it skips"
)]

mod support;

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use support::mcp::{Client, eventually, python, script, text};
use support::{Folder, program};

fn records(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("records");
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("every line is JSON"));
    // The tools are recorded too.
    lines.filter(|line: &Value| line["v"] == 1).collect()
}

#[test]
fn all_that_the_example_server_can_do_passes() {
    let Some(python) = python() else { return };
    let modules = std::env::var("CALLWRIGHT_TEST_NODE_MODULES").unwrap_or_default();
    let server = Path::new(&modules).join("@modelcontextprotocol/server-everything/dist/index.js");
    if !server.exists() {
        eprintln!(
            "skipped: CALLWRIGHT_TEST_NODE_MODULES names no folder with `@modelcontextprotocol/server-everything`"
        );
        return;
    }
    let transcript = |guard: &[&str]| {
        let output = Command::new(&python)
            .arg(script("mcp_everything.py"))
            .args(guard)
            .arg("node")
            .arg(&server)
            .arg("stdio")
            .output()
            .expect("Python runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        (String::from_utf8(output.stdout).expect("UTF-8"), said)
    };
    let (plain, _) = transcript(&[]);
    let guard = program();
    let guard = guard.get_program().to_str().expect("UTF-8");
    let (guarded, said) = transcript(&[guard, "mcp", "--"]);
    assert!(plain.lines().count() > 30, "{plain}");
    assert_eq!(guarded, plain);
    assert!(said.contains("guarded: echo: 2 calls"), "{said}");
}

#[test]
fn calls_are_judged_and_recorded() {
    let Some(python) = python() else { return };
    let folder = Folder::new();
    let record = folder.path().join("calls.jsonl");
    let options = ["--record", record.to_str().expect("UTF-8")];
    let mut client = Client::with_bad_tools(&python, &options);

    // The client has not listed the tools, so the guard does.
    let good = client.call("add", &json!({"a": 2, "b": 3}));
    assert_eq!((text(&good), &good["isError"]), ("5", &json!(false)));

    let repaired = client.call("add", &json!({"a": "5", "b": 3}));
    assert_eq!(text(&repaired), "8");

    let bad = client.call("add", &json!({"a": "five", "b": 3}));
    assert_eq!(bad["isError"], true);
    assert!(text(&bad).contains("integer"), "{bad}");

    let unknown = client.call("wether", &json!({"city": "Oslo"}));
    assert_eq!(unknown["isError"], true);
    assert!(text(&unknown).contains("weather"), "{unknown}");

    // The result does not match the tool's output schema.
    let broken = client.call("weather", &json!({"city": "Oslo"}));
    assert_eq!(broken["isError"], true);
    assert!(text(&broken).contains("degrees"), "{broken}");

    let missing = json!({"path": "a"});
    let failures: Vec<Value> = (0..6).map(|_| client.call("fail", &missing)).collect();
    assert_eq!(text(&failures[0]), "no such file: a");
    assert!(failures.iter().all(|failure| failure["isError"] == true));
    let last = text(&failures[5]);
    assert!(!last.starts_with("no such file"), "{last}");

    let (_, code, said) = client.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("guarded: add: 3 calls, 1 repaired, 1 refused"),
        "{said}"
    );
    let records = records(&record);
    assert_eq!(records.len(), 11, "{records:?}");
    assert_eq!(records[1]["verdict"], "repaired", "{}", records[1]);
    assert_eq!(records[1]["edits"][0]["after"], 5, "{}", records[1]);
    assert_eq!(records[2]["verdict"], "refused", "{}", records[2]);
    assert!(
        records[0]["output"].to_string().contains('5'),
        "{}",
        records[0]
    );
}

#[test]
fn warnings_change_nothing() {
    let Some(python) = python() else { return };
    let mut client = Client::with_bad_tools(&python, &["--mode", "warn"]);
    // The call reaches the tool.
    let bad = client.call("add", &json!({"a": "five", "b": "six"}));
    assert!(!bad.to_string().contains("integer"), "{bad}");
    let broken = client.call("weather", &json!({"city": "Oslo"}));
    assert_eq!(text(&broken), "warm");
    let (_, _, said) = client.end();
    assert!(
        said.contains("callwright: warning: tool \"add\": the call would be refused: "),
        "{said}"
    );
}

#[test]
fn a_policy_is_followed() {
    let Some(python) = python() else { return };
    let folder = Folder::new();
    let policy = folder.file(
        "policy.toml",
        "[tool.add]\nrepair = \"none\"\n[tool.wether]\n",
    );
    let options = ["--policy", policy.to_str().expect("UTF-8")];
    let mut client = Client::with_bad_tools(&python, &options);
    let refused = client.call("add", &json!({"a": "5", "b": 3}));
    assert_eq!(refused["isError"], true);
    assert!(text(&refused).contains("integer"), "{refused}");
    for _ in 0..2 {
        client.ask("tools/list", &json!({}));
        client.ask("tools/list", &json!({"cursor": "more"}));
    }
    let (_, _, said) = client.end();
    let warning = "callwright: warning: policy, line 3: \"wether\" matches no tool, did you mean \"weather\"?";
    assert_eq!(said.matches(warning).count(), 1, "{said}");
}

#[test]
fn a_crash_in_the_middle_of_a_call_is_reported() {
    let Some(python) = python() else { return };
    let mut client = Client::with_bad_tools(&python, &[]);
    let answer = client.ask("tools/call", &json!({"name": "crash", "arguments": {}}));
    let message = answer["error"]["message"].as_str().expect("an error");
    assert_eq!(message, "the MCP server has exited: exit status: 7");
    assert!(client.said().contains("the disk is on fire"));
    eventually("it is restarted", || {
        client.said().contains("was restarted")
    });
    assert_eq!(text(&client.call("add", &json!({"a": 1, "b": 1}))), "2");
    assert_eq!(client.end().1, Some(0));
}

#[test]
fn a_result_of_fifty_megabytes_passes_where_the_policy_allows_it() {
    let Some(python) = python() else { return };
    let folder = Folder::new();
    let policy = folder.file("policy.toml", "[output]\nmax_bytes = 67_108_864\n");
    let options = ["--policy", policy.to_str().expect("UTF-8")];
    let mut client = Client::with_bad_tools(&python, &options);
    let result = client.call("big", &json!({"megabytes": 50}));
    assert_eq!(text(&result).len(), 50_000_000);
    let after = client.call("add", &json!({"a": 1, "b": 1}));
    assert_eq!(text(&after), "2");
}

#[test]
fn a_result_of_fifty_megabytes_is_cut_with_a_note() {
    let Some(python) = python() else { return };
    let mut client = Client::with_bad_tools(&python, &[]);
    let result = client.call("big", &json!({"megabytes": 50}));
    assert_eq!(text(&result).len(), 256 * 1024);
    let note = "The result has 50000000 bytes; these are the first 262144.";
    let said = result["content"][1]["text"].as_str();
    assert!(said.is_some_and(|said| said.starts_with(note)), "{said:?}");
    let after = client.call("add", &json!({"a": 1, "b": 1}));
    assert_eq!(text(&after), "2");
}

#[test]
fn a_thousand_calls_at_once_are_all_answered() {
    let Some(python) = python() else { return };
    let folder = Folder::new();
    // The default limit is 500 calls of a tool per turn.
    let policy = folder.file("policy.toml", "[loops]\ntool_calls = false\n");
    let options = ["--policy", policy.to_str().expect("UTF-8")];
    let mut client = Client::with_bad_tools(&python, &options);
    let mut waiting = HashSet::new();
    for number in 0..1_000 {
        let params = json!({"name": "wait", "arguments": {"number": number}});
        waiting.insert(client.request("tools/call", &params));
    }
    while !waiting.is_empty() {
        let answer = client.receive();
        let id = answer["id"].as_u64().expect("an id");
        assert!(waiting.remove(&id), "{answer}");
        let number = id - 2;
        assert_eq!(text(&answer["result"]), format!("waited {number}"));
    }
    let (rest, code, said) = client.end();
    assert_eq!((rest.as_str(), code), ("", Some(0)));
    assert!(said.contains("guarded: wait: 1000 calls"), "{said}");
}
