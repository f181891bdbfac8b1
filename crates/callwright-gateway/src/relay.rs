//! One request on its way to the API, and the answer on its way back.
//!
//! A request goes up as the bytes that came. An answer comes down as its own bytes, except for calls that are repaired.
//! Whatever cannot be looked into passes as it is, and is counted with its reason.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use callwright_http::body::{self, Body, BoxError, Portion};
use callwright_http::headers::{self, MediaType, is_compressed, strip_hop_by_hop};
use callwright_http::sse::EventReader;
use callwright_http::upstream::{TransferError, Upstream, UpstreamLimits};
use callwright_live::{Counter, Live, OperatorPages};
use futures_util::stream;
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming};
use hyper::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, HeaderName,
    HeaderValue, UPGRADE,
};
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use parking_lot::Mutex;
use serde_json::json;

use crate::answer_end::AnswerEnd;
use crate::api::Api;
use crate::gateway::{GatewayOptions, History, LiveSettings, Loops, Mode};
use crate::guard::AnswerGuard;
use crate::judge::{AnswerCounts, AnswerJudge, Refusals};
use crate::judged_stream::JudgedAnswerStream;
use crate::loops::LoopCheck;
use crate::mend::mend;
use crate::reask::{IDEMPOTENCY_KEY, ReaskLimits, Reasker};
use crate::request::{RequestView, decoded, has_tools_elsewhere};

const X_CALLWRIGHT: HeaderName = HeaderName::from_static("x-callwright");

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Relay {
    pub(crate) upstream: Upstream,
    pub(crate) pages: Arc<OperatorPages>,
    pub(crate) settings: Mutex<Arc<LiveSettings>>,
    pub(crate) live: Arc<Live>,
    /// Whether calls that come as text are made proper calls.
    pub(crate) is_rescuing: bool,
    pub(crate) options: GatewayOptions,
}

impl Relay {
    /// Answers one request.
    pub(crate) async fn handle(
        self: Arc<Self>,
        from: IpAddr,
        request: Request<Incoming>,
    ) -> Response<Body> {
        if self.pages.has(request.uri()) {
            return self.pages.answer(from, &request);
        }
        let host_check = &self.options.proxy.host_check;
        if let Some(objection) = host_check.objection(request.headers()) {
            return refusal(StatusCode::FORBIDDEN, "forbidden", objection);
        }
        let settings = Arc::clone(&self.settings.lock());
        if !settings.is_client(request.headers()) {
            let text = "Send one of the gateway's client keys as `Authorization: Bearer …` or `x-api-key`.";
            return refusal(StatusCode::UNAUTHORIZED, "invalid_api_key", text);
        }
        if request.headers().contains_key(UPGRADE) {
            // Codex tries a WebSocket first; with this answer it goes on with HTTP at once.
            let text = "This gateway does not speak WebSocket. Send the request over HTTP.";
            return refusal(StatusCode::UPGRADE_REQUIRED, "upgrade_required", text);
        }
        let api = Api::of_path(request.uri().path())
            .filter(|_| *request.method() == Method::POST && self.options.mode != Mode::Off);
        let name = api.map_or("other", |api| api.name);
        let answered = match api {
            Some(api) => Arc::clone(&self).judged(api, &settings, request).await,
            None => self.piped(&settings, request).await,
        };
        let response = answered.unwrap_or_else(|error| {
            let text = format!("The API at {} {error}", self.upstream);
            (self.options.proxy.warn)(&text);
            refusal(StatusCode::BAD_GATEWAY, "upstream_error", &text)
        });
        let status = response.status();
        self.live.count(Counter::Requests, &[name, status.as_str()]);
        response
    }

    /// A request whose answer nobody looks into.
    async fn piped(
        &self,
        settings: &LiveSettings,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, TransferError> {
        let (parts, body) = request.into_parts();
        let mut headers = settings.headers(&parts.headers);
        if let Some(accepted) = parts.headers.get(ACCEPT_ENCODING) {
            headers.insert(ACCEPT_ENCODING, accepted.clone());
        }
        let uri = self.uri(&parts.uri);
        let body = body.map_err(BoxError::from).boxed_unsync();
        let response = self.upstream.pipe(parts.method, uri, headers, body).await?;
        Ok(body::passed_through(response))
    }

    /// A request to an API whose answers are judged.
    async fn judged(
        self: Arc<Self>,
        api: Api,
        settings: &LiveSettings,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, TransferError> {
        let (parts, body) = request.into_parts();
        let UpstreamLimits {
            max_bytes, silence, ..
        } = self.options.proxy.limits;
        let portion = body::read_portion(body, max_bytes, silence).await;
        let portion = match portion {
            Ok(portion) => portion,
            Err(error) => {
                let text = format!("The request did not come through: the client {error}");
                return Ok(refusal(StatusCode::BAD_REQUEST, "invalid_request", &text));
            }
        };
        let headers = settings.headers(&parts.headers);
        let uri = self.uri(&parts.uri);
        let (mut judge, mut sent) = (None, None);
        match &portion {
            Portion::Whole(bytes) => match decoded(&parts.headers, bytes, max_bytes) {
                Some(plain) => {
                    let body = match plain {
                        Cow::Borrowed(_) => bytes.clone(),
                        Cow::Owned(plain) => plain.into(),
                    };
                    judge = self.judge_of(api, settings, &body);
                    if self.options.history == History::Mend || self.options.reask > 0 {
                        sent = Some(SentRequest {
                            api,
                            uri: uri.clone(),
                            headers: headers.clone(),
                            body,
                        });
                    }
                }
                None => self.unjudged("request_encoding"),
            },
            Portion::Beginning(..) => self.unjudged("request_too_large"),
        }
        let mut response = self
            .upstream
            .pipe(Method::POST, uri, headers, portion.into_body())
            .await?;
        if let Some(sent) = &mut sent {
            response = self.mended(sent, response).await;
        }
        match judge.filter(|_| response.status().is_success()) {
            Some(mut judge) => {
                let reasker = sent.and_then(|sent| self.reasker(&parts.uri, sent));
                judge.refusals = reasker
                    .is_some()
                    .then(|| Refusals::new(self.options.reask_writes));
                self.judged_response(judge, reasker, response).await
            }
            None => Ok(body::passed_through(response)),
        }
    }

    /// A conversation that the provider rejects is mended and sent once more. If that does not help, the first response
    /// is the one that counts.
    async fn mended(
        &self,
        sent: &mut SentRequest,
        rejected: Response<Incoming>,
    ) -> Response<Incoming> {
        if self.options.history != History::Mend || rejected.status() != StatusCode::BAD_REQUEST {
            return rejected;
        }
        let text = std::str::from_utf8(&sent.body).ok();
        let Some((body, defects)) = text.and_then(|text| mend(text, sent.api.provider)) else {
            return rejected;
        };
        sent.headers.remove(CONTENT_ENCODING);
        sent.headers.remove(IDEMPOTENCY_KEY);
        sent.body = body.into();
        let body = body::full(sent.body.clone());
        let second = self
            .upstream
            .pipe(Method::POST, sent.uri.clone(), sent.headers.clone(), body)
            .await;
        match second {
            Ok(response) if response.status().is_success() => {
                for defect in defects {
                    self.live.count(Counter::Mended, &[defect.name()]);
                }
                response
            }
            _ => rejected,
        }
    }

    /// Asks the model again, if that is wanted and possible.
    fn reasker(&self, asked: &Uri, sent: SentRequest) -> Option<Reasker> {
        let GatewayOptions {
            reask,
            reask_within,
            reask_max_tokens,
            mode,
            ..
        } = self.options;
        let limits = ReaskLimits {
            tries: reask.min(GatewayOptions::MOST_REASKS),
            within: reask_within,
            max_tokens: reask_max_tokens,
        };
        let is_wanted = limits.tries > 0 && mode == Mode::Guard;
        is_wanted
            .then(|| Reasker::new(sent.api.provider, asked, &sent.headers, sent.body, limits))?
    }

    /// Sends one of the gateway's own requests; `None` if there is no whole answer.
    pub(crate) async fn side_request(
        &self,
        path: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Option<String> {
        let uri = self.at(path);
        let response = self
            .upstream
            .pipe(Method::POST, uri, headers, body::full(body))
            .await
            .ok()?;
        let is_readable = response.status().is_success()
            && MediaType::of(response.headers()) == MediaType::Json
            && !is_compressed(response.headers());
        let body = is_readable.then(|| response.into_body())?;
        let body = self.upstream.read(body).await.ok()?;
        String::from_utf8(body.into()).ok()
    }

    /// Who judges the calls of the answer; `None` if there are no tools that could be judged.
    fn judge_of(&self, api: Api, settings: &LiveSettings, request: &Bytes) -> Option<AnswerJudge> {
        let Some(view) = RequestView::read(request) else {
            self.unjudged("request_shape");
            return None;
        };
        let listed = self.options.tools_listed.as_deref();
        let tools = settings
            .gates
            .get(view.tools()?, &settings.policy, listed)?;
        let is_watched = self.options.loops != Loops::Off;
        Some(AnswerJudge {
            loops: is_watched
                .then(|| LoopCheck::new(request.clone(), &tools.ledger))
                .flatten(),
            stop_text: None,
            refusals: None,
            api,
            rescue: view.rescue_scope().filter(|_| self.is_rescuing),
            model: view.model.map(String::from).unwrap_or_default(),
            has_tools_elsewhere: has_tools_elsewhere(request),
            tools,
            sinks: self.options.sinks.clone(),
            live: Arc::clone(&self.live),
            counts: AnswerCounts::default(),
        })
    }

    async fn judged_response(
        self: Arc<Self>,
        mut judge: AnswerJudge,
        reasker: Option<Reasker>,
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
        let stops = self.options.loops == Loops::Stop && self.options.mode == Mode::Guard;
        // Without rounds before it there is nothing that an answer could repeat.
        let stops = stops && judge.loops.is_some();
        let end = AnswerEnd::new(judge.api.provider, stops, reasker);
        let (mut parts, incoming) = response.into_parts();
        strip_hop_by_hop(&mut parts.headers);
        match kind {
            MediaType::Json => {
                let UpstreamLimits {
                    max_bytes, silence, ..
                } = self.options.proxy.limits;
                let portion = body::read_portion(incoming, max_bytes, silence).await?;
                let Portion::Whole(bytes) = portion else {
                    self.unjudged("answer_too_large");
                    return Ok(Response::from_parts(parts, portion.into_body()));
                };
                let mut changed = None;
                if let Ok(text) = std::str::from_utf8(&bytes) {
                    changed = guard.body(text, &mut judge);
                    changed = end.body(text, changed, &guard, &mut judge, &self).await;
                }
                if let Some(reason) = guard.unjudged() {
                    self.unjudged(reason.name());
                }
                if let Some(told) = judge
                    .counts
                    .header()
                    .and_then(|told| HeaderValue::try_from(told).ok())
                {
                    parts.headers.insert(X_CALLWRIGHT, told);
                }
                let bytes = changed.map_or(bytes, Bytes::from);
                parts.headers.remove(CONTENT_LENGTH);
                Ok(Response::from_parts(parts, body::full(bytes)))
            }
            MediaType::EventStream => {
                parts.headers.remove(CONTENT_LENGTH);
                parts
                    .headers
                    .entry(CACHE_CONTROL)
                    .or_insert(HeaderValue::from_static("no-cache"));
                // Proxies in front of us would wait for more.
                parts
                    .headers
                    .insert("x-accel-buffering", HeaderValue::from_static("no"));
                let events = EventReader::new(incoming, self.options.proxy.limits.max_bytes);
                let stream = JudgedAnswerStream::new(self, events, guard, judge, end);
                let frames = stream::unfold(stream, |mut stream| async move {
                    let frame = stream.next().await?;
                    Some((frame.map(Frame::data), stream))
                });
                Ok(Response::from_parts(parts, body::streamed(frames)))
            }
            MediaType::Other => {
                self.unjudged("answer_type");
                Ok(Response::from_parts(
                    parts,
                    incoming.map_err(BoxError::from).boxed_unsync(),
                ))
            }
        }
    }

    fn unjudged(&self, reason: &str) {
        self.live.count(Counter::Unjudged, &[reason]);
    }

    /// Where a request goes: its path after that of the upstream.
    fn uri(&self, asked: &Uri) -> Uri {
        self.at(asked.path_and_query().map_or("/", |path| path.as_str()))
    }

    fn at(&self, path: &str) -> Uri {
        let base = self.upstream.path().trim_end_matches('/');
        self.upstream.at(&format!("{base}{path}"))
    }
}

impl LiveSettings {
    /// The headers of a request as the upstream gets them.
    fn headers(&self, client: &HeaderMap) -> HeaderMap {
        let mut sent = headers::to_upstream(client);
        for name in self.upstream_headers.keys() {
            sent.remove(name);
        }
        sent.extend(self.upstream_headers.clone());
        sent
    }

    /// Whether a client sends one of the keys. All are compared, to their ends, so that time tells nothing.
    fn is_client(&self, headers: &HeaderMap) -> bool {
        let keys = &self.client_keys;
        if keys.is_empty() {
            return true;
        }
        let bearer = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
        let bearer = bearer.and_then(|value| value.strip_prefix(b"Bearer "));
        let named = ["x-api-key", "x-goog-api-key", "api-key"]
            .map(|name| headers.get(name).map(HeaderValue::as_bytes));
        let sent = named.into_iter().chain([bearer]).flatten();
        let matches =
            sent.flat_map(|sent| keys.iter().map(move |key| is_equal(sent, key.as_bytes())));
        matches.fold(false, |any, is_equal| any | is_equal)
    }
}

/// Compares two texts in a time that depends on their lengths only.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let differs = one
        .iter()
        .zip(other)
        .fold(0, |differs, (one, other)| differs | (one ^ other));
    differs == 0 && one.len() == other.len()
}

/// An error in the shape that the SDKs of all APIs read.
fn refusal(status: StatusCode, kind: &str, message: &str) -> Response<Body> {
    let error = json!({"type": "error", "error": {"type": kind, "code": kind, "message": message}});
    body::json(status, error.to_string())
}

/// A request that may have to be sent again.
struct SentRequest {
    api: Api,
    uri: Uri,
    headers: HeaderMap,
    /// Its body, not compressed.
    body: Bytes,
}
