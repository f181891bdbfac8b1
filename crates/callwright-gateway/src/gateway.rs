//! The gateway itself: its options, and the server that runs it.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use callwright::event::Sinks;
use callwright::policy::Policy;
use callwright_http::host_check::HostCheck;
use callwright_http::server::HttpServer;
use callwright_http::upstream::{Upstream, UpstreamLimits, UpstreamSetupError};
use callwright_live::Live;
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use parking_lot::Mutex;
use tokio::net::TcpListener;

use crate::gates::GateCache;
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

/// What a gateway does about a conversation that a provider rejects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum History {
    /// The error goes to the client.
    #[default]
    Off,
    /// A conversation with a visible defect is mended and sent once more: see [`crate::mend`].
    Mend,
}

/// What a gateway does about calls that go round in circles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Loops {
    /// Records them.
    #[default]
    Observe,
    /// Ends the agent's loop: the calls of the answer become a text that says what was repeated.
    Stop,
    /// Does not look at the conversation.
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
pub struct GatewayOptions {
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
    /// Takes each list of tools that is compiled, as JSON.
    pub tools_listed: Option<ToolsListed>,
    /// How long a call is held until it is whole. Past it, it goes on as it came.
    pub hold: Duration,
    /// How many bytes of an answer are held. Past it, they go on as they came.
    pub hold_bytes: usize,
    /// How long nothing may go to a client while something is held.
    pub keep_alive: Duration,
    /// What is done about a conversation that the provider rejects.
    pub history: History,
    /// What is done about calls that go round in circles.
    pub loops: Loops,
    /// How often the model is asked again for calls that were refused, by requests that the client does not see. At most
    /// [`GatewayOptions::MOST_REASKS`].
    pub reask: u32,
    /// Whether calls of tools are asked for again that are not declared to only read. Those that destroy something or
    /// spend money never are.
    pub reask_writes: bool,
    /// How long asking again may take in all.
    pub reask_within: Duration,
    /// How many tokens a prompt may have that is sent again.
    pub reask_max_tokens: u64,
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
    /// The certificate, if clients have to use TLS.
    #[cfg(feature = "tls")]
    pub tls: Option<callwright_http::tls::ServerTls>,
    /// Takes warnings for the operator, a sentence each.
    pub warn: Warn,
}

/// Takes lists of tools, as JSON.
pub type ToolsListed = Arc<dyn Fn(&str) + Send + Sync>;

/// Takes warnings for the operator.
pub type Warn = Arc<dyn Fn(&str) + Send + Sync>;

impl GatewayOptions {
    /// The most times that a model is asked again: what it has not corrected by then it does not understand.
    pub const MOST_REASKS: u32 = 3;

    /// The defaults, in front of an API.
    pub fn new(upstream: impl Into<String>) -> Self {
        GatewayOptions {
            upstream: upstream.into(),
            mode: Mode::default(),
            rescue: Rescue::default(),
            policy: Policy::default(),
            sinks: Sinks::default(),
            tools_listed: None,
            // Claude Code and nginx give up after 60 seconds or less without an event that says something.
            hold: Duration::from_secs(20),
            // A call that writes a file has some kilobytes; one that streams a book should not be held.
            hold_bytes: 64 * 1024,
            // Load balancers cut connections after 30 to 60 seconds of silence.
            keep_alive: Duration::from_secs(10),
            // What a provider takes must not change on the way.
            history: History::Off,
            loops: Loops::Observe,
            // Each is paid for like the first request, and most agents correct themselves.
            reask: 0,
            // A model that was asked again has been seen to answer with a valid call of something else.
            reask_writes: false,
            // As long as agents wait for a slow answer without complaint.
            reask_within: Duration::from_secs(30),
            // Beyond it a second prompt costs more than the turn that the agent needs to correct itself.
            reask_max_tokens: 100_000,
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
            #[cfg(feature = "tls")]
            tls: None,
            warn: Arc::new(|_| {}),
        }
    }
}

impl fmt::Debug for GatewayOptions {
    /// Without the URL, the headers and the keys, which may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("mode", &self.mode)
            .field("history", &self.history)
            .field("loops", &self.loops)
            .field("reask", &self.reask)
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

/// A gateway in front of an API.
#[derive(Debug)]
pub struct Gateway {
    relay: Arc<Relay>,
    allow_remote: bool,
    finish: Duration,
}

impl Gateway {
    /// A gateway with these options. It connects to the upstream with the first request.
    ///
    /// # Errors
    ///
    /// If an option is invalid.
    pub fn new(options: GatewayOptions) -> Result<Self, GatewayError> {
        let limits = UpstreamLimits {
            connect: options.connect,
            silence: options.silence,
            max_bytes: options.max_bytes,
            // Providers keep connections for a minute or more.
            idle_connection: Duration::from_secs(30),
        };
        let upstream = Upstream::new(&options.upstream, limits)?;
        Ok(Gateway {
            allow_remote: options.allow_remote,
            finish: options.finish,
            relay: Arc::new(Relay {
                live: Arc::new(Live::new(upstream.to_string())),
                is_rescuing: options
                    .rescue
                    .is_on(upstream.at("/").host().unwrap_or_default()),
                upstream,
                host_check: HostCheck {
                    hosts: options.hosts.clone(),
                    origins: options.origins.clone(),
                },
                settings: Mutex::new(Arc::new(LiveSettings::of(&options)?)),
                is_draining: AtomicBool::new(false),
                has_admin_address: AtomicBool::new(false),
                options,
            }),
        })
    }

    /// The API, as it may be shown.
    pub fn upstream(&self) -> String {
        self.relay.upstream.to_string()
    }

    /// Takes over the policy, the keys of clients and the headers for the upstream. Requests in progress go on with the
    /// old ones.
    ///
    /// # Errors
    ///
    /// If an option is invalid; then nothing changes.
    pub fn reload(&self, options: &GatewayOptions) -> Result<(), GatewayError> {
        *self.relay.settings.lock() = Arc::new(LiveSettings::of(options)?);
        Ok(())
    }

    /// Serves only the gateway's own pages until `shutdown`, for operators. They are then not on the clients' address.
    ///
    /// # Errors
    ///
    /// If other machines can reach the listener and that is not allowed.
    pub async fn serve_admin(
        &self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), GatewayError> {
        self.check_address(&listener)?;
        self.relay.has_admin_address.store(true, Ordering::Relaxed);
        let relay = Arc::clone(&self.relay);
        let handler = move |_, request| std::future::ready(relay.own_page(&request));
        HttpServer::new(listener)
            .run(handler, shutdown, Duration::ZERO)
            .await;
        Ok(())
    }

    fn check_address(&self, listener: &TcpListener) -> Result<(), GatewayError> {
        let address = listener.local_addr()?;
        if !address.ip().is_loopback() && !self.allow_remote {
            return Err(GatewayError::Remote(address));
        }
        Ok(())
    }

    /// Serves clients until `shutdown`. Then no client is accepted, and answers in progress have [`GatewayOptions::finish`] to
    /// end.
    ///
    /// # Errors
    ///
    /// If other machines can reach the listener and that is not allowed.
    pub async fn serve(
        &self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), GatewayError> {
        self.check_address(&listener)?;
        let relay = Arc::clone(&self.relay);
        let handler = move |_, request| Arc::clone(&relay).handle(request);
        let relay = Arc::clone(&self.relay);
        let shutdown = async move {
            shutdown.await;
            relay.is_draining.store(true, Ordering::Relaxed);
        };
        let server = HttpServer::new(listener);
        #[cfg(feature = "tls")]
        let server = server.with_tls(self.relay.options.tls.clone());
        server.run(handler, shutdown, self.finish).await;
        Ok(())
    }
}

/// What can change while a gateway runs.
#[derive(Debug)]
pub(crate) struct LiveSettings {
    pub(crate) policy: Policy,
    pub(crate) client_keys: Vec<String>,
    pub(crate) upstream_headers: HeaderMap,
    /// Compiled under this policy.
    pub(crate) gates: GateCache,
}

impl LiveSettings {
    fn of(options: &GatewayOptions) -> Result<Self, GatewayError> {
        let mut headers = HeaderMap::new();
        for (name, value) in &options.upstream_headers {
            let key = name.parse::<HeaderName>().ok();
            let parsed = key.zip(HeaderValue::from_str(value).ok());
            let (key, mut value) = parsed.ok_or_else(|| GatewayError::Header(name.clone()))?;
            value.set_sensitive(true);
            headers.append(key, value);
        }
        Ok(LiveSettings {
            policy: options.policy.clone(),
            client_keys: options.client_keys.clone(),
            upstream_headers: headers,
            gates: GateCache::default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Rescue;

    #[test]
    fn the_providers_own_apis_need_no_rescue() {
        for host in [
            "api.openai.com",
            "API.Anthropic.com.",
            "generativelanguage.googleapis.com",
        ] {
            assert!(
                !Rescue::Auto.is_on(host) && Rescue::On.is_on(host),
                "{host}"
            );
        }
        for host in [
            "localhost",
            "127.0.0.1",
            "api.openai.com.example",
            "googleapis.com.example",
            "openrouter.ai",
        ] {
            assert!(
                Rescue::Auto.is_on(host) && !Rescue::Off.is_on(host),
                "{host}"
            );
        }
    }
}
