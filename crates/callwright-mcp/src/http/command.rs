//! Runs a stdio server for clients that speak streamable HTTP: each session has its own process.
//!
//! The guard in front of it is that of any HTTP server; this is the server. It listens only on this machine, with a
//! secret in the query. Takes messages by POST and answers each with an event stream; messages that the server sends
//! unprompted go to the stream that the client has opened by GET, or else to its newest request.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use callwright_http::body::{self, Body};
use callwright_http::server::HttpServer;
use callwright_http::sse;
use futures_util::{StreamExt, stream};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{Sender, channel};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::exchange::{PROXY_ERROR, answers, has_method, one_line, requests};
use super::headers::SESSION;
use super::{Options, ProxyError, serve};
use crate::guard::Settings;
use crate::line_reader::LineReader;
use crate::line_writer::{LineEnd, LineSink, LineWriter};
use crate::message::{Id, Message};
use crate::own_messages::{self, code};
use crate::process::{ServerCommand, ServerProcess};

/// How many sessions, and thus processes, there may be.
const MOST_SESSIONS: usize = 100;

/// How long a session may be silent. Another one begins with the next `initialize`, as after a restart.
const SESSION_LIFE: Duration = Duration::from_secs(60 * 60);

/// How many messages wait for a client that has no stream open, or does not read. Beyond that, the process waits.
const MOST_WAITING: usize = 1_000;

/// How long a process may take to exit after its input is closed.
const TO_END: Duration = Duration::from_secs(2);

/// Guards a server that is started with a command, for HTTP clients, until `shutdown`: see [`serve`]. Each session
/// has its own process.
///
/// # Errors
///
/// Those of [`serve`].
pub async fn serve_command(
    listener: TcpListener,
    mut options: Options,
    settings: Arc<Settings>,
    (program, arguments): (OsString, Vec<OsString>),
    shutdown: impl Future<Output = ()>,
) -> Result<(), ProxyError> {
    let own = TcpListener::bind(("127.0.0.1", 0)).await?;
    let secret = format!("{:032x}", fastrand::u128(..));
    options.proxy.upstream = format!("http://{}/mcp?{secret}", own.local_addr()?);
    let processes = Arc::new(CommandServer {
        command: ServerCommand {
            program,
            arguments,
            variables: std::collections::BTreeMap::new(),
            folder: None,
        },
        most_bytes: settings.most_bytes,
        warn: Arc::clone(&options.proxy.warn),
        secret,
        sessions: Mutex::default(),
    });
    let handler = {
        let processes = Arc::clone(&processes);
        move |_, request| Arc::clone(&processes).handle(request)
    };
    let finish = options.proxy.finish;
    let inner = HttpServer::new(own).run(handler, std::future::pending(), finish);
    let served = tokio::select! {
        served = serve(listener, options, settings, shutdown) => served,
        () = inner => Ok(()),
    };
    let all = std::mem::take(&mut *processes.sessions.lock());
    futures_util::future::join_all(
        all.into_values()
            .map(|session| async move { session.end().await }),
    )
    .await;
    served
}

struct CommandServer {
    command: ServerCommand,
    most_bytes: usize,
    warn: super::Warn,
    secret: String,
    sessions: Mutex<HashMap<String, Arc<ProcessSession>>>,
}

/// A client, and the process that serves it.
struct ProcessSession {
    stdin: LineWriter,
    process: tokio::sync::Mutex<ServerProcess>,
    streams: Mutex<Streams>,
}

/// Where the messages of a process go.
struct Streams {
    open: Vec<OpenStream>,
    /// Messages for a client that has no stream open.
    waiting: VecDeque<Bytes>,
    last_used: Instant,
}

struct OpenStream {
    sender: Sender<Bytes>,
    /// Requests without an answer; `None` if the stream is for messages that the server sends unprompted.
    ids: Option<Vec<String>>,
}

impl CommandServer {
    async fn handle(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        if request.uri().query() != Some(&self.secret) {
            return refused(StatusCode::FORBIDDEN, "null", "Access denied.");
        }
        let session = self.session(request.headers());
        match (request.method().clone(), session) {
            (Method::POST, session) => {
                let read = body::read(request.into_body(), self.most_bytes, SESSION_LIFE).await;
                let Ok(message) = read else {
                    return refused(
                        StatusCode::BAD_REQUEST,
                        "null",
                        "The request is incomplete.",
                    );
                };
                self.post(session, &message)
            }
            (Method::GET, Some((_, session))) => session.open(None),
            (Method::DELETE, Some((name, session))) => {
                self.sessions.lock().remove(&name);
                session.end().await;
                Response::new(body::full(Bytes::new()))
            }
            (Method::GET | Method::DELETE, None) => no_session("null"),
            _ => refused(
                StatusCode::METHOD_NOT_ALLOWED,
                "null",
                "Send messages by POST.",
            ),
        }
    }

    fn session(&self, headers: &HeaderMap) -> Option<(String, Arc<ProcessSession>)> {
        let name = headers.get(SESSION)?.to_str().ok()?;
        let session = Arc::clone(self.sessions.lock().get(name)?);
        Some((name.to_owned(), session))
    }

    fn post(
        self: &Arc<Self>,
        session: Option<(String, Arc<ProcessSession>)>,
        message: &[u8],
    ) -> Response<Body> {
        let ids = requests(message);
        let first = ids.first().map_or("null", String::as_str).to_owned();
        let (name, session) = match session {
            Some(session) => session,
            None if has_method(message, "initialize") => match self.begin() {
                Ok(session) => session,
                Err(error) => {
                    (self.warn)(&format!("the MCP server cannot be started: {error}"));
                    let (status, why) = if error.kind() == ErrorKind::QuotaExceeded {
                        let why =
                            "Too many sessions are open. End one with DELETE, or try again later.";
                        (StatusCode::SERVICE_UNAVAILABLE, why)
                    } else {
                        let why = "The MCP server cannot be started.";
                        (StatusCode::BAD_GATEWAY, why)
                    };
                    return refused(status, &first, why);
                }
            },
            // A process has a single client, which introduces itself at the beginning.
            None if has_method(message, "server/discover") => {
                let why = "send `initialize`";
                return body::json(
                    StatusCode::OK,
                    own_messages::error(&first, code::NO_METHOD, why),
                );
            }
            None => return no_session(&first),
        };
        let mut response = if ids.is_empty() {
            let mut taken = Response::new(body::full(Bytes::new()));
            *taken.status_mut() = StatusCode::ACCEPTED;
            taken
        } else {
            session.open(Some(ids))
        };
        if session.send(message).is_err() {
            return refused(
                StatusCode::BAD_GATEWAY,
                &first,
                "The MCP server does not read its input.",
            );
        }
        if let Ok(name) = HeaderValue::from_str(&name) {
            response.headers_mut().insert(SESSION, name);
        }
        response
    }

    /// Starts a process for a client.
    fn begin(self: &Arc<Self>) -> std::io::Result<(String, Arc<ProcessSession>)> {
        let mut sessions = self.sessions.lock();
        let now = Instant::now();
        sessions.retain(|_, session| !session.streams.lock().are_forgotten(now));
        if sessions.len() >= MOST_SESSIONS {
            let why = format!("{MOST_SESSIONS} sessions are open, the most there may be");
            return Err(std::io::Error::new(ErrorKind::QuotaExceeded, why));
        }
        let (process, stdin, stdout, mut stderr) = ServerProcess::start(&self.command)?;
        let session = Arc::new(ProcessSession {
            stdin: LineWriter::new(Some(LineSink::pipe(stdin)?)),
            process: tokio::sync::Mutex::new(process),
            streams: Mutex::new(Streams {
                open: Vec::new(),
                waiting: VecDeque::new(),
                last_used: Instant::now(),
            }),
        });
        let name = format!("{:032x}", fastrand::u128(..));
        sessions.insert(name.clone(), Arc::clone(&session));
        let writing = Arc::clone(&session);
        spawn_blocking(move || writing.stdin.write_queued());
        spawn_blocking(move || std::io::copy(&mut stderr, &mut std::io::stderr()));
        let (server, reading, ended) = (Arc::clone(self), Arc::clone(&session), name.clone());
        spawn_blocking(move || {
            let mut lines = LineReader::new(stdout, server.most_bytes);
            while lines.advance().unwrap_or(false) {
                reading.deliver(lines.line().trim_ascii());
            }
            // Waiting clients see the end of their streams; others get a 404 and start over.
            server.sessions.lock().remove(&ended);
            reading.streams.lock().open.clear();
        });
        Ok((name, session))
    }
}

impl ProcessSession {
    fn send(&self, message: &[u8]) -> Result<(), crate::line_writer::Unsent> {
        self.stdin.send(&one_line(message), LineEnd::Add)
    }

    /// A response whose events are the answers to these requests, or messages that the server sends unprompted.
    fn open(&self, ids: Option<Vec<String>>) -> Response<Body> {
        let (sender, receiver) = channel(MOST_WAITING);
        let mut streams = self.streams.lock();
        streams.last_used = Instant::now();
        if ids.is_none() {
            for message in std::mem::take(&mut streams.waiting) {
                let _open = sender.try_send(message);
            }
        }
        streams.open.push(OpenStream { sender, ids });
        let events = stream::unfold(receiver, |mut receiver| async {
            let message: Bytes = receiver.recv().await?;
            let event = Bytes::from(sse::event("message", &message));
            Some((Ok(Frame::data(event)), receiver))
        });
        let mut response = Response::new(body::streamed(events.boxed()));
        let kind = HeaderValue::from_static("text/event-stream");
        response.headers_mut().insert(CONTENT_TYPE, kind);
        response
    }

    /// Passes a message from the process on to the client.
    fn deliver(&self, message: &[u8]) {
        if matches!(Message::read(message), Message::Other) {
            return;
        }
        let (answered, message) = (answers(message), Bytes::copy_from_slice(message));
        let mut streams = self.streams.lock();
        streams.last_used = Instant::now();
        streams.open.retain(|stream| !stream.sender.is_closed());
        let is_answered = |id: &String| answered.iter().any(|answer| Id(answer).answers(Id(id)));
        let waits_for = |stream: &OpenStream| {
            let ids = stream.ids.as_ref();
            ids.is_some_and(|ids| ids.iter().any(is_answered))
        };
        let sender = if let Some(at) = streams.open.iter().position(waits_for) {
            let stream = &mut streams.open[at];
            let sender = stream.sender.clone();
            let ids = stream.ids.get_or_insert_default();
            ids.retain(|id| !is_answered(id));
            if ids.is_empty() {
                streams.open.remove(at);
            }
            sender
        } else if answered.is_empty() {
            let listens = streams.open.iter().find(|stream| stream.ids.is_none());
            let Some(stream) = listens.or(streams.open.last()) else {
                if streams.waiting.len() < MOST_WAITING {
                    streams.waiting.push_back(message);
                }
                return;
            };
            stream.sender.clone()
        } else {
            // The client that sent the request is gone.
            return;
        };
        drop(streams);
        // This only holds up the process, which must not fill our memory.
        let _gone = sender.blocking_send(message);
    }

    /// The client is gone: closes the input of the process, and kills it if it does not exit.
    async fn end(&self) {
        self.stdin.close();
        let mut process = self.process.lock().await;
        if timeout(TO_END, process.wait()).await.is_err() {
            process.signal(crate::process::ServerSignal::Kill);
        }
    }
}

impl Streams {
    /// Whether the client is gone: no stream is open, and nothing was sent for a long time.
    fn are_forgotten(&mut self, now: Instant) -> bool {
        self.open.retain(|stream| !stream.sender.is_closed());
        let silence = now.saturating_duration_since(self.last_used);
        self.open.is_empty() && silence > SESSION_LIFE
    }
}

fn refused(status: StatusCode, id: &str, why: &str) -> Response<Body> {
    body::json(status, own_messages::error(id, PROXY_ERROR, why))
}

fn no_session(id: &str) -> Response<Body> {
    let why = "Unknown session. Send `initialize`.";
    refused(StatusCode::NOT_FOUND, id, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_was_silent_for_an_hour_is_forgotten_unless_a_client_listens() {
        let began = Instant::now();
        let mut streams = Streams {
            open: Vec::new(),
            waiting: VecDeque::new(),
            last_used: began,
        };
        assert!(!streams.are_forgotten(began + SESSION_LIFE));
        let later = began + SESSION_LIFE + Duration::from_secs(1);
        assert!(streams.are_forgotten(later));
        let (sender, receiver) = channel(1);
        streams.open.push(OpenStream { sender, ids: None });
        assert!(!streams.are_forgotten(later), "the client listens");
        drop(receiver);
        assert!(streams.are_forgotten(later));
    }
}
