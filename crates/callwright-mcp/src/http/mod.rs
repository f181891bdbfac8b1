//! The guard in front of a server that speaks MCP over streamable HTTP.
//!
//! Takes client requests; forwards them to the server, and its responses back. Calls and their results are judged on
//! the way. Everything else passes unchanged, headers and credentials included; credentials are never written to
//! disk. Connections, event streams and host checks are in `callwright-http`; this module is about MCP.
//!
//! - `proxy`, `response`: one HTTP request on its way to the server, and its response on the way back
//! - `bridge`: the same for a client on stdio
//! - `command`: the same for a server on stdio
//! - `caller`, `client_sessions`: who sent a request, and which guard judges it
//! - `client_session`: the guard of one client, and its calls that wait for the tool list or for the user
//! - `exchange`: the requests of one client message, until each is answered
//! - `message_reader`: the messages in a response meant for us
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
use std::sync::Arc;
use std::time::Duration;

use callwright_http::host_check::HostCheck;
use callwright_http::server::HttpServer;
use callwright_http::upstream::{TransferError, Upstream, UpstreamLimits};
use callwright_live::OperatorPages;
use hyper::header::HeaderName;
use tokio::net::TcpListener;

use self::client_sessions::ClientSessions;
use self::proxy::Proxy;
use crate::guard::Settings;

pub use self::bridge::bridge;
pub use self::command::serve_command;
pub use callwright_http::proxy::{ProxyError, ProxyOptions, Warn};
pub use callwright_http::server::raise_open_file_limit;

/// Options of a guard in front of an HTTP server.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// The server (`http://localhost:8000/mcp`), its clients, and timeouts. Clients are not authenticated.
    pub proxy: ProxyOptions,
    /// A header that distinguishes conversations of a client, if the server does not name sessions: `x-thread-id`.
    /// Without one, calls of such clients are judged one by one, and none is remembered.
    pub session_header: Option<String>,
    /// Headers for each request of a [`bridge`], whose client sends none.
    pub headers: Vec<(String, String)>,
    /// The operator pages. Without them, their paths do not exist.
    pub pages: Option<Arc<OperatorPages>>,
}

impl Options {
    /// The default options for a server.
    pub fn new(upstream: impl Into<String>) -> Self {
        Options {
            proxy: ProxyOptions {
                upstream: upstream.into(),
                limits: UpstreamLimits {
                    // A server on the other side of the world answers within one second; one that is down never does.
                    connect: Duration::from_secs(10),
                    // Tools that build or search may be silent for a long time; after half an hour they have most
                    // likely hung.
                    silence: Duration::from_secs(30 * 60),
                    // Files are sent in messages as base64; a message is in memory twice.
                    max_bytes: 64 * 1024 * 1024,
                    // Python and Node servers close theirs after five seconds.
                    idle_connection: Duration::from_secs(3),
                },
                allow_remote: false,
                host_check: HostCheck::default(),
                // Process managers wait ten seconds or more before they kill.
                finish: Duration::from_secs(8),
                warn: Arc::new(|_| {}),
            },
            session_header: None,
            headers: Vec::new(),
            pages: None,
        }
    }
}

impl Options {
    /// Checks that the server's address and the header of sessions are valid.
    ///
    /// # Errors
    ///
    /// If one of them is not.
    pub fn check(&self) -> Result<(), ProxyError> {
        self.session_header()?;
        self.proxy.connect().map(drop)
    }

    fn session_header(&self) -> Result<Option<HeaderName>, ProxyError> {
        let parsed = self.session_header.as_ref().map(|name| {
            let invalid = |_| ProxyError::Header(name.clone());
            name.parse().map_err(invalid)
        });
        parsed.transpose()
    }
}

impl fmt::Debug for Options {
    /// Omits the headers, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("proxy", &self.proxy)
            .finish_non_exhaustive()
    }
}

/// Guards a server until `shutdown`. Then no new clients are accepted, calls in progress have
/// [`ProxyOptions::finish`](callwright_http::proxy::ProxyOptions::finish) to complete, and streams that do not end by
/// themselves are closed.
///
/// # Errors
///
/// If an option is invalid, or if the listener is reachable from other machines and that is not allowed.
pub async fn serve(
    listener: TcpListener,
    options: Options,
    settings: Arc<Settings>,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ProxyError> {
    options.proxy.check_listener(&listener)?;
    let session_header = options.session_header()?;
    let server = HttpServer::new(listener);
    let upstream = GuardedServer::new(&options)?;
    let proxy = Arc::new(Proxy {
        sessions: ClientSessions::new(settings, Arc::clone(&upstream)),
        server: upstream,
        host_check: options.proxy.host_check,
        pages: options.pages.clone(),
        session_header,
        draining: server.draining(),
    });
    let pages = options.pages.clone();
    let shutdown = async move {
        shutdown.await;
        if let Some(pages) = pages {
            pages.drain();
        }
    };
    let handler = move |from, request| Arc::clone(&proxy).handle(from, request);
    server.run(handler, shutdown, options.proxy.finish).await;
    Ok(())
}

struct GuardedServer {
    upstream: Upstream,
    warn: Warn,
}

impl GuardedServer {
    fn new(options: &Options) -> Result<Arc<Self>, ProxyError> {
        Ok(Arc::new(GuardedServer {
            upstream: options.proxy.connect()?,
            warn: Arc::clone(&options.proxy.warn),
        }))
    }

    /// A sentence about what went wrong, and what to do about it.
    fn describe(&self, error: &TransferError) -> String {
        format!("The MCP server at {} {error}", self.upstream)
    }
}
