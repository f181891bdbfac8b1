//! Connects a client on stdio to a server that speaks HTTP.
//!
//! Takes lines, one message each; writes the server's messages, one per line. Sessions, streams and headers are
//! handled here, since the client does not know about them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use callwright_http::headers::{MediaType, is_compressed};
use callwright_http::upstream::TransferError;
use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Response, StatusCode};
use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

use super::client_session::{CallCancelled, ClientSession, Route, cancelled};
use super::exchange::{
    Exchange, UNANSWERED, answers_all, has_method, is_batch, one_line, requests, together,
};
use super::headers::{self, LAST_EVENT, SESSION, VERSION};
use super::message_reader::MessageReader;
use super::{GuardedServer, Options, ProxyError};
use crate::guard::{Guard, Settings};
use crate::members::{member, string};
use crate::message::Message;
use crate::own_messages::{self, code};

/// How many lines may wait to be written. A client that does not read holds up the rest.
const MAX_LINES: usize = 64;

/// How many times in a row a stream is requested in vain. A server that restarts is back by then, and has forgotten
/// the stream.
const MAX_RETRIES: usize = 5;

/// How long the messages after a notification or an `initialize` wait until the server has taken it. A server that needs longer
/// must not hold up calls.
const IN_ORDER: Duration = Duration::from_secs(5);

/// How much of a server's reason for refusing a request is passed on: a sentence or two, not a page.
const LONGEST_REASON: usize = 300;

const INITIALIZED: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const LIST_CHANGED: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

/// Guards a server for a client on stdio, until the client closes its input. Calls in progress have
/// [`ProxyOptions::finish`](callwright_http::proxy::ProxyOptions::finish) to complete.
///
/// # Errors
///
/// If an option is invalid, or if input or output fails.
pub async fn bridge(
    options: Options,
    settings: Arc<Settings>,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), ProxyError> {
    let (lines, to_write) = mpsc::channel(MAX_LINES);
    let server = GuardedServer::new(&options)?;
    let name = format!("stdio-{:016x}", fastrand::u64(..));
    let bridge = Arc::new(Bridge {
        session: ClientSession::new(Guard::new(settings, name), Arc::clone(&server)),
        server,
        headers: Mutex::new(own_headers(&options)?),
        lines,
        initialize: tokio::sync::Mutex::default(),
        has_new_session: Notify::new(),
    });
    let writing = tokio::spawn(write_lines(to_write, output));
    let done = bridge.read(input, options.proxy.finish).await;
    bridge.end_session(options.proxy.limits.connect).await;
    drop(bridge);
    match writing.await {
        Ok(written) => done.and(written.map_err(ProxyError::from)),
        Err(_) => done,
    }
}

/// The headers of every request: the operator's, and those of messages.
fn own_headers(options: &Options) -> Result<HeaderMap, ProxyError> {
    let mut headers = HeaderMap::new();
    for (key, value) in &options.headers {
        let name = HeaderName::from_bytes(key.as_bytes());
        let (Ok(name), Ok(mut value)) = (name, HeaderValue::from_str(value)) else {
            return Err(ProxyError::Header(key.clone()));
        };
        value.set_sensitive(true);
        headers.append(name, value);
    }
    for (name, value) in headers::OF_MESSAGES {
        headers.insert(name, value);
    }
    Ok(headers)
}

async fn write_lines(
    mut messages: mpsc::Receiver<Vec<u8>>,
    mut output: impl AsyncWrite + Unpin,
) -> std::io::Result<()> {
    while let Some(message) = messages.recv().await {
        let mut line = one_line(&message);
        line.push(b'\n');
        output.write_all(&line).await?;
        output.flush().await?;
    }
    Ok(())
}

struct Bridge {
    server: Arc<GuardedServer>,
    session: Arc<ClientSession>,
    headers: Mutex<HeaderMap>,
    lines: mpsc::Sender<Vec<u8>>,
    /// The client's `initialize`, for a server that has lost the session. Locked while a new session begins.
    initialize: tokio::sync::Mutex<Option<Bytes>>,
    /// A new session has begun, with its own stream.
    has_new_session: Notify,
}

impl Bridge {
    async fn read(
        self: &Arc<Self>,
        input: impl AsyncRead + Unpin,
        finish: Duration,
    ) -> Result<(), ProxyError> {
        let mut input = BufReader::new(input);
        let mut in_progress = JoinSet::new();
        let mut handles: HashMap<String, AbortHandle> = HashMap::new();
        let mut listening = JoinSet::new();
        while let Some(line) = self.next_line(&mut input).await? {
            while in_progress.try_join_next().is_some() {}
            handles.retain(|_, handle| !handle.is_finished());
            if let Some(handle) = cancelled(&line).and_then(|id| handles.remove(&id)) {
                // Without sessions, a client cancels by closing the connection.
                if !self.headers.lock().contains_key(SESSION) {
                    handle.abort();
                }
            }
            let ids = requests(&line);
            let is_ready = has_method(&line, "notifications/initialized");
            let bridge = Arc::clone(self);
            let (first, begins) = (ids.first().cloned(), has_method(&line, "initialize"));
            let (ends, has_ended) = oneshot::channel::<()>();
            let handle = in_progress.spawn(async move {
                bridge.exchange(line, ids).await;
                drop(ends);
            });
            if first.is_none() || begins {
                // The next message may depend on it.
                let _ended = timeout(IN_ORDER, has_ended).await;
            } else {
                handles.extend(first.map(|id| (id, handle)));
            }
            if is_ready && listening.is_empty() {
                let bridge = Arc::clone(self);
                listening.spawn(async move { bridge.listen().await });
            }
        }
        self.session.client_ended();
        let all = async { while in_progress.join_next().await.is_some() {} };
        let _cut = timeout(finish, all).await;
        Ok(())
    }

    /// The next non-blank line, without its line break; `None` at the end of the input. The client gets an error for
    /// a line that is too long.
    async fn next_line(
        &self,
        input: &mut (impl AsyncBufReadExt + Unpin),
    ) -> Result<Option<Vec<u8>>, ProxyError> {
        let max_bytes = self.server.upstream.max_bytes();
        let mut is_too_long = false;
        loop {
            let mut line = Vec::new();
            let mut limited = (&mut *input).take((max_bytes as u64).saturating_add(1));
            limited.read_until(b'\n', &mut line).await?;
            if line.is_empty() {
                return Ok(None);
            }
            let has_end = line.ends_with(b"\n");
            if is_too_long || line.len() > max_bytes {
                // The rest of it is not a message either.
                is_too_long = !has_end;
                if has_end {
                    let why = format!("a line has more than {max_bytes} bytes");
                    self.tell(own_messages::error("null", code::NOT_JSON, &why))
                        .await;
                }
                continue;
            }
            let line = line.trim_ascii();
            if !line.is_empty() {
                return Ok(Some(line.to_vec()));
            }
        }
    }

    /// Handles a client message until everything in it is answered.
    async fn exchange(&self, line: Vec<u8>, ids: Vec<String>) {
        self.session.begin(&ids);
        let mut route = self.route();
        headers::mirror(&mut route.headers, &line, |_| None);
        let mut exchange = Exchange::new(Arc::clone(&self.session), route, ids);
        let mut admitted = exchange.admit(&line);
        loop {
            match admitted.judged().await {
                Ok(Some(question)) => self.tell(question).await,
                Err(CallCancelled) => {}
                Ok(None) => break,
            }
        }
        for message in admitted.answers {
            exchange.note_answers(&message);
            self.tell(message).await;
        }
        let Some(body) = together(admitted.forward, is_batch(&line)) else {
            return;
        };
        let schema = |tool: &str| self.session.input_schema(tool);
        headers::mirror(&mut exchange.route.headers, &body, schema);
        let why = match self.send(&mut exchange, body).await {
            Err(why) => why,
            Ok(()) if exchange.first().is_none() => return,
            Ok(()) => UNANSWERED.to_owned(),
        };
        (self.server.warn)(&why);
        for error in exchange.fail(&why) {
            self.tell(error).await;
        }
    }

    /// Sends messages to the server and passes on the responses. The error is a sentence for the client.
    async fn send(&self, exchange: &mut Exchange, body: Bytes) -> Result<(), String> {
        let upstream = &self.server.upstream;
        let described = |error: TransferError| self.server.describe(&error);
        let begins = has_method(&body, "initialize");
        if begins {
            *self.initialize.lock().await = Some(body.clone());
        }
        let sent = exchange.route.send(upstream, Method::POST, body.clone());
        let mut response = sent.await.map_err(described)?;
        if response.status() == StatusCode::NOT_FOUND && !begins {
            // The server has lost the session, so it has not processed the message.
            let forgotten = exchange.route.headers.get(SESSION).cloned();
            if let Some(session) = self.begin_again(forgotten).await? {
                exchange.route.headers.insert(SESSION, session);
                let sent = exchange.route.send(upstream, Method::POST, body);
                response = sent.await.map_err(described)?;
            }
        }
        if is_compressed(response.headers()) {
            return Err(described(TransferError::Compressed));
        }
        if begins {
            self.note_session(&response);
        }
        let status = response.status();
        if !status.is_success() && MediaType::of(response.headers()) != MediaType::Json {
            return Err(self.refused(response).await);
        }
        let messages = MessageReader::open(response, upstream).await;
        let Some(mut messages) = messages.map_err(described)? else {
            return Ok(());
        };
        let mut retries = 0;
        loop {
            while let Some(message) = messages.next().await {
                self.pass(exchange, begins, &message).await;
            }
            retries = if messages.has_come { 0 } else { retries + 1 };
            let is_done = exchange.first().is_none() || retries == MAX_RETRIES;
            if is_done || messages.last_id.is_none() {
                // What it said is not an answer to the request.
                let is_refused = exchange.first().is_some() && !status.is_success();
                return if is_refused {
                    Err(with_status(status))
                } else {
                    Ok(())
                };
            }
            // The stream ended before its last message: the rest comes on another one.
            sleep(messages.retry).await;
            messages.resume(self.stream(messages.last_id.as_ref()).await);
        }
    }

    fn note_session(&self, response: &Response<Incoming>) {
        if let Some(name) = response.headers().get(SESSION) {
            self.headers.lock().insert(SESSION, name.clone());
        }
    }

    /// The server's explanation for a refused request.
    async fn refused(&self, response: Response<Incoming>) -> String {
        let status = response.status();
        let body = self.server.upstream.read(response.into_body()).await;
        let body = String::from_utf8_lossy(&body.unwrap_or_default()).into_owned();
        let said: String = body.trim().chars().take(LONGEST_REASON).collect();
        let says = if said.is_empty() { "" } else { ": " };
        format!("{}{says}{said}", with_status(status))
    }

    /// Begins a new session with the client's own `initialize`, unless another request has already done so. `None` if
    /// there was no session to begin with.
    async fn begin_again(
        &self,
        forgotten: Option<HeaderValue>,
    ) -> Result<Option<HeaderValue>, String> {
        let Some(forgotten) = forgotten else {
            return Ok(None);
        };
        let initialize = self.initialize.lock().await;
        let current = self.headers.lock().get(SESSION).cloned();
        if current.as_ref() != Some(&forgotten) {
            return Ok(current);
        }
        let Some(initialize) = initialize.clone() else {
            return Ok(None);
        };
        (self.server.warn)("the MCP server has lost the session; starting a new one");
        self.headers.lock().remove(SESSION);
        let upstream = &self.server.upstream;
        let described = |error: TransferError| self.server.describe(&error);
        let route = self.route();
        let sent = route.send(upstream, Method::POST, initialize.clone());
        let response = sent.await.map_err(described)?;
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        self.note_session(&response);
        let messages = MessageReader::open(response, upstream).await;
        let mut messages = messages.map_err(described)?;
        // The client already has an answer to it.
        while let Some(reader) = &mut messages
            && let Some(message) = reader.next().await
        {
            if answers_all(&message, &initialize) {
                break;
            }
        }
        let route = self.route();
        let sent = route.send(upstream, Method::POST, INITIALIZED.into());
        sent.await.map_err(described)?;
        self.session.tools_changed(LIST_CHANGED);
        self.has_new_session.notify_one();
        Ok(self.headers.lock().get(SESSION).cloned())
    }

    /// A stream of the server's own messages, from the beginning or after an event.
    async fn stream(&self, after: Option<&HeaderValue>) -> Option<MessageReader> {
        let mut route = self.route();
        let events = HeaderValue::from_static("text/event-stream");
        route.headers.insert(ACCEPT, events);
        route.headers.remove(CONTENT_TYPE);
        if let Some(last) = after {
            route.headers.insert(LAST_EVENT, last.clone());
        }
        let sent = route.send(&self.server.upstream, Method::GET, Bytes::new());
        let response = sent.await.ok()?;
        let messages = MessageReader::open(response, &self.server.upstream).await;
        messages.ok()?.filter(MessageReader::is_stream)
    }

    /// Passes on the messages that the server sends unprompted, as long as it does.
    async fn listen(&self) {
        loop {
            let mut last_id = None;
            while let Some(mut messages) = self.stream(last_id.as_ref()).await {
                let session = Arc::clone(&self.session);
                let mut exchange = Exchange::new(session, self.route(), Vec::new());
                while let Some(message) = messages.next().await {
                    self.pass(&mut exchange, false, &message).await;
                }
                last_id = messages.last_id.or(last_id);
                sleep(messages.retry).await;
            }
            self.has_new_session.notified().await;
        }
    }

    async fn end_session(&self, within: Duration) {
        let route = self.route();
        if route.headers.contains_key(SESSION) {
            let sent = route.send(&self.server.upstream, Method::DELETE, Bytes::new());
            // A server that does not end sessions on request drops them eventually.
            if let Ok(Ok(response)) = timeout(within, sent).await {
                let _read = response.into_body().collect().await;
            }
        }
    }

    /// Passes on a message from the server. The one that begins a session names the protocol for all further
    /// requests.
    async fn pass(&self, exchange: &mut Exchange, begins: bool, message: &[u8]) {
        if begins && let Some(version) = agreed_version(message) {
            self.headers.lock().insert(VERSION, version);
        }
        if let Some(message) = exchange.judge_server_message(message) {
            self.tell(message.into_owned()).await;
        }
    }

    fn route(&self) -> Route {
        Route {
            headers: self.headers.lock().clone(),
            endpoint: self.server.upstream.endpoint(None),
        }
    }

    async fn tell(&self, message: Vec<u8>) {
        // A client that has stopped reading closes its input as well.
        let _gone = self.lines.send(message).await;
    }
}

fn with_status(status: StatusCode) -> String {
    format!("The MCP server answered with HTTP status {status}")
}

fn agreed_version(message: &[u8]) -> Option<HeaderValue> {
    let Message::Response { result, .. } = Message::read(message) else {
        return None;
    };
    let version = member(result, "protocolVersion").and_then(string)?;
    HeaderValue::from_str(&version).ok()
}
