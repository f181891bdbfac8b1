//! The gateway: its options, and the server that runs it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use callwright::event::Sinks;
use callwright::named;
use callwright::policy::Policy;
use callwright_http::host_check::HostCheck;
use callwright_http::proxy::{ProxyError, ProxyOptions};
use callwright_http::server::HttpServer;
use callwright_http::upstream::UpstreamLimits;
use callwright_live::{Guards, Live, OperatorPages};
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use parking_lot::Mutex;
use tokio::net::TcpListener;

use crate::gates::GateCache;
use crate::relay::Relay;

named! {
    /// What a gateway does with calls.
    #[derive(Default)]
    pub enum Mode {
        /// Repairs them in place.
        #[default]
        Guard = "guard",
        /// Judges and records them, but changes and holds nothing.
        Observe = "observe",
        /// Ignores them.
        Off = "off",
    }
}

named! {
    /// What a gateway does when a provider rejects a conversation.
    #[derive(Default)]
    pub enum History {
        /// Passes the error on to the client.
        #[default]
        Off = "off",
        /// Mends a conversation with a visible defect and sends it once more: see [`crate::mend`].
        Mend = "mend",
    }
}

named! {
    /// What a gateway does about repeated calls.
    #[derive(Default)]
    pub enum Loops {
        /// Records them.
        #[default]
        Observe = "observe",
        /// Ends the agent's loop: the calls of the answer are replaced with a text that says what was repeated.
        Stop = "stop",
        /// Ignores the conversation.
        Off = "off",
    }
}

named! {
    /// Whether calls written as text are turned into proper calls.
    #[derive(Default)]
    pub enum Rescue {
        /// Yes, unless the upstream is the provider's own API, whose models do not need it.
        #[default]
        Auto = "auto",
        /// Always.
        On = "on",
        /// Never.
        Off = "off",
    }
}

impl Rescue {
    /// Whether rescue is on for the API at this host.
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
    /// The API (`https://api.openai.com`; request paths are appended), its clients, and timeouts. A body larger than
    /// its limit passes through unjudged.
    pub proxy: ProxyOptions,
    /// What to do with calls.
    pub mode: Mode,
    /// What to do with calls written as text.
    pub rescue: Rescue,
    /// How calls are judged.
    pub policy: Policy,
    /// Where calls are recorded.
    pub sinks: Sinks,
    /// Receives each tool list that is compiled, as JSON.
    pub tools_listed: Option<ToolsListed>,
    /// How long a call is held until it is complete. After that it passes through unchanged.
    pub hold: Duration,
    /// How many bytes of an answer are held. Beyond that they pass through unchanged.
    pub hold_bytes: usize,
    /// How long the client may get nothing while something is held.
    pub keep_alive: Duration,
    /// What to do when the provider rejects a conversation.
    pub history: History,
    /// What to do about repeated calls.
    pub loops: Loops,
    /// How many times the model is asked again for refused calls, with requests that the client does not see. At most
    /// [`GatewayOptions::MOST_REASKS`].
    pub reask: u32,
    /// Whether to also ask again for calls of tools that are not declared read-only. Those that destroy something or
    /// spend money are never asked for again.
    pub reask_writes: bool,
    /// The total time that asking again may take.
    pub reask_within: Duration,
    /// The longest prompt, in tokens, that is sent again.
    pub reask_max_tokens: u64,
    /// Headers for each upstream request, replacing the client's headers of the same name.
    pub upstream_headers: Vec<(String, String)>,
    /// Client keys: every client must send one of them, as `Authorization: Bearer …` or `x-api-key`. If there are
    /// none, anyone may connect.
    pub client_keys: Vec<String>,
    /// The certificate, if clients must use TLS.
    #[cfg(feature = "tls")]
    pub tls: Option<callwright_http::tls::ServerTls>,
}

/// Receives tool lists, as JSON.
pub type ToolsListed = Arc<dyn Fn(&str) + Send + Sync>;

impl GatewayOptions {
    /// The most times that a model is asked again: an error it has not corrected by then is one it does not
    /// understand.
    pub const MOST_REASKS: u32 = 3;

    /// The default options for an API.
    pub fn new(upstream: impl Into<String>) -> Self {
        GatewayOptions {
            proxy: ProxyOptions {
                upstream: upstream.into(),
                limits: UpstreamLimits {
                    connect: Duration::from_secs(10),
                    // SDKs wait ten minutes for an answer.
                    silence: Duration::from_secs(600),
                    // Requests with images have a few megabytes; a body is in memory twice while it is examined.
                    max_bytes: 64 * 1024 * 1024,
                    // Providers keep connections for a minute or more.
                    idle_connection: Duration::from_secs(30),
                },
                allow_remote: false,
                host_check: HostCheck::default(),
                // Streams last for minutes.
                finish: Duration::from_secs(120),
                warn: Arc::new(|_| {}),
            },
            mode: Mode::default(),
            rescue: Rescue::default(),
            policy: Policy::default(),
            sinks: Sinks::default(),
            tools_listed: None,
            // Claude Code and nginx give up after 60 seconds or less without a meaningful event.
            hold: Duration::from_secs(20),
            // A call that writes a file has a few kilobytes; one that streams a book should not be held.
            hold_bytes: 64 * 1024,
            // Load balancers cut connections after 30 to 60 seconds of silence.
            keep_alive: Duration::from_secs(10),
            // Requests that the provider would accept must not change on the way.
            history: History::Off,
            loops: Loops::Observe,
            // Each one costs as much as the first request, and most agents correct themselves.
            reask: 0,
            // Models asked again have been seen to answer with a valid call of something else.
            reask_writes: false,
            // As long as agents wait for a slow answer without complaint.
            reask_within: Duration::from_secs(30),
            // Beyond this, a second prompt costs more than the turn the agent needs to correct itself.
            reask_max_tokens: 100_000,
            upstream_headers: Vec::new(),
            client_keys: Vec::new(),
            #[cfg(feature = "tls")]
            tls: None,
        }
    }
}

impl fmt::Debug for GatewayOptions {
    /// Omits the headers and the keys, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatewayOptions")
            .field("proxy", &self.proxy)
            .field("mode", &self.mode)
            .field("history", &self.history)
            .field("loops", &self.loops)
            .field("reask", &self.reask)
            .field("rescue", &self.rescue)
            .field("hold", &self.hold)
            .field("hold_bytes", &self.hold_bytes)
            .finish_non_exhaustive()
    }
}

/// A gateway in front of an API.
#[derive(Debug)]
pub struct Gateway {
    relay: Arc<Relay>,
}

impl Gateway {
    /// Creates a gateway with these options. It connects to the upstream with the first request.
    ///
    /// # Errors
    ///
    /// If an option is invalid.
    pub fn new(options: GatewayOptions) -> Result<Self, ProxyError> {
        let upstream = options.proxy.connect()?;
        let live = Arc::new(Live::new(Guards::Api, upstream.to_string()));
        let (sinks, hosts) = (options.sinks.clone(), options.proxy.host_check.clone());
        Ok(Gateway {
            relay: Arc::new(Relay {
                pages: Arc::new(OperatorPages::new(Arc::clone(&live), sinks, hosts)),
                live,
                is_rescuing: options
                    .rescue
                    .is_on(upstream.at("/").host().unwrap_or_default()),
                upstream,
                settings: Mutex::new(Arc::new(LiveSettings::of(&options)?)),
                options,
            }),
        })
    }

    /// The API, its clients, and timeouts.
    pub fn proxy(&self) -> &ProxyOptions {
        &self.relay.options.proxy
    }

    /// The API, safe to print.
    pub fn upstream(&self) -> String {
        self.relay.upstream.to_string()
    }

    /// Replaces the policy, the client keys and the upstream headers. Requests in progress keep the old ones.
    ///
    /// # Errors
    ///
    /// If an option is invalid; then nothing changes.
    pub fn reload(&self, options: &GatewayOptions) -> Result<(), ProxyError> {
        *self.relay.settings.lock() = Arc::new(LiveSettings::of(options)?);
        Ok(())
    }

    /// Serves only the operator pages, until the future is dropped. They are then not served on the client address.
    ///
    /// # Errors
    ///
    /// If the listener is reachable from other machines and that is not allowed.
    pub async fn serve_admin(&self, listener: TcpListener) -> Result<(), ProxyError> {
        self.relay.options.proxy.check_listener(&listener)?;
        Arc::clone(&self.relay.pages).serve(listener).await;
        Ok(())
    }

    /// Serves clients until `shutdown`. Then no new clients are accepted, and answers in progress have
    /// [`ProxyOptions::finish`] to complete.
    ///
    /// # Errors
    ///
    /// If the listener is reachable from other machines and that is not allowed.
    pub async fn serve(
        &self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), ProxyError> {
        let options = &self.relay.options;
        options.proxy.check_listener(&listener)?;
        let relay = Arc::clone(&self.relay);
        let handler = move |from, request| Arc::clone(&relay).handle(from, request);
        let pages = Arc::clone(&self.relay.pages);
        let shutdown = async move {
            shutdown.await;
            pages.drain();
        };
        let server = HttpServer::new(listener);
        #[cfg(feature = "tls")]
        let server = server.with_tls(options.tls.clone());
        server.run(handler, shutdown, options.proxy.finish).await;
        Ok(())
    }
}

/// Settings that can change while a gateway runs.
#[derive(Debug)]
pub(crate) struct LiveSettings {
    pub(crate) policy: Policy,
    pub(crate) client_keys: Vec<String>,
    pub(crate) upstream_headers: HeaderMap,
    /// Compiled under this policy.
    pub(crate) gates: GateCache,
}

impl LiveSettings {
    pub(crate) fn of(options: &GatewayOptions) -> Result<Self, ProxyError> {
        let mut headers = HeaderMap::new();
        for (name, value) in &options.upstream_headers {
            let key = name.parse::<HeaderName>().ok();
            let parsed = key.zip(HeaderValue::from_str(value).ok());
            let (key, mut value) = parsed.ok_or_else(|| ProxyError::Header(name.clone()))?;
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
