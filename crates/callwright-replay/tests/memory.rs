//! Memory does not grow with the log, whatever the log declares. Runs in its own process, so that nothing else is
//! measured.
#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, reason = "a test may panic")]

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use callwright_replay::run::{ReplaySettings, Run};
use callwright_replay::source::find;
use serde_json::json;

/// Requests, each with its own three tools. Without a bound these would take more than 200 MB.
const REQUESTS: usize = 1_500;

/// How much memory a run may use on top of what the process already has, in kilobytes.
const MOST: u64 = 80 * 1024;

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number
        .and_then(|number| number.parse().ok())
        .expect("a number")
}

#[test]
fn declarations_without_number_take_bounded_memory() {
    let mut log = String::new();
    for request in 0..REQUESTS {
        let properties: serde_json::Map<_, _> = (0..12)
            .map(|at| {
                (
                    format!("p{at}"),
                    json!({"type": "string", "description": "word ".repeat(12)}),
                )
            })
            .collect();
        let name = format!("tool_{request}");
        let tools = ["", "_b", "_c"].map(|end| {
            let schema = json!({"type": "object", "properties": properties});
            json!({"name": format!("{name}{end}"), "input_schema": schema})
        });
        let call = json!({"type": "tool_use", "id": "a", "name": name, "input": {"p0": "x"}});
        let messages =
            json!([{"role": "user", "content": name}, {"role": "assistant", "content": [call]}]);
        writeln!(log, "{}", json!({"tools": tools, "messages": messages})).expect("a text");
    }
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("declarations.jsonl");
    std::fs::write(&path, log).expect("a file");
    let before = resident();
    let inputs = find(&[path.to_string_lossy()]).expect("a file");
    let mut run = Run::new(inputs, ReplaySettings::default()).expect("a run");
    while !run.leg(&AtomicBool::new(false)).expect("no worker dies") {}
    let summary = run.finish();
    assert_eq!(summary.calls.valid, REQUESTS as u64);
    let grown = resident() - before;
    assert!(grown < MOST, "{grown} kB");
}
