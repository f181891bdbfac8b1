//! A replay of a million generated calls on two threads, compared with programs that do less on the same lines, with
//! two threads and the same reader:
//!
//! - `parse`: reads each line as a `serde_json::Value`, and nothing else
//! - `parse all`: also parses the arguments if they are a text
//! - `validate`: also checks the arguments and the result against a compiled schema: a plain loop, without a gate
//! - `replay`: the library, up to the finished summary
//!
//! Each runs in its own process, in turns; the medians are shown, with the peak resident memory.
//!
//! ```console
//! $ cargo bench -p callwright-replay --bench replay             # a million calls
//! $ cargo bench -p callwright-replay --bench replay -- linear   # the replay on one million and on four
//! ```
//!
//! `CALLWRIGHT_BENCH_CALLS`, `CALLWRIGHT_BENCH_FORMAT` (`lines`, `events`, `otlp`) and `CALLWRIGHT_BENCH_ROUNDS` change
//! the settings. Logs are generated once and kept in the target folder.
#![allow(
    missing_docs,
    clippy::cast_precision_loss,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a table for people"
)]

#[path = "../tests/support/engine.rs"]
mod engine;
#[path = "../tests/support/traffic/mod.rs"]
mod traffic;

use std::collections::HashMap;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufWriter, Write as _};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;

use callwright_replay::source::{Pieces, find};
use jsonschema::Validator;
use serde_json::Value;
use traffic::{Format, Settings, TOOLS, World};

/// The bars are stated for two threads.
const THREADS: usize = 2;

/// The programs, with the baseline first.
const PROGRAMS: [&str; 4] = ["parse", "parse all", "validate", "replay"];

/// The bars: speed in percent of `parse`, and memory in megabytes.
const SPEED_BAR: f64 = 45.0;
const MEMORY_BAR: f64 = 200.0;

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|it| it != "--bench")
        .collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [program, file] => child(program, Path::new(file)),
        ["linear"] => linear(),
        _ => compare(),
    }
}

/// Runs one program in this process and prints its measurements.
fn child(program: &str, log: &Path) {
    let started = Instant::now();
    match program {
        "parse" => each_line(log, |line| drop(black_box(parsed(line)))),
        "parse all" => each_line(log, |line| {
            let line = parsed(line);
            black_box(arguments(&line));
            black_box(line);
        }),
        "validate" => {
            let tools = validators();
            each_line(log, |line| {
                black_box(is_valid(&tools, &parsed(line)));
            });
        }
        _ => replay(log),
    }
    let seconds = started.elapsed().as_secs_f64();
    println!("{seconds} {} {}", processor_seconds(), resident_megabytes());
}

/// The program that is measured.
fn replay(log: &Path) {
    let tools = callwright::wire::read_tools(TOOLS).expect("the tools can be read");
    let summary = engine::replay(tools, log, NonZero::new(THREADS));
    assert!(summary.calls.calls > 0);
    black_box(summary);
}

/// Distributes the lines over two threads.
fn each_line(log: &Path, work: impl Fn(&str) + Sync) {
    let inputs = find(&[log.to_string_lossy()]).expect("the log is there");
    let pieces = Mutex::new(Pieces::new(inputs));
    let next = || pieces.lock().expect("no thread dies").next();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(item) = next() {
                    if let Ok(piece) = item {
                        piece
                            .records()
                            .for_each(|record| work(record.text.expect("UTF-8")));
                    }
                }
            });
        }
    });
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).expect("JSON")
}

/// The parsed arguments of a call line or an event, if they are a text.
fn arguments(line: &Value) -> Option<Value> {
    let arguments = line.get("arguments_sent").unwrap_or(&line["arguments"]);
    match arguments {
        Value::String(text) => serde_json::from_str(text).ok(),
        _ => None,
    }
}

/// The schemas of a tool: for its arguments and for its results.
type Schemas = (Option<Validator>, Option<Validator>);

fn validators() -> HashMap<String, Schemas> {
    let compile = |schema: &std::sync::Arc<Value>| {
        let options = jsonschema::options().should_validate_formats(true);
        options.build(schema).expect("the schema compiles")
    };
    let tools = callwright::wire::read_tools(TOOLS).expect("the tools can be read");
    let tools = tools.into_iter().map(|tool| {
        let schemas = (
            tool.input_schema.as_ref().map(compile),
            tool.output_schema.as_ref().map(compile),
        );
        (tool.name, schemas)
    });
    tools.collect()
}

fn is_valid(tools: &HashMap<String, Schemas>, line: &Value) -> bool {
    let Some((input, output)) = line["tool"].as_str().and_then(|name| tools.get(name)) else {
        return false;
    };
    let read = arguments(line);
    let arguments = read
        .as_ref()
        .or(line.get("arguments"))
        .unwrap_or(&Value::Null);
    let fits = |schema: &Option<Validator>, value: &Value| {
        schema.as_ref().is_none_or(|schema| schema.is_valid(value))
    };
    let result = line
        .get("output")
        .filter(|_| line.get("is_error").is_none());
    fits(input, arguments) && result.is_none_or(|result| fits(output, result))
}

/// One run of a program.
#[derive(Debug, Clone, Copy)]
struct Measured {
    seconds: f64,
    processor: f64,
    megabytes: f64,
}

fn measure(program: &str, log: &Path) -> Measured {
    let this = std::env::current_exe().expect("this program");
    let output = Command::new(this)
        .arg(program)
        .arg(log)
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut numbers = text
        .split_whitespace()
        .map(|number| number.parse::<f64>().expect("a number"));
    let mut next = || numbers.next().expect("three numbers");
    Measured {
        seconds: next(),
        processor: next(),
        megabytes: next(),
    }
}

fn median(runs: &[Measured], of: impl Fn(&Measured) -> f64) -> f64 {
    let mut values: Vec<f64> = runs.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn compare() {
    let calls = setting("CALLWRIGHT_BENCH_CALLS", 1_000_000);
    let log = log(calls);
    let mut runs = vec![Vec::new(); PROGRAMS.len()];
    for _ in 0..setting("CALLWRIGHT_BENCH_ROUNDS", 5) {
        for (program, runs) in PROGRAMS.iter().zip(&mut runs) {
            runs.push(measure(program, &log));
        }
    }
    let megabytes = fs::metadata(&log).expect("the log is there").len() as f64 / 1e6;
    println!(
        "{calls} calls, {megabytes:.0} MB, {THREADS} threads; medians of {} runs in turns",
        runs[0].len()
    );
    println!(
        "program      calls/s    MB/s   seconds  (processor)  of parse  (processor)  resident MB"
    );
    let (least, least_processor) = (
        median(&runs[0], |it| it.seconds),
        median(&runs[0], |it| it.processor),
    );
    for (program, runs) in PROGRAMS.iter().zip(&runs) {
        let (seconds, processor) = (
            median(runs, |it| it.seconds),
            median(runs, |it| it.processor),
        );
        println!(
            "{program:<10} {:>9.0} {:>7.0} {seconds:>9.2}  {processor:>10.2} {:>9.1}%  {:>10.1}% {:>11.0}",
            calls as f64 / seconds,
            megabytes / seconds,
            100.0 * least / seconds,
            100.0 * least_processor / processor,
            median(runs, |it| it.megabytes),
        );
    }
    println!("bars: replay at least {SPEED_BAR}% of parse, less than {MEMORY_BAR} MB");
}

/// Four times as many calls should take four times as long, and no more memory.
fn linear() {
    let calls = setting("CALLWRIGHT_BENCH_CALLS", 1_000_000);
    let logs = [log(calls), log(4 * calls)];
    let mut runs = [Vec::new(), Vec::new()];
    for _ in 0..setting("CALLWRIGHT_BENCH_ROUNDS", 5) {
        for (log, runs) in logs.iter().zip(&mut runs) {
            runs.push(measure("replay", log));
        }
    }
    for (times, runs) in [1, 4].iter().zip(&runs) {
        let (seconds, megabytes) = (
            median(runs, |it| it.seconds),
            median(runs, |it| it.megabytes),
        );
        let speed = (times * calls) as f64 / seconds;
        println!(
            "{:>9} calls  {seconds:>7.2} s  {speed:>9.0} calls/s  {megabytes:>5.0} MB resident",
            times * calls
        );
    }
}

fn setting(name: &str, usual: usize) -> usize {
    let given = std::env::var(name).ok();
    given.map_or(usual, |text| text.parse().expect("a number"))
}

/// The log with this many calls, generated if it does not exist.
fn log(calls: usize) -> PathBuf {
    let format = std::env::var("CALLWRIGHT_BENCH_FORMAT").unwrap_or_else(|_| "lines".to_owned());
    let (_, known) = Format::ALL
        .into_iter()
        .find(|(name, _)| *name == format)
        .expect("a format that there is");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay-bench");
    fs::create_dir_all(&folder).expect("a folder for the bench");
    let path = folder.join(format!("{format}-{calls}.jsonl"));
    if !path.exists() {
        let unfinished = path.with_extension("part");
        let mut file = BufWriter::new(File::create(&unfinished).expect("a file for the log"));
        let settings = Settings {
            calls,
            seed: 1,
            format: known,
        };
        World::new().write(settings, |line| {
            writeln!(file, "{line}").expect("the log can be written");
        });
        file.into_inner().expect("the log can be written");
        fs::rename(&unfinished, &path).expect("the log can be renamed");
    }
    path
}

/// CPU time of all threads of this process, where the system reports it.
fn processor_seconds() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace();
    // After the name: the state is the third field; user and system time are the 14th and the 15th, in hundredths of a
    // second.
    let ticks = fields
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

/// Peak resident memory, where the system reports it.
fn resident_megabytes() -> f64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or_default() / 1024.0
}
