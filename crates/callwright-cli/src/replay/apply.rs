//! `callwright replay apply`: takes a tool file and proposals, writes a new tool file.

use std::io::Write as _;

use anyhow::{Context, Result, bail};
use callwright_replay::propose;

use super::args::ApplyArguments;
use super::{output, review};
use crate::{CommandOutcome, input, say};

pub(super) fn run(arguments: &ApplyArguments) -> Result<CommandOutcome> {
    if let Some(path) = &arguments.output
        && output::place(path).ok() == output::place(&arguments.suggestions).ok()
    {
        bail!(
            "cannot write {}: it contains the suggestions; give another file",
            input::shown(path)
        );
    }
    let tools = input::read_tool_file(&arguments.tools)?;
    let suggestions = review::read(&arguments.suggestions)?;
    let accept = match &arguments.accept {
        Some(numbers) => numbers.clone(),
        None => review::accepted(&suggestions),
    };
    if accept.is_empty() {
        bail!("no proposal is accepted; select some with --accept, or review them first");
    }
    let changed = propose::apply(&tools, &suggestions, &accept, arguments.force)?;
    match &arguments.output {
        Some(path) => output::write(path, &changed)?,
        None => std::io::stdout()
            .write_all(changed.as_bytes())
            .context("cannot write the tools to standard output")?,
    }
    let plural = if accept.len() == 1 { "" } else { "s" };
    say("applied", &format!("{} proposal{plural}", accept.len()));
    Ok(CommandOutcome::Clean)
}
