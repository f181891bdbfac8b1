//! `callwright mcp --servers`: several servers as one, both real and misbehaving ones.
//!
//! If Python or Node is missing, the test says so and passes.
#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may panic, and says what it skips"
)]

mod support;

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use support::mcp::{Client, python, script, servers, text};
use support::{Folder, program};

/// The entry for the server with the bad tools.
fn bad_tools(python: &str) -> Value {
    json!({"command": python, "args": [script("mcp_server.py")]})
}

fn example_server() -> Option<PathBuf> {
    let modules = std::env::var("CALLWRIGHT_TEST_NODE_MODULES").unwrap_or_default();
    let server = Path::new(&modules).join("@modelcontextprotocol/server-everything/dist/index.js");
    if server.exists() {
        return Some(server);
    }
    eprintln!(
        "skipped: CALLWRIGHT_TEST_NODE_MODULES names no folder with `@modelcontextprotocol/server-everything`"
    );
    None
}

#[test]
fn all_that_the_example_server_can_do_passes_beside_its_twin() {
    let (Some(python), Some(server)) = (python(), example_server()) else {
        return;
    };
    let folder = Folder::new();
    let entry = json!({"command": "node", "args": [server, "stdio"]});
    let file = servers(&folder, &json!({"one": entry, "two": entry}));
    let transcript = |prefix: &str, command: &[&str]| {
        let output = Command::new(&python)
            .arg(script("mcp_everything.py"))
            .args(command)
            .env("CALLWRIGHT_TEST_PREFIX", prefix)
            .output()
            .expect("Python runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        (String::from_utf8(output.stdout).expect("UTF-8"), said)
    };
    let server = server.to_str().expect("UTF-8");
    let (plain, _) = transcript("", &["node", server, "stdio"]);
    let guard = program();
    let guard = guard.get_program().to_str().expect("UTF-8");
    let command = [guard, "mcp", "--servers", file.to_str().expect("UTF-8")];
    let (guarded, said) = transcript("one__", &command);
    let both = plain.lines().zip(guarded.lines()).skip(1);
    for (without, with) in both {
        assert_eq!(with, without);
    }
    assert_eq!(guarded.lines().count(), plain.lines().count());
    assert!(plain.lines().count() > 30, "{plain}");
    assert!(said.contains("guarded: one__echo: 2 calls"), "{said}");
    assert!(
        said.contains("[two] Starting default (STDIO) server..."),
        "{said}"
    );
}

/// Ends when its input is closed.
struct HttpServer(Child, u16);

impl HttpServer {
    fn start(python: &str) -> Self {
        let server = support::repository().join("crates/callwright-mcp/tests/http/server.py");
        let mut child = Command::new(python)
            .arg(server)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python runs");
        let mut line = String::new();
        let stdout = child.stdout.as_mut().expect("piped");
        BufReader::new(stdout).read_line(&mut line).expect("a port");
        let port = line.trim().parse().expect("a port");
        HttpServer(child, port)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn headers_go_with_every_request_and_are_never_shown() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("a port"));
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        let mut head = String::new();
        let mut lines = BufReader::new(stream.try_clone().expect("a copy"));
        while !head.ends_with("\r\n\r\n") {
            lines.read_line(&mut head).expect("UTF-8");
        }
        let answer = b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        stream.write_all(answer).expect("it reads");
        head
    });
    let folder = Folder::new();
    let headers = json!({"Authorization": "Bearer ${NO_SUCH_VARIABLE:-hunter2}"});
    let file = servers(&folder, &json!({"web": {"url": url, "headers": headers}}));
    let mut client = Client::of_several(&file, &[]);
    let answer = client.shake_hands();
    let message = answer["error"]["message"].as_str().expect("an error");
    assert!(
        message.contains("the MCP server \"web\" cannot be used") && message.contains("401"),
        "{message}"
    );
    let head = asked.join().expect("no panic").to_ascii_lowercase();
    assert!(head.contains("authorization: bearer hunter2\r\n"), "{head}");
    let (_, code, said) = client.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
}

/// Runs a real client that accepts any lifecycle, and returns what it got.
fn converse(python: &str, file: &Path, calls: &Value) -> (Vec<String>, String) {
    let output = Command::new(python)
        .arg(script("mcp_several.py"))
        .arg(calls.to_string())
        .arg(program().get_program())
        .args(["mcp", "--servers"])
        .arg(file)
        .output()
        .expect("Python runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let got = String::from_utf8(output.stdout).expect("UTF-8");
    (got.lines().map(str::to_owned).collect(), said)
}

#[test]
fn servers_of_all_kinds_go_together() {
    let (Some(python), Some(everything)) = (python(), example_server()) else {
        return;
    };
    let folder = Folder::new();
    let http = HttpServer::start(&python);
    let url = format!("http://127.0.0.1:{}/mcp", http.1);
    let web = json!({"type": "http", "url": url, "headers": {"X-Key": "${HOME}"}});
    let calls = json!([
        ["bad__add", {"a": "2", "b": 3}],
        ["web__add", {"a": 2, "b": 3}],
        ["web__twice", {"value": "21"}],
        ["web__ad", {"a": 1, "b": 1}],
        ["bad__crash", {}],
        ["bad__add", {"a": 1, "b": 1}],
        ["web__add", {"a": 4, "b": 5}],
    ]);
    let new = json!({"bad": bad_tools(&python), "web": web});
    let mut mixed = new.clone();
    mixed["old"] = json!({"command": "node", "args": [everything, "stdio"]});
    for (group, protocol) in [(new, "2026-07-28"), (mixed, "2025-11-25")] {
        let file = servers(&folder, &group);
        let (got, said) = converse(&python, &file, &calls);
        assert_eq!(got[0], protocol, "{said}");
        for name in ["bad__add", "web__twice"] {
            assert!(got[1].contains(name), "{got:?}");
        }
        assert_eq!(got[1].contains("old__echo"), protocol == "2025-11-25");
        assert_eq!(got[2], "bad__add False 5", "{said}");
        assert_eq!(got[3], "web__add False 5", "{said}");
        // Repaired before it reached the server, which does not accept text.
        assert_eq!(got[4], "web__twice False 42", "{said}");
        assert!(got[5].contains("web__add"), "{got:?}");
        assert!(got[6].contains("exit status: 7"), "{got:?}");
        // The server is restarted eventually.
        let is_back = got[7].starts_with("bad__add False");
        assert!(is_back || got[7].ends_with("exit status: 7"), "{got:?}");
        assert!(said.contains("the disk is on fire"), "{said}");
        let (last, rest) = got.split_last().expect("lines");
        assert_eq!(last, "web__add False 9", "{rest:?} {said}");
    }
}

#[test]
fn a_policy_knows_the_names_that_the_model_knows() {
    let Some(python) = python() else { return };
    let folder = Folder::new();
    let file = servers(
        &folder,
        &json!({"one": bad_tools(&python), "two": bad_tools(&python)}),
    );
    let policy = folder.file(
        "policy.toml",
        "[loops]\ntool_calls = false\n[output]\nmax_bytes = 67_108_864\n[tool.\"one__*\"]\nrepair = \"none\"\n",
    );
    let record = folder.path().join("calls.jsonl");
    let options = [
        "--policy",
        policy.to_str().expect("UTF-8"),
        "--record",
        record.to_str().expect("UTF-8"),
        // Python starts slowly on a busy machine.
        "--start-limit",
        "60",
    ];
    let mut client = Client::of_several(&file, &options);
    client.shake_hands();
    let refused = client.call("one__add", &json!({"a": "5", "b": 3}));
    assert_eq!(refused["isError"], true);
    assert_eq!(
        text(&client.call("two__add", &json!({"a": "5", "b": 3}))),
        "8"
    );
    assert_eq!(
        text(&client.call("two__big", &json!({"megabytes": 20}))).len(),
        20_000_000
    );
    let mut waiting = HashSet::new();
    // A turn is limited to a thousand calls in total.
    for number in 0..900 {
        let name = if number % 2 == 0 {
            "one__wait"
        } else {
            "two__wait"
        };
        let params = json!({"name": name, "arguments": {"number": number}});
        waiting.insert((client.request("tools/call", &params), number));
    }
    while !waiting.is_empty() {
        let answer = client.receive();
        let id = answer["id"].as_u64().expect("an id");
        let said = text(&answer["result"]).to_owned();
        let number = said
            .strip_prefix("waited ")
            .and_then(|said| said.parse().ok());
        assert!(waiting.remove(&(id, number.expect("a number"))), "{answer}");
    }
    let (rest, code, said) = client.end();
    assert_eq!((rest.as_str(), code), ("", Some(0)), "{said}");
    assert!(said.contains("guarded: two__wait: 450 calls"), "{said}");
    let records = std::fs::read_to_string(&record).expect("records");
    assert!(
        records
            .lines()
            .nth(1)
            .expect("one after the tools")
            .contains("\"one__add\""),
        "{records}"
    );
}
