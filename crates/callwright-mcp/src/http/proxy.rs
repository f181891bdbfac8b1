//! One HTTP request of a client on its way to the server.
//!
//! Messages are sent by POST and to a single endpoint, so that each is judged. Other requests, such as those for the
//! server's own messages and for login metadata, pass without a body.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use callwright_http::body::{self, Body};
use callwright_http::headers::{is_compressed, is_utf8, to_upstream};
use callwright_http::host_check::HostCheck;
use callwright_http::server::Draining;
use callwright_http::upstream::TransferError;
use callwright_live::{Counter, OperatorPages};
use hyper::body::{Bytes, Incoming};
use hyper::header::HeaderName;
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use tokio::time::timeout;

use super::GuardedServer;
use super::caller::Caller;
use super::client_session::{AdmittedMessage, CallCancelled, Route};
use super::client_sessions::ClientSessions;
use super::exchange::{Exchange, PROXY_ERROR, has_method, is_batch, requests, together};
use super::headers;
use crate::message::Message;
use crate::own_messages;

/// How long a client may take to send a message. Slow connections send megabytes in that time.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(60);

pub(super) struct Proxy {
    pub(super) host_check: HostCheck,
    pub(super) server: Arc<GuardedServer>,
    pub(super) sessions: ClientSessions,
    /// Distinguishes conversations where the server does not.
    pub(super) session_header: Option<HeaderName>,
    pub(super) draining: Draining,
    pub(super) pages: Option<Arc<OperatorPages>>,
}

/// Why a request gets no answer from the server.
pub(super) struct HttpRefusal {
    status: StatusCode,
    id: Option<String>,
    why: String,
}

pub(super) type HttpReply = Result<Response<Body>, HttpRefusal>;

impl HttpRefusal {
    fn new(status: StatusCode, why: impl Into<String>) -> Self {
        let why = why.into();
        let id = None;
        HttpRefusal { status, id, why }
    }

    fn to(self, id: Option<String>) -> Self {
        HttpRefusal { id, ..self }
    }

    /// A JSON-RPC error. Its id is `null` if there is no request, or its id cannot be read.
    pub(super) fn into_response(self) -> Response<Body> {
        let id = self.id.as_deref().unwrap_or("null");
        body::json(self.status, own_messages::error(id, PROXY_ERROR, &self.why))
    }
}

impl Proxy {
    pub(super) async fn handle(
        self: Arc<Self>,
        from: IpAddr,
        request: Request<Incoming>,
    ) -> Response<Body> {
        if let Some(pages) = self.pages.as_ref().filter(|pages| pages.has(request.uri())) {
            return pages.answer(from, &request);
        }
        let reply = self.reply(from, request).await;
        let response = reply.unwrap_or_else(HttpRefusal::into_response);
        if let Some(pages) = &self.pages {
            let status = response.status();
            let labels = ["mcp", status.as_str()];
            pages.live().count(Counter::Requests, &labels);
        }
        response
    }

    async fn reply(self: &Arc<Self>, from: IpAddr, request: Request<Incoming>) -> HttpReply {
        let (parts, body) = request.into_parts();
        if let Some(objection) = self.host_check.objection(&parts.headers) {
            return Err(HttpRefusal::new(StatusCode::FORBIDDEN, objection));
        }
        let (path, endpoint) = (parts.uri.path(), self.server.upstream.path());
        let is_endpoint = path == endpoint || path == "/" || path == "/mcp";
        // Where clients look up how to log in.
        if !is_endpoint && !path.starts_with("/.well-known/") {
            let why = "Not found. The MCP server is at /mcp.";
            return Err(HttpRefusal::new(StatusCode::NOT_FOUND, why));
        }
        let body = self.upload(body).await?;
        let session_header = self.session_header.as_ref();
        let caller = Caller::new(from, &parts, &body, session_header);
        match parts.method {
            Method::POST if is_endpoint => self.post(caller, &parts, body).await,
            _ if !body.is_empty() || !(is_endpoint || is_unambiguous(path)) => {
                let why = "Send messages to the MCP endpoint by POST.";
                Err(HttpRefusal::new(StatusCode::METHOD_NOT_ALLOWED, why))
            }
            _ => self.pass(caller, &parts, is_endpoint).await,
        }
    }

    async fn upload(&self, body: Incoming) -> Result<Bytes, HttpRefusal> {
        let max_bytes = self.server.upstream.max_bytes();
        let read = body::read(body, max_bytes, UPLOAD_TIMEOUT);
        let (status, why) = match timeout(UPLOAD_TIMEOUT, read).await {
            Ok(Ok(body)) => return Ok(body),
            Ok(Err(TransferError::TooLarge(_))) => (
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("The message has more than {max_bytes} bytes. Send a smaller one."),
            ),
            Ok(Err(TransferError::Silent(_))) | Err(_) => (
                StatusCode::REQUEST_TIMEOUT,
                "The message did not arrive in time. Send it again.".to_owned(),
            ),
            Ok(Err(_)) => (
                StatusCode::BAD_REQUEST,
                "The request is incomplete. Send it again.".to_owned(),
            ),
        };
        Err(HttpRefusal::new(status, why))
    }

    /// Handles messages from the client.
    async fn post(self: &Arc<Self>, caller: Caller, parts: &Parts, body: Bytes) -> HttpReply {
        if is_compressed(&parts.headers) {
            let why = "The message is compressed and cannot be judged. Send it uncompressed.";
            return Err(HttpRefusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
        }
        if !is_utf8(&parts.headers) {
            let why = "The message is not in UTF-8 and cannot be judged. Send it in UTF-8.";
            return Err(HttpRefusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
        }
        let route = Route {
            headers: to_upstream(&parts.headers),
            endpoint: self.server.upstream.endpoint(parts.uri.query()),
        };
        let exchange = self.exchange(&caller, route, requests(&body))?;
        let mut request = ProxiedRequest {
            admitted: exchange.admit(&body),
            proxy: Arc::clone(self),
            exchange,
            caller,
            body,
        };
        match request.judged().await? {
            None => request.forward().await,
            Some(question) => Ok(request.ask(&question)),
        }
    }

    /// Everything else: streams of the server's own messages, the end of a session, preflight requests from browsers.
    async fn pass(self: &Arc<Self>, caller: Caller, parts: &Parts, is_endpoint: bool) -> HttpReply {
        let upstream = &self.server.upstream;
        let endpoint = if is_endpoint {
            upstream.endpoint(parts.uri.query())
        } else {
            let path = parts.uri.path_and_query();
            upstream.at(path.map_or("/", |path| path.as_str()))
        };
        let route = Route {
            headers: to_upstream(&parts.headers),
            endpoint,
        };
        let sent = route.send(upstream, parts.method.clone(), Bytes::new());
        let response = sent.await.map_err(|error| self.failed(&error))?;
        if parts.method == Method::DELETE
            && response.status().is_success()
            && let Some(name) = caller.session()
        {
            self.sessions.ended(&caller, name);
        }
        if !is_endpoint || parts.method != Method::GET {
            return Ok(body::passed_through(response));
        }
        let request = ProxiedRequest {
            exchange: self.exchange(&caller, route, Vec::new())?,
            proxy: Arc::clone(self),
            caller,
            body: Bytes::new(),
            admitted: AdmittedMessage::default(),
        };
        request.respond(response).await
    }

    fn exchange(
        &self,
        caller: &Caller,
        route: Route,
        ids: Vec<String>,
    ) -> Result<Exchange, HttpRefusal> {
        let first = ids.first().cloned();
        self.sessions.exchange(caller, route, ids).ok_or_else(|| {
            let why = "Too many requests from this client, or with this id, are in progress. Wait for their answers.";
            HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, why).to(first)
        })
    }

    /// The response when the server fails.
    pub(super) fn failed(&self, error: &TransferError) -> HttpRefusal {
        let status = match error {
            TransferError::Silent(_) => StatusCode::GATEWAY_TIMEOUT,
            _ => StatusCode::BAD_GATEWAY,
        };
        let why = self.server.describe(error);
        (self.server.warn)(&why);
        HttpRefusal::new(status, why)
    }
}

/// Whether every server interprets a path the same way: `/.well-known/../mcp` is `/mcp` to some.
fn is_unambiguous(path: &str) -> bool {
    !path.contains(['%', '\\', ';']) && path.split('/').all(|part| !matches!(part, "." | ".."))
}

pub(super) struct ProxiedRequest {
    pub(super) proxy: Arc<Proxy>,
    pub(super) exchange: Exchange,
    pub(super) caller: Caller,
    /// As the client sent it; empty if it only listens.
    pub(super) body: Bytes,
    pub(super) admitted: AdmittedMessage,
}

impl ProxiedRequest {
    /// Waits until all calls are judged, or until there is a question to the user.
    pub(super) async fn judged(&mut self) -> Result<Option<Vec<u8>>, HttpRefusal> {
        self.admitted.judged().await.map_err(|CallCancelled| {
            let refused = HttpRefusal::new(StatusCode::OK, "The request was cancelled.");
            refused.to(self.exchange.first())
        })
    }

    /// Forwards what may be forwarded, and answers with the response.
    pub(super) async fn forward(mut self) -> HttpReply {
        for answer in &self.admitted.answers {
            self.exchange.note_answers(answer);
        }
        let forward = std::mem::take(&mut self.admitted.forward);
        let body = if forward.len() == 1 && forward[0] == self.body {
            self.body.clone()
        } else if let Some(body) = together(forward, is_batch(&self.body)) {
            let Exchange { session, route, .. } = &mut self.exchange;
            headers::mirror_repaired(&mut route.headers, &body, |tool| session.input_schema(tool));
            body
        } else {
            return self.unsent();
        };
        let route = &self.exchange.route;
        let sent = route.send(&self.proxy.server.upstream, Method::POST, body);
        match sent.await {
            Ok(response) => self.respond(response).await,
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// The reply when nothing is sent to the server.
    fn unsent(&mut self) -> HttpReply {
        let status = match Message::read(&self.body) {
            Message::Other => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        };
        if let Some(response) = self.own_answers(status) {
            return Ok(response);
        }
        if has_method(&self.body, "tools/call") {
            let why = "A call needs an id.";
            return Err(HttpRefusal::new(StatusCode::BAD_REQUEST, why));
        }
        // Accepted, with nothing to say.
        let mut response = Response::new(body::full(Bytes::new()));
        *response.status_mut() = StatusCode::ACCEPTED;
        Ok(response)
    }

    /// The guard's own answers, if there are any.
    pub(super) fn own_answers(&mut self, status: StatusCode) -> Option<Response<Body>> {
        let answers = std::mem::take(&mut self.admitted.answers);
        let answers = together(answers, is_batch(&self.body))?;
        Some(body::json(status, answers))
    }

    pub(super) fn failed(&self, error: &TransferError) -> HttpRefusal {
        self.proxy.failed(error).to(self.exchange.first())
    }
}
