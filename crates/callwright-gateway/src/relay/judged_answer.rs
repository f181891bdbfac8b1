//! Judges the calls of an answer on its way to the client: a whole body here, a stream event by event in
//! `judged_stream`.
//!
//! Takes the upstream's response; returns the client's. Everything but repaired calls stays byte for byte.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use bytes::Bytes;
use callwright::wire::UnreadableAnswer;
use callwright_http::body::{self, Body, BoxError, Portion, without_byte_order_mark};
use callwright_http::headers::{MediaType, is_compressed, strip_hop_by_hop};
use callwright_http::sse::EventReader;
use callwright_http::upstream::{TransferError, UpstreamLimits};
use futures_util::FutureExt;
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_LENGTH, HeaderName, HeaderValue};

use super::answer_end::AnswerEnd;
use super::array_stream::ArrayStream;
use super::judged_stream::{AnswerEvents, JudgedAnswerStream};
use crate::gateway::{Loops, Mode};
use crate::guard::AnswerGuard;
use crate::judge::AnswerJudge;
use crate::reask::Reasker;
use crate::relay::Relay;
use crate::unjudged::Unjudged;

const X_CALLWRIGHT: HeaderName = HeaderName::from_static("x-callwright");

impl Relay {
    /// Counts the defects of a finished answer.
    pub(crate) fn note_answer(&self, guard: &AnswerGuard) {
        if let Some(reason) = guard.unjudged() {
            self.unjudged(reason.name());
        } else if guard.answer().calls.iter().any(|call| call.is_disputed) {
            self.unjudged("call_disputed");
        } else if guard.answer().lacks_text() {
            self.unjudged("lacks_text");
        }
    }

    /// Judges the calls of an answer on its way to the client.
    pub(crate) async fn judged_response(
        self: Arc<Self>,
        mut judge: Box<AnswerJudge>,
        reasker: Option<Reasker>,
        response: Response<Incoming>,
    ) -> Result<Response<Body>, TransferError> {
        if is_compressed(response.headers()) {
            self.unjudged("answer_encoding");
            return Ok(body::passed_through(response));
        }
        let kind = MediaType::of(response.headers());
        let mut guard = AnswerGuard::new(Arc::clone(&judge.tools.gate), judge.api)
            .avoiding(std::mem::take(&mut judge.taken_ids));
        if let Some(scope) = judge.scope.take() {
            guard = guard.splitting(scope);
        }
        if judge.rescues {
            guard = guard.rescuing();
        }
        if self.options.mode == Mode::Observe {
            guard = guard.only_observing();
        }
        let stops = self.options.loops == Loops::Stop && self.options.mode == Mode::Guard;
        // Without earlier rounds there is nothing an answer could repeat.
        let stops = stops && judge.loops.is_some();
        let end = AnswerEnd::new(judge.api, stops, reasker);
        let (mut parts, incoming) = response.into_parts();
        strip_hop_by_hop(&mut parts.headers);
        match kind {
            MediaType::Json if judge.is_array => {
                parts.headers.remove(CONTENT_LENGTH);
                let elements = ArrayStream::new(incoming, self.options.proxy.limits.max_bytes);
                let events = AnswerEvents::Array(elements);
                let stream = JudgedAnswerStream::new(self, events, guard, judge, end);
                Ok(Response::from_parts(parts, stream.into_body()))
            }
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
                if let Ok(text) = std::str::from_utf8(without_byte_order_mark(&bytes)) {
                    changed = guard.body(text, &mut *judge);
                    let guarded = changed.clone();
                    let ended = end.body(text, changed, &guard, &mut judge, &self);
                    changed = AssertUnwindSafe(ended)
                        .catch_unwind()
                        .await
                        .unwrap_or_else(|_| {
                            self.unjudged(Unjudged::Defect.name());
                            guarded
                        });
                } else {
                    self.unjudged(UnreadableAnswer::Shape.name());
                }
                self.note_answer(&guard);
                let header = judge.counts.header().map(|header| match self.options.mode {
                    Mode::Observe => format!("{header} mode=observe"),
                    _ => header,
                });
                if let Some(header) = header.and_then(|header| HeaderValue::try_from(header).ok()) {
                    parts.headers.insert(X_CALLWRIGHT, header);
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
                // Proxies in front of us would otherwise buffer.
                parts
                    .headers
                    .insert("x-accel-buffering", HeaderValue::from_static("no"));
                let events = EventReader::new(incoming, self.options.proxy.limits.max_bytes);
                let events = AnswerEvents::EventStream(events);
                let stream = JudgedAnswerStream::new(self, events, guard, judge, end);
                Ok(Response::from_parts(parts, stream.into_body()))
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
}
