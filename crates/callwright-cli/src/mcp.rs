//! `callwright mcp`: guards one or more MCP servers, over stdio or HTTP.
//!
//! stdout carries only the protocol. Warnings and the final counts go to stderr, next to what the servers write
//! there.

mod http;
mod print_config;
mod servers;

pub(crate) use http::ended;

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use callwright::event::Sinks;
use callwright::feedback::Feedback;
use callwright::policy::Validation;
use callwright_live::{Guards, Live};
use callwright_mcp::guard::Settings;
use callwright_mcp::hub::{self, ServerGroup};
use callwright_mcp::status::Status;

use crate::args::McpArguments;
use crate::input::{self, printable};
use crate::{CommandOutcome, say};

const NO_COMMAND: &str = "no server command given; add it after `--`";

/// How long to wait for the last records. A busy disk takes a second at worst.
const LAST_RECORDS: Duration = Duration::from_secs(2);

pub(crate) fn run(arguments: &McpArguments) -> Result<CommandOutcome> {
    if arguments.print_config {
        return print_config::print(arguments);
    }
    let live = live(arguments)?;
    let settings = Arc::new(settings(arguments, live.as_ref())?);
    let outcome = match (&arguments.upstream, &arguments.servers) {
        (Some(_), _) => http::serve(arguments, &settings, live)?,
        (None, None) if arguments.listen.is_some() => http::serve(arguments, &settings, live)?,
        (None, servers) => {
            let mut group = match servers {
                Some(file) => servers::read(file)?,
                None => command(arguments)?,
            };
            group.start_limit = Duration::from_secs(u64::from(arguments.start_limit));
            CommandOutcome::Passed(guard(&group, &settings)?)
        }
    };
    warn_of_lost_records(&settings.sinks);
    report(&settings.status, settings.mode);
    Ok(outcome)
}

/// The figures for the status page, if HTTP clients can request it.
fn live(arguments: &McpArguments) -> Result<Option<Arc<Live>>> {
    if arguments.listen.is_none() {
        arguments.clients.check_unused()?;
        return Ok(None);
    }
    let guarded = match (&arguments.upstream, arguments.command.first()) {
        // The query may contain a secret.
        (Some(url), _) => url.split('?').next().unwrap_or_default().to_owned(),
        (None, Some(program)) => program.to_string_lossy().into_owned(),
        (None, None) => bail!(NO_COMMAND),
    };
    let live = Live::new(Guards::Tools, guarded).with_feedback(feedback(arguments));
    Ok(Some(Arc::new(live)))
}

/// The feedback for the model.
fn feedback(arguments: &McpArguments) -> Feedback {
    arguments
        .style
        .map_or_else(Feedback::default, Feedback::new)
}

fn settings(arguments: &McpArguments, live: Option<&Arc<Live>>) -> Result<Settings> {
    let mut settings = Settings::default();
    if let Some(path) = &arguments.policy {
        settings.policy = input::read_policy(path)?;
    }
    settings.mode = arguments.mode;
    settings.trust_annotations = arguments.trust_annotations;
    settings.fix_schemas = arguments.fix_schemas;
    settings.quiet = Duration::from_secs(u64::from(arguments.quiet_turn));
    settings.feedback = feedback(arguments);
    settings.most_bytes = arguments.max_message_bytes;
    settings.limits.max_bytes = arguments.max_argument_bytes;
    let mut sinks = Sinks::builder();
    if let Some((lines, tools_listed)) = arguments.record.open()? {
        sinks = sinks.sink("record", lines);
        settings.tools_listed = Some(tools_listed);
        settings.keep_output = true;
    }
    if let Some(live) = live {
        sinks = sinks.sink("live", live.sink("mcp"));
    }
    settings.sinks = sinks.start().context("cannot start threads")?;
    Ok(settings)
}

/// Starts the servers and guards them; returns the exit code.
fn guard(servers: &ServerGroup, settings: &Arc<Settings>) -> Result<u8> {
    let warn = |warning: &str| tell("warning", warning);
    let end = hub::run(Arc::clone(settings), servers, warn)
        .context("cannot start the proxy between the client and its servers")?;
    if let Some(error) = &end.error {
        tell("error", error);
    }
    Ok(end.code)
}

/// The single server given on the command line.
fn command(arguments: &McpArguments) -> Result<ServerGroup> {
    let Some((program, rest)) = arguments.command.split_first() else {
        bail!(NO_COMMAND);
    };
    Ok(ServerGroup::direct(program.clone(), rest.to_vec()))
}

pub(crate) fn warn_of_lost_records(sinks: &Sinks) {
    let lost = sinks.close(LAST_RECORDS);
    if lost > 0 {
        tell("warning", &format!("{lost} records were not written"));
    }
}

/// Prints the totals, one line for each tool that was called.
fn report(status: &Status, mode: Validation) {
    let tools = status.tools();
    let only_warned = mode == Validation::Warn;
    let would = if only_warned { "would have been " } else { "" };
    let total =
        |of: fn(&callwright_mcp::status::CallCounts) -> u64| tools.values().map(of).sum::<u64>();
    let calls = total(|counts| counts.calls);
    let plural = if calls == 1 { "" } else { "s" };
    let mut summary = format!(
        "{calls} call{plural}, {} {would}repaired, {} {would}refused, {} {would}stopped as repetitions",
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
        let counts = if only_warned {
            format!("{counts:#}")
        } else {
            counts.to_string()
        };
        tell("guarded", &format!("{}: {counts}", printable(name)));
    }
}

/// Prints a message with its origin, since the servers write to stderr too.
pub(crate) fn tell(label: &str, text: &str) {
    for line in text.lines() {
        say(&format!("callwright: {label}"), &printable(line));
    }
}
