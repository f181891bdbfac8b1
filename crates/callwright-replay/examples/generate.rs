//! Makes up a log of tool calls with the truth beside it: `tools.json`, `log.jsonl` and `labels.jsonl` in a folder.
//!
//! ```console
//! $ cargo run --release -p callwright-replay --example generate -- --calls 1000000 --seed 7 FOLDER
//! ```
//!
//! `--format` is `events` (the default), `lines`, `openai` or `otlp`; `--families` is `first` (the default), `second`,
//! `kept`, or several with commas. What is in it, and what each planted pattern
//! stands for, is said in `tests/support/traffic`.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a tool for people who work on this crate"
)]

#[path = "../tests/support/traffic/mod.rs"]
mod traffic;

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use traffic::{Family, Format, Settings, World};

const USAGE: &str = "usage: generate [--calls N] [--seed N] [--format events|lines|openai|otlp] [--families first,second,kept] FOLDER";

fn main() -> ExitCode {
    let Some((settings, families, folder)) = arguments() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    write(settings, &families, &folder).expect("the folder can be written to");
    ExitCode::SUCCESS
}

fn arguments() -> Option<(Settings, Vec<Family>, PathBuf)> {
    let mut settings = Settings {
        calls: 100_000,
        seed: 1,
        format: Format::Events,
    };
    let mut folder = None;
    let mut families = vec![Family::First];
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--calls" => settings.calls = arguments.next()?.parse().ok()?,
            "--seed" => settings.seed = arguments.next()?.parse().ok()?,
            "--format" => {
                let name = arguments.next()?;
                settings.format = Format::ALL.iter().find(|(known, _)| *known == name)?.1;
            }
            "--families" => {
                let names = arguments.next()?;
                let known = |name: &str| Family::ALL.iter().find(|(known, _)| *known == name);
                let found = names.split(',').map(|name| known(name).map(|(_, it)| *it));
                families = found.collect::<Option<_>>()?;
            }
            other if other.starts_with('-') => return None,
            other => folder = Some(PathBuf::from(other)),
        }
    }
    Some((settings, families, folder?))
}

fn write(settings: Settings, families: &[Family], folder: &std::path::Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let world = World::of(families);
    std::fs::write(folder.join("tools.json"), &world.tools_file)?;
    let mut log = BufWriter::new(File::create(folder.join("log.jsonl"))?);
    let mut wrote = Ok(());
    let counts = world.write(settings, |line| {
        if wrote.is_ok() {
            wrote = writeln!(log, "{line}");
        }
    });
    wrote?;
    log.flush()?;
    let mut labels = BufWriter::new(File::create(folder.join("labels.jsonl"))?);
    for label in world.labels(&counts) {
        writeln!(labels, "{label}")?;
    }
    labels.flush()
}
