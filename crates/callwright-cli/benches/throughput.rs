//! `callwright check` on 500,000 calls, with and without repair, compared with two programs that do less with the same
//! lines:
//!
//! - `parse only`: reads the lines, and parses each line and its arguments into typed values
//! - `plain loop`: reads them as `serde_json` values and validates the arguments with a compiled schema, without
//!   messages or output
//!
//! One call in twenty is wrong. Measured once with the 20 tools of an agent, and once with 2,000 tools in turn, whose
//! compiled schemas do not fit into the CPU caches. CPU time over all threads, the best of seven rounds, interleaved in
//! one run: `cargo bench -p callwright-cli`. Opening the tools is measured separately, on an empty file, and subtracted
//! from the others. The goal is 2.0 times `parse only` without repair, and 2.6 times with it.
#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a table for people"
)]

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;

use jsonschema::Validator;
use serde::Deserialize;
use serde_json::{Value, json};

const TOOLS: [usize; 2] = [20, 2_000];
const CALLS: usize = 500_000;
const ROUNDS: usize = 7;

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["parse", calls] => parse_only(Path::new(calls)),
        ["validate", calls, tools] => plain_loop(Path::new(calls), Path::new(tools)),
        _ => TOOLS.into_iter().for_each(compare),
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

/// The baseline.
fn parse_only(calls: &Path) {
    each_line(calls, |line| {
        let line: Line = serde_json::from_str(line).expect("JSON");
        black_box(serde_json::from_str::<Arguments>(&line.arguments).ok());
        black_box(line);
    });
}

/// The least that a guard could do.
fn plain_loop(calls: &Path, tools: &Path) {
    let tools: Value = serde_json::from_slice(&fs::read(tools).expect("readable")).expect("JSON");
    let tools: HashMap<&str, Validator> = (tools.as_array().into_iter().flatten())
        .filter_map(|tool| {
            let schema = jsonschema::validator_for(&tool["inputSchema"]).ok()?;
            Some((tool["name"].as_str()?, schema))
        })
        .collect();
    each_line(calls, |line| {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let arguments = line["arguments"]
            .as_str()
            .map(serde_json::from_str::<Value>);
        let tool = line["tool"].as_str().and_then(|name| tools.get(name));
        black_box(tool.zip(arguments).is_some_and(|(tool, arguments)| {
            arguments.is_ok_and(|arguments| tool.is_valid(&arguments))
        }));
    });
}

fn each_line(calls: &Path, work: impl Fn(&str)) {
    let reader = BufReader::new(fs::File::open(calls).expect("readable"));
    for line in reader.lines() {
        work(&line.expect("UTF-8"));
    }
}

fn compare(tools: usize) {
    let folder = std::env::temp_dir().join(format!("callwright-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for the bench");
    let [declared, calls, none] =
        ["tools.json", "calls.jsonl", "none.jsonl"].map(|it| folder.join(it));
    fs::write(&declared, generated_tools(tools).to_string()).expect("writable");
    fs::write(&calls, generated_calls(tools)).expect("writable");
    fs::write(&none, "").expect("writable");
    let check = |options: &[&str], calls: &Path| {
        let mut check = Command::new(env!("CARGO_BIN_EXE_callwright"));
        check.args(["check", "--format", "json"]).args(options);
        check.arg("--tools").args([&declared, calls]);
        check
    };
    let own = |program: &str, calls: &Path| {
        let mut own = Command::new(std::env::current_exe().expect("this program"));
        own.arg(program).args([calls, &declared]);
        own
    };
    let mut parse = Command::new(std::env::current_exe().expect("this program"));
    parse.arg("parse").arg(&calls);
    let programs = [
        ("parse only", parse, None),
        (
            "plain loop",
            own("validate", &calls),
            Some(own("validate", &none)),
        ),
        (
            "check --repair none",
            check(&["--repair", "none"], &calls),
            Some(check(&[], &none)),
        ),
        ("check", check(&[], &calls), Some(check(&[], &none))),
    ];
    let mut best = programs.each_ref().map(|_| [f64::MAX; 2]);
    for _ in 0..ROUNDS {
        for ((_, program, opening), best) in programs.iter().zip(&mut best) {
            best[0] = best[0].min(cpu_time(program));
            best[1] = best[1].min(opening.as_ref().map_or(0.0, cpu_time));
        }
    }
    println!("{CALLS} calls of {tools} tools, seconds of CPU time");
    for ((name, ..), [all, opening]) in programs.iter().zip(best) {
        let (calls, parse) = (all - opening, best[0][0]);
        let ratio = calls / parse;
        println!("{name:20} {calls:.3}   {ratio:.2} x parse only   opening the tools {opening:.3}");
    }
    fs::remove_dir_all(&folder).expect("removable");
}

/// CPU time of a child process.
fn cpu_time(program: &Command) -> f64 {
    // The shell counts CPU time in milliseconds; /proc only in hundredths of a second.
    let output = Command::new("bash")
        .args(["-c", "TIMEFORMAT='%U %S'; time \"$@\" > /dev/null", "bash"])
        .arg(program.get_program())
        .args(program.get_args())
        .output()
        .expect("bash runs");
    assert!(
        output.status.code().is_some_and(|code| code < 2),
        "{output:?}"
    );
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    let times = report.lines().last().unwrap_or_default().split_whitespace();
    times
        .map(|part| part.parse::<f64>().expect("seconds"))
        .sum()
}

fn generated_tools(tools: usize) -> Value {
    (0..tools)
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
fn generated_calls(tools: usize) -> String {
    let mut lines = String::new();
    for at in 0..CALLS {
        let n = (at * 7919) % tools;
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
