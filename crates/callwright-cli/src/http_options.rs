//! Options shared by the two HTTP guards: which clients may connect, and where the operator pages are.

use std::sync::Arc;

use anyhow::{Result, bail};
use callwright_http::proxy::ProxyOptions;
use clap::Args;

use crate::mcp::tell;

#[derive(Debug, Args)]
pub(crate) struct HttpOptions {
    /// Accept clients from other machines
    #[arg(long)]
    pub(crate) allow_remote: bool,

    /// Accept requests for this host name, besides `localhost` and IP addresses; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,

    /// Accept requests from web pages of this origin, such as `https://app.example`; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) allow_origin: Vec<String>,

    /// A separate address for the status page, metrics and health checks
    ///
    /// They are then not served on the client address. Anyone who can reach this one can read them.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) admin: Option<String>,
}

impl HttpOptions {
    /// Copies them into `options`; warnings go to stderr.
    pub(crate) fn apply(&self, options: &mut ProxyOptions) {
        options.allow_remote = self.allow_remote;
        options.host_check.hosts.clone_from(&self.allow_host);
        options.host_check.origins.clone_from(&self.allow_origin);
        options.warn = Arc::new(|warning| tell("warning", warning));
    }

    /// Fails if any of them is given although nothing listens.
    pub(crate) fn check_unused(&self) -> Result<()> {
        let given = [
            ("--allow-remote", self.allow_remote),
            ("--allow-host", !self.allow_host.is_empty()),
            ("--allow-origin", !self.allow_origin.is_empty()),
            ("--admin", self.admin.is_some()),
        ];
        if let Some((name, _)) = given.iter().find(|(_, is_given)| *is_given) {
            bail!("{name} needs `--listen`");
        }
        Ok(())
    }
}
