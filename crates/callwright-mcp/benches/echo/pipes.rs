//! The baselines: proxies with the same threads, reads and writes as the guard.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::RwLock;
use std::thread;

use jsonschema::Validator;
use serde_json::Value;

/// Copies lines without looking at them.
pub(crate) fn copy(server: &[String]) {
    run(server, |_| {}, |_| {});
}

/// Parses every message and validates the arguments of calls with `jsonschema`, and nothing else: the least that a
/// schema-aware proxy can do.
pub(crate) fn validate(server: &[String]) {
    let tools = RwLock::new(HashMap::new());
    let call = |line: &[u8]| {
        let message: Value = serde_json::from_slice(line).unwrap();
        if message["method"] == "tools/call" {
            let params = &message["params"];
            let tools = tools.read().unwrap();
            let schema: &Validator = &tools[params["name"].as_str().unwrap()];
            assert!(schema.is_valid(&params["arguments"]));
        }
    };
    let answer = |line: &[u8]| {
        let message: Value = serde_json::from_slice(line).unwrap();
        for tool in message["result"]["tools"].as_array().into_iter().flatten() {
            let schema = jsonschema::validator_for(&tool["inputSchema"]).unwrap();
            let name = tool["name"].as_str().unwrap().to_owned();
            tools.write().unwrap().insert(name, schema);
        }
    };
    run(server, call, answer);
}

fn run(server: &[String], call: impl Fn(&[u8]) + Send, answer: impl Fn(&[u8])) {
    let mut child = Command::new(&server[0])
        .args(&server[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let to_server = child.stdin.take().unwrap();
    let from_server = BufReader::new(child.stdout.take().unwrap());
    thread::scope(|threads| {
        threads.spawn(|| pass_lines(BufReader::new(io::stdin()), to_server, call));
        pass_lines(from_server, io::stdout(), answer);
    });
    child.wait().unwrap();
}

fn pass_lines(mut from: impl BufRead, mut to: impl Write, look: impl Fn(&[u8])) {
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).unwrap() > 0 {
        look(&line);
        to.write_all(&line).unwrap();
        to.flush().unwrap();
        line.clear();
    }
}
