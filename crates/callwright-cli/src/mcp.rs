//! `callwright mcp`: guards one MCP server or many, on stdin and stdout or over HTTP.
//!
//! stdout carries only the protocol. Warnings go to stderr, next to what the servers write there, and so do the counts at
//! the end.

mod http;
mod servers;

pub(crate) use http::ended;

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use callwright::event::{JsonLines, Sinks, Values};
use callwright::feedback::Feedback;
use callwright_mcp::config;
use callwright_mcp::guard::Settings;
use callwright_mcp::hub::{self, ServerGroup};
use callwright_mcp::status::Status;

use crate::args::McpArguments;
use crate::input::{self, printable};
use crate::{Outcome, say};

const NO_COMMAND: &str = "no server command given; add it after `--`";

/// How long to wait for the last records. A busy disk takes a second at worst.
const LAST_RECORDS: Duration = Duration::from_secs(2);

pub(crate) fn run(arguments: &McpArguments) -> Result<Outcome> {
    match &arguments.servers {
        Some(file) if arguments.print_config => return servers::print_config(file),
        None if arguments.print_config => return print_config(arguments),
        _ => {}
    }
    let settings = Arc::new(settings(arguments)?);
    let outcome = match (&arguments.upstream, &arguments.servers) {
        (Some(upstream), _) => http::serve(upstream, arguments, &settings)?,
        (None, Some(file)) => Outcome::Passed(guard(&servers::read(file)?, &settings)?),
        (None, None) => Outcome::Passed(guard(&command(arguments)?, &settings)?),
    };
    warn_of_lost_records(&settings.sinks);
    report(&settings.status);
    Ok(outcome)
}

fn settings(arguments: &McpArguments) -> Result<Settings> {
    let mut settings = Settings::default();
    if let Some(path) = &arguments.policy {
        settings.policy = input::read_policy(path)?;
    }
    settings.mode = arguments.mode.validation();
    settings.trust_annotations = arguments.trust_annotations;
    settings.fix_schemas = arguments.fix_schemas;
    settings.quiet = Duration::from_secs(u64::from(arguments.quiet_turn));
    if let Some(style) = arguments.style {
        settings.feedback = Feedback::new(style.0);
    }
    if let Some(path) = &arguments.record {
        settings.sinks = record(path, arguments.record_values.values())?;
        settings.keep_output = true;
    }
    Ok(settings)
}

/// Starts the servers and guards them; returns the exit code.
fn guard(servers: &ServerGroup, settings: &Arc<Settings>) -> Result<u8> {
    let warn = |warning: &str| tell("warning", warning);
    let end = hub::run(Arc::clone(settings), servers, warn)
        .context("cannot run between the client and its servers")?;
    if let Some(error) = &end.error {
        tell("error", error);
    }
    Ok(end.code)
}

/// The one server of the command line.
fn command(arguments: &McpArguments) -> Result<ServerGroup> {
    let Some((program, rest)) = arguments.command.split_first() else {
        bail!(NO_COMMAND);
    };
    Ok(ServerGroup::direct(program.clone(), rest.to_vec()))
}

/// The entry of the server in a client's configuration, before and after.
fn print_config(arguments: &McpArguments) -> Result<Outcome> {
    let words: Vec<String> = arguments
        .command
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let Some((program, rest)) = words.split_first() else {
        bail!(NO_COMMAND);
    };
    let name = Path::new(program)
        .file_stem()
        .map_or_else(|| "server".into(), std::ffi::OsStr::to_string_lossy);
    let entry = config::print_config(&name, program, rest, "callwright");
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{}", entry.trim_end()).context("cannot write to standard output")?;
    Ok(Outcome::Clean)
}

pub(crate) fn record(path: &Path, values: Values) -> Result<Sinks> {
    let cannot = || format!("cannot write records to {}", path.display());
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .with_context(cannot)?;
    let lines = JsonLines::new(file).with_values(values).with_output(true);
    Sinks::builder()
        .sink("record", lines)
        .start()
        .with_context(cannot)
}

pub(crate) fn warn_of_lost_records(sinks: &Sinks) {
    let is_all = sinks.flush(LAST_RECORDS);
    let lost: u64 = sinks
        .stats()
        .iter()
        .map(|(_, stats)| stats.dropped + stats.failed)
        .sum();
    if lost > 0 {
        tell("warning", &format!("{lost} records were not written"));
    } else if !is_all {
        tell("warning", "the last records may not be written");
    }
}

/// What happened, one line for each tool that was called.
fn report(status: &Status) {
    let tools = status.tools();
    let total =
        |of: fn(&callwright_mcp::status::CallCounts) -> u64| tools.values().map(of).sum::<u64>();
    let calls = total(|counts| counts.calls);
    let plural = if calls == 1 { "" } else { "s" };
    let mut summary = format!(
        "{calls} call{plural}, {} repaired, {} refused, {} stopped as repetitions",
        total(|counts| counts.repaired),
        total(|counts| counts.refused),
        total(|counts| counts.stopped),
    );
    for (count, what) in [
        (total(|counts| counts.unjudged), "unjudged"),
        (status.unreadable(), "unreadable"),
    ] {
        if count > 0 {
            let _ = write!(summary, ", {count} {what}");
        }
    }
    tell("guarded", &summary);
    for (name, counts) in &tools {
        tell("guarded", &format!("{}: {counts}", printable(name)));
    }
}

/// A message among those of the servers, so it says where it comes from.
pub(crate) fn tell(label: &str, text: &str) {
    for line in text.lines() {
        say(&format!("callwright: {label}"), &printable(line));
    }
}
