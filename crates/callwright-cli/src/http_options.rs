//! What the two HTTP guards share: which clients may connect, where the operator pages are, and why a guard cannot serve.

use std::io;
use std::sync::Arc;

use anyhow::{Result, bail};
use callwright_http::proxy::{ProxyError, ProxyOptions};
use clap::Args;
use tokio::net::TcpListener;

use crate::CommandOutcome;
use crate::mcp::tell;

/// Exit code when an address cannot be used.
const NOT_SERVED: u8 = 3;

/// Why a guard does not serve.
pub(crate) enum NotServed {
    /// An option is wrong; the sentence names it.
    Usage(String),
    /// The sentence says what failed.
    Failed(String),
}

impl NotServed {
    /// Tells the operator.
    pub(crate) fn report(&self) -> CommandOutcome {
        let (why, outcome) = match self {
            NotServed::Usage(why) => (why, CommandOutcome::Malformed),
            NotServed::Failed(why) => (why, CommandOutcome::Passed(NOT_SERVED)),
        };
        tell("error", why);
        outcome
    }
}

impl From<ProxyError> for NotServed {
    fn from(error: ProxyError) -> Self {
        let why = error.to_string();
        match error {
            ProxyError::Upstream(_) | ProxyError::Header(_) => NotServed::Usage(why),
            _ => NotServed::Failed(why),
        }
    }
}

impl From<io::Error> for NotServed {
    fn from(error: io::Error) -> Self {
        NotServed::from(ProxyError::from(error))
    }
}

/// Listens at the address that an option gives.
async fn bind(option: &str, address: &str) -> Result<TcpListener, NotServed> {
    TcpListener::bind(address).await.map_err(|error| {
        let why = |next: &str| format!("{option}: cannot listen on {address}: {error}; {next}");
        if error.kind() == io::ErrorKind::InvalidInput {
            NotServed::Usage(why("give an address and a port, such as 127.0.0.1:8787"))
        } else {
            NotServed::Failed(why("choose another address"))
        }
    })
}

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

    /// Listens for clients, and at the address of the operator pages if they have their own. Nothing is announced yet: either
    /// may be refused.
    pub(crate) async fn bind(
        &self,
        listen: &str,
        options: &ProxyOptions,
    ) -> Result<(TcpListener, Option<TcpListener>), NotServed> {
        let clients = bind("--listen", listen).await?;
        options.check_listener(&clients)?;
        let Some(address) = &self.admin else {
            return Ok((clients, None));
        };
        let pages = bind("--admin", address).await?;
        options.check_listener(&pages)?;
        Ok((clients, Some(pages)))
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
