//! `callwright mcp --servers`: all servers of a client's configuration file, behind one guard.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use callwright_mcp::config;
use callwright_mcp::hub::ServerGroup;

use crate::Outcome;

/// The one entry in a client's configuration that replaces all servers of a file.
pub(super) fn print_config(file: &Path) -> Result<Outcome> {
    // Names that clash are better reported now than by the client.
    ServerGroup::new(servers(file)?).with_context(|| file.display().to_string())?;
    // A client starts us in another folder.
    let place = std::path::absolute(file).with_context(|| file.display().to_string())?;
    let entry = config::print_config_of_all(&place.to_string_lossy(), "callwright");
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{}", entry.trim_end()).context("cannot write to standard output")?;
    Ok(Outcome::Clean)
}

/// The servers of a file, with the variables in it filled in.
pub(super) fn read(file: &Path) -> Result<ServerGroup> {
    let place = || file.display().to_string();
    let variable = |name: &str| std::env::var(name).ok();
    let servers = config::expand(servers(file)?, variable).with_context(place)?;
    ServerGroup::new(servers).with_context(place)
}

fn servers(file: &Path) -> Result<config::Servers> {
    let place = || file.display().to_string();
    let text =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    config::read_servers(&text).with_context(place)
}
