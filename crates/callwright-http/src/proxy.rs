//! What every proxy is told: its upstream, who may connect, how long things may take. And why it cannot run.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;

use crate::host_check::HostCheck;
use crate::upstream::{Upstream, UpstreamLimits, UpstreamSetupError};

/// Takes warnings for the operator, a sentence each.
pub type Warn = Arc<dyn Fn(&str) + Send + Sync>;

/// Options that all proxies have.
#[derive(Clone)]
pub struct ProxyOptions {
    /// The URL of the upstream.
    pub upstream: String,
    /// How long to wait for the upstream, and how large a body may be.
    pub limits: UpstreamLimits,
    /// Whether clients on other machines may connect.
    pub allow_remote: bool,
    /// Which hosts and origins may be named, besides this machine.
    pub host_check: HostCheck,
    /// How long requests in progress may take to finish on shutdown.
    pub finish: Duration,
    /// Takes warnings for the operator.
    pub warn: Warn,
}

impl ProxyOptions {
    /// A client for the upstream.
    ///
    /// # Errors
    ///
    /// If its URL cannot be used.
    pub fn connect(&self) -> Result<Upstream, ProxyError> {
        Ok(Upstream::new(&self.upstream, self.limits)?)
    }

    /// Makes sure that other machines cannot reach a listener, unless they may.
    ///
    /// # Errors
    ///
    /// If they can and may not.
    pub fn check_listener(&self, listener: &TcpListener) -> Result<(), ProxyError> {
        let address = listener.local_addr()?;
        if !address.ip().is_loopback() && !self.allow_remote {
            return Err(ProxyError::Remote(address));
        }
        Ok(())
    }
}

impl fmt::Debug for ProxyOptions {
    /// Without the URL, whose query may hold a secret.
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
    /// Requests cannot be sent to the upstream.
    #[error("invalid upstream URL: {0}")]
    Upstream(#[from] UpstreamSetupError),
    /// A header cannot be sent. Its value is not shown: it may be a secret.
    #[error("the header {0:?} has an invalid name or value")]
    Header(String),
    /// Other machines could connect, which is not allowed.
    #[error(
        "{0} can be reached from other machines; listen on 127.0.0.1, or allow it with --allow-remote"
    )]
    Remote(SocketAddr),
    /// The network, or the client's input or output, does not work.
    #[error("cannot listen, read or write: {0}")]
    Io(#[from] io::Error),
}
