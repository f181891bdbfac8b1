//! `callwright mcp` with servers and clients that exceed every bound: lists that take forever to compile, endless
//! lines, crashing servers. Nothing hangs, memory stays bounded, and recordings are readable by their owner only.
#![cfg(unix)]
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::{Value, json};
use support::mcp::{Client, eventually, runs, servers, text};
use support::{Folder, http, program};

/// A server in Python without packages: `tools` is the list as JSON, `on_call` what happens on a call.
fn server(tools: &Value, on_call: &str) -> Vec<String> {
    let script = format!(
        r#"
import json, os, sys, time
tools = json.loads({:?})
def say(id, **answer):
    print(json.dumps(dict(jsonrpc="2.0", id=id, **answer)), flush=True)
print("number", os.getpid(), file=sys.stderr, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    id, method = message.get("id"), message.get("method")
    if id is None:
        continue
    if method == "initialize":
        say(id, result={{"protocolVersion": "2025-06-18", "capabilities": {{"tools": {{}}}}, "serverInfo": {{"name": "x", "version": "1"}}}})
    elif method == "tools/list":
        say(id, result={{"tools": tools}})
    elif method == "tools/call":
        arguments = message["params"].get("arguments", {{}})
        {on_call}
    else:
        say(id, result={{}})
"#,
        tools.to_string()
    );
    ["python3", "-c", &script].map(str::to_owned).to_vec()
}

const ANSWER: &str = r#"say(id, result={"content": [{"type": "text", "text": str(os.getpid())}]})"#;

fn start(options: &[&str], tools: &Value, on_call: &str) -> Client {
    let server = server(tools, on_call);
    let server: Vec<&str> = server.iter().map(String::as_str).collect();
    let mut client = Client::new(options, &server);
    client.shake_hands();
    client
}

fn plain_tool() -> Value {
    json!([{"name": "t", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}])
}

/// Two tools that would take forever or all memory to compile, and an ordinary one: 4 kB whose compiled form doubles
/// with each level, and 39 kB of patterns.
fn hostile_tools() -> Value {
    let mut all = json!({"a0": {"type": "object"}});
    for level in 1..60 {
        let below = json!({"$ref": format!("#/$defs/a{}", level - 1)});
        all[format!("a{level}")] = json!({"allOf": [below, below]});
    }
    let patterns: serde_json::Map<_, _> = (0..600)
        .map(|at| {
            let pattern = format!(r"^[\p{{L}}\p{{N}}_]{{1,{}}}$", 400 + at);
            (
                format!("k{at}"),
                json!({"type": "string", "pattern": pattern}),
            )
        })
        .collect();
    json!([
        {"name": "doubling", "inputSchema": {"$defs": all, "$ref": "#/$defs/a59"}},
        {"name": "patterns", "inputSchema": {"type": "object", "properties": patterns}},
        plain_tool()[0],
    ])
}

/// The hostile tools pass unjudged, all other tools are judged, and a signal ends everything.
#[test]
fn hostile_lists_do_not_hold_up_other_messages() {
    let folder = Folder::new();
    let entry = |tools: &Value| {
        let words = server(tools, ANSWER);
        json!({"command": words[0], "args": words[1..]})
    };
    let file = servers(
        &folder,
        &json!({"bad": entry(&hostile_tools()), "good": entry(&plain_tool())}),
    );
    for mode in ["strict", "warn"] {
        let record = folder.path().join(mode);
        let options = ["--mode", mode, "--record", record.to_str().expect("UTF-8")];
        let mut client = Client::of_several(&file, &options);
        client.shake_hands();
        let listed = client.ask("tools/list", &json!({}));
        assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(4));
        for tool in ["bad__doubling", "bad__patterns"] {
            let passed = client.call(tool, &json!({"k1": "x"}));
            assert_ne!(passed["isError"], true, "{mode}: {passed}");
        }
        for tool in ["bad__t", "good__t"] {
            let judged = client.call(tool, &json!({"n": "many"}));
            assert_eq!(judged["isError"] == true, mode == "strict", "{judged}");
        }
        // In `warn` mode calls do not wait for the tools to be compiled; they are judged afterwards.
        let verdicts = || -> Vec<Value> {
            let events = std::fs::read_to_string(&record).expect("a record");
            let events = events.lines().map(serde_json::from_str::<Value>);
            let verdicts = events.map(|event| event.expect("JSON")["verdict"].take());
            verdicts.filter(|verdict| !verdict.is_null()).collect()
        };
        eventually("all calls are recorded", || verdicts().len() == 4);
        assert_eq!(verdicts(), ["unjudged", "unjudged", "refused", "refused"]);
        assert!(resident(client.child.id()) < 150_000, "{mode}");
        let id = client.child.id().to_string();
        let killed = Command::new("kill").arg(id).status();
        assert!(killed.expect("kill runs").success());
        let (_, code, said) = client.end();
        assert_eq!(code, Some(0), "{said}");
    }
}

#[test]
fn a_server_that_crashes_is_started_again() {
    let crash = format!("os._exit(7) if arguments.get('n') == 7 else {ANSWER}");
    let mut client = start(&[], &plain_tool(), &crash);
    let first = client.call("t", &json!({"n": 1}));
    let refused = client.ask("tools/call", &json!({"name": "t", "arguments": {"n": 7}}));
    let why = refused["error"]["message"].as_str().expect("an error");
    assert_eq!(why, "the MCP server has exited: exit status: 7");
    eventually("it is restarted", || {
        client.said().contains("the MCP server was restarted")
    });
    let again = client.call("t", &json!({"n": 2}));
    assert_ne!(text(&again), text(&first));
    let (rest, code, said) = client.end();
    assert_eq!((rest.as_str(), code), ("", Some(0)), "{said}");
}

#[test]
fn a_server_that_crashes_again_and_again_is_given_up() {
    let folder = Folder::new();
    let good = server(&plain_tool(), ANSWER);
    let bad = server(&plain_tool(), "os._exit(7)");
    let entry = |words: &[String]| json!({"command": words[0], "args": words[1..]});
    let file = servers(&folder, &json!({"bad": entry(&bad), "good": entry(&good)}));
    let mut client = Client::of_several(&file, &[]);
    client.shake_hands();
    client.ask("tools/list", &json!({}));
    let ask = |client: &mut Client, tool: &str, n: usize| {
        let id = client.request("tools/call", &json!({"name": tool, "arguments": {"n": n}}));
        loop {
            let answer = client.receive();
            if answer["id"] == id {
                return answer;
            }
            assert_eq!(answer["method"], "notifications/tools/list_changed");
        }
    };
    for restart in 1..=6 {
        let answer = ask(&mut client, "bad__t", restart);
        let why = answer["error"]["message"].as_str().expect("an error");
        assert_eq!(why, "the MCP server \"bad\" has exited: exit status: 7");
        let numbers = |client: &Client| client.said().matches("[bad] number").count();
        if restart < 6 {
            eventually("it is restarted", || numbers(&client) > restart);
            eventually("it is there again", || {
                client.said().matches("was restarted").count() == restart
            });
        } else {
            assert_eq!(numbers(&client), 6);
        }
        assert!(ask(&mut client, "good__t", restart)["result"].is_object());
    }
    assert_eq!(client.end().1, Some(0));
}

fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.expect("a size").trim().trim_end_matches(" kB");
    kilobytes.parse().expect("a number")
}

#[test]
fn a_line_without_end_has_a_bound() {
    // From the server: it is terminated, and pending requests are answered.
    let endless = "[sys.stdout.write('x' * 1_000_000) for _ in range(100_000)]";
    let options = ["--max-message-bytes", "4000000"];
    let mut client = start(&options, &plain_tool(), endless);
    let answer = client.ask("tools/call", &json!({"name": "t"}));
    assert!(answer["error"]["message"].is_string(), "{answer}");
    assert!(resident(client.child.id()) < 80_000);
    assert!(client.said().contains("more than 4000000 bytes"));
    // From the client: it gets an error, and the session continues.
    let mut client = start(&options, &plain_tool(), ANSWER);
    for _ in 0..200 {
        client.send(&vec![b'x'; 1_000_000]);
    }
    client.send(b"\n");
    let answer = client.receive();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&Value::Null, &json!(-32_700))
    );
    assert!(client.call("t", &json!({"n": 1})).is_object());
    assert!(resident(client.child.id()) < 80_000);
}

#[test]
fn the_size_of_arguments_is_a_setting() {
    let mut client = start(&["--max-argument-bytes", "1000"], &plain_tool(), ANSWER);
    let refused = client.call("t", &json!({"n": 1, "more": "x".repeat(1_000)}));
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(text(&refused).contains("more than the 1000"), "{refused}");
}

/// The recording is enough for a replay, is readable by its owner only, and contains no password.
#[test]
fn a_record_can_be_replayed_without_another_file() {
    let folder = Folder::new();
    let record = folder.path().join("calls.jsonl");
    let path = record.to_str().expect("UTF-8");
    let mut client = start(&["--record", path], &plain_tool(), ANSWER);
    client.call("t", &json!({"n": "1"}));
    client.call("t", &json!({"n": "many"}));
    client.call("t", &json!({"n": 3, "api_key": "hunter2-hunter2", "note": "use ghp_0123456789abcdefghijABCDEFGHIJ012345"}));
    assert_eq!(client.end().1, Some(0));
    let mode = std::fs::metadata(&record)
        .expect("a file")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let recorded = std::fs::read_to_string(&record).expect("UTF-8");
    for secret in ["hunter2", "ghp_0123"] {
        assert!(!recorded.contains(secret), "{recorded}");
    }
    let replayed = program()
        .args(["replay", path, "--format", "json"])
        .output();
    let replayed = String::from_utf8(replayed.expect("it runs").stdout).expect("UTF-8");
    let report: Value = serde_json::from_str(&replayed).expect("JSON");
    let calls = &report["calls"];
    let counts = ["calls", "valid", "repaired", "refused", "undeclared"].map(|key| &calls[key]);
    assert_eq!(counts, [3, 1, 1, 1, 0], "{calls}");
}

#[test]
fn the_printed_entry_keeps_all_options() {
    let printed = program()
        .args(["mcp", "--print-config", "--policy", "a.toml", "--mode=warn"])
        .args([
            "npx",
            "-y",
            "@modelcontextprotocol/server-filesystem",
            "/data",
        ])
        .output()
        .expect("it runs");
    let printed = String::from_utf8(printed.stdout).expect("UTF-8");
    let after = printed.split("after:").nth(1).expect("an entry");
    let entry: Value = serde_json::from_str(after).expect("JSON");
    let args = entry["mcpServers"]["filesystem"]["args"].clone();
    let policy = std::path::absolute("a.toml").expect("a path");
    assert_eq!(
        args,
        json!([
            "mcp",
            "--policy",
            policy,
            "--mode=warn",
            "--",
            "npx",
            "-y",
            "@modelcontextprotocol/server-filesystem",
            "/data"
        ])
    );
}

/// A command after `--listen` is served over HTTP, with one process per session.
#[test]
fn a_command_is_served_over_http() {
    let server = server(&plain_tool(), ANSWER);
    let command: Vec<&str> = server.iter().map(String::as_str).collect();
    let guard = http::Guard::listen(&mut program(), &[&["--"], &command[..]].concat());
    let process = |session: &str, id: usize, arguments: &Value| {
        let call = http::call(id, "t", arguments);
        http::rest(http::post(&guard.url, Some(session), &call))
    };
    let sessions = [http::session(&guard.url), http::session(&guard.url)];
    let refused = process(&sessions[0], 1, &json!({"n": "many"}));
    assert!(refused.contains("Please rewrite the input"), "{refused}");
    let text = |answer: String| {
        let text = answer.split("\"text\": \"").nth(1).map(str::to_owned);
        let text = text.unwrap_or_else(|| panic!("{answer}"));
        text.split('"').next().expect("a number").to_owned()
    };
    let numbers = [0, 0, 1].map(|at: usize| text(process(&sessions[at], 2, &json!({"n": at}))));
    assert_eq!(numbers[0], numbers[1]);
    assert_ne!(numbers[0], numbers[2]);
    let unknown = process("no-such-session", 3, &json!({"n": 1}));
    assert!(unknown.contains("404"), "{unknown}");
    let (code, said) = guard.end();
    assert_eq!(code, Some(0), "{said}");
    for number in numbers {
        assert!(!runs(&number));
    }
}

/// The official clients take the id `"2"` for 2.
#[test]
fn an_answer_with_its_id_as_a_text_reaches_the_client_over_http() {
    let server = server(&plain_tool(), r#"say(str(id), result={"content": []})"#);
    let command: Vec<&str> = server.iter().map(String::as_str).collect();
    let guard = http::Guard::listen(&mut program(), &[&["--"], &command[..]].concat());
    let session = http::session(&guard.url);
    let call = http::call(2, "t", &json!({"n": 1}));
    let answer = http::rest(http::post(&guard.url, Some(&session), &call));
    assert!(answer.contains(r#""id": "2""#), "{answer}");
    guard.end();
}

#[test]
fn the_page_shows_the_calls_of_http_clients() {
    let mut tools = plain_tool();
    tools[0]["outputSchema"] = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let on_call = r#"n = arguments["n"]; say(id, result={"content": [], "structuredContent": {"n": "three" if n == 3 else n}})"#;
    let server = server(&tools, on_call);
    let command: Vec<&str> = server.iter().map(String::as_str).collect();
    let options = [&["--style", "numbered", "--"], &command[..]].concat();
    let guard = http::Guard::listen(&mut program(), &options);
    let session = http::session(&guard.url);
    for (id, n) in [json!(1), json!("2"), json!("many"), json!(3)]
        .iter()
        .enumerate()
    {
        let call = http::call(id, "t", &json!({"n": n}));
        http::rest(http::post(&guard.url, Some(&session), &call));
    }
    let at = |path: &str| http::get(&guard.url.replace("/mcp", path));
    for line in [
        r#"callwright_calls_total{api="mcp",verdict="valid",tool="t",model=""} 2"#,
        r#"callwright_calls_total{api="mcp",verdict="repaired",tool="t",model=""} 1"#,
        r#"callwright_calls_total{api="mcp",verdict="refused",tool="t",model=""} 1"#,
        r#"callwright_failures_total{code="invalid_arguments"} 1"#,
        r#"callwright_failures_total{code="schema_violation"} 1"#,
        r#"callwright_requests_total{api="mcp",status="200"} "#,
    ] {
        // Events are counted asynchronously.
        eventually(line, || at("/callwright/metrics").contains(line));
    }
    let stats = at("/callwright/stats");
    for part in [
        r#""guards":"tools""#,
        r#""results_refused":1"#,
        // The refusal in the chosen style.
        "Please fix the parameters",
        "does not fit its schema",
    ] {
        assert!(stats.contains(part), "{part}: {stats}");
    }
    let page = at("/callwright/");
    assert!(page.contains("<title>callwright</title>"), "{page}");
    let ready = at("/callwright/ready");
    assert!(ready.starts_with("HTTP/1.1 200"), "{ready}");
}

#[test]
fn options_for_http_clients_need_an_address() {
    let run = program()
        .args(["mcp", "--admin", "127.0.0.1:0", "--", "python3"])
        .output()
        .expect("runs");
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(said.contains("--admin needs `--listen`"), "{said}");
    assert_eq!(run.status.code(), Some(2));
}
