//! Options that every proxy has: its upstream, who may connect, timeouts. And the errors that keep it from running.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;

use crate::host_check::HostCheck;
use crate::upstream::{Upstream, UpstreamLimits, UpstreamSetupError};

/// Receives warnings for the operator, one sentence each.
pub type Warn = Arc<dyn Fn(&str) + Send + Sync>;

/// Options of all proxies.
#[derive(Clone)]
pub struct ProxyOptions {
    /// The URL of the upstream.
    pub upstream: String,
    /// How long to wait for the upstream, and how large a body may be.
    pub limits: UpstreamLimits,
    /// Whether clients on other machines may connect.
    pub allow_remote: bool,
    /// Which `Host` and `Origin` values are allowed, besides this machine.
    pub host_check: HostCheck,
    /// How long requests in progress may take to finish on shutdown.
    pub finish: Duration,
    /// Receives warnings for the operator.
    pub warn: Warn,
}

impl ProxyOptions {
    /// A client for the upstream.
    ///
    /// # Errors
    ///
    /// If the URL is invalid.
    pub fn connect(&self) -> Result<Upstream, ProxyError> {
        Ok(Upstream::new(&self.upstream, self.limits)?)
    }

    /// Checks that the listener is not reachable from other machines, unless that is allowed.
    ///
    /// # Errors
    ///
    /// If it is reachable and that is not allowed.
    pub fn check_listener(&self, listener: &TcpListener) -> Result<(), ProxyError> {
        let address = listener.local_addr()?;
        if !address.ip().is_loopback() && !self.allow_remote {
            return Err(ProxyError::Remote(address));
        }
        Ok(())
    }
}

impl fmt::Debug for ProxyOptions {
    /// Omits the URL, whose query may contain a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyOptions")
            .field("limits", &self.limits)
            .field("allow_remote", &self.allow_remote)
            .field("host_check", &self.host_check)
            .field("finish", &self.finish)
            .finish_non_exhaustive()
    }
}

/// Why a proxy cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// The upstream cannot be used.
    #[error("invalid upstream URL: {0}")]
    Upstream(#[from] UpstreamSetupError),
    /// A header cannot be sent. Its value is not shown: it may be a secret.
    #[error("the header {0:?} has an invalid name or value; use ASCII without line breaks")]
    Header(String),
    /// Other machines could connect, which is not allowed.
    #[error(
        "{0} can be reached from other machines; listen on 127.0.0.1, or allow it with --allow-remote"
    )]
    Remote(SocketAddr),
    /// The network, or the client's input or output, failed.
    #[error("cannot listen, read or write: {0}")]
    Io(#[from] io::Error),
}
