//! A client on stdio in front of a server that speaks HTTP.
//!
//! In come lines, a message each; out go the messages of the server, a line each. Sessions, streams and headers are made
//! here, since the client knows nothing of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Response, StatusCode};
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

use super::body::{Messages, Place};
use super::exchange::Exchange;
use super::headers::{self, Kind, LAST_EVENT, SESSION, VERSION};
use super::relay::Shared;
use super::reply::{BETWEEN, batch};
use super::session::{Judged, Passed, Session, Way, cancelled, lock, requests};
use super::sessions::Sessions;
use super::upstream::{Trouble, Upstream};
use super::{HttpError, Options, mirror};
use crate::answer;
use crate::guard::{Guard, Settings};
use crate::message::Message;

/// How many lines may wait to be written. Who does not read stops the rest.
const MOST_LINES: usize = 64;

/// How long to wait before a stream that has ended is asked for again, if the server does not say.
const PAUSE: Duration = Duration::from_secs(1);

/// How often a stream is asked for again in vain. A server that is started anew is back by then, and knows nothing of it.
const MOST_IN_VAIN: usize = 5;

/// Guards a server for a client on stdio, until the client ends its input. Calls under way have [`Options::finish`] to
/// come to their end.
///
/// # Errors
///
/// If the address of the server is none, or if input or output break.
pub async fn bridge(
    options: Options,
    settings: Arc<Settings>,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), HttpError> {
    let (_end, ending) = watch::channel(false);
    let (lines, written) = mpsc::channel(MOST_LINES);
    let mut headers = own_headers(&options)?;
    let shared = Arc::new(Shared {
        upstream: Upstream::new(&options)?,
        sessions: Sessions::new(Arc::clone(&settings)),
        session_header: None,
        options,
        ending,
    });
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let any = HeaderValue::from_static("application/json, text/event-stream");
    headers.insert(ACCEPT, any);
    let name = format!("stdio-{:016x}", fastrand::u64(..));
    let bridge = Arc::new(Bridge {
        session: Arc::new(Session::new(Guard::new(settings, name))),
        shared,
        headers: Mutex::new(headers),
        lines,
    });
    let writing = tokio::spawn(write(written, output));
    let done = bridge.read(input).await;
    bridge.leave().await;
    drop(bridge);
    match writing.await {
        Ok(written) => done.and(written.map_err(HttpError::from)),
        Err(_) => done,
    }
}

/// What the operator wants to go with every request.
fn own_headers(options: &Options) -> Result<HeaderMap, HttpError> {
    let mut headers = HeaderMap::new();
    for (key, value) in &options.headers {
        let name = HeaderName::from_bytes(key.as_bytes());
        let (Ok(name), Ok(mut value)) = (name, HeaderValue::from_str(value)) else {
            return Err(HttpError::Header(key.clone()));
        };
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}

/// Writes messages, a line each.
async fn write(
    mut messages: mpsc::Receiver<Vec<u8>>,
    mut output: impl AsyncWrite + Unpin,
) -> std::io::Result<()> {
    while let Some(mut message) = messages.recv().await {
        // Within JSON these only stand between its parts.
        for byte in &mut message {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        message.push(b'\n');
        output.write_all(&message).await?;
        output.flush().await?;
    }
    Ok(())
}

struct Bridge {
    shared: Arc<Shared>,
    session: Arc<Session>,
    /// What every request says.
    headers: Mutex<HeaderMap>,
    lines: mpsc::Sender<Vec<u8>>,
}

impl Bridge {
    async fn read(self: &Arc<Self>, input: impl AsyncRead + Unpin) -> Result<(), HttpError> {
        let mut input = BufReader::new(input);
        let most = self.shared.upstream.most_bytes();
        let mut under_way = JoinSet::new();
        let mut handles: HashMap<String, AbortHandle> = HashMap::new();
        let mut listening = JoinSet::new();
        loop {
            let mut line = Vec::new();
            let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
            (&mut input)
                .take(limit)
                .read_until(b'\n', &mut line)
                .await?;
            if line.is_empty() {
                break;
            }
            if line.len() > most {
                let why = format!("a message has more than {most} bytes");
                return Err(std::io::Error::other(why).into());
            }
            let line = line.trim_ascii().to_vec();
            if line.is_empty() {
                continue;
            }
            while under_way.try_join_next().is_some() {}
            handles.retain(|_, handle| !handle.is_finished());
            if let Some(handle) = cancelled(&line).and_then(|id| handles.remove(&id)) {
                // Without sessions, a client cancels by going away.
                if !lock(&self.headers).contains_key(SESSION) {
                    handle.abort();
                }
            }
            let ids = requests(&line);
            let waits = ids.is_empty() || is(&line, "initialize");
            let is_ready = is(&line, "notifications/initialized");
            let bridge = Arc::clone(self);
            let first = ids.first().cloned();
            if waits {
                // What comes next may build on it.
                bridge.exchange(line, ids).await;
            } else {
                let handle = under_way.spawn(async move { bridge.exchange(line, ids).await });
                handles.extend(first.map(|id| (id, handle)));
            }
            if is_ready && listening.is_empty() {
                let bridge = Arc::clone(self);
                listening.spawn(async move { bridge.listen().await });
            }
        }
        self.session.client_ended(&self.shared);
        let all = async { while under_way.join_next().await.is_some() {} };
        let _cut = timeout(self.shared.options.finish, all).await;
        Ok(())
    }

    /// A message of the client, and everything that comes of it.
    async fn exchange(&self, line: Vec<u8>, ids: Vec<String>) {
        self.session.begin(&ids);
        let mut exchange = Exchange::new(Arc::clone(&self.session), ids);
        let mut headers = lock(&self.headers).clone();
        mirror::tell(&mut headers, &line, |_| None);
        let way = self.way(headers.clone());
        let mut admitted = self.session.admit(&self.shared, &way, &line);
        for mut held in std::mem::take(&mut admitted.held) {
            // It ends when the call is judged, or cancelled.
            while let Some(judged) = held.recv().await {
                match judged {
                    Judged::Forward(message) => admitted.forward.push(message),
                    Judged::Answer(message) => admitted.answers.push(message),
                    Judged::Ask(question) => self.tell(question).await,
                }
            }
        }
        for message in admitted.answers {
            exchange.sent(&message);
            self.tell(message).await;
        }
        let body: Bytes = match &mut admitted.forward[..] {
            [] => return,
            [message] => std::mem::take(message).into(),
            several => batch(several).into(),
        };
        mirror::tell(&mut headers, &body, |tool| self.session.input_schema(tool));
        if let Err(trouble) = self.send(&mut exchange, headers, body).await {
            let why = self.shared.upstream.tell(&trouble);
            self.fail(&mut exchange, &why).await;
        }
        if !exchange.open().is_empty() {
            let why = "The MCP server ended its answer before the result.";
            self.fail(&mut exchange, why).await;
        }
    }

    async fn send(
        &self,
        exchange: &mut Exchange,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<(), Trouble> {
        let upstream = &self.shared.upstream;
        let begins = is(&body, "initialize");
        let way = self.way(headers.clone());
        let endpoint = upstream.endpoint(None);
        let answer = upstream.send(Method::POST, endpoint, headers.clone(), body);
        let answer = answer.await?;
        if headers::is_compressed(answer.headers()) {
            return Err(Trouble::Compressed);
        }
        if begins && let Some(name) = answer.headers().get(SESSION) {
            lock(&self.headers).insert(SESSION, name.clone());
        }
        let status = answer.status();
        if headers::kind(answer.headers()) == Kind::Json {
            // Also where the status says that it failed: the message says why.
            let body = upstream.read(answer.into_body()).await?;
            if begins {
                self.agreed(&body);
            }
            // Servers that only took a message send an empty one.
            if !body.trim_ascii().is_empty() {
                self.pass(exchange, &way, &body).await;
            }
        } else if let Some(mut messages) = Messages::of(answer) {
            let mut vain = 0;
            loop {
                while let Some(message) = messages.next(upstream).await {
                    if begins {
                        self.agreed(&message);
                    }
                    self.pass(exchange, &way, &message).await;
                }
                vain = if messages.has_come() { 0 } else { vain + 1 };
                let is_done = exchange.open().is_empty() || vain == MOST_IN_VAIN;
                let Some(place) = messages.place().filter(|_| !is_done) else {
                    break;
                };
                messages = self.go_on(place).await;
            }
        } else if !status.is_success() {
            let why = format!("The MCP server answered with HTTP status {status}.");
            self.fail(exchange, &why).await;
        }
        Ok(())
    }

    /// A stream that ended before its last message, from where it ended.
    async fn go_on(&self, place: Place) -> Messages {
        sleep(place.pause.unwrap_or(PAUSE)).await;
        let stream = self.stream(place.last.as_ref()).await;
        Messages::behind(place, stream)
    }

    /// A stream of the server's, from the beginning or after an event.
    async fn stream(&self, after: Option<&HeaderValue>) -> Option<Messages> {
        let mut headers = lock(&self.headers).clone();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.remove(CONTENT_TYPE);
        if let Some(last) = after {
            headers.insert(LAST_EVENT, last.clone());
        }
        let upstream = &self.shared.upstream;
        let endpoint = upstream.endpoint(None);
        let answer = upstream.send(Method::GET, endpoint, headers, Bytes::new());
        answer.await.ok().filter(is_stream).and_then(Messages::of)
    }

    /// Messages that the server sends on its own, as long as it does.
    async fn listen(&self) {
        let mut after = None;
        while let Some(mut messages) = self.stream(after.as_ref()).await {
            let way = self.way(lock(&self.headers).clone());
            let mut exchange = Exchange::new(Arc::clone(&self.session), Vec::new());
            while let Some(message) = messages.next(&self.shared.upstream).await {
                self.pass(&mut exchange, &way, &message).await;
            }
            let place = messages.place();
            let pause = place.as_ref().and_then(|place| place.pause);
            after = place.and_then(|place| place.last).or(after);
            sleep(pause.unwrap_or(PAUSE)).await;
        }
    }

    /// The session ends.
    async fn leave(&self) {
        let headers = lock(&self.headers).clone();
        if headers.contains_key(SESSION) {
            let upstream = &self.shared.upstream;
            let endpoint = upstream.endpoint(None);
            let gone = upstream.send(Method::DELETE, endpoint, headers, Bytes::new());
            // A server that does not end sessions forgets them some day.
            if let Ok(Ok(answer)) = timeout(self.shared.options.connect, gone).await {
                let _read = answer.into_body().collect().await;
            }
        }
    }

    /// Every further request says which protocol was agreed upon.
    fn agreed(&self, message: &[u8]) {
        #[derive(Deserialize)]
        struct Agreed {
            #[serde(rename = "protocolVersion")]
            protocol: String,
        }
        if let Message::Response {
            result: Some(result),
            ..
        } = Message::read(message)
            && let Ok(agreed) = serde_json::from_str::<Agreed>(result.get())
            && let Ok(protocol) = HeaderValue::from_str(&agreed.protocol)
        {
            lock(&self.headers).insert(VERSION, protocol);
        }
    }

    fn way(&self, headers: HeaderMap) -> Way {
        Way {
            headers,
            endpoint: self.shared.upstream.endpoint(None),
        }
    }

    async fn pass(&self, exchange: &mut Exchange, way: &Way, message: &[u8]) {
        let passed = self.session.pass(&self.shared, way, message);
        exchange.sent(message);
        match passed {
            Passed::Same => self.tell(message.to_vec()).await,
            Passed::Changed(message) => self.tell(message).await,
            Passed::Gone => {}
        }
    }

    async fn fail(&self, exchange: &mut Exchange, why: &str) {
        (self.shared.options.warn)(why);
        for id in exchange.open().to_vec() {
            self.session.abandoned(&id);
            let error = answer::error(&id, BETWEEN, why);
            exchange.sent(&error);
            self.tell(error).await;
        }
    }

    async fn tell(&self, message: Vec<u8>) {
        // Nobody reads any more: then the input ends as well.
        let _gone = self.lines.send(message).await;
    }
}

fn is_stream(answer: &Response<Incoming>) -> bool {
    answer.status() == StatusCode::OK && headers::kind(answer.headers()) == Kind::Stream
}

/// Whether a message is of a method.
fn is(message: &[u8], name: &str) -> bool {
    matches!(Message::read(message),
        Message::Request { method, .. } | Message::Notification { method, .. } if method == name)
}
