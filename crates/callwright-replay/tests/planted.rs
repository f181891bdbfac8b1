//! Does a replay tell bugs from edge cases? On generated traffic the truth is known.
//!
//! Runs on a short log with two families of tools. `CALLWRIGHT_PLANTED_CALLS=1000000`, `CALLWRIGHT_PLANTED_SEEDS=1,2,3`
//! and `CALLWRIGHT_PLANTED_FAMILIES=first,second,kept` ask for more, best with `--release -- --nocapture`.
//! `support/evaluation.rs` describes how the results are counted.
#![allow(
    clippy::cast_precision_loss,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a table for people; shares are rounded anyway, and a test may panic"
)]

#[path = "support/engine.rs"]
mod engine;
#[path = "support/evaluation.rs"]
mod evaluation;
#[path = "support/objections.rs"]
mod objections;
#[path = "support/traffic/mod.rs"]
mod traffic;

use std::fs::File;
use std::io::{BufWriter, Write as _};

use callwright_replay::report::Report;
use evaluation::{Evaluation, Part, Planted, evaluate, keep_planted};
use traffic::{Family, Format, Settings, World};

/// Enough for most patterns to have the required number of calls; takes half a minute without optimisation.
const CALLS: usize = 80_000;

/// From this many calls on, the changed tools accept the planted edge cases, except for values that occurred only once
/// or twice.
const LONG: usize = 1_000_000;

/// The kept family is left out: it is only looked at when a change to the rule is finished.
const FAMILIES: &str = "first,second";

fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

fn run(families: &[Family], calls: usize, seed: u64) -> Evaluation {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("planted-{seed}"));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let world = World::of(families);
    let tools = callwright::wire::read_tools(&world.tools_file).expect("the tools can be read");
    let path = folder.join("log.jsonl");
    let mut log = BufWriter::new(File::create(&path).expect("a file for the log"));
    let mut planted = Planted::new();
    world.write(
        Settings {
            calls,
            seed,
            format: Format::Lines,
        },
        |line| {
            writeln!(log, "{line}").expect("the log can be written");
            keep_planted(line, &mut planted);
        },
    );
    log.into_inner().expect("the log can be written");
    let summary = engine::replay(tools.clone(), &path, None);
    assert_eq!(summary.calls.calls, calls as u64);
    let report = Report::new(summary);
    let evaluation = evaluate(&world, &tools, &report, &planted, &folder);
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    evaluation
}

fn shown(name: &str, part: Part) {
    let percent = part.share() * 100.0;
    println!("{name:<42} {percent:6.2}%  {} of {}", part.are, part.of);
}

#[test]
fn bugs_and_edge_cases_are_distinguished() {
    let calls =
        setting("CALLWRIGHT_PLANTED_CALLS").map_or(CALLS, |text| text.parse().expect("a number"));
    let seeds = setting("CALLWRIGHT_PLANTED_SEEDS").unwrap_or_else(|| "1".to_owned());
    let names = setting("CALLWRIGHT_PLANTED_FAMILIES").unwrap_or_else(|| FAMILIES.to_owned());
    let families: Vec<Family> = Family::ALL
        .iter()
        .filter(|(name, _)| names.contains(name))
        .map(|(_, family)| *family)
        .collect();
    for seed in seeds.split(',') {
        let found = run(
            &families,
            calls,
            seed.trim().parse().expect("numbers with commas"),
        );
        println!("\n{calls} calls, seed {seed}\n{}", found.remarks);
        shown("precision by clusters", found.precision_by_clusters);
        shown("precision by calls", found.precision_by_calls);
        shown("recall by patterns", found.recall_by_patterns);
        shown("recall by calls", found.recall_by_calls);
        shown(
            "edge cases accepted by the changed tools",
            found.edge_cases_accepted,
        );
        shown("their calls", found.edge_calls_accepted);
        shown("calls with a bug accepted", found.bug_calls_accepted);
        assert!(found.precision_by_clusters.share() >= 0.95);
        assert!(found.precision_by_calls.share() >= 0.95);
        assert!(found.recall_by_patterns.share() >= 0.9);
        assert!(found.recall_by_calls.share() >= 0.9);
        // In a short log each value of a pattern has only a few calls, and some stay unclear.
        let least = if calls >= LONG { 0.98 } else { 0.9 };
        assert!(found.edge_cases_accepted.share() >= least);
        assert!(found.bug_calls_accepted.share() <= 0.01);
    }
}
