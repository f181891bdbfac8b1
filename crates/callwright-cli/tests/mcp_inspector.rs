//! `callwright mcp` behind the command line of the official MCP Inspector, which people use to try out a server.
//!
//! If the Inspector, its Node 22 or the server is missing, the test says so and passes.
#![cfg(unix)]
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use support::mcp::node_module;
use support::program;

struct Inspector {
    node: PathBuf,
    launcher: PathBuf,
    /// The command of the server.
    server: Vec<String>,
}

/// The Inspector's JSON output, its stderr, and whether it succeeded.
struct Inspected {
    result: Value,
    said: String,
    is_ok: bool,
}

impl Inspector {
    fn find() -> Option<Self> {
        let node = node_module("node/bin/node")?;
        let launcher = "@modelcontextprotocol/inspector/clients/launcher/build/index.js";
        let server = node_module("@modelcontextprotocol/server-everything/dist/index.js")?;
        let server = [&node, &server].map(|path| path.to_str().expect("UTF-8").to_owned());
        Some(Inspector {
            launcher: node_module(launcher)?,
            server: [&server[..], &["stdio".to_owned()]].concat(),
            node,
        })
    }

    /// Runs the Inspector with a server started by this command, and sends a request.
    fn ask(&self, before: &[&str], question: &[&str]) -> Inspected {
        let output = Command::new(&self.node)
            .arg(&self.launcher)
            .arg("--cli")
            .args(before)
            .args(&self.server)
            .args(question)
            .output()
            .expect("Node runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let printed = String::from_utf8(output.stdout).expect("UTF-8");
        Inspected {
            result: serde_json::from_str(&printed).expect(&said),
            said,
            is_ok: output.status.success(),
        }
    }

    /// The same through the guard, with and without the `--` that some programs consume themselves.
    fn ask_guarded(&self, question: &[&str]) -> Inspected {
        let program = program();
        let program = program.get_program().to_str().expect("UTF-8");
        let without = self.ask(&[program, "mcp"], question);
        let with = self.ask(&[program, "mcp", "--"], question);
        assert_eq!(with.result, without.result);
        assert_eq!(with.is_ok, without.is_ok);
        with
    }
}

#[test]
fn the_inspector_sees_no_difference_where_nothing_is_wrong() {
    let Some(inspector) = Inspector::find() else {
        return;
    };
    let sum = "tools/call --tool-name get-sum --tool-arg a=2 --tool-arg b=3";
    for question in ["tools/list", "resources/list", "prompts/list", sum] {
        let question: Vec<&str> = ["--method"]
            .into_iter()
            .chain(question.split(' '))
            .collect();
        let plain = inspector.ask(&[], &question);
        let guarded = inspector.ask_guarded(&question);
        assert_eq!(guarded.result, plain.result, "{question:?}");
        assert!(plain.is_ok && guarded.is_ok, "{}", guarded.said);
        if question.len() > 2 {
            let text = "The sum of 2 and 3 is 5.";
            assert_eq!(
                guarded.result,
                json!({"content": [{"type": "text", "text": text}]})
            );
            assert!(guarded.said.contains("get-sum: 1 call"), "{}", guarded.said);
        }
    }
}

#[test]
fn the_inspector_shows_what_the_model_would_hear() {
    let Some(inspector) = Inspector::find() else {
        return;
    };
    let call = "--method tools/call --tool-name get-sum --tool-arg a=two --tool-arg b=3";
    let guarded = inspector.ask_guarded(&call.split(' ').collect::<Vec<_>>());
    assert!(!guarded.is_ok);
    assert_eq!(guarded.result["isError"], true);
    let text = guarded.result["content"][0]["text"].as_str();
    // The Inspector converts the argument to a number before sending it, and `NaN` is `null` in JSON.
    let expected = "a: expected number, received null";
    assert!(text.is_some_and(|text| text.contains(expected)), "{text:?}");
    assert!(guarded.said.contains("1 refused"), "{}", guarded.said);
}
