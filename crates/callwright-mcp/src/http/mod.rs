//! The guard in front of a server that speaks MCP over streamable HTTP.
//!
//! Takes requests of clients; passes them on to the server, and its responses back. Calls and their results are judged
//! on the way. Everything else passes as it is, headers and credentials included; credentials are never written down.
//! Connections, event streams and host checks are `callwright-http`'s; what is here is MCP's.
//!
//! - `proxy`, `response`: one HTTP request on its way to the server, and the response on its way back
//! - `bridge`: the same for a client on stdio
//! - `command`: the same for a server on stdio
//! - `caller`, `client_sessions`: who sent a request, and which guard judges it
//! - `client_session`: the guard of one client, and its calls that wait for the list of tools or for the user
//! - `exchange`: the requests of one client message, until each is answered
//! - `message_reader`: the messages in a response that is ours to read
//! - `headers`: MCP's own headers, and those that repeat parts of the message

mod bridge;
mod caller;
mod client_session;
mod client_sessions;
mod command;
mod exchange;
mod headers;
mod message_reader;
mod proxy;
mod response;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use callwright_http::host_check::HostCheck;
use callwright_http::server::HttpServer;
use callwright_http::upstream::{TransferError, Upstream, UpstreamLimits, UpstreamSetupError};
use tokio::net::TcpListener;

use self::client_sessions::ClientSessions;
use self::proxy::Proxy;
use crate::guard::Settings;

pub use self::bridge::bridge;
pub use self::command::serve_command;
pub use callwright_http::server::raise_open_file_limit;

/// How long an idle connection is kept. Servers in Python and Node close theirs after five seconds.
const IDLE_CONNECTION: Duration = Duration::from_secs(3);

/// Options of a guard in front of an HTTP server.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// The URL of the server: `http://localhost:8000/mcp`.
    pub upstream: String,
    /// Whether clients on other machines may connect. They are not asked who they are.
    pub allow_remote: bool,
    /// Names that the guard is known by, besides `localhost` and IP addresses.
    pub hosts: Vec<String>,
    /// Origins of web pages that may send requests, besides this machine: `https://app.example`.
    pub origins: Vec<String>,
    /// A header that tells conversations of a client apart, where the server does not name sessions: `x-thread-id`.
    /// Without one, calls of such clients are judged one by one, and none is remembered.
    pub session_header: Option<String>,
    /// How long connecting to the server may take.
    pub connect: Duration,
    /// How long the server may be silent before it answers, and within an answer that is not an event stream.
    pub silence: Duration,
    /// How long calls in progress may take to finish on shutdown.
    pub finish: Duration,
    /// How many bytes a message may have.
    pub most_bytes: usize,
    /// Headers for each request of a [`bridge`], whose client sends none.
    pub headers: Vec<(String, String)>,
    /// Takes warnings for the operator, a sentence each.
    pub warn: Warn,
}

/// Takes warnings for the operator.
pub type Warn = Arc<dyn Fn(&str) + Send + Sync>;

impl Options {
    /// The defaults, in front of a server.
    pub fn new(upstream: impl Into<String>) -> Self {
        Options {
            upstream: upstream.into(),
            allow_remote: false,
            hosts: Vec::new(),
            origins: Vec::new(),
            session_header: None,
            // A server on the other side of the world answers in one; one that is down never does.
            connect: Duration::from_secs(10),
            // Tools that build or search may be silent for long; after half an hour they have most likely stopped.
            silence: Duration::from_secs(30 * 60),
            // Process managers wait ten seconds or more before they kill.
            finish: Duration::from_secs(8),
            // Files travel in messages as base64; a message is in memory twice.
            most_bytes: 64 * 1024 * 1024,
            headers: Vec::new(),
            warn: Arc::new(|_| {}),
        }
    }
}

impl fmt::Debug for Options {
    /// Without the URL, whose query may hold a secret, and the headers, which do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("allow_remote", &self.allow_remote)
            .field("hosts", &self.hosts)
            .field("origins", &self.origins)
            .field("connect", &self.connect)
            .field("silence", &self.silence)
            .field("finish", &self.finish)
            .field("most_bytes", &self.most_bytes)
            .finish_non_exhaustive()
    }
}

/// Why a guard cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// Requests cannot be sent to the server.
    #[error("invalid upstream URL: {0}")]
    Upstream(#[from] UpstreamSetupError),
    /// A header cannot be sent. Its value is not shown: it may be a secret.
    #[error("the header {0:?} has an invalid name or value")]
    Header(String),
    /// Other machines could connect, which is not allowed.
    #[error("{0} can be reached from other machines; listen on 127.0.0.1, or allow remote clients")]
    Remote(SocketAddr),
    /// The network, or the client's input or output, does not work.
    #[error("cannot listen, read or write: {0}")]
    Io(#[from] std::io::Error),
}

/// Guards a server until `shutdown`. Then no client is accepted, calls in progress have [`Options::finish`] to end, and
/// streams that do not end by themselves are ended.
///
/// # Errors
///
/// If an option is invalid, or if other machines can reach the listener and that is not allowed.
pub async fn serve(
    listener: TcpListener,
    options: Options,
    settings: Arc<Settings>,
    shutdown: impl Future<Output = ()>,
) -> Result<(), HttpError> {
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() && !options.allow_remote {
        return Err(HttpError::Remote(address));
    }
    let session_header = options.session_header.clone();
    let parsed = session_header.map(|name| name.parse().map_err(|_| HttpError::Header(name)));
    let server = HttpServer::new(listener);
    let upstream = GuardedServer::new(&options)?;
    let proxy = Arc::new(Proxy {
        sessions: ClientSessions::new(settings, Arc::clone(&upstream)),
        server: upstream,
        host_check: HostCheck {
            hosts: options.hosts,
            origins: options.origins,
        },
        session_header: parsed.transpose()?,
        draining: server.draining(),
    });
    let handler = move |from, request| Arc::clone(&proxy).handle(from, request);
    server.run(handler, shutdown, options.finish).await;
    Ok(())
}

struct GuardedServer {
    upstream: Upstream,
    warn: Warn,
}

impl GuardedServer {
    fn new(options: &Options) -> Result<Arc<Self>, HttpError> {
        let limits = UpstreamLimits {
            connect: options.connect,
            silence: options.silence,
            max_bytes: options.most_bytes,
            idle_connection: IDLE_CONNECTION,
        };
        Ok(Arc::new(GuardedServer {
            upstream: Upstream::new(&options.upstream, limits)?,
            warn: Arc::clone(&options.warn),
        }))
    }

    /// A sentence about what went wrong, and what to do next.
    fn describe(&self, error: &TransferError) -> String {
        format!("The MCP server at {} {error}", self.upstream)
    }
}
