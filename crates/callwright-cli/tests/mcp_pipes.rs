//! `callwright mcp` between pipes: what passes, how it ends, and what remains.
#![cfg(unix)]
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use support::mcp::{Client, eventually, runs};
use support::program;

/// Sends these bytes and closes the input; returns everything that `cat` sends back.
fn through_cat(mode: &str, bytes: &[u8]) -> Vec<u8> {
    let mut child = program()
        .args(["mcp", "--mode", mode, "--", "cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    let mut stdin = child.stdin.take().expect("piped");
    let bytes = bytes.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&bytes));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic").expect("it reads");
    assert!(output.status.success());
    output.stdout
}

#[test]
fn bytes_pass_as_they_are() {
    let many: String = (0..20_000)
        .map(|number| format!("{{\"method\": \"x\" ,\"params\":[{number}]}}\r\n"))
        .collect();
    let text = "long ".repeat(2_000_000);
    let long = format!("{{\"method\":\"x\",\"params\":[\"{text}\"]}}\n");
    let half: &[u8] = b"\n\n  \n[]\n{\"method\":\"x\"}";
    // Where nothing may be changed, unreadable lines are passed on.
    let odd: &[u8] =
        b"\n\n  \n{\"id\":1,\n\xff\xfe not UTF-8\n[]\n[{}]\n\r{\"id\":null}\nhalf a mess";
    for (mode, sent) in [
        ("strict", &b""[..]),
        ("strict", b"\n"),
        ("strict", many.as_bytes()),
        ("strict", long.as_bytes()),
        ("strict", half),
        ("warn", odd),
        ("off", odd),
    ] {
        let came = through_cat(mode, sent);
        assert!(
            came == sent,
            "{mode}: {} bytes became {}",
            sent.len(),
            came.len()
        );
    }
}

#[test]
fn a_server_that_cannot_be_started_is_named() {
    let mut client = Client::new(&[], &["no-such-server", "--token", "hunter2"]);
    let answer = client.ask("initialize", &json!({}));
    let message = answer["error"]["message"].as_str().expect("an error");
    assert_eq!(message, "the MCP server cannot be started");
    let (rest, code, said) = client.end();
    assert_eq!((rest.as_str(), code), ("", Some(3)));
    let told = "error: the MCP server cannot be started: `no-such-server`: ";
    assert!(said.contains(told), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
}

#[test]
fn a_server_that_ends_at_once_says_why() {
    let script = "echo first >&2; echo 'no such module: x' >&2; exit 7";
    let mut client = Client::new(&[], &["sh", "-c", script]);
    eventually("it says something", || client.said().contains("module"));
    let answer = client.ask("initialize", &json!({}));
    let message = answer["error"]["message"].as_str().expect("an error");
    // Stderr is for the operator, so it is not in the error.
    assert_eq!(message, "the MCP server has exited: exit status: 7");
    let (_, code, said) = client.end();
    assert!(said.contains("no such module: x"), "{said}");
    assert_eq!(code, Some(7));
    assert!(said.contains("guarded: 0 calls"), "{said}");
}

#[test]
fn every_waiting_request_is_answered() {
    // Reads three requests, answers the second, and writes half of an answer to the third.
    let script =
        r#"read a; read b; read c; echo '{"id":2,"result":{}}'; printf '{"id":3,'; exit 1"#;
    let mut client = Client::new(&[], &["sh", "-c", script]);
    for method in ["initialize", "prompts/list", "tools/list"] {
        client.request(method, &json!({}));
    }
    assert_eq!(client.receive(), json!({"id": 2, "result": {}}));
    assert_eq!(client.line(), "{\"id\":3,\n");
    let mut answered = [client.receive(), client.receive()]
        .map(|answer| (answer["id"].as_u64(), answer["error"]["code"].as_i64()));
    answered.sort_unstable();
    assert_eq!(
        answered,
        [(Some(1), Some(-32_000)), (Some(3), Some(-32_000))]
    );
    assert_eq!(client.end().1, Some(1));
}

#[test]
fn an_answer_of_ours_does_not_wait_for_the_server() {
    let mut client = Client::new(&[], &["sh", "-c", "cat > /dev/null"]);
    // Two lines in one write: the second goes to the server, which never answers.
    client.send(b"{\"id\":1,\"method\":\"tools/call\",\"params\":{}}\n{\"method\":\"x\"}\n");
    assert_eq!(client.receive()["error"]["code"], -32_602);
}

/// A server that prints its process id and its child's, and ignores SIGTERM.
const STUBBORN: &str = "trap '' TERM; sleep 1000 & echo $$ $!; while :; do sleep 0.1; done";

fn numbers(client: &mut Client) -> Vec<String> {
    let line = client.line();
    line.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn a_server_that_does_not_end_is_made_to() {
    let mut client = Client::new(&[], &["sh", "-c", STUBBORN]);
    let numbers = numbers(&mut client);
    assert!(numbers.iter().all(|number| runs(number)));
    let (_, code, _) = client.end();
    assert_eq!(code, Some(128 + 9));
    for number in &numbers {
        eventually("nothing is left", || !runs(number));
    }
}

#[test]
fn what_a_server_started_ends_with_it() {
    let mut client = Client::new(
        &[],
        &["sh", "-c", "sleep 1000 & echo $!; read line; exit 5"],
    );
    let numbers = numbers(&mut client);
    client.send(b"end\n");
    let (_, code, _) = client.end();
    assert_eq!(code, Some(5));
    eventually("nothing is left", || !runs(&numbers[0]));
}

fn signal(client: &Client, name: &str) {
    let number = client.child.id().to_string();
    let sent = Command::new("kill").args([name, &number]).status();
    assert!(sent.expect("kill runs").success());
}

#[test]
fn signals_are_passed_on() {
    for (name, code) in [("INT", 10), ("TERM", 11), ("HUP", 12)] {
        let script = "trap 'exit 10' INT; trap 'exit 11' TERM; trap 'exit 12' HUP; echo ready; while :; do sleep 0.05; done";
        let mut client = Client::new(&[], &["sh", "-c", script]);
        assert_eq!(client.line(), "ready\n");
        signal(&client, &format!("-{name}"));
        let status = client.child.wait().expect("it ends");
        assert_eq!(status.code(), Some(code), "{name}");
    }
}

#[test]
fn a_server_sees_the_end_if_we_are_killed() {
    let mut client = Client::new(&[], &["sh", "-c", "echo $$; cat"]);
    let numbers = numbers(&mut client);
    assert!(runs(&numbers[0]));
    client.child.kill().expect("it runs");
    client.child.wait().expect("it ends");
    eventually("the server ends", || !runs(&numbers[0]));
}

#[test]
fn a_server_that_has_ended_is_not_a_zombie() {
    // The guard waits while the client is slow to read the last line, and still reaps the server.
    let script = "echo $$; yes '{\"method\":\"x\"}' | head -c 3000000; exit 4";
    let mut client = Client::new(&[], &["sh", "-c", script]);
    let numbers = numbers(&mut client);
    // The client does not read yet, so the server cannot exit.
    std::thread::sleep(Duration::from_millis(300));
    assert!(runs(&numbers[0]));
    let mut count = 0;
    loop {
        let line = client.line();
        if line.is_empty() {
            break;
        }
        count += line.len();
    }
    assert_eq!(count, 3_000_000);
    assert!(!std::path::Path::new(&format!("/proc/{}", numbers[0])).exists());
    assert_eq!(client.end().1, Some(4));
}

#[test]
fn a_slow_reader_does_not_take_our_memory() {
    let mut client = Client::new(&[], &["sh", "-c", "yes '{\"method\":\"x\",\"params\":{}}'"]);
    assert_eq!(client.receive()["method"], "x");
    std::thread::sleep(Duration::from_millis(1_500));
    let path = format!("/proc/{}/status", client.child.id());
    if let Ok(status) = std::fs::read_to_string(path) {
        let line = status.lines().find(|line| line.starts_with("VmRSS"));
        let kilobytes: Option<u64> =
            line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        // The guard takes 10 MB in any case; `yes` writes gigabytes in this time.
        assert!(kilobytes.expect("a number") < 64 * 1024, "{status}");
    }
    let answer: Value = client.receive();
    assert_eq!(answer["method"], "x");
}

#[test]
fn wrong_options_are_named() {
    let run = support::run(program().args(["mcp"]));
    assert_eq!(run.code, 2);
    let run = support::run(program().args(["mcp", "--policy", "no-such-file", "--", "cat"]));
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("no-such-file"), "{}", run.stderr);
    assert_eq!(run.stdout, "");
}
