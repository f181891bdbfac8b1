//! The gateway itself: its options, and the server that runs it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use callwright::event::Sinks;
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
    /// The API (`https://api.openai.com`; the path of a request is put after it), its clients, and how long things may take. A
    /// body larger than its limit passes as it is.
    pub proxy: ProxyOptions,
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
    /// The certificate, if clients have to use TLS.
    #[cfg(feature = "tls")]
    pub tls: Option<callwright_http::tls::ServerTls>,
}

/// Takes lists of tools, as JSON.
pub type ToolsListed = Arc<dyn Fn(&str) + Send + Sync>;

impl GatewayOptions {
    /// The most times that a model is asked again: what it has not corrected by then it does not understand.
    pub const MOST_REASKS: u32 = 3;

    /// The defaults, in front of an API.
    pub fn new(upstream: impl Into<String>) -> Self {
        GatewayOptions {
            proxy: ProxyOptions {
                upstream: upstream.into(),
                limits: UpstreamLimits {
                    connect: Duration::from_secs(10),
                    // SDKs wait ten minutes for an answer.
                    silence: Duration::from_secs(600),
                    // Requests with pictures have some megabytes; a body is in memory twice while it is looked at.
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
            #[cfg(feature = "tls")]
            tls: None,
        }
    }
}

impl fmt::Debug for GatewayOptions {
    /// Without the headers and the keys, which may hold secrets.
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
    /// A gateway with these options. It connects to the upstream with the first request.
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
    pub fn reload(&self, options: &GatewayOptions) -> Result<(), ProxyError> {
        *self.relay.settings.lock() = Arc::new(LiveSettings::of(options)?);
        Ok(())
    }

    /// Serves only the pages for operators, until the future is dropped. They are then not on the clients' address.
    ///
    /// # Errors
    ///
    /// If other machines can reach the listener and that is not allowed.
    pub async fn serve_admin(&self, listener: TcpListener) -> Result<(), ProxyError> {
        self.relay.options.proxy.check_listener(&listener)?;
        Arc::clone(&self.relay.pages).serve(listener).await;
        Ok(())
    }

    /// Serves clients until `shutdown`. Then no client is accepted, and answers in progress have [`ProxyOptions::finish`] to
    /// end.
    ///
    /// # Errors
    ///
    /// If other machines can reach the listener and that is not allowed.
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
    fn of(options: &GatewayOptions) -> Result<Self, ProxyError> {
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
