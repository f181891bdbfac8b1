//! The guard in front of a server that speaks MCP over streamable HTTP.
//!
//! In come requests of clients, out go the same requests to the server, and its answers back. Calls of tools and their
//! results are judged on the way; everything else passes as it is, headers and credentials included. Credentials are
//! never written down.
//!
//! - `server`: connections of clients, and the end of it all
//! - `door`: which web pages may come in (none but those on this machine)
//! - `relay`, `back`: one request on its way there, and the answer on its way back
//! - `caller`, `sessions`: who sent it, and which guard judges it
//! - `session`: the guard of one client, and calls that wait for the list of tools or for the user
//! - `asking`: questions to the user in the middle of a request
//! - `body`, `sse`: answers that come in events
//! - `headers`, `mirror`: what goes on of headers, and those that repeat the message
//! - `bridge`: a client on stdio instead
//! - `upstream`: the server that is guarded

mod asking;
mod back;
mod body;
mod bridge;
mod caller;
mod door;
mod exchange;
mod headers;
mod mirror;
mod relay;
mod reply;
mod server;
mod session;
mod sessions;
mod sse;
mod upstream;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

pub use bridge::bridge;
pub use server::{make_room, serve};

/// What a guard in front of an HTTP server is told.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// Where the server is: `http://localhost:8000/mcp`.
    pub upstream: String,
    /// Whether clients on other machines may come. They do not have to say who they are.
    pub allow_remote: bool,
    /// Names that this server is known by, besides `localhost` and numbers.
    pub hosts: Vec<String>,
    /// Where web pages may come from, besides this machine: `https://app.example`.
    pub origins: Vec<String>,
    /// A header by which clients tell their conversations apart, where the server does not name sessions: `x-thread-id`.
    /// Without one, calls of such clients are judged one by one, and none is remembered.
    pub session_header: Option<String>,
    /// How long it may take to reach the server.
    pub connect: Duration,
    /// How long the server may be silent before it answers, and within an answer that is no stream of events.
    pub silence: Duration,
    /// How long calls under way may take when everything ends.
    pub finish: Duration,
    /// How many bytes a message may have.
    pub most_bytes: usize,
    /// What goes with each request of a [`bridge`], whose client has no headers of its own.
    pub headers: Vec<(String, String)>,
    /// Gets a sentence each for the operator.
    pub warn: Arc<dyn Fn(&str) + Send + Sync>,
}

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
            // Tools that build or search may say nothing for long; after half an hour most likely nobody works any more.
            silence: Duration::from_secs(30 * 60),
            // What process managers wait before they kill is ten seconds or more.
            finish: Duration::from_secs(8),
            // Files travel in messages as base64; a message is in our memory twice.
            most_bytes: 64 * 1024 * 1024,
            headers: Vec::new(),
            warn: Arc::new(|_| {}),
        }
    }
}

impl fmt::Debug for Options {
    /// Without the address, which may hold a secret in its query, and headers, which do.
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

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// Not an address that a server can be at.
    #[error("not the address of an MCP server: {0}")]
    Upstream(&'static str),
    /// Not a header that can be sent. Its value may be a secret.
    #[error("the header {0:?} has a name or a value that cannot be sent")]
    Header(String),
    /// Other machines could come in, and nobody said that they may.
    #[error(
        "{0} can be reached from other machines; listen on 127.0.0.1, or say that this is wanted"
    )]
    Remote(SocketAddr),
    /// The network, or the client's input or output, does not work.
    #[error("cannot listen, read or write: {0}")]
    Io(#[from] std::io::Error),
}
