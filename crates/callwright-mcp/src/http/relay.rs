//! One request on its way to the server and back.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, HeaderValue, USER_AGENT};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use tokio::sync::watch;
use tokio::time::timeout;

use super::body::Stream;
use super::exchange::Exchange;
use super::headers::{self, Kind, SESSION};
use super::reply::{self, Body};
use super::session::{Judged, Passed, requests};
use super::sessions::Sessions;
use super::upstream::{Trouble, Upstream};
use super::{Options, door, mirror, sse};
use crate::message::Message;

/// How long a client may take to send a message. Slow lines send megabytes in that time.
const LONGEST_UPLOAD: Duration = Duration::from_secs(60);

/// What all requests share.
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) upstream: Upstream,
    pub(crate) sessions: Sessions,
    /// Whether everything ends.
    pub(crate) ending: watch::Receiver<bool>,
}

impl Shared {
    pub(crate) fn warn(&self, warnings: &[String]) {
        for warning in warnings {
            (self.options.warn)(warning);
        }
    }
}

/// An answer that says why there is no other.
type Refused = Box<Response<Body>>;

type Answer = Result<Response<Body>, Refused>;

/// Answers a request.
pub(crate) async fn relay(
    shared: Arc<Shared>,
    from: IpAddr,
    request: Request<Incoming>,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    if let Some(objection) = door::objection(&parts.headers, &shared.options) {
        return reply::error(StatusCode::FORBIDDEN, None, &objection);
    }
    let path = parts.uri.path();
    let is_endpoint = path == shared.upstream.path() || path == "/" || path == "/mcp";
    // Where clients look for how to log in.
    let is_known = is_endpoint || path.starts_with("/.well-known/");
    if !is_known {
        let at = shared.upstream.path();
        let why = format!("Nothing is here. The MCP server is at {at}.");
        return reply::error(StatusCode::NOT_FOUND, None, &why);
    }
    let body = match upload(&shared, body).await {
        Ok(body) => body,
        Err(refused) => return *refused,
    };
    let done = match parts.method {
        Method::POST if is_endpoint => post(&shared, from, &parts, body).await,
        _ => other(&shared, from, &parts, body, is_endpoint).await,
    };
    done.unwrap_or_else(|refused| *refused)
}

/// Reads what a client sends.
async fn upload(shared: &Shared, body: Incoming) -> Result<Bytes, Refused> {
    let most = shared.options.most_bytes;
    match timeout(LONGEST_UPLOAD, Limited::new(body, most).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let why = format!("The message has more than {most} bytes. Send less.");
            Err(reply::error(StatusCode::PAYLOAD_TOO_LARGE, None, &why).into())
        }
        Ok(Err(_)) => Err(reply::error(
            StatusCode::BAD_REQUEST,
            None,
            "The request broke off. Send it again.",
        )
        .into()),
        Err(_) => Err(reply::error(
            StatusCode::REQUEST_TIMEOUT,
            None,
            "The message did not come in time. Send it again.",
        )
        .into()),
    }
}

/// Messages of the client.
async fn post(shared: &Arc<Shared>, from: IpAddr, parts: &Parts, body: Bytes) -> Answer {
    if headers::is_compressed(&parts.headers) {
        let why = "The message is compressed, so nobody can judge it. Send it as it is.";
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(reply::error(status, None, why).into());
    }
    let ids = requests(&body);
    let first = ids.first().cloned();
    let mut exchange = exchange(shared, from, &parts.headers, ids)?;
    let mut headers = headers::to_server(&parts.headers);
    let mut admitted = exchange.session.admit(shared, &headers, &body);
    for held in std::mem::take(&mut admitted.held) {
        match held.await {
            Ok(Judged::Forward(message)) => admitted.forward.push(message),
            Ok(Judged::Answer(message)) => admitted.answers.push(message),
            Err(_) => {
                let why = "The request was cancelled.";
                return Err(reply::error(StatusCode::OK, first.as_deref(), why).into());
            }
        }
    }
    for answer in &admitted.answers {
        exchange.sent(answer);
    }
    let is_batch = matches!(Message::read(&body), Message::Batch(_));
    let body = match &mut admitted.forward[..] {
        [] if admitted.answers.is_empty() => return Ok(reply::accepted()),
        [] => return Ok(reply::messages(&admitted.answers, is_batch)),
        [message] if *message == body => body,
        [message] if !is_batch => {
            let session = &exchange.session;
            mirror::repaired(&mut headers, message, |tool| session.input_schema(tool));
            std::mem::take(message).into()
        }
        several => reply::batch(several).into(),
    };
    let is_endless = is_listening(&body);
    let endpoint = shared.upstream.endpoint(parts.uri.query());
    let answer = shared
        .upstream
        .send(Method::POST, endpoint, headers.clone(), body)
        .await
        .map_err(|trouble| bad(shared, &trouble, first.as_deref()))?;
    let way = Way {
        shared,
        exchange,
        headers,
        answers: admitted.answers,
        is_batch,
        is_endless,
    };
    way.back(answer).await
}

/// Everything else: streams of the server's own messages, the end of a session, what browsers ask before they ask.
async fn other(
    shared: &Arc<Shared>,
    from: IpAddr,
    parts: &Parts,
    body: Bytes,
    is_endpoint: bool,
) -> Answer {
    let to = if is_endpoint {
        shared.upstream.endpoint(parts.uri.query())
    } else {
        let path = parts.uri.path_and_query();
        shared.upstream.at(path.map_or("/", |path| path.as_str()))
    };
    let headers = headers::to_server(&parts.headers);
    let answer = shared
        .upstream
        .send(parts.method.clone(), to, headers.clone(), body)
        .await
        .map_err(|trouble| bad(shared, &trouble, None))?;
    if parts.method == Method::DELETE
        && answer.status().is_success()
        && let Some(name) = session_name(&parts.headers)
    {
        shared.sessions.ended(name);
    }
    if !is_endpoint || parts.method != Method::GET {
        return Ok(untouched(answer));
    }
    let way = Way {
        shared,
        exchange: exchange(shared, from, &parts.headers, Vec::new())?,
        headers,
        answers: Vec::new(),
        is_batch: false,
        is_endless: true,
    };
    way.back(answer).await
}

/// The way back to the client.
struct Way<'s> {
    shared: &'s Arc<Shared>,
    exchange: Exchange,
    headers: HeaderMap,
    /// Answers of our own.
    answers: Vec<Vec<u8>>,
    is_batch: bool,
    is_endless: bool,
}

impl Way<'_> {
    async fn back(mut self, answer: Response<Incoming>) -> Answer {
        let shared = self.shared;
        let asked_in = session_name(&self.headers);
        let has_session = asked_in.is_some();
        match (asked_in, session_name(answer.headers())) {
            // The server has forgotten it.
            (Some(name), _) if answer.status() == StatusCode::NOT_FOUND => {
                shared.sessions.ended(name);
            }
            (None, Some(name)) => drop(shared.sessions.named(name, Vec::new())),
            _ => {}
        }
        let kind = headers::kind(answer.headers());
        let first = self.exchange.open().first().cloned();
        if kind != Kind::Other && headers::is_compressed(answer.headers()) {
            return Err(bad(shared, &Trouble::Compressed, first.as_deref()).into());
        }
        match kind {
            Kind::Json => {
                let (parts, body) = answer.into_parts();
                let read = shared.upstream.read(body).await;
                let body = read.map_err(|trouble| bad(shared, &trouble, first.as_deref()))?;
                let passed = self.exchange.session.pass(shared, &self.headers, &body);
                self.exchange.sent(&body);
                let message = match passed {
                    Passed::Same => Some(body),
                    Passed::Changed(message) => Some(message.into()),
                    Passed::Gone => None,
                };
                let body = if self.answers.is_empty() {
                    message.unwrap_or_default()
                } else {
                    together(&self.answers, message.as_deref()).into()
                };
                let mut headers = parts.headers;
                headers::strip(&mut headers);
                headers.remove(CONTENT_LENGTH);
                let mut response = Response::new(reply::whole(body));
                *response.status_mut() = parts.status;
                *response.headers_mut() = headers;
                Ok(response)
            }
            Kind::Stream => {
                let (parts, body) = answer.into_parts();
                let events = self.answers.iter().flat_map(|answer| sse::event_of(answer));
                let stream = Stream {
                    shared: Arc::clone(shared),
                    first: events.collect(),
                    exchange: self.exchange,
                    headers: self.headers,
                    body,
                    is_endless: self.is_endless,
                    has_session,
                };
                let mut headers = parts.headers;
                headers::strip(&mut headers);
                headers.remove(CONTENT_LENGTH);
                let mut response = Response::new(stream.judged());
                *response.status_mut() = parts.status;
                *response.headers_mut() = headers;
                Ok(response)
            }
            // What the server only had to take, and what we have to say.
            Kind::Other if !self.answers.is_empty() && answer.status().is_success() => {
                Ok(reply::messages(&self.answers, self.is_batch))
            }
            Kind::Other => Ok(untouched(answer)),
        }
    }
}

/// Answers of ours and of the server's in one array.
fn together(answers: &[Vec<u8>], message: Option<&[u8]>) -> Vec<u8> {
    let mut all: Vec<&[u8]> = answers.iter().map(Vec::as_slice).collect();
    // Servers that only took a message send an empty one.
    if let Some(message) = message.filter(|message| !message.trim_ascii().is_empty()) {
        match Message::read(message) {
            Message::Batch(parts) => all.extend(parts.iter().map(|part| part.get().as_bytes())),
            _ => all.push(message),
        }
    }
    reply::batch(&all)
}

/// An answer that is none of our business.
fn untouched(answer: Response<Incoming>) -> Response<Body> {
    let (mut parts, body) = answer.into_parts();
    headers::strip(&mut parts.headers);
    Response::from_parts(parts, body.map_err(Into::into).boxed_unsync())
}

/// The guard for a request.
fn exchange(
    shared: &Shared,
    from: IpAddr,
    headers: &HeaderMap,
    ids: Vec<String>,
) -> Result<Exchange, Refused> {
    if let Some(name) = session_name(headers) {
        return Ok(shared.sessions.named(name, ids));
    }
    let marks = [AUTHORIZATION, USER_AGENT]
        .map(|name| headers.get(name).map_or(&[][..], HeaderValue::as_bytes))
        .join(&b'\n');
    let first = ids.first().cloned();
    let unnamed = shared.sessions.unnamed(from, &marks, ids);
    unnamed.ok_or_else(|| {
        let why = "Too many requests with this id are under way. Wait for their answers.";
        reply::error(StatusCode::SERVICE_UNAVAILABLE, first.as_deref(), why).into()
    })
}

fn session_name(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION)?.to_str().ok()
}

/// The server does not do its part.
fn bad(shared: &Shared, trouble: &Trouble, id: Option<&str>) -> Response<Body> {
    let status = match trouble {
        Trouble::Silent(_) => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::BAD_GATEWAY,
    };
    let why = shared.upstream.tell(trouble);
    (shared.options.warn)(&why);
    reply::error(status, id, &why)
}

/// Whether a client only wants to hear of changes, for as long as it is there.
fn is_listening(message: &[u8]) -> bool {
    matches!(Message::read(message), Message::Request { method, .. }
        if method == "subscriptions/listen")
}
