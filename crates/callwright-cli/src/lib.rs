//! `callwright`: the command line, as a function that the packages for other languages call too.
//!
//! stdout carries only data; messages go to stderr. Exit codes: 0 if all calls are valid, 1 if at least one is
//! refused, 2 for wrong usage or malformed input; `mcp` exits with the server's own code, or 3 if there is no server;
//! `replay` exits with 130 if interrupted. A closed pipe ends the program quietly.

mod args;
mod check;
mod doctor;
mod explain;
mod http_options;
mod init;
mod input;
mod mcp;
mod mcp_clients;
mod progress;
mod record;
mod replay;
mod serve;
mod shell;
mod version;
mod welcome;

use std::ffi::OsString;
use std::io::{self, Write as _};

use clap::Parser as _;

use crate::args::{Arguments, Command};

/// The result of a command that ran to completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommandOutcome {
    /// Nothing was refused.
    Clean,
    /// Something was refused or found.
    Findings,
    /// Some of the input could not be used; stderr says which.
    Malformed,
    /// Another program exited with this code.
    Passed(u8),
}

/// Runs the program with these arguments, the first of which is its own name, and returns its exit code. Reads
/// standard input, and writes to standard output and standard error.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let code = run_command(arguments);
    // Inside another program's process, stdout is not flushed at exit.
    let _ = io::stdout().flush();
    code
}

fn run_command(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let Some(command) = arguments.command else {
        return welcome::print();
    };
    let result = match command {
        Command::Check(arguments) => check::run(&arguments),
        Command::Completions(arguments) => shell::completions(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Init(arguments) => init::run(&arguments),
        Command::Man(arguments) => shell::man(&arguments),
        Command::Mcp(arguments) => mcp::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
    };
    match result {
        Ok(CommandOutcome::Clean) => 0,
        Ok(CommandOutcome::Findings) => 1,
        Ok(CommandOutcome::Malformed) => 2,
        Ok(CommandOutcome::Passed(code)) => code,
        Err(error) if is_broken_pipe(&error) => 0,
        Err(error) => {
            say("error", &format!("{error:#}"));
            2
        }
    }
}

/// Prints help, or what is wrong with the arguments. Quoted arguments are escaped where that makes a difference.
fn usage(error: &clap::Error) -> u8 {
    let plain = error.render().to_string();
    let shown = visible_lines(&plain);
    if shown == plain {
        // A closed pipe is not a failure.
        let _ = error.print();
        return if error.use_stderr() { 2 } else { 0 };
    }
    let _ = writeln!(io::stderr(), "{shown}");
    2
}

/// Prints a message on stderr. Text quoted in it cannot act on the terminal. A message that cannot be written is not
/// worth failing for.
fn say(label: &str, text: &str) {
    let style = match label.trim_start_matches("callwright: ") {
        "error" => anstyle::AnsiColor::Red.on_default().bold(),
        "warning" => anstyle::AnsiColor::Yellow.on_default().bold(),
        _ => anstyle::Style::new().bold(),
    };
    let text = visible_lines(text);
    let _ = writeln!(anstream::stderr(), "{style}{label}{style:#}: {text}");
}

/// Escapes everything that a terminal would interpret or hide, except line breaks.
fn visible_lines(text: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(callwright::internal::visible)
        .collect();
    lines.join("\n")
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
