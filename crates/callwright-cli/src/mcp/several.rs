//! `callwright mcp --servers`: guards all servers of a client's configuration file, as if they were one.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use callwright_mcp::config;
use callwright_mcp::guard::Settings;
use callwright_mcp::several::{Group, run};

use super::tell;
use crate::Outcome;

/// Starts all servers and stands in front of them; the exit code.
pub(super) fn serve(file: &Path, settings: &Arc<Settings>) -> Result<u8> {
    let group = read(file)?;
    let ended = run(Arc::clone(settings), &group, |warning| {
        tell("warning", warning);
    })
    .context("cannot stand between the client and the servers")?;
    if let Some(error) = &ended.error {
        tell("error", error);
    }
    Ok(ended.code)
}

/// The one entry in a client's configuration that stands for all servers of a file.
pub(super) fn print_config(file: &Path) -> Result<Outcome> {
    // Names that do not go together are better told now than by the client.
    Group::new(servers(file)?).with_context(|| file.display().to_string())?;
    // A client starts us in a folder of its own.
    let place = std::path::absolute(file).with_context(|| file.display().to_string())?;
    let entry = config::print_config_of_all(&place.to_string_lossy(), "callwright");
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{}", entry.trim_end()).context("cannot write to standard output")?;
    Ok(Outcome::Clean)
}

fn read(file: &Path) -> Result<Group> {
    let place = || file.display().to_string();
    let variable = |name: &str| std::env::var(name).ok();
    let servers = config::expand(servers(file)?, variable).with_context(place)?;
    Group::new(servers).with_context(place)
}

fn servers(file: &Path) -> Result<config::Servers> {
    let place = || file.display().to_string();
    let text =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    config::read_servers(&text).with_context(place)
}
