//! A request to a judged API on its way upstream, and the start of its answer.
//!
//! The request is forwarded byte for byte as it arrives, and examined as it passes. Whatever cannot be examined
//! passes unchanged, and is counted with its reason.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use callwright_http::body::{self, Body, Portion};
use callwright_http::headers::{MediaType, is_compressed};
use callwright_http::upstream::{TransferError, UpstreamLimits};
use callwright_live::Counter;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::CONTENT_ENCODING;
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};

use crate::api::{Api, streams_an_array};
use crate::gateway::{GatewayOptions, History, LiveSettings, Loops, Mode};
use crate::judge::answer_record::AnswerRecord;
use crate::judge::{AnswerCounts, AnswerJudge, Refusals};
use crate::loops::LoopCheck;
use crate::mend::mend;
use crate::reask::{IDEMPOTENCY_KEY, ReaskLimits, Reasker};
use crate::relay::{Relay, refusal};
use crate::request::{RequestView, ScannedBody, decoded};
use crate::unjudged::{Unjudged, contained};

/// The first response to a request, and what the request says, or why that is unknown.
type Answered = (Response<Incoming>, Result<RequestView, &'static str>);

impl Relay {
    /// Forwards a request and judges the answer.
    pub(crate) async fn judged(
        self: Arc<Self>,
        api: Api,
        settings: &LiveSettings,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, TransferError> {
        let (parts, body) = request.into_parts();
        let headers = settings.headers(&parts.headers);
        let uri = self.uri(&parts.uri);
        let is_sent_again = self.options.history == History::Mend || self.options.reask > 0;
        let again = is_sent_again.then(|| (uri.clone(), headers.clone()));
        let sent = if is_compressed(&parts.headers) {
            self.send_compressed(uri, headers, body).await?
        } else {
            self.send_scanned(uri, headers, body).await?
        };
        let (mut response, view) = match sent {
            Ok(answered) => answered,
            Err(refused) => return Ok(refused),
        };
        let view = match view {
            Ok(view) => view,
            Err(reason) => {
                self.unjudged(reason);
                return Ok(body::passed_through(response));
            }
        };
        let mut sent = again.map(|(uri, headers)| SentRequest {
            api,
            uri,
            headers,
            body: view.body.whole(),
        });
        if let Some(sent) = &mut sent {
            response = self.mended(sent, response).await;
        }
        if !response.status().is_success() {
            return Ok(body::passed_through(response));
        }
        let judge = contained(|| self.judge_of(api, settings, parts.uri.path(), &view));
        let Some(mut judge) = judge.unwrap_or_else(|| {
            self.unjudged(Unjudged::Defect.name());
            None
        }) else {
            return Ok(body::passed_through(response));
        };
        drop(view);
        judge.is_array = streams_an_array(&parts.uri);
        let reasker = sent.and_then(|sent| self.reasker(&parts.uri, sent));
        judge.refusals = reasker
            .is_some()
            .then(|| Refusals::new(self.options.reask_writes));
        self.judged_response(judge, reasker, response).await
    }

    /// Forwards the body as it arrives, and examines it on the way. A client that does not send all of it gets an
    /// error.
    async fn send_scanned(
        &self,
        uri: Uri,
        headers: HeaderMap,
        body: Incoming,
    ) -> Result<Result<Answered, Response<Body>>, TransferError> {
        let is_kept = self.options.loops != Loops::Off
            || self.options.history == History::Mend
            || self.options.reask > 0;
        let max_bytes = self.options.proxy.limits.max_bytes;
        let (body, scan) = ScannedBody::new(body, is_kept, max_bytes);
        let sent = self
            .upstream
            .pipe(Method::POST, uri, headers, body.boxed_unsync())
            .await;
        let mut scan = scan.lock();
        match (sent, scan.failure()) {
            (Ok(response), _) => Ok(Ok((response, scan.view()))),
            (Err(_), Some(why)) => Ok(Err(incomplete(why))),
            (Err(TransferError::Silent(_)), None) if !scan.has_ended() => {
                Ok(Err(incomplete("did not send all of it.")))
            }
            (Err(error), None) => Err(error),
        }
    }

    /// Reads the whole body before sending it, since it must be decompressed to be examined.
    async fn send_compressed(
        &self,
        uri: Uri,
        headers: HeaderMap,
        body: Incoming,
    ) -> Result<Result<Answered, Response<Body>>, TransferError> {
        let UpstreamLimits {
            max_bytes, silence, ..
        } = self.options.proxy.limits;
        let portion = match body::read_portion(body, max_bytes, silence).await {
            Ok(portion) => portion,
            Err(error) => return Ok(Err(incomplete(&error.to_string()))),
        };
        let view = match &portion {
            Portion::Whole(bytes) => match decoded(&headers, bytes, max_bytes) {
                Some(Cow::Borrowed(_)) => RequestView::read(bytes.clone()).ok_or("request_shape"),
                Some(Cow::Owned(plain)) => RequestView::read(plain.into()).ok_or("request_shape"),
                None => Err("request_encoding"),
            },
            Portion::Beginning(..) => Err("request_too_large"),
        };
        let body = portion.into_body();
        let response = self.upstream.pipe(Method::POST, uri, headers, body).await?;
        Ok(Ok((response, view)))
    }

    /// Mends a conversation that the provider rejects and sends it once more. If that does not help, the first
    /// response counts.
    async fn mended(
        &self,
        sent: &mut SentRequest,
        rejected: Response<Incoming>,
    ) -> Response<Incoming> {
        if self.options.history != History::Mend || rejected.status() != StatusCode::BAD_REQUEST {
            return rejected;
        }
        let text = std::str::from_utf8(&sent.body).ok();
        let Some((body, defects)) = text.and_then(|text| mend(text, sent.api)) else {
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

    /// Prepares asking the model again, if that is enabled and possible.
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
        is_wanted.then(|| Reasker::new(sent.api, asked, &sent.headers, sent.body, limits))?
    }

    /// Sends one of the gateway's own requests; `None` if there is no complete answer.
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

    /// Creates the judge for the answer; `None` if there are no tools to judge by.
    fn judge_of(
        &self,
        api: Api,
        settings: &LiveSettings,
        path: &str,
        request: &RequestView,
    ) -> Option<Box<AnswerJudge>> {
        let listed = self.options.tools_listed.as_deref();
        let tools = settings
            .gates
            .get(request.tools()?, &settings.policy, listed)?;
        let is_watched = self.options.loops != Loops::Off;
        // Boxed, since it is moved through several futures, each of which would reserve space for it.
        Some(Box::new(AnswerJudge {
            loops: is_watched
                .then(|| LoopCheck::new(request, &tools.ledger))
                .flatten(),
            stop_text: None,
            refusals: None,
            api,
            is_array: false,
            scope: request.call_scope(),
            rescues: self.is_rescuing && request.may_be_rescued(),
            taken_ids: request.taken_ids(),
            model: request.model(path),
            has_tools_elsewhere: request.found.has_tools_elsewhere,
            tools,
            record: AnswerRecord::new(self.options.sinks.clone()),
            live: Arc::clone(&self.live),
            counts: AnswerCounts::default(),
        }))
    }
}

fn incomplete(why: &str) -> Response<Body> {
    let text = format!("The request is incomplete: the client {why}");
    refusal(StatusCode::BAD_REQUEST, "invalid_request", &text)
}

/// A request that may have to be sent again.
struct SentRequest {
    api: Api,
    uri: Uri,
    headers: HeaderMap,
    /// Its body, decompressed.
    body: Bytes,
}
