//! One request on its way to the server and back.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::HeaderName;
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use tokio::sync::watch;
use tokio::time::timeout;

use super::back::{Back, untouched};
use super::caller::Caller;
use super::exchange::Exchange;
use super::headers;
use super::reply::{self, Body};
use super::session::{Admitted, Judged, Way, requests};
use super::sessions::Sessions;
use super::upstream::{Trouble, Upstream};
use super::{Options, asking, door, mirror};
use crate::call;
use crate::message::Message;

/// How long a client may take to send a message. Slow lines send megabytes in that time.
const LONGEST_UPLOAD: Duration = Duration::from_secs(60);

/// What all requests share.
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) upstream: Upstream,
    pub(crate) sessions: Sessions,
    /// Tells conversations apart where the server does not.
    pub(crate) session_header: Option<HeaderName>,
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
pub(super) type Refused = Box<Response<Body>>;

pub(super) type Answer = Result<Response<Body>, Refused>;

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
    let caller = Caller::new(
        from,
        &parts.headers,
        parts.uri.query(),
        &body,
        shared.session_header.as_ref(),
    );
    let done = match parts.method {
        Method::POST if is_endpoint => post(&shared, caller, &parts, body).await,
        _ if !body.is_empty() || !(is_endpoint || is_plain(path)) => {
            let why = "Messages go to the MCP server by POST, and only there.";
            Err(reply::error(StatusCode::METHOD_NOT_ALLOWED, None, why).into())
        }
        _ => other(&shared, caller, &parts, is_endpoint).await,
    };
    done.unwrap_or_else(|refused| *refused)
}

/// Whether every server takes a path for the same one: `/.well-known/../mcp` is `/mcp` to some.
fn is_plain(path: &str) -> bool {
    !path.contains(['%', '\\', ';']) && path.split('/').all(|part| !matches!(part, "." | ".."))
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
async fn post(shared: &Arc<Shared>, caller: Caller, parts: &Parts, body: Bytes) -> Answer {
    if headers::is_compressed(&parts.headers) {
        let why = "The message is compressed, so nobody can judge it. Send it as it is.";
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(reply::error(status, None, why).into());
    }
    let way = Way {
        headers: headers::to_server(&parts.headers),
        endpoint: shared.upstream.endpoint(parts.uri.query()),
    };
    let exchange = exchange(shared, &caller, requests(&body))?;
    let admitted = exchange.session.admit(shared, &way, &body);
    let mut sent = Sent {
        elicits: can_elicit(&body),
        shared: Arc::clone(shared),
        exchange,
        caller,
        way,
        admitted,
        body,
    };
    match sent.judged().await? {
        None => sent.forward().await,
        // The user is asked on the stream that the answer to the call comes on.
        Some(question) => Ok(asking::stream(sent, &question)),
    }
}

/// Messages of the client on their way to the server.
pub(super) struct Sent {
    shared: Arc<Shared>,
    exchange: Exchange,
    caller: Caller,
    /// Whether the client says, in this very message, that it can ask the user.
    elicits: bool,
    way: Way,
    admitted: Admitted,
    body: Bytes,
}

impl Sent {
    /// Waits until all calls are judged, or until there is a question to the user.
    pub(super) async fn judged(&mut self) -> Result<Option<Vec<u8>>, Refused> {
        while let Some(held) = self.admitted.held.last_mut() {
            match held.recv().await {
                Some(Judged::Ask(question)) => return Ok(Some(question)),
                Some(Judged::Forward(message)) => self.admitted.forward.push(message),
                Some(Judged::Answer(message)) => self.admitted.answers.push(message),
                None => {
                    let why = "The request was cancelled.";
                    let first = self.exchange.open().first();
                    let status = StatusCode::OK;
                    return Err(reply::error(status, first.map(String::as_str), why).into());
                }
            }
            self.admitted.held.pop();
        }
        Ok(None)
    }

    /// Sends on what goes on, and answers with what comes of it.
    pub(super) async fn forward(self) -> Answer {
        let Sent {
            shared,
            mut exchange,
            caller,
            elicits,
            mut way,
            mut admitted,
            body,
        } = self;
        for answer in &admitted.answers {
            exchange.sent(answer);
        }
        let first = exchange.open().first().cloned();
        let read = Message::read(&body);
        let is_batch = matches!(read, Message::Batch(_));
        let is_read = !matches!(read, Message::Other);
        let body = match &mut admitted.forward[..] {
            [] if admitted.answers.is_empty() && is(&body, "tools/call") => {
                let why = "A call needs an id.";
                return Err(reply::error(StatusCode::BAD_REQUEST, None, why).into());
            }
            [] if admitted.answers.is_empty() => return Ok(reply::accepted()),
            [] => {
                let mut response = reply::messages(&admitted.answers, is_batch);
                if !is_read {
                    *response.status_mut() = StatusCode::BAD_REQUEST;
                }
                return Ok(response);
            }
            [message] if *message == body => body,
            [message] if !is_batch => {
                let session = &exchange.session;
                mirror::repaired(&mut way.headers, message, |tool| session.input_schema(tool));
                std::mem::take(message).into()
            }
            several => reply::batch(several).into(),
        };
        let is_endless = is(&body, "subscriptions/listen");
        let sent = shared.upstream.send(
            Method::POST,
            way.endpoint.clone(),
            way.headers.clone(),
            body,
        );
        let answer = sent
            .await
            .map_err(|trouble| bad(&shared, &trouble, first.as_deref()))?;
        let back = Back {
            shared: &shared,
            exchange,
            caller,
            elicits,
            way,
            answers: admitted.answers,
            is_batch,
            is_endless,
        };
        back.answer(answer).await
    }
}

/// Everything else: streams of the server's own messages, the end of a session, what browsers ask before they ask.
async fn other(shared: &Arc<Shared>, caller: Caller, parts: &Parts, is_endpoint: bool) -> Answer {
    let to = if is_endpoint {
        shared.upstream.endpoint(parts.uri.query())
    } else {
        let path = parts.uri.path_and_query();
        shared.upstream.at(path.map_or("/", |path| path.as_str()))
    };
    let way = Way {
        headers: headers::to_server(&parts.headers),
        endpoint: to.clone(),
    };
    let answer = shared
        .upstream
        .send(parts.method.clone(), to, way.headers.clone(), Bytes::new())
        .await
        .map_err(|trouble| bad(shared, &trouble, None))?;
    if parts.method == Method::DELETE
        && answer.status().is_success()
        && let Some(name) = caller.session()
    {
        shared.sessions.ended(&caller, name);
    }
    if !is_endpoint || parts.method != Method::GET {
        return Ok(untouched(answer));
    }
    let back = Back {
        shared,
        exchange: exchange(shared, &caller, Vec::new())?,
        caller,
        elicits: false,
        way,
        answers: Vec::new(),
        is_batch: false,
        is_endless: true,
    };
    back.answer(answer).await
}

/// The guard for a request.
fn exchange(shared: &Shared, caller: &Caller, ids: Vec<String>) -> Result<Exchange, Refused> {
    let first = ids.first().cloned();
    shared.sessions.of(caller, ids).ok_or_else(|| {
        let why = "Too many requests with this id are in progress. Wait for their answers.";
        reply::error(StatusCode::SERVICE_UNAVAILABLE, first.as_deref(), why).into()
    })
}

/// The server does not do its part.
pub(super) fn bad(shared: &Shared, trouble: &Trouble, id: Option<&str>) -> Response<Body> {
    let status = match trouble {
        Trouble::Silent(_) => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::BAD_GATEWAY,
    };
    let why = shared.upstream.tell(trouble);
    (shared.options.warn)(&why);
    reply::error(status, id, &why)
}

/// Whether a message is of a method.
fn is(message: &[u8], name: &str) -> bool {
    matches!(Message::read(message),
        Message::Request { method, .. } | Message::Notification { method, .. } if method == name)
}

/// Whether a client that begins says that it can ask the user.
fn can_elicit(message: &[u8]) -> bool {
    matches!(Message::read(message), Message::Request { method, params, .. }
        if method == "initialize" && call::can_elicit(params))
}
