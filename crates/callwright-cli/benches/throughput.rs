//! `callwright check` on 100,000 calls of 2,000 tools, with and without repair, next to a program that only reads the lines
//! and parses line and arguments into typed values. One call in twenty is wrong. CPU time over all threads, best of nine,
//! interleaved in one run: `cargo bench -p callwright-cli`. The goal is 2.0 times without repair, and 2.6 times with it.
#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a table for people"
)]

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use serde_json::{Value, json};

const TOOLS: usize = 2_000;
const CALLS: usize = 100_000;
const ROUNDS: usize = 9;

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench");
    match arguments.next() {
        Some(file) => parse_only(Path::new(&file)),
        None => compare(),
    }
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only parsed")]
struct Line {
    id: String,
    tool: String,
    arguments: String,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only parsed")]
struct Arguments {
    query: String,
    limit: Option<u32>,
    verbose: Option<bool>,
    status: Option<String>,
}

/// The program to compare with.
fn parse_only(file: &Path) {
    let reader = BufReader::new(fs::File::open(file).expect("readable"));
    for line in reader.lines() {
        let line: Line = serde_json::from_str(&line.expect("UTF-8")).expect("JSON");
        black_box(serde_json::from_str::<Arguments>(&line.arguments).ok());
        black_box(line);
    }
}

fn compare() {
    let folder = std::env::temp_dir().join(format!("callwright-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for the bench");
    let (tools, calls) = (folder.join("tools.json"), folder.join("calls.jsonl"));
    fs::write(&tools, generated_tools().to_string()).expect("writable");
    fs::write(&calls, generated_calls()).expect("writable");
    let check = |options: &[&str]| {
        let mut check = Command::new(env!("CARGO_BIN_EXE_callwright"));
        check.args(["check", "--format", "json"]).args(options);
        check.arg("--tools").args([&tools, &calls]);
        check
    };
    let mut parse = Command::new(std::env::current_exe().expect("this program"));
    parse.arg(&calls);
    let mut programs = [
        ("parse only", parse),
        ("check --repair none", check(&["--repair", "none"])),
        ("check", check(&[])),
    ];
    let mut best = [(f64::MAX, f64::MAX); 3];
    for _ in 0..ROUNDS {
        for ((_, program), best) in programs.iter_mut().zip(&mut best) {
            let time = time(program);
            if time.0 < best.0 {
                *best = time;
            }
        }
    }
    println!("{CALLS} calls of {TOOLS} tools, seconds of CPU time (and of the clock)");
    for ((name, _), (cpu, clock)) in programs.iter().zip(best) {
        let ratio = cpu / best[0].0;
        println!("{name:20} {cpu:.3} ({clock:.3})   {ratio:.2} x parse only");
    }
    fs::remove_dir_all(&folder).expect("removable");
}

/// CPU and clock time of a child process.
fn time(program: &Command) -> (f64, f64) {
    let started = std::time::Instant::now();
    // The shell counts CPU time in milliseconds; /proc only in hundredths of a second.
    let output = Command::new("bash")
        .args(["-c", "TIMEFORMAT='%U %S'; time \"$@\" > /dev/null", "bash"])
        .arg(program.get_program())
        .args(program.get_args())
        .output()
        .expect("bash runs");
    let clock = started.elapsed().as_secs_f64();
    assert!(
        output.status.code().is_some_and(|code| code < 2),
        "{output:?}"
    );
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    let times = report.lines().last().unwrap_or_default().split_whitespace();
    let cpu = times
        .map(|part| part.parse::<f64>().expect("seconds"))
        .sum();
    (cpu, clock)
}

fn generated_tools() -> Value {
    (0..TOOLS)
        .map(|n| {
            let mut properties = json!({
                "query": {"type": "string", "description": "What to look for, in plain words."},
                "limit": {"type": "integer", "minimum": 0, "maximum": 1000, "default": 20},
                "verbose": {"type": "boolean", "description": "Tell everything."},
                "status": {"enum": ["pending", "shipped", "delivered", "returned"]},
            });
            for extra in 0..n % 7 {
                properties[format!("option_{extra}")] = json!({
                    "type": "string",
                    "description": format!("Option {extra} of tool {n}, which most calls leave alone."),
                });
            }
            json!({
                "name": format!("service_{}_{n}", n % 40),
                "inputSchema": {"type": "object", "properties": properties, "required": ["query"]},
            })
        })
        .collect()
}

/// Arguments of the sizes that models send; one call in twenty is wrong.
fn generated_calls() -> String {
    let mut lines = String::new();
    for at in 0..CALLS {
        let n = (at * 7919) % TOOLS;
        let arguments = match at % 20 {
            0 => json!({"query": at, "limit": "many"}),
            1..=8 => json!({"query": format!("order {at}"), "limit": at % 100}),
            9..=14 => {
                json!({"query": format!("all of customer {}", at % 977), "status": "shipped"})
            }
            _ => {
                json!({"query": format!("where is parcel \"{at}\"?"), "verbose": true, "limit": 5})
            }
        };
        let line = json!({
            "id": format!("call_{at}"),
            "tool": format!("service_{}_{n}", n % 40),
            "arguments": arguments.to_string(),
        });
        let _ = writeln!(lines, "{line}");
    }
    lines
}
