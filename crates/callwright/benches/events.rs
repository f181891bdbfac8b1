//! The cost of an event for its call, and for a sink's thread.
#![allow(clippy::expect_used, reason = "a bench may panic")]

use std::time::{Duration, SystemTime};

use callwright::event::{Event, JsonLines, Sinks, callback};
use callwright::{Call, Gate, ToolSpec};
use divan::{Bencher, black_box};
use serde_json::json;

fn main() {
    divan::main();
}

const ARGUMENTS: &str =
    r#"{"file_path": "src/main.rs", "offset": 120, "limit": 40, "encoding": "utf-8"}"#;

fn gate(secret: bool) -> Gate {
    let schema = json!({
        "type": "object",
        "properties": {
            "file_path": {"type": "string"},
            "offset": {"type": "integer"},
            "limit": {"type": "integer"},
            "encoding": {"type": "string", "writeOnly": secret},
        },
        "required": ["file_path"],
    });
    let tool = ToolSpec::new("read_file", schema);
    Gate::builder().tool(tool).build().expect("one tool")
}

fn event(gate: &Gate, call: &Call<'_>) -> Event {
    Event::of(gate, call, &gate.judge(call), SystemTime::UNIX_EPOCH)
}

/// The call alone.
#[divan::bench]
fn without_a_sink(bencher: Bencher<'_, '_>) {
    let (gate, sinks) = (gate(false), Sinks::default());
    let call = Call::from_text("read_file", ARGUMENTS);
    bencher.bench(|| {
        let verdict = gate.judge(black_box(&call));
        sinks.report(|| Event::of(&gate, &call, &verdict, SystemTime::UNIX_EPOCH));
        drop(verdict);
    });
}

/// The call, its event, and handing it over.
#[divan::bench]
fn with_a_sink(bencher: Bencher<'_, '_>) {
    let gate = gate(false);
    let sinks = Sinks::builder()
        .sink("nothing", callback(|_| {}))
        .start()
        .expect("a thread");
    let call = Call::from_text("read_file", ARGUMENTS);
    bencher.bench(|| {
        let verdict = gate.judge(black_box(&call));
        sinks.report(|| Event::of(&gate, &call, &verdict, SystemTime::now()));
        drop(verdict);
    });
}

/// A thousand events, until they have been written.
#[divan::bench]
fn a_thousand_lines(bencher: Bencher<'_, '_>) {
    let gate = gate(false);
    let sinks = Sinks::builder()
        .sink("lines", JsonLines::new(std::io::sink()))
        .start()
        .expect("a thread");
    let call = Call::from_text("read_file", ARGUMENTS);
    bencher.bench_local(|| {
        for _ in 0..1_000 {
            sinks.send(event(&gate, &call));
        }
        sinks.flush(Duration::from_secs(60))
    });
}

/// One line, with or without something to mask.
#[divan::bench(args = [false, true])]
fn line(bencher: Bencher<'_, '_>, secret: bool) {
    let gate = gate(secret);
    let event = event(&gate, &Call::from_text("read_file", ARGUMENTS));
    let mut out = String::new();
    bencher.bench_local(|| {
        out.clear();
        black_box(&event).line().write(&mut out);
        out.len()
    });
}
