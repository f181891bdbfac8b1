//! What a guard costs: calls of a tool that answers at once, over stdio.
//!
//! Compared in one run: a server alone, behind a proxy that only copies lines, behind one that parses them and
//! validates with `jsonschema`, and behind `callwright mcp`. They alternate call by call, so that other load on the
//! machine affects all of them.
//!
//! 1. `latency`: one call at a time, with this bench's own server and with the official example for Node (if
//!    `CALLWRIGHT_TEST_NODE_MODULES` names its packages); also the guard alone, in this process
//! 2. `throughput`: several calls in flight
//! 3. `memory`: the guard's memory after a million calls
//!
//! The words `latency`, `throughput` and `memory` after `--` select among them. The program is taken from `CALLWRIGHT`,
//! or from where cargo puts it: run `cargo build --release` first.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a bench"
)]

mod latency;
mod parts;
mod pipes;
mod throughput;

use std::env;

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    // The server and the proxies are this same program, selected by arguments that cargo never passes.
    match words.first().map(String::as_str) {
        Some("serve") => return parts::serve(),
        Some("copy") => return pipes::copy(&words[1..]),
        Some("validate") => return pipes::validate(&words[1..]),
        _ => {}
    }
    let is_wanted = |name: &str| {
        let mut chosen = words
            .iter()
            .filter(|word| !word.starts_with('-'))
            .peekable();
        chosen.peek().is_none() || chosen.any(|word| word == name)
    };
    if parts::program().is_none() {
        println!("there is no callwright to measure: build it, or name it in CALLWRIGHT");
    }
    if is_wanted("latency") {
        latency::measure();
    }
    if is_wanted("throughput") {
        throughput::measure();
    }
    if is_wanted("memory") {
        throughput::measure_memory();
    }
}
