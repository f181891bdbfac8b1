//! An ordinary day of work with real servers behind `callwright mcp`, including legitimate repetitions. Nothing is
//! refused.
//!
//! If a server is missing, its test says so and passes.
#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may panic, and says what it skips"
)]

mod support;

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use support::Folder;
use support::mcp::{Client, node_module, text};

/// A working session with one server.
struct Work {
    client: Client,
    calls: usize,
}

impl Work {
    fn begin(server: &[&str]) -> Self {
        let mut client = Client::new(&[], server);
        let answer = client.shake_hands();
        assert!(answer["result"]["serverInfo"].is_object(), "{answer}");
        Work { client, calls: 0 }
    }

    /// Calls a tool and expects success.
    fn does(&mut self, tool: &str, arguments: &Value) -> String {
        let id = self
            .client
            .request("tools/call", &json!({"name": tool, "arguments": arguments}));
        let mut answer = self.client.receive();
        // Servers send change notifications meanwhile.
        while answer["id"] != id {
            answer = self.client.receive();
        }
        self.calls += 1;
        let result = &answer["result"];
        assert_ne!(result["isError"], true, "{tool} {arguments}: {answer}");
        text(result).to_owned()
    }

    /// Ends the session and checks that nothing was refused.
    fn ends(self) {
        let calls = self.calls;
        let (_, _, said) = self.client.end();
        let all = format!("{calls} calls, 0 repaired, 0 refused, 0 stopped as repetitions");
        assert!(said.contains(&all), "{all}\n{said}");
        assert!(!said.contains("unjudged"), "{said}");
    }
}

fn node_server(name: &str) -> Option<String> {
    let file = node_module(name)?;
    Some(file.to_str().expect("UTF-8").to_owned())
}

#[test]
fn files() {
    let Some(server) = node_server("@modelcontextprotocol/server-filesystem/dist/index.js") else {
        return;
    };
    let folder = Folder::new();
    let at = folder.path().canonicalize().expect("a folder");
    let at = at.to_str().expect("UTF-8");
    let path = |name: &str| format!("{at}/{name}");
    let mut work = Work::begin(&["node", &server, at]);
    let draft = json!({"path": path("a.txt"), "content": "one\n"});
    let read = json!({"path": path("a.txt")});
    let edit = |old: &str, new: &str| json!({"path": path("a.txt"), "edits": [{"oldText": old, "newText": new}]});
    work.does("write_file", &draft);
    assert_eq!(work.does("read_text_file", &read), "one\n");
    work.does("edit_file", &edit("one", "two"));
    assert_eq!(work.does("read_text_file", &read), "two\n");
    // Back to the draft, with the same call as before.
    work.does("write_file", &draft);
    assert_eq!(work.does("read_text_file", &read), "one\n");
    work.does("edit_file", &edit("one", "two"));
    assert_eq!(work.does("read_text_file", &read), "two\n");
    work.does("edit_file", &edit("two", "one"));
    assert_eq!(work.does("read_text_file", &read), "one\n");
    work.does("write_file", &draft);
    let list = json!({"path": at});
    let search = json!({"path": at, "pattern": "*.txt"});
    for name in ["b.txt", "c.txt"] {
        let new = json!({"path": path("new.txt"), "content": "new\n"});
        work.does("write_file", &new);
        assert!(work.does("list_directory", &list).contains("new.txt"));
        let moved = json!({"source": path("new.txt"), "destination": path(name)});
        work.does("move_file", &moved);
        assert!(work.does("search_files", &search).contains(name));
    }
    let made = json!({"path": path("folder")});
    work.does("create_directory", &made);
    work.does("create_directory", &made);
    work.ends();
}

#[test]
fn a_memory() {
    let Some(server) = node_server("@modelcontextprotocol/server-memory/dist/index.js") else {
        return;
    };
    let folder = Folder::new();
    let file = folder.path().join("memory.jsonl");
    let kept = format!("MEMORY_FILE_PATH={}", file.display());
    let mut work = Work::begin(&["env", &kept, "node", &server]);
    let ada =
        json!({"entities": [{"name": "Ada", "entityType": "person", "observations": ["writes"]}]});
    let gone = json!({"entityNames": ["Ada"]});
    for _ in 0..3 {
        work.does("create_entities", &ada);
        assert!(work.does("read_graph", &json!({})).contains("Ada"));
        assert!(
            work.does("search_nodes", &json!({"query": "writes"}))
                .contains("Ada")
        );
        work.does("delete_entities", &gone);
        assert!(!work.does("read_graph", &json!({})).contains("Ada"));
    }
    work.does("create_entities", &ada);
    let seen = json!({"observations": [{"entityName": "Ada", "contents": ["counts"]}]});
    let unseen = json!({"deletions": [{"entityName": "Ada", "observations": ["counts"]}]});
    for _ in 0..2 {
        work.does("add_observations", &seen);
        work.does("delete_observations", &unseen);
    }
    work.ends();
}

#[test]
fn a_repository() {
    let python = std::env::var("CALLWRIGHT_TEST_PYTHON").unwrap_or_default();
    let server = Path::new(&python).with_file_name("mcp-server-git");
    if !server.exists() {
        eprintln!("skipped: no `mcp-server-git` beside the Python of CALLWRIGHT_TEST_PYTHON");
        return;
    }
    let folder = Folder::new();
    let at = folder.path().to_str().expect("UTF-8");
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .args(["-C", at])
            .args(arguments)
            .output();
        assert!(done.expect("git runs").status.success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["config", "user.email", "ada@example.org"]);
    git(&["config", "user.name", "Ada"]);
    let mut work = Work::begin(&[server.to_str().expect("UTF-8"), "--repository", at]);
    let here = json!({"repo_path": at});
    let add = json!({"repo_path": at, "files": ["a.txt"]});
    let commit = json!({"repo_path": at, "message": "wip"});
    folder.file("a.txt", "0\n");
    work.does("git_add", &add);
    work.does("git_commit", &commit);
    for edit in 1..4 {
        folder.file("a.txt", format!("{edit}\n"));
        assert!(work.does("git_status", &here).contains("a.txt"));
        assert!(
            work.does("git_diff_unstaged", &here)
                .contains(&format!("+{edit}"))
        );
        work.does("git_add", &add);
        // A late change, before it is staged again.
        if edit == 2 {
            work.does("git_reset", &here);
            folder.file("a.txt", "2, better\n");
            work.does("git_add", &add);
        }
        work.does("git_diff_staged", &here);
        work.does("git_commit", &commit);
        work.does("git_log", &json!({"repo_path": at, "max_count": 1}));
    }
    work.ends();
}

#[test]
fn a_page() {
    let browser = "/usr/bin/chromium";
    let Some(server) = node_server("@playwright/mcp/cli.js") else {
        return;
    };
    if !Path::new(browser).exists() {
        eprintln!("skipped: no {browser}");
        return;
    }
    let folder = Folder::new();
    let output = folder.path().to_str().expect("UTF-8");
    let mut work = Work::begin(&[
        "node",
        &server,
        "--headless",
        "--no-sandbox",
        "--isolated",
        "--executable-path",
        browser,
        "--output-dir",
        output,
    ]);
    let page = "data:text/html,<title>Shop</title><button onclick=\"c.textContent=++n+' added'\">Add</button><p id=c>0 added</p>\
        <p id=k>0 keys</p><script>n=0;m=0;onkeydown=()=>k.textContent=++m+' keys'</script>";
    let open = json!({ "url": page });
    work.does("browser_navigate", &open);
    let seen = work.does("browser_snapshot", &json!({}));
    let button = seen
        .lines()
        .find(|line| line.contains("button \"Add\""))
        .and_then(|line| line.split("[ref=").nth(1)?.split(']').next())
        .unwrap_or_else(|| panic!("{seen}"))
        .to_owned();
    let click = json!({"element": "Add", "target": button});
    for _ in 0..3 {
        work.does("browser_click", &click);
        work.does("browser_snapshot", &json!({}));
    }
    assert!(
        work.does("browser_snapshot", &json!({}))
            .contains("3 added")
    );
    for _ in 0..3 {
        work.does("browser_press_key", &json!({"key": "ArrowDown"}));
    }
    assert!(work.does("browser_snapshot", &json!({})).contains("3 keys"));
    work.does("browser_navigate", &open);
    assert!(work.does("browser_snapshot", &json!({})).contains("0 keys"));
    work.does("browser_close", &json!({}));
    work.ends();
}

#[test]
fn odds_and_ends() {
    let Some(server) = node_server("@modelcontextprotocol/server-everything/dist/index.js") else {
        return;
    };
    let mut work = Work::begin(&["node", &server, "stdio"]);
    for _ in 0..2 {
        work.does("echo", &json!({"message": "hello"}));
        work.does("get-sum", &json!({"a": 1, "b": 2}));
        work.does("toggle-simulated-logging", &json!({}));
        work.does("toggle-simulated-logging", &json!({}));
    }
    work.ends();
}
