//! One request on its way to the API, and the answer on its way back.
//!
//! A request goes up as the bytes that came. An answer comes down as its own bytes, except for calls that are repaired.
//! Whatever cannot be looked into passes as it is, and is counted with its reason.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use callwright_http::body::{self, Body, BoxError, Portion};
use callwright_http::headers::{self, MediaType, is_compressed, strip_hop_by_hop};
use callwright_http::host_check::HostCheck;
use callwright_http::server::Draining;
use callwright_http::sse::EventReader;
use callwright_http::upstream::{TransferError, Upstream};
use futures_util::stream;
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming};
use hyper::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CACHE_CONTROL, CONTENT_LENGTH, HeaderName, HeaderValue, UPGRADE,
};
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use serde_json::json;
use tokio::time::timeout;

use crate::api::Api;
use crate::gates::GateCache;
use crate::gateway::{Mode, Options};
use crate::guard::AnswerGuard;
use crate::judge::{AnswerJudge, Counts};
use crate::metrics::{Counter, Metrics, Timer};
use crate::request::{RequestView, decoded, has_tools_elsewhere};

/// Paths of our own. No API has them.
const OWN_PATHS: &str = "/callwright/";

const X_CALLWRIGHT: HeaderName = HeaderName::from_static("x-callwright");

/// What all requests share.
pub(crate) struct Relay {
    pub(crate) upstream: Upstream,
    pub(crate) upstream_headers: HeaderMap,
    pub(crate) host_check: HostCheck,
    pub(crate) gates: GateCache,
    pub(crate) metrics: Arc<Metrics>,
    /// Whether calls that come as text are made proper calls.
    pub(crate) is_rescuing: bool,
    pub(crate) draining: Draining,
    pub(crate) options: Options,
}

impl Relay {
    /// Answers one request.
    pub(crate) async fn handle(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        if let Some(objection) = self.host_check.objection(request.headers()) {
            return refusal(StatusCode::FORBIDDEN, "forbidden", objection);
        }
        if let Some(own) = request.uri().path().strip_prefix(OWN_PATHS) {
            return self.own_page(own);
        }
        if !self.is_client(request.headers()) {
            let text = "Send one of the gateway's client keys as `Authorization: Bearer …` or `x-api-key`.";
            return refusal(StatusCode::UNAUTHORIZED, "invalid_api_key", text);
        }
        if request.headers().contains_key(UPGRADE) {
            // Codex tries a WebSocket first; with this answer it goes on with HTTP at once.
            let text = "This gateway does not speak WebSocket. Send the request over HTTP.";
            return refusal(StatusCode::UPGRADE_REQUIRED, "upgrade_required", text);
        }
        let api = Api::of_path(request.uri().path()).filter(|_| {
            *request.method() == Method::POST && self.options.mode != Mode::Off
        });
        let name = api.map_or("other", |api| api.name);
        let answered = match api {
            Some(api) => self.judged(api, request).await,
            None => self.piped(request).await,
        };
        let response = answered.unwrap_or_else(|error| {
            let text = format!("The API at {} {error}", self.upstream);
            (self.options.warn)(&text);
            refusal(StatusCode::BAD_GATEWAY, "upstream_error", &text)
        });
        let status = response.status();
        self.metrics.count(Counter::Requests, &[name, status.as_str()]);
        response
    }

    /// A request whose answer nobody looks into.
    async fn piped(&self, request: Request<Incoming>) -> Result<Response<Body>, TransferError> {
        let (parts, body) = request.into_parts();
        let mut headers = self.headers(&parts.headers);
        if let Some(accepted) = parts.headers.get(ACCEPT_ENCODING) {
            headers.insert(ACCEPT_ENCODING, accepted.clone());
        }
        let uri = self.uri(&parts.uri);
        let body = body.map_err(BoxError::from).boxed_unsync();
        let response = self.upstream.pipe(parts.method, uri, headers, body).await?;
        Ok(body::passed_through(response))
    }

    /// A request to an API whose answers are judged.
    async fn judged(&self, api: Api, request: Request<Incoming>) -> Result<Response<Body>, TransferError> {
        let (parts, body) = request.into_parts();
        let (max_bytes, silence) = (self.options.max_bytes, self.options.silence);
        let portion = body::read_portion(body, max_bytes, silence).await;
        let portion = match portion {
            Ok(portion) => portion,
            Err(error) => {
                let text = format!("The request did not come through: the client {error}");
                return Ok(refusal(StatusCode::BAD_REQUEST, "invalid_request", &text));
            }
        };
        let mut judge = None;
        match &portion {
            Portion::Whole(bytes) => match decoded(&parts.headers, bytes, max_bytes) {
                Some(plain) => judge = self.judge_of(api, &plain),
                None => self.unjudged("request_encoding"),
            },
            Portion::Beginning(..) => self.unjudged("request_too_large"),
        }
        let headers = self.headers(&parts.headers);
        let uri = self.uri(&parts.uri);
        let response = self.upstream.pipe(Method::POST, uri, headers, portion.into_body()).await?;
        match judge.filter(|_| response.status().is_success()) {
            Some(judge) => self.judged_response(judge, response).await,
            None => Ok(body::passed_through(response)),
        }
    }

    /// Who judges the calls of the answer; `None` if there are no tools that could be judged.
    fn judge_of(&self, api: Api, request: &[u8]) -> Option<AnswerJudge> {
        let Some(view) = RequestView::read(request) else {
            self.unjudged("request_shape");
            return None;
        };
        let tools = self.gates.get(view.tools()?, &self.options.policy)?;
        Some(AnswerJudge {
            api,
            rescue: view.rescue_scope().filter(|_| self.is_rescuing),
            model: view.model.map(String::from).unwrap_or_default(),
            has_tools_elsewhere: has_tools_elsewhere(request),
            tools,
            sinks: self.options.sinks.clone(),
            metrics: Arc::clone(&self.metrics),
            counts: Counts::default(),
        })
    }

    async fn judged_response(
        &self,
        mut judge: AnswerJudge,
        response: Response<Incoming>,
    ) -> Result<Response<Body>, TransferError> {
        if is_compressed(response.headers()) {
            self.unjudged("answer_encoding");
            return Ok(body::passed_through(response));
        }
        let kind = MediaType::of(response.headers());
        let mut guard = AnswerGuard::new(Arc::clone(&judge.tools.gate), judge.api.provider);
        if let Some(scope) = judge.rescue.take() {
            guard = guard.rescuing(scope);
        }
        if self.options.mode == Mode::Observe {
            guard = guard.only_observing();
        }
        let (mut parts, incoming) = response.into_parts();
        strip_hop_by_hop(&mut parts.headers);
        match kind {
            MediaType::Json => {
                let (max_bytes, silence) = (self.options.max_bytes, self.options.silence);
                let portion = body::read_portion(incoming, max_bytes, silence).await?;
                let Portion::Whole(bytes) = portion else {
                    self.unjudged("answer_too_large");
                    return Ok(Response::from_parts(parts, portion.into_body()));
                };
                let changed = std::str::from_utf8(&bytes).ok().and_then(|text| guard.body(text, &mut judge));
                if let Some(reason) = guard.unjudged() {
                    self.unjudged(reason.name());
                }
                if let Some(told) = judge.counts.header().and_then(|told| HeaderValue::try_from(told).ok()) {
                    parts.headers.insert(X_CALLWRIGHT, told);
                }
                let bytes = changed.map_or(bytes, Bytes::from);
                parts.headers.remove(CONTENT_LENGTH);
                Ok(Response::from_parts(parts, body::full(bytes)))
            }
            MediaType::EventStream => {
                parts.headers.remove(CONTENT_LENGTH);
                parts.headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
                // Proxies in front of us would wait for more.
                parts.headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
                let stream = JudgedStream {
                    events: EventReader::new(incoming, self.options.max_bytes),
                    guard,
                    judge,
                    ready: VecDeque::new(),
                    failure: None,
                    held_since: None,
                    sent_at: Instant::now(),
                    is_over: false,
                    hold: self.options.hold,
                    hold_bytes: self.options.hold_bytes,
                    keep_alive: self.options.keep_alive,
                    silence: self.options.silence,
                    metrics: Arc::clone(&self.metrics),
                };
                let frames = stream::unfold(stream, |mut stream| async move {
                    let frame = stream.next().await?;
                    Some((frame.map(Frame::data), stream))
                });
                Ok(Response::from_parts(parts, body::streamed(frames)))
            }
            MediaType::Other => {
                self.unjudged("answer_type");
                Ok(Response::from_parts(parts, incoming.map_err(BoxError::from).boxed_unsync()))
            }
        }
    }

    fn unjudged(&self, reason: &str) {
        self.metrics.count(Counter::Unjudged, &[reason]);
    }

    /// The headers of a request as the upstream gets them.
    fn headers(&self, client: &HeaderMap) -> HeaderMap {
        let mut sent = headers::to_upstream(client);
        for name in self.upstream_headers.keys() {
            sent.remove(name);
        }
        sent.extend(self.upstream_headers.clone());
        sent
    }

    /// Where a request goes: its path after that of the upstream.
    fn uri(&self, asked: &Uri) -> Uri {
        let base = self.upstream.path().trim_end_matches('/');
        let path = asked.path_and_query().map_or("/", |path| path.as_str());
        self.upstream.at(&format!("{base}{path}"))
    }

    /// Whether a client sends one of the keys. All are compared, to their ends, so that time tells nothing.
    fn is_client(&self, headers: &HeaderMap) -> bool {
        let keys = &self.options.client_keys;
        if keys.is_empty() {
            return true;
        }
        let bearer = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
        let bearer = bearer.and_then(|value| value.strip_prefix(b"Bearer "));
        let named = ["x-api-key", "x-goog-api-key", "api-key"].map(|name| headers.get(name).map(HeaderValue::as_bytes));
        let sent = named.into_iter().chain([bearer]).flatten();
        let matches = sent.flat_map(|sent| keys.iter().map(move |key| is_equal(sent, key.as_bytes())));
        matches.fold(false, |any, is_equal| any | is_equal)
    }

    fn own_page(&self, path: &str) -> Response<Body> {
        match path {
            "health" => body::json(StatusCode::OK, r#"{"status":"ok"}"#),
            "ready" if self.draining.is_draining() => {
                body::json(StatusCode::SERVICE_UNAVAILABLE, r#"{"status":"draining"}"#)
            }
            "ready" => body::json(StatusCode::OK, r#"{"status":"ready"}"#),
            "metrics" => {
                let dropped = self.options.sinks.stats().iter().map(|(_, stats)| stats.dropped).sum::<u64>();
                let mut response = Response::new(body::full(self.metrics.text_with_dropped(dropped)));
                let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
                response.headers_mut().insert(hyper::header::CONTENT_TYPE, kind);
                response
            }
            _ => refusal(StatusCode::NOT_FOUND, "not_found", "The gateway has no such page."),
        }
    }
}

/// Compares two texts in a time that depends on their lengths only.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let differs = one.iter().zip(other).fold(0, |differs, (one, other)| differs | (one ^ other));
    differs == 0 && one.len() == other.len()
}

/// An error in the shape that the SDKs of all APIs read.
fn refusal(status: StatusCode, kind: &str, message: &str) -> Response<Body> {
    let error = json!({"type": "error", "error": {"type": kind, "code": kind, "message": message}});
    body::json(status, error.to_string())
}

/// An answer that is judged while it streams.
struct JudgedStream {
    events: EventReader,
    guard: AnswerGuard,
    judge: AnswerJudge,
    /// What goes to the client next.
    ready: VecDeque<Bytes>,
    /// Why the stream broke off; told after what came before.
    failure: Option<BoxError>,
    held_since: Option<Instant>,
    sent_at: Instant,
    is_over: bool,
    hold: Duration,
    hold_bytes: usize,
    keep_alive: Duration,
    silence: Duration,
    metrics: Arc<Metrics>,
}

impl JudgedStream {
    /// The next bytes for the client; `None` at the end.
    async fn next(&mut self) -> Option<Result<Bytes, BoxError>> {
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                self.sent_at = Instant::now();
                return Some(Ok(bytes));
            }
            if self.is_over {
                return self.failure.take().map(Err);
            }
            let mut out = Vec::new();
            match timeout(self.patience(), self.events.next()).await {
                Ok(Ok(Some(event))) => {
                    self.guard.event(event, &mut self.judge, &mut out);
                }
                Ok(Ok(None)) => {
                    self.is_over = true;
                    self.guard.end(&mut self.judge, &mut out);
                    out.push(self.events.rest());
                }
                Ok(Err(error)) => {
                    self.is_over = true;
                    self.guard.break_off(&mut self.judge, &mut out);
                    self.failure = Some(error.into());
                }
                Err(_) if self.guard.is_holding() => {
                    let is_due = self.sent_at.elapsed() >= self.keep_alive;
                    out.extend(self.guard.keep_alive().filter(|_| is_due));
                }
                Err(_) => {
                    self.is_over = true;
                    self.failure = Some(TransferError::Silent(self.silence).into());
                }
            }
            self.watch_hold(&mut out);
            self.ready.extend(out.into_iter().filter(|bytes| !bytes.is_empty()));
        }
    }

    /// How long to wait for the upstream before something else has to be done.
    fn patience(&self) -> Duration {
        if !self.guard.is_holding() {
            return self.silence;
        }
        let held = self.held_since.map(|since| since.elapsed()).unwrap_or_default();
        let until_release = self.hold.saturating_sub(held);
        let until_alive = self.keep_alive.saturating_sub(self.sent_at.elapsed());
        until_release.min(until_alive).max(Duration::from_millis(1))
    }

    /// Notes when holding began, and lets go of what has been held for too long.
    fn watch_hold(&mut self, out: &mut Vec<Bytes>) {
        if !self.guard.is_holding() {
            if let Some(since) = self.held_since.take() {
                self.metrics.time(Timer::Hold, since.elapsed());
            }
            return;
        }
        let since = *self.held_since.get_or_insert_with(Instant::now);
        if since.elapsed() >= self.hold || self.guard.held_bytes() > self.hold_bytes {
            self.metrics.count(Counter::Released, &[]);
            self.guard.release(&mut self.judge, out);
        }
    }
}
