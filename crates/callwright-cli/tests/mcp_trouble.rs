//! `callwright mcp` when a part is killed, and when many calls come at once: nothing is lost, nothing is sent twice,
//! and no process is left running.
#![cfg(unix)]
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use support::http::{Guard, Server, call, post, rest, session};
use support::mcp::{Client, eventually, python, runs, script};
use support::{Folder, program};

fn kill(process: &str) {
    signal("-KILL", process);
}

fn signal(signal: &str, process: &str) {
    let sent = Command::new("kill").args([signal, process]).status();
    assert!(sent.expect("kill runs").success());
}

#[test]
fn a_call_that_a_signal_interrupts_is_recorded() {
    let folder = Folder::new();
    let record = folder.path().join("record.jsonl");
    let options = ["--record", record.to_str().expect("UTF-8")];
    let mut client = Client::bridge(&patient(), &options);
    let params = json!({"name": "wait", "arguments": {"number": 1}});
    client.request("tools/call", &params);
    let written = || std::fs::read_to_string(&record).unwrap_or_default();
    eventually("the tools are listed", || written().contains("\"tools\""));
    // The call follows at once.
    thread::sleep(Duration::from_millis(500));
    signal("-TERM", &client.child.id().to_string());
    let (rest, code, said) = client.end();
    assert_eq!((rest.as_str(), code), ("", Some(0)), "{said}");
    assert!(said.contains("guarded: wait: 1 call"), "{said}");
    assert!(written().contains("\"tool\":\"wait\""), "{}", written());
}

#[test]
fn a_server_that_is_killed_in_the_middle_of_calls_is_reported() {
    // The server prints its process id after two messages, and never answers. The call waits for the list of tools.
    let script = "read first; read second; echo $$; cat >/dev/null";
    let mut client = Client::new(&[], &["sh", "-c", script]);
    client.request("resources/list", &json!({}));
    client.request("tools/call", &json!({"name": "x", "arguments": {}}));
    let server = client.line();
    kill(server.trim());
    let mut ids = Vec::new();
    for _ in 0..2 {
        let answer = client.receive();
        let message = answer["error"]["message"].as_str().expect("an error");
        assert!(message.contains("signal: 9"), "{message}");
        ids.push(answer["id"].as_u64());
    }
    ids.sort_unstable();
    assert_eq!(ids, [Some(1), Some(2)]);
    let (rest, code, _) = client.end();
    assert_eq!((rest.as_str(), code), ("", Some(128 + 9)));
}

#[test]
fn a_client_that_crashes_leaves_no_process_running() {
    // The client is a separate process, so that its pipe ends close when it is killed.
    let folder = Folder::new();
    let told = folder.path().join("server");
    let server = format!("echo $$ > {}; yes '{{}}'", told.display());
    let guarded = format!(
        "{} mcp -- sh -c \"{}\"",
        program().get_program().to_str().expect("UTF-8"),
        server.replace('$', "\\$")
    );
    let client = format!(
        "import subprocess, time\nsubprocess.Popen({guarded:?}, shell=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)\ntime.sleep(1000)"
    );
    let mut client = Command::new("python3")
        .args(["-c", &client])
        .stderr(Stdio::null())
        .spawn()
        .expect("Python runs");
    let number = || std::fs::read_to_string(&told).unwrap_or_default();
    eventually("the server runs", || number().ends_with('\n'));
    client.kill().expect("it runs");
    client.wait().expect("it ends");
    eventually("the server ends", || !runs(number().trim()));
}

#[test]
fn a_guard_that_is_killed_is_followed_by_another() {
    let Some(python) = python() else { return };
    let server = Server::start(&python, &script("conformance/server.py"));
    let mut guard = Guard::start(&server.url, &[]);
    let name = session(&guard.url);
    let mut answer = post(
        &guard.url,
        Some(&name),
        &call(1, "test_tool_with_progress", &json!({})),
    );
    let mut line = String::new();
    answer.read_line(&mut line).expect("a line");
    assert!(line.contains("200"), "{line}");
    guard.child.kill().expect("it runs");
    guard.child.wait().expect("it ends");
    // The truncated answer is not completed.
    let half = rest(answer);
    assert!(!half.ends_with("0\r\n\r\n"), "{half}");
    // The session belongs to the server, so it continues; the new guard learns the tools again.
    let guard = Guard::start(&server.url, &[]);
    let refused = call(2, "test_sampling", &json!({"prompt": {}}));
    let refused = rest(post(&guard.url, Some(&name), &refused));
    assert!(refused.contains("Please rewrite the input"), "{refused}");
    let fine = rest(post(
        &guard.url,
        Some(&name),
        &call(3, "test_simple_text", &json!({})),
    ));
    assert!(fine.contains("plain words"), "{fine}");
}

#[test]
fn a_server_that_is_killed_behind_http_is_reported() {
    let Some(python) = python() else { return };
    let mut server = Server::start(&python, &script("conformance/server.py"));
    let guard = Guard::start(&server.url, &[]);
    let name = session(&guard.url);
    let mut bridge = Client::bridge(&server.url, &[]);
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "lines", "version": "1"}});
    bridge.ask("initialize", &hello);
    bridge.send(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    let params = call(9, "test_elicitation", &json!({"message": "?"}));
    // Both wait for an answer that never comes.
    let mut answer = post(&guard.url, Some(&name), &params);
    let mut line = String::new();
    while !line.contains("elicitation/create") {
        line.clear();
        assert!(answer.read_line(&mut line).expect("a line") > 0);
    }
    bridge.request("tools/call", &params["params"]);
    assert_eq!(bridge.receive()["method"], "elicitation/create");
    server.child.kill().expect("it runs");
    server.child.wait().expect("it ends");
    // The stream of a session can be resumed, so it is cut off where the server's was.
    let answer = rest(answer);
    assert!(!answer.ends_with("0\r\n\r\n"), "{answer}");
    let again = rest(post(
        &guard.url,
        Some(&name),
        &call(10, "test_simple_text", &json!({})),
    ));
    assert!(again.contains("cannot be reached"), "{again}");
    let (code, said) = guard.end();
    assert_eq!(code, Some(0), "{said}");
    let told = bridge.receive();
    assert_eq!(told["id"], 2, "{told}");
    assert!(told["error"]["message"].is_string(), "{told}");
    let again = bridge.ask("ping", &json!({}));
    assert!(
        again["error"]["message"]
            .as_str()
            .is_some_and(|why| why.contains("cannot be reached")),
        "{again}"
    );
    assert_eq!(bridge.end().1, Some(0));
}

/// How many calls are in progress at once.
const MANY: usize = 1_000;

/// A server with one tool that answers no call before all have arrived.
fn patient() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("a port"));
    thread::spawn(move || {
        let mut calls = Vec::new();
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.expect("a connection"));
            let mut length = 0;
            let mut line = String::new();
            while stream.read_line(&mut line).expect("a line") > 2 {
                if let Some(value) = line.to_lowercase().strip_prefix("content-length: ") {
                    length = value.trim().parse().expect("a length");
                }
                line.clear();
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).expect("a body");
            let message: Value = serde_json::from_slice(&body).unwrap_or_default();
            if message["method"] == "tools/call" {
                calls.push((stream, message));
            } else {
                let tool = json!({"name": "wait", "inputSchema": {"type": "object"}});
                answer(stream, &message["id"], &json!({"tools": [tool]}));
            }
            if calls.len() == MANY {
                for (stream, message) in calls.drain(..).rev() {
                    let text = message["params"]["arguments"]["number"].to_string();
                    let content = json!([{"type": "text", "text": text}]);
                    answer(stream, &message["id"], &json!({"content": content}));
                }
            }
        }
    });
    url
}

fn answer(mut stream: BufReader<TcpStream>, id: &Value, result: &Value) {
    let body = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n";
    let answer = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
    stream
        .get_mut()
        .write_all(answer.as_bytes())
        .expect("it reads");
}

#[test]
fn a_thousand_calls_at_once_over_http_are_all_answered() {
    callwright_mcp::http::raise_open_file_limit();
    let folder = Folder::new();
    let policy = folder.file("policy.toml", "[loops]\ntool_calls = false\n");
    let policy = policy.to_str().expect("UTF-8");
    let url = patient();

    let guard = Guard::start(&url, &["--policy", policy]);
    let answers: Vec<_> = (0..MANY)
        .map(|number| {
            post(
                &guard.url,
                Some("s"),
                &call(number, "wait", &json!({"number": number})),
            )
        })
        .collect();
    for (number, answer) in answers.into_iter().enumerate() {
        let answer = rest(answer);
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        let body: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"));
        assert_eq!(body["id"], number);
        assert_eq!(support::mcp::text(&body["result"]), number.to_string());
    }
    let (code, said) = guard.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("guarded: wait: 1000 calls"), "{said}");

    let mut bridge = Client::bridge(&url, &["--policy", policy]);
    let mut waiting: HashMap<u64, usize> = (0..MANY)
        .map(|number| {
            let params = json!({"name": "wait", "arguments": {"number": number}});
            (bridge.request("tools/call", &params), number)
        })
        .collect();
    while !waiting.is_empty() {
        let answer = bridge.receive();
        let number = answer["id"].as_u64().and_then(|id| waiting.remove(&id));
        let number = number.unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(support::mcp::text(&answer["result"]), number.to_string());
    }
    let (rest, code, said) = bridge.end();
    assert_eq!((rest.as_str(), code), ("", Some(0)), "{said}");
}
