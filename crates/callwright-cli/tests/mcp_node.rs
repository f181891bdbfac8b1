//! `callwright mcp` between the official TypeScript client and official Node servers.
//!
//! If one of them is missing, the test says so and passes.
#![cfg(unix)]
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use support::http::Guard;
use support::mcp::{eventually, node_module, script, text};
use support::{Folder, program};

/// The packages, if the client is among them.
fn modules() -> Option<PathBuf> {
    node_module("@modelcontextprotocol/client").map(|client| {
        let modules = client.ancestors().nth(2).expect("a folder of packages");
        modules.to_owned()
    })
}

fn server(name: &str) -> Option<String> {
    let file = node_module(&format!("@modelcontextprotocol/{name}/dist/index.js"))?;
    Some(file.to_str().expect("UTF-8").to_owned())
}

/// The guard's command line, which goes before the command of a server.
fn guard() -> Vec<String> {
    let program = program().get_program().to_str().expect("UTF-8").to_owned();
    vec![program, "mcp".to_owned(), "--".to_owned()]
}

/// Runs a script, and returns what it prints.
fn output(name: &str, arguments: &[String]) -> String {
    let output = Command::new("node")
        .arg(script(name))
        .args(arguments)
        .output()
        .expect("Node runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn transcript(modules: &Path, server: &[String]) -> String {
    let modules = modules.to_str().expect("UTF-8").to_owned();
    let transcript = output(
        "mcp_everything.mjs",
        &[vec![modules], server.to_vec()].concat(),
    );
    assert!(transcript.lines().count() > 25, "{transcript}");
    assert!(transcript.ends_with("still here\"}]}\n"), "{transcript}");
    transcript
}

#[test]
fn the_typescript_client_sees_no_difference_over_stdio() {
    let (Some(modules), Some(server)) = (modules(), server("server-everything")) else {
        return;
    };
    let server = ["node".to_owned(), server, "stdio".to_owned()];
    let plain = transcript(&modules, &server);
    let guarded = transcript(&modules, &[guard(), server.to_vec()].concat());
    assert_eq!(guarded, plain);
}

/// The example server over HTTP.
struct Everything(Child);

impl Everything {
    fn start(server: &str) -> (Self, String) {
        // The server does not report its port, so it is given a free one.
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let at = free.local_addr().expect("a port");
        drop(free);
        let child = Command::new("node")
            .args([server, "streamableHttp"])
            .env("PORT", at.port().to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("Node runs");
        eventually("the server listens", || TcpStream::connect(at).is_ok());
        (Everything(child), format!("http://{at}/mcp"))
    }
}

impl Drop for Everything {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_typescript_client_sees_no_difference_over_http() {
    let (Some(modules), Some(server)) = (modules(), server("server-everything")) else {
        return;
    };
    let (_server, url) = Everything::start(&server);
    let plain = transcript(&modules, std::slice::from_ref(&url));
    let guard_at = Guard::start(&url, &[]);
    let guarded = transcript(&modules, std::slice::from_ref(&guard_at.url));
    assert_eq!(guarded, plain);
    let (code, said) = guard_at.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("guarded: echo: 2 calls"), "{said}");
    // A stdio client in front of the same server.
    let mut bridge = guard();
    bridge.truncate(2);
    bridge.extend(["--upstream".to_owned(), url]);
    assert_eq!(transcript(&modules, &bridge), plain);
}

/// Makes calls, and returns their outcomes.
fn calls(modules: &Path, calls: &Value, server: &[String]) -> Vec<Value> {
    let modules = modules.to_str().expect("UTF-8").to_owned();
    let arguments = [vec![modules, calls.to_string()], server.to_vec()].concat();
    let lines = output("mcp_calls.mjs", &arguments);
    lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn is_instruction(result: &Value, part: &str) {
    assert_eq!(result["isError"], true, "{result}");
    assert!(text(result).starts_with("Please "), "{result}");
    assert!(text(result).contains(part), "{result}");
}

#[test]
fn files_are_read_and_written_as_without() {
    let (Some(modules), Some(server)) = (modules(), server("server-filesystem")) else {
        return;
    };
    let run = |before: Vec<String>, what: &dyn Fn(&str) -> Value| {
        let folder = Folder::new();
        // The server resolves symbolic links.
        let at = folder.path().canonicalize().expect("a folder");
        let at = at.to_str().expect("UTF-8").to_owned();
        let server = vec!["node".to_owned(), server.clone(), at.clone()];
        let came = calls(&modules, &what(&at), &[before, server].concat());
        let told = serde_json::to_string(&came).expect("JSON");
        let came: Vec<Value> = serde_json::from_str(&told.replace(&at, "/at")).expect("JSON");
        let written = std::fs::read_to_string(folder.path().join("a.txt")).unwrap_or_default();
        (came, written)
    };
    let good = |at: &str| {
        json!([
            ["write_file", {"path": format!("{at}/a.txt"), "content": "one\ntwo ✓\n"}],
            ["read_text_file", {"path": format!("{at}/a.txt")}],
            ["read_text_file", {"path": format!("{at}/a.txt"), "head": 1}],
            ["edit_file", {"path": format!("{at}/a.txt"), "edits": [{"oldText": "one", "newText": "1"}]}],
            ["list_directory", {"path": at}],
            ["directory_tree", {"path": at}],
            ["search_files", {"path": at, "pattern": "*.txt"}],
            ["list_allowed_directories", {}],
            ["read_text_file", {"path": format!("{at}/none.txt")}],
            ["read_text_file", {"path": "/etc/passwd"}],
        ])
    };
    let (plain, written) = run(Vec::new(), &good);
    assert_eq!(written, "1\ntwo ✓\n", "{plain:?}");
    let guarded = run(guard(), &good);
    assert_eq!(guarded, (plain, written));

    let bad = |at: &str| {
        json!([
            ["write_file", {"path": format!("{at}/a.txt"), "content": "one\ntwo\n"}],
            ["read_text_file", {"path": format!("{at}/a.txt"), "head": "1"}],
            ["edit_file", {"path": format!("{at}/a.txt"), "edits": "[{\"oldText\":\"one\",\"newText\":\"1\"}]"}],
            ["read_text_file", {"file": format!("{at}/a.txt")}],
            ["write_file", {"path": format!("{at}/a.txt")}],
            ["read_txt_file", {"path": format!("{at}/a.txt")}],
        ])
    };
    let (plain, _) = run(Vec::new(), &bad);
    let (guarded, written) = run(guard(), &bad);
    assert_eq!(guarded[0], plain[0]);
    assert_eq!(
        (text(&guarded[1]), &guarded[1]["isError"]),
        ("one", &Value::Null)
    );
    assert_eq!(written, "1\ntwo\n", "{guarded:?}");
    is_instruction(&guarded[3], "path: Required");
    is_instruction(&guarded[4], "content: Required");
    assert!(text(&guarded[5]).contains("read_text_file"), "{guarded:?}");
    // The server alone rejects all of these.
    for result in &plain[1..] {
        let is_bad = result["isError"] == true || result.get("failed").is_some();
        assert!(is_bad, "{plain:?}");
    }
}

#[test]
fn a_memory_is_kept_as_without() {
    let (Some(modules), Some(server)) = (modules(), server("server-memory")) else {
        return;
    };
    let run = |before: Vec<String>, what: &Value| {
        let folder = Folder::new();
        let file = folder.path().join("memory.jsonl");
        let kept = format!("MEMORY_FILE_PATH={}", file.display());
        let server = ["env".to_owned(), kept, "node".to_owned(), server.clone()];
        let came = calls(&modules, what, &[before, server.to_vec()].concat());
        (came, std::fs::read_to_string(&file).unwrap_or_default())
    };
    let ada = json!({"name": "Ada", "entityType": "person", "observations": ["writes programs"]});
    let engine = json!({"name": "Engine", "entityType": "machine", "observations": []});
    let relation = json!({"from": "Ada", "to": "Engine", "relationType": "programs"});
    let good = json!([
        ["create_entities", {"entities": [ada, engine]}],
        ["create_relations", {"relations": [relation]}],
        ["add_observations", {"observations": [{"entityName": "Engine", "contents": ["has cogs"]}]}],
        ["read_graph", {}],
        ["search_nodes", {"query": "cogs"}],
        ["open_nodes", {"names": ["Ada"]}],
        ["delete_entities", {"entityNames": ["Engine"]}],
        ["add_observations", {"observations": [{"entityName": "Nobody", "contents": ["x"]}]}],
        ["read_graph", {}],
    ]);
    let plain = run(Vec::new(), &good);
    assert!(plain.1.contains("writes programs"), "{plain:?}");
    assert_eq!(run(guard(), &good), plain);

    let bad = json!([
        ["create_entities", {"entities": json!([ada]).to_string()}],
        ["create_entities", {"entities": [{"name": "Bob"}]}],
        ["delete_entities", {}],
        ["read_graph", {}],
    ]);
    let (plain, _) = run(Vec::new(), &bad);
    let (guarded, kept) = run(guard(), &bad);
    assert!(kept.contains("Ada") && !kept.contains("Bob"), "{kept}");
    assert_eq!(guarded[0]["isError"], Value::Null, "{guarded:?}");
    is_instruction(&guarded[1], "entities.0.entityType: Required");
    is_instruction(&guarded[2], "entityNames: Required");
    assert!(text(&guarded[3]).contains("writes programs"), "{guarded:?}");
    for result in &plain[..3] {
        let is_bad = result["isError"] == true || result.get("failed").is_some();
        assert!(is_bad, "{plain:?}");
    }
}
