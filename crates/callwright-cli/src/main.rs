//! `callwright`: the command line.
//!
//! stdout carries data only; messages go to stderr. Exit codes: 0 all calls valid, 1 at least one
//! refused, 2 usage or malformed input; `mcp` has the server's own, and 3 if there is none; `replay` has 130 if it is
//! interrupted. A reader that closes the pipe ends the program quietly.

mod args;
mod check;
mod explain;
mod input;
mod mcp;
mod replay;

use std::io;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Arguments, Command};

/// How a command that ran to its end went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Nothing to object to.
    Clean,
    /// Something was refused or found.
    Findings,
    /// Some of the input could not be used; it was named on stderr.
    Malformed,
    /// Another program ended with this code.
    Passed(u8),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Check(arguments) => check::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Mcp(arguments) => mcp::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
    };
    match result {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        Ok(Outcome::Malformed) => ExitCode::from(2),
        Ok(Outcome::Passed(code)) => ExitCode::from(code),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            say("error", &format!("{error:#}"));
            ExitCode::from(2)
        }
    }
}

/// A message for the person at the terminal. One that cannot be shown is not worth failing for.
fn say(label: &str, text: &str) {
    use std::io::Write as _;
    let style = match label.trim_start_matches("callwright: ") {
        "error" => anstyle::AnsiColor::Red.on_default().bold(),
        "warning" => anstyle::AnsiColor::Yellow.on_default().bold(),
        _ => anstyle::Style::new().bold(),
    };
    let _ = writeln!(anstream::stderr(), "{style}{label}{style:#}: {text}");
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
