//! `callwright mcp --servers`: how servers start and end, together and one by one, and invalid files.
#![cfg(unix)]
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use support::mcp::{Client, eventually, runs, servers, text};
use support::{Folder, program};

/// A server that prints its process id on stderr, and answers everything with an empty result.
const ANSWERS: &str = r#"echo "number $$" >&2; while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
    [ -n "$id" ] && echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}],\"content\":[{\"type\":\"text\",\"text\":\"$WHO in $PWD\"}]}}"
done"#;

fn shell(script: &str) -> Value {
    json!({"command": "sh", "args": ["-c", script]})
}

/// The process id that a server printed.
fn number(client: &Client, server: &str) -> String {
    let begin = format!("[{server}] number ");
    eventually("it says its number", || client.said().contains(&begin));
    let said = client.said();
    let line = said.lines().find_map(|line| line.strip_prefix(&begin));
    line.expect("a number").to_owned()
}

fn names(client: &mut Client) -> Vec<String> {
    let listed = client.ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().expect("tools").clone();
    let name = |tool: &Value| tool["name"].as_str().expect("a name").to_owned();
    tools.iter().map(name).collect()
}

#[test]
fn a_server_that_is_killed_does_not_affect_the_others() {
    let folder = Folder::new();
    let mut first = shell(ANSWERS);
    first["env"] = json!({"WHO": "${CALLWRIGHT_NO_SUCH_VARIABLE:-first}"});
    first["cwd"] = json!("/");
    let file = servers(&folder, &json!({"first": first, "second": shell(ANSWERS)}));
    let mut client = Client::of_several(&file, &[]);
    client.shake_hands();
    assert_eq!(names(&mut client), ["first__t", "second__t"]);
    assert_eq!(text(&client.call("first__t", &json!({}))), "first in /");
    let (first, second) = (number(&client, "first"), number(&client, "second"));
    let killed = Command::new("kill").args(["-KILL", &second]).status();
    assert!(killed.expect("kill runs").success());
    for _ in 0..2 {
        // One when it exits, one when it has been restarted.
        assert_eq!(
            client.receive()["method"],
            "notifications/tools/list_changed"
        );
    }
    assert_eq!(names(&mut client), ["first__t", "second__t"]);
    assert_eq!(
        text(&client.call("first__t", &json!({"a": 1}))),
        "first in /"
    );
    assert!(client.call("second__t", &json!({})).is_object());
    let said = client.said();
    let ended = "the MCP server \"second\" has exited: signal: 9";
    assert!(said.contains(ended), "{said}");
    // Not even as a zombie.
    assert!(!Path::new(&format!("/proc/{second}")).exists());
    let (rest, code, said) = client.end();
    assert_eq!((rest.as_str(), code), ("", Some(0)), "{said}");
    assert!(said.contains("guarded: first__t: 2 calls"), "{said}");
    eventually("nothing is left", || !runs(&first));
}

#[test]
fn a_server_that_cannot_be_started_is_named_when_it_is_called() {
    let folder = Folder::new();
    let none = json!({"command": "no-such-server", "args": ["--token", "hunter2"]});
    let file = servers(&folder, &json!({"good": shell(ANSWERS), "none": none}));
    let mut client = Client::of_several(&file, &[]);
    client.shake_hands();
    assert_eq!(names(&mut client), ["good__t"]);
    let answer = client.ask("tools/call", &json!({"name": "none__t"}));
    let message = answer["error"]["message"].as_str().expect("an error");
    assert_eq!(message, "the MCP server \"none\" cannot be started");
    let (_, code, said) = client.end();
    assert_eq!(code, Some(0));
    let told = "warning: the MCP server \"none\" cannot be started: `no-such-server`: ";
    assert!(said.contains(told), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
}

#[test]
fn the_program_ends_when_no_server_is_left() {
    let folder = Folder::new();
    let none = json!({"command": "no-such-server"});
    let dies = shell("echo 'no such module' >&2; exit 7");
    let file = servers(&folder, &json!({"dies": dies, "none": none}));
    let mut client = Client::of_several(&file, &[]);
    let answer = client.ask("initialize", &json!({}));
    let message = answer["error"]["message"].as_str().expect("an error");
    assert!(message.contains("\"none\" cannot be started"), "{message}");
    assert!(!message.contains("no such module"), "{message}");
    let (rest, code, said) = client.end();
    assert_eq!((rest.as_str(), code), ("", Some(3)), "{said}");
    assert!(said.contains("error: no MCP server is left"), "{said}");
    assert!(said.contains("no such module"), "{said}");
}

#[test]
fn a_server_that_hangs_does_not_affect_the_others() {
    let folder = Folder::new();
    let file = servers(
        &folder,
        &json!({"good": shell(ANSWERS), "hangs": shell("trap '' TERM; echo \"number $$\" >&2; while :; do sleep 0.1; done")}),
    );
    let mut client = Client::of_several(&file, &[]);
    let number = number(&client, "hangs");
    client.shake_hands();
    assert_eq!(names(&mut client), ["good__t"]);
    // More than its pipe holds: nothing waits for it.
    for _ in 0..20 {
        let long = "x".repeat(50_000);
        client.request(
            "tools/call",
            &json!({"name": "hangs__t", "arguments": {"long": long}}),
        );
        let refused = client.receive();
        assert_eq!(refused["result"]["isError"], true, "{refused}");
    }
    for _ in 0..3 {
        let note = json!({"method": "notifications/note", "params": "x".repeat(100_000)});
        client.send(format!("{note}\n").as_bytes());
        client.ask("ping", &json!({}));
    }
    assert!(
        client.said().contains("\"hangs\" is slow"),
        "{}",
        client.said()
    );
    let (_, code, _) = client.end();
    assert_eq!(code, Some(0));
    eventually("nothing is left", || !runs(&number));
}

#[test]
fn requests_may_arrive_all_at_once() {
    let folder = Folder::new();
    let file = servers(&folder, &json!({"a": shell(ANSWERS), "b": shell(ANSWERS)}));
    let mut client = Client::of_several(&file, &[]);
    client.request("initialize", &json!({}));
    client.send(b"{\"method\":\"notifications/initialized\"}\n");
    client.request("tools/list", &json!({}));
    client.request("tools/call", &json!({"name": "b__t"}));
    client.close();
    let mut answered: Vec<u64> = (0..3)
        .map(|_| client.receive()["id"].as_u64().expect("an id"))
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, [1, 2, 3]);
    assert_eq!(client.end().1, Some(0));
}

#[test]
fn signals_reach_all_and_nothing_is_left() {
    let folder = Folder::new();
    let file = servers(&folder, &json!({"a": shell(ANSWERS), "b": shell(ANSWERS)}));
    for signal in ["-INT", "-TERM", "-KILL"] {
        let mut client = Client::of_several(&file, &[]);
        let numbers = [number(&client, "a"), number(&client, "b")];
        let own = client.child.id().to_string();
        let sent = Command::new("kill").args([signal, &own]).status();
        assert!(sent.expect("kill runs").success());
        let status = client.child.wait().expect("it ends");
        assert_eq!(status.code(), (signal != "-KILL").then_some(0), "{signal}");
        for number in &numbers {
            eventually("nothing is left", || !runs(number));
        }
    }
}

#[test]
fn a_wrong_file_is_named() {
    let folder = Folder::new();
    for (content, says) in [
        ("{", "this is not JSON"),
        ("{}", "no servers found"),
        (
            r#"{"mcpServers": {"a": {"command": "x", "disabled": true}}}"#,
            "no server to guard",
        ),
        (
            r#"{"servers": {"a": {"command": "x", "args": ["${NO_SUCH_VARIABLE}"]}}}"#,
            "server \"a\": the environment variable NO_SUCH_VARIABLE is not set",
        ),
        (
            r#"{"mcpServers": {"a b": {"command": "x"}, "a.b": {"command": "y"}}}"#,
            "rename one of them",
        ),
    ] {
        let file = folder.file("wrong.json", content);
        let run = support::run(program().args(["mcp", "--servers"]).arg(&file));
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
        assert!(run.stderr.contains(says), "{}", run.stderr);
        assert!(run.stderr.contains("wrong.json"), "{}", run.stderr);
        assert_eq!(
            run.stderr.matches("line 1").count(),
            usize::from(content == "{")
        );
    }
    for wrong in [
        &["--", "cat"][..],
        &["--upstream", "http://localhost"],
        &["--listen", "127.0.0.1:0"],
    ] {
        let run = support::run(program().args(["mcp", "--servers", "x"]).args(wrong));
        assert_eq!(run.code, 2);
        assert!(run.stderr.contains("cannot be used with"), "{}", run.stderr);
    }
}

#[test]
fn one_entry_replaces_all() {
    let folder = Folder::new();
    let file = servers(
        &folder,
        &json!({"a": {"command": "x", "env": {"KEY": "${HIDDEN}"}}}),
    );
    let run = support::run(
        program()
            .args(["mcp", "--print-config", "--servers"])
            .arg(&file),
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    let entry: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(
        entry,
        json!({"mcpServers": {"callwright": {"command": "callwright", "args": ["mcp", "--servers", file]}}})
    );
}
