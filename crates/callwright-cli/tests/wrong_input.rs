//! Wrong options and files: each message names the place and the next step, and the exit code says whose fault it is.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod support;

use serde_json::{Value, json};
use support::{Folder, Run, program};

/// Runs the program in a folder.
fn run_in(folder: &Folder, arguments: &[&str]) -> Run {
    support::run(program().current_dir(folder.path()).args(arguments))
}

#[test]
fn messages_name_the_place_and_the_next_step() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("folder")).expect("a folder");
    folder.file("empty", "");
    folder.file("comment", "# Nobody yet.\n");
    folder.file("utf16", [0xff, 0xfe, b'{', 0, b'}', 0]);
    folder.file("tools.json", r#"[{"name": "t"}]"#);
    folder.file("taken.toml", "");
    let upstream = ["--upstream", "http://127.0.0.1:1"];
    let serve = |rest: &[&'static str]| [&["serve"][..], &upstream, rest].concat();
    for (arguments, code, said) in [
        (
            vec!["check", "--tools", "-"],
            2,
            "the tool file cannot be standard input; give a file",
        ),
        (
            vec!["mcp", "--servers", "missing"],
            2,
            "cannot open the file of servers missing; check the path and its permissions",
        ),
        (
            vec!["mcp", "--servers", "folder"],
            2,
            "the file of servers folder is a directory; give a file",
        ),
        (
            vec!["mcp", "--servers", "utf16"],
            2,
            "the file of servers utf16 is not UTF-8: invalid byte at offset 0; save it as UTF-8",
        ),
        (
            serve(&["--upstream-header", "a: b", "--client-key-file", "missing"]),
            2,
            "cannot open the file of client keys missing; check the path",
        ),
        (
            serve(&["--upstream-header", "a: b", "--client-key-file", "empty"]),
            2,
            "empty contains no client keys; put one on each line",
        ),
        (
            serve(&["--upstream-header", "a: b", "--client-key-file", "comment"]),
            2,
            "comment contains no client keys; put one on each line",
        ),
        (
            vec!["init", "--tools", "tools.json", "--policy", "folder"],
            2,
            "give a file with --policy",
        ),
        (
            vec!["init", "--tools", "tools.json", "--policy", "no/p.toml"],
            2,
            "create its directory first",
        ),
        (
            vec!["init", "--tools", "tools.json", "--policy", "taken.toml"],
            2,
            "remove it, or give another file with --policy",
        ),
        (
            vec!["man", "--out", "empty"],
            2,
            "cannot create the directory empty; give another one with --out",
        ),
        // A mistake in an option is 2, an address that is taken or not ours is 3.
        (vec!["serve", "--upstream", "x"], 2, "invalid upstream URL"),
        (vec!["mcp", "--upstream", "x"], 2, "invalid upstream URL"),
    ] {
        let run = run_in(&folder, &arguments);
        assert_eq!(run.code, code, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(said), "{arguments:?}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
}

#[test]
fn an_address_is_announced_only_if_it_is_used() {
    let upstream = ["--upstream", "http://127.0.0.1:1"];
    let serve = |rest: &[&'static str]| [&["serve"][..], &upstream, rest].concat();
    let mcp = |rest: &[&'static str]| [&["mcp"][..], &upstream, rest].concat();
    for (arguments, code, said) in [
        (
            vec!["mcp", "--upstream", "x", "--listen", "127.0.0.1:0"],
            2,
            "invalid upstream URL",
        ),
        (
            serve(&["--listen", "x"]),
            2,
            "--listen: cannot listen on x: invalid socket address; give an address and a port",
        ),
        (
            mcp(&["--listen", "127.0.0.1:0", "--admin", "x"]),
            2,
            "--admin: cannot listen on x: invalid socket address; give an address and a port",
        ),
        (
            serve(&["--listen", "127.0.0.1:0", "--admin", "192.0.2.1:80"]),
            3,
            "--admin: cannot listen on 192.0.2.1:80: ",
        ),
        (
            mcp(&["--listen", "192.0.2.1:80"]),
            3,
            "; choose another address",
        ),
        (
            vec![
                "mcp",
                "--upstream",
                "http://127.0.0.1:1/mcp",
                "--listen",
                "127.0.0.1:0",
                "--session-header",
                "a b",
            ],
            2,
            "the header \"a b\" has an invalid name or value",
        ),
        (
            serve(&["--listen", "127.0.0.1:0", "--admin", "0.0.0.0:0"]),
            3,
            "listen on 127.0.0.1, or allow it with --allow-remote",
        ),
        (
            mcp(&["--listen", "0.0.0.0:0"]),
            3,
            "listen on 127.0.0.1, or allow it with --allow-remote",
        ),
    ] {
        let run = support::run(program().args(&arguments));
        assert_eq!(run.code, code, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(said), "{arguments:?}: {}", run.stderr);
        let is_announced = run.stderr.contains("http://127") || run.stderr.contains("http://0");
        assert!(!is_announced, "{arguments:?}: {}", run.stderr);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named_in_text_too() {
    let folder = Folder::new();
    folder.file("tools.json", r#"[{"name": "t"}]"#);
    folder.file("calls.jsonl", r#"{"tool": "t"}"#);
    for format in ["text", "json"] {
        let full = std::fs::File::create("/dev/full").expect("writable");
        let output = program()
            .current_dir(folder.path())
            .args(["check", "--format", format, "--tools", "tools.json"])
            .arg("calls.jsonl")
            .stdout(full)
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        let place = "cannot write the verdicts to standard output";
        assert!(said.contains(place), "{format}: {said}");
    }
}

/// A client starts the server in another folder, so the entry has whole paths wherever something is certainly a path.
#[test]
fn a_printed_entry_works_in_any_folder() {
    let folder = Folder::new();
    folder.file("index.js", "");
    std::fs::create_dir(folder.path().join("data")).expect("a folder");
    let entry = |command: &[&str]| -> Value {
        let options = ["mcp", "--print-config", "--record=calls.jsonl", "--"];
        let run = run_in(&folder, &[&options[..], command].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        let after = run.stdout.split("after:").nth(1).expect("an entry");
        let entry: Value = serde_json::from_str(after).expect("JSON");
        let servers = entry["mcpServers"].as_object().expect("servers");
        servers.values().next().expect("one")["args"].clone()
    };
    let here = folder.path().canonicalize().expect("it exists");
    let whole = |name: &str| here.join(name).to_string_lossy().into_owned();
    let record = format!("--record={}", whole("calls.jsonl"));
    assert_eq!(
        entry(&["node", "index.js", "data", "index", "--at", "./data"]),
        json!([
            "mcp",
            record,
            "--",
            "node",
            whole("index.js"),
            "data",
            "index",
            "--at",
            whole("data")
        ])
    );
    assert_eq!(
        entry(&["bin/serve", "."]),
        json!([
            "mcp",
            record,
            "--",
            whole("bin/serve"),
            here.to_string_lossy()
        ])
    );
}

/// JSON cannot hold it, and another name in its place would start something else.
#[cfg(target_os = "linux")]
#[test]
fn a_word_that_is_not_utf_8_is_not_printed() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let odd = OsStr::from_bytes(b"\xff");
    for (option, command) in [(odd, OsStr::new("x")), (OsStr::new("p"), odd)] {
        let run = support::run(
            program()
                .args(["mcp", "--print-config", "--policy"])
                .args([option, command]),
        );
        assert_eq!(run.code, 2, "{}", run.stderr);
        let said = "is not UTF-8, so it cannot be in a configuration; rename it";
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
}
