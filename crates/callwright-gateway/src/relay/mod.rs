//! The entry point of a client request: whether it is allowed, and which path it takes.
//!
//! Requests to a judged API continue in `judged_request`; all others are piped through.

mod answer_end;
mod array_stream;
mod judged_answer;
mod judged_request;
mod judged_stream;

use std::net::IpAddr;
use std::sync::Arc;

use callwright_http::body::{self, Body, BoxError};
use callwright_http::upstream::{TransferError, Upstream};
use callwright_live::{Counter, Live, OperatorPages};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{ACCEPT_ENCODING, UPGRADE};
use hyper::{Method, Request, Response, StatusCode, Uri};
use parking_lot::Mutex;
use serde_json::json;

use crate::api::Api;
use crate::gateway::{GatewayOptions, LiveSettings, Mode};

/// State shared by all requests.
#[derive(Debug)]
pub(crate) struct Relay {
    pub(crate) upstream: Upstream,
    pub(crate) pages: Arc<OperatorPages>,
    pub(crate) settings: Mutex<Arc<LiveSettings>>,
    pub(crate) live: Arc<Live>,
    /// Whether calls written as text are turned into proper calls.
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
            // Codex tries a WebSocket first; with this response it falls back to HTTP immediately.
            let text = "This gateway does not speak WebSocket. Send the request over HTTP.";
            return refusal(StatusCode::UPGRADE_REQUIRED, "upgrade_required", text);
        }
        let api = Api::of_path(request.uri().path())
            .filter(|_| *request.method() == Method::POST && self.options.mode != Mode::Off);
        let name = api.map_or("other", Api::name);
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

    /// Pipes a request whose answer is not examined.
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

    pub(crate) fn unjudged(&self, reason: &str) {
        self.live.count(Counter::Unjudged, &[reason]);
    }

    /// The target of a request: its path appended to that of the upstream.
    pub(crate) fn uri(&self, asked: &Uri) -> Uri {
        self.at(asked.path_and_query().map_or("/", |path| path.as_str()))
    }

    pub(crate) fn at(&self, path: &str) -> Uri {
        let base = self.upstream.path().trim_end_matches('/');
        self.upstream.at(&format!("{base}{path}"))
    }
}

/// An error in a form that the SDKs of all APIs can read.
pub(crate) fn refusal(status: StatusCode, kind: &str, message: &str) -> Response<Body> {
    let error = json!({"type": "error", "error": {"type": kind, "code": kind, "message": message}});
    body::json(status, error.to_string())
}
