//! What a guard costs: calls of a tool that answers at once, over stdio.
//!
//! Side by side in one run: a server alone, with a proxy before it that only copies lines, with one that parses them and asks
//! `jsonschema`, and with `callwright mcp`. They take turns call by call, so that whatever else the machine does affects all of
//! them.
//!
//! 1. `latency`: one call after the other, in front of a server of this bench and of the official example for Node (where
//!    `CALLWRIGHT_TEST_NODE_MODULES` names its packages); beside them the guard alone, in this process
//! 2. `throughput`: several calls in flight
//! 3. `memory`: what the guard has after a million calls
//!
//! The words `latency`, `throughput` and `memory` after `--` choose among them. The program is taken from `CALLWRIGHT`, or
//! from where cargo puts it: `cargo build --release` comes first.
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
    // The server and the proxy are this very program, asked for by words that cargo never gives.
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
