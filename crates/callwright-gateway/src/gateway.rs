//! The gateway itself: its options, and the server that runs it.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use callwright::event::Sinks;
use callwright::policy::Policy;
use callwright_http::host_check::HostCheck;
use callwright_http::server::HttpServer;
use callwright_http::upstream::{Upstream, UpstreamLimits, UpstreamSetupError};
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use tokio::net::TcpListener;

use crate::gates::GateCache;
use crate::metrics::Metrics;
use crate::relay::Relay;

/// What a gateway does with calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Repairs them in place.
    #[default]
    Guard,
    /// Judges and records them, and changes and holds nothing.
    Observe,
    /// Does not look at them.
    Off,
}

/// Whether calls that come as text are made proper calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rescue {
    /// Unless the API is the provider's own, whose models do not need it.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

impl Rescue {
    /// Whether it is on in front of the API at a host.
    pub(crate) fn is_on(self, host: &str) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let is_official = matches!(host.as_str(), "api.openai.com" | "api.anthropic.com")
            || host.ends_with(".googleapis.com");
        match self {
            Rescue::Auto => !is_official,
            Rescue::On => true,
            Rescue::Off => false,
        }
    }
}

/// Options of a gateway.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// The URL of the API: `https://api.openai.com`. The path of a request is put after it.
    pub upstream: String,
    /// What is done with calls.
    pub mode: Mode,
    /// What is done with calls that come as text.
    pub rescue: Rescue,
    /// How calls are judged.
    pub policy: Policy,
    /// Where calls are recorded.
    pub sinks: Sinks,
    /// How long a call is held until it is whole. Past it, it goes on as it came.
    pub hold: Duration,
    /// How many bytes of an answer are held. Past it, they go on as they came.
    pub hold_bytes: usize,
    /// How long nothing may go to a client while something is held.
    pub keep_alive: Duration,
    /// Headers for each request to the upstream, instead of the client's own of that name.
    pub upstream_headers: Vec<(String, String)>,
    /// Keys of which a client has to send one, as `Authorization: Bearer …` or `x-api-key`. Anyone may connect if there
    /// are none.
    pub client_keys: Vec<String>,
    /// Whether clients on other machines may connect.
    pub allow_remote: bool,
    /// Names that the gateway is known by, besides `localhost` and IP addresses.
    pub hosts: Vec<String>,
    /// Origins of web pages that may send requests, besides this machine.
    pub origins: Vec<String>,
    /// How long connecting to the upstream may take.
    pub connect: Duration,
    /// How long the upstream may be silent.
    pub silence: Duration,
    /// How long answers in progress may take to finish on shutdown.
    pub finish: Duration,
    /// How many bytes of a body are looked at. A larger one passes as it is.
    pub max_bytes: usize,
    /// Takes warnings for the operator, a sentence each.
    pub warn: Warn,
}

/// Takes warnings for the operator.
pub type Warn = Arc<dyn Fn(&str) + Send + Sync>;

impl Options {
    /// The defaults, in front of an API.
    pub fn new(upstream: impl Into<String>) -> Self {
        Options {
            upstream: upstream.into(),
            mode: Mode::default(),
            rescue: Rescue::default(),
            policy: Policy::default(),
            sinks: Sinks::default(),
            // Claude Code and nginx give up after 60 seconds or less without an event that says something.
            hold: Duration::from_secs(20),
            // A call that writes a file has some kilobytes; one that streams a book should not be held.
            hold_bytes: 64 * 1024,
            // Load balancers cut connections after 30 to 60 seconds of silence.
            keep_alive: Duration::from_secs(10),
            upstream_headers: Vec::new(),
            client_keys: Vec::new(),
            allow_remote: false,
            hosts: Vec::new(),
            origins: Vec::new(),
            connect: Duration::from_secs(10),
            // SDKs wait ten minutes for an answer.
            silence: Duration::from_secs(600),
            // Streams last for minutes.
            finish: Duration::from_secs(120),
            // Requests with pictures have some megabytes; a body is in memory twice while it is looked at.
            max_bytes: 64 * 1024 * 1024,
            warn: Arc::new(|_| {}),
        }
    }
}

impl fmt::Debug for Options {
    /// Without the URL, the headers and the keys, which may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("mode", &self.mode)
            .field("rescue", &self.rescue)
            .field("hold", &self.hold)
            .field("hold_bytes", &self.hold_bytes)
            .field("allow_remote", &self.allow_remote)
            .finish_non_exhaustive()
    }
}

/// Why a gateway cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// Requests cannot be sent to the upstream.
    #[error("invalid upstream URL: {0}")]
    Upstream(#[from] UpstreamSetupError),
    /// A header cannot be sent. Its value is not shown: it may be a secret.
    #[error("the header {0:?} has an invalid name or value")]
    Header(String),
    /// Other machines could connect, which is not allowed.
    #[error("{0} can be reached from other machines; listen on 127.0.0.1, or allow remote clients")]
    Remote(SocketAddr),
    /// The network does not work.
    #[error("cannot listen: {0}")]
    Io(#[from] std::io::Error),
}

/// Serves clients until `shutdown`. Then no client is accepted, and answers in progress have [`Options::finish`] to end.
///
/// # Errors
///
/// If an option is invalid, or if other machines can reach the listener and that is not allowed.
pub async fn serve(
    listener: TcpListener,
    options: Options,
    shutdown: impl Future<Output = ()>,
) -> Result<(), GatewayError> {
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() && !options.allow_remote {
        return Err(GatewayError::Remote(address));
    }
    let limits = UpstreamLimits {
        connect: options.connect,
        silence: options.silence,
        max_bytes: options.max_bytes,
        // Providers keep connections for a minute or more.
        idle_connection: Duration::from_secs(30),
    };
    let upstream = Upstream::new(&options.upstream, limits)?;
    let mut headers = HeaderMap::new();
    for (name, value) in &options.upstream_headers {
        let parsed = name.parse::<HeaderName>().ok().zip(HeaderValue::from_str(value).ok());
        let (key, value) = parsed.ok_or_else(|| GatewayError::Header(name.clone()))?;
        headers.append(key, value);
    }
    let is_rescuing = options.rescue.is_on(upstream.at("/").host().unwrap_or_default());
    let server = HttpServer::new(listener);
    let finish = options.finish;
    let relay = Arc::new(Relay {
        upstream,
        upstream_headers: headers,
        host_check: HostCheck {
            hosts: options.hosts.clone(),
            origins: options.origins.clone(),
        },
        gates: GateCache::default(),
        metrics: Arc::new(Metrics::default()),
        is_rescuing,
        draining: server.draining(),
        options,
    });
    let handler = move |_, request| Arc::clone(&relay).handle(request);
    server.run(handler, shutdown, finish).await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Rescue;

    #[test]
    fn the_providers_own_apis_need_no_rescue() {
        for host in ["api.openai.com", "API.Anthropic.com.", "generativelanguage.googleapis.com"] {
            assert!(!Rescue::Auto.is_on(host) && Rescue::On.is_on(host), "{host}");
        }
        for host in ["localhost", "127.0.0.1", "api.openai.com.example", "googleapis.com.example", "openrouter.ai"] {
            assert!(Rescue::Auto.is_on(host) && !Rescue::Off.is_on(host), "{host}");
        }
    }
}
