//! `callwright mcp --servers`: guards all servers of a client configuration at once.

use std::path::Path;

use anyhow::{Context, Result};
use callwright_mcp::config;
use callwright_mcp::hub::ServerGroup;

use crate::input::{self, shown};
use crate::mcp_clients::LARGEST_CONFIGURATION;

/// The servers of a file, with variables expanded.
pub(super) fn read(file: &Path) -> Result<ServerGroup> {
    let place = || shown(file);
    let variable = |name: &str| std::env::var(name).ok();
    let servers = config::expand(servers(file)?, variable).with_context(place)?;
    ServerGroup::new(servers).with_context(place)
}

pub(super) fn servers(file: &Path) -> Result<config::Servers> {
    let text = input::read_text(file, "file of servers", LARGEST_CONFIGURATION)?;
    config::read_servers(&text).with_context(|| shown(file))
}
