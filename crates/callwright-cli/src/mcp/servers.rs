//! `callwright mcp --servers`: guards all servers of a client configuration at once.

use std::path::Path;

use anyhow::{Context, Result};
use callwright_mcp::config;
use callwright_mcp::hub::ServerGroup;

/// The servers of a file, with variables expanded.
pub(super) fn read(file: &Path) -> Result<ServerGroup> {
    let place = || file.display().to_string();
    let variable = |name: &str| std::env::var(name).ok();
    let servers = config::expand(servers(file)?, variable).with_context(place)?;
    ServerGroup::new(servers).with_context(place)
}

pub(super) fn servers(file: &Path) -> Result<config::Servers> {
    let place = || file.display().to_string();
    let text =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    config::read_servers(&text).with_context(place)
}
