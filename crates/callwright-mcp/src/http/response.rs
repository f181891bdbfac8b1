//! The server's response on its way back to the client: judged, together with the guard's own answers.

use std::borrow::Cow;
use std::future::ready;

use callwright_http::body::{self, Body, BoxError, without_byte_order_mark};
use callwright_http::headers::{MediaType, is_compressed, strip_hop_by_hop};
use callwright_http::server::Draining;
use callwright_http::sse::{self, EventFields, EventReader};
use callwright_http::upstream::TransferError;
use futures_util::{StreamExt, stream};
use http_body_util::{BodyExt, BodyStream, Collected};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};

use super::exchange::{UNANSWERED, has_method, together};
use super::headers::SESSION;
use super::proxy::{HttpRefusal, HttpReply, ProxiedRequest};
use crate::call::can_elicit;
use crate::message::Message;

impl ProxiedRequest {
    pub(super) async fn respond(mut self, mut response: Response<Incoming>) -> HttpReply {
        self.note_session(&response);
        let media_type = MediaType::settle(response.headers_mut());
        if media_type != MediaType::Other && is_compressed(response.headers()) {
            return Err(self.failed(&TransferError::Compressed));
        }
        if media_type == MediaType::Other {
            // A success without a message: the server only had to accept the request.
            let is_taken = response.status().is_success();
            let own = is_taken.then(|| self.own_answers(StatusCode::OK)).flatten();
            return Ok(own.unwrap_or_else(|| body::passed_through(response)));
        }
        let (mut parts, incoming) = response.into_parts();
        let body = if media_type == MediaType::Json {
            let read = self.proxy.server.upstream.read(incoming).await;
            let message = read.map_err(|error| self.failed(&error))?;
            body::full(self.judge_whole(message))
        } else {
            JudgedStream::new(self, incoming).into_body()
        };
        strip_hop_by_hop(&mut parts.headers);
        parts.headers.remove(CONTENT_LENGTH);
        let mut response = Response::new(body);
        *response.status_mut() = parts.status;
        *response.headers_mut() = parts.headers;
        Ok(response)
    }

    /// Records sessions that the server begins, confirms or has lost.
    fn note_session(&self, response: &Response<Incoming>) {
        let (sessions, caller) = (&self.proxy.sessions, &self.caller);
        let asked_in = caller.session();
        let named = response.headers().get(SESSION);
        match (asked_in, named.and_then(|name| name.to_str().ok())) {
            (Some(name), _) if response.status() == StatusCode::NOT_FOUND => {
                sessions.ended(caller, name);
            }
            (asked_in, Some(name))
                if response.status().is_success()
                    && asked_in.is_none_or(|asked_in| asked_in == name) =>
            {
                let elicits = matches!(Message::read(&self.body), Message::Request { method, params, .. }
                    if method == "initialize" && can_elicit(params));
                sessions.named(caller, name, elicits);
            }
            _ => {}
        }
    }

    /// A response with one message, or an array of them, together with the guard's own answers.
    fn judge_whole(&mut self, message: Bytes) -> Bytes {
        let judged = self
            .exchange
            .judge_server_message(without_byte_order_mark(&message));
        let message = match judged {
            Some(Cow::Borrowed(_)) => message,
            Some(Cow::Owned(changed)) => changed.into(),
            None => Bytes::new(),
        };
        let mut all = std::mem::take(&mut self.admitted.answers);
        if all.is_empty() {
            return message;
        }
        match Message::read(without_byte_order_mark(&message)) {
            Message::Batch(parts) => all.extend(parts.iter().map(|part| part.get().into())),
            // Servers that merely accept a message send an empty body.
            _ if message.trim_ascii().is_empty() => {}
            _ => all.push(message.into()),
        }
        together(all, true).unwrap_or_default()
    }

    /// A stream that begins with a question to the user. The answer to the call follows on the same stream.
    pub(super) fn ask(self, question: &[u8]) -> Response<Body> {
        let question = body::full(message_event(question));
        let rest = stream::unfold(Some(self), |request| async move {
            let mut request = request?;
            Some(match request.judged().await {
                Ok(Some(question)) => (body::full(message_event(&question)), Some(request)),
                Ok(None) => (as_events(request.forward().await).await, None),
                Err(refused) => (as_events(Err(refused)).await, None),
            })
        });
        let bodies = stream::once(ready(question)).chain(rest);
        let mut response = Response::new(body::streamed(bodies.flat_map(BodyStream::new)));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }
}

fn message_event(message: &[u8]) -> Bytes {
    sse::event("message", message).into()
}

/// Any reply as events.
async fn as_events(reply: HttpReply) -> Body {
    let response = reply.unwrap_or_else(HttpRefusal::into_response);
    if MediaType::of(response.headers()) == MediaType::EventStream {
        return response.into_body();
    }
    match response
        .into_body()
        .collect()
        .await
        .map(Collected::to_bytes)
    {
        Ok(message) if !message.trim_ascii().is_empty() => body::full(message_event(&message)),
        _ => body::full(Bytes::new()),
    }
}

struct JudgedStream {
    request: ProxiedRequest,
    events: EventReader,
    draining: Draining,
    /// Whether the stream does not end by itself, so it ends when the guard drains.
    is_endless: bool,
    is_over: bool,
    /// Whether an event had an id, after which a client may resume the stream.
    has_event_ids: bool,
}

impl JudgedStream {
    fn new(request: ProxiedRequest, incoming: Incoming) -> Self {
        JudgedStream {
            is_endless: request.body.is_empty()
                || has_method(&request.body, "subscriptions/listen"),
            draining: request.proxy.draining.clone(),
            events: EventReader::new(incoming, request.proxy.server.upstream.max_bytes()),
            request,
            is_over: false,
            has_event_ids: false,
        }
    }

    fn into_body(self) -> Body {
        let own = self.request.admitted.answers.iter();
        let own: Vec<_> = own.map(|answer| Ok(message_event(answer))).collect();
        let judged = stream::unfold(self, |mut stream| async move {
            let judged = stream.next_judged().await?;
            Some((judged, stream))
        });
        let events = stream::iter(own).chain(judged);
        body::streamed(events.map(|event| event.map(Frame::data)))
    }

    async fn next_judged(&mut self) -> Option<Result<Bytes, BoxError>> {
        if self.is_over {
            return None;
        }
        let next = tokio::select! {
            next = self.events.next() => next,
            () = self.draining.wait(), if self.is_endless => return None,
        };
        match next {
            Ok(Some(event)) => Some(Ok(self.judge(event))),
            // A server may close a stream on purpose, for its client to resume.
            Ok(None) if self.has_event_ids || self.is_answered() => None,
            Ok(None) => Some(Ok(self.unanswered(UNANSWERED))),
            Err(error) => {
                let why = self.request.proxy.server.describe(&error);
                let is_answered = self.is_answered();
                self.is_over = true;
                Some(if is_answered {
                    Err(why.into())
                } else {
                    Ok(self.unanswered(&why))
                })
            }
        }
    }

    fn judge(&mut self, event: Bytes) -> Bytes {
        let ProxiedRequest {
            proxy,
            exchange,
            caller,
            ..
        } = &mut self.request;
        let has_session = caller.session().is_some();
        let fields = EventFields::read(&event);
        // Only streams of a session can be resumed.
        self.has_event_ids |= fields.id.is_some();
        exchange.is_resumable |= has_session && fields.id.is_some();
        // Clients differ in whether they read events with other names.
        let Some(message) = fields.data else {
            return event;
        };
        if !has_session && has_method(&message, "notifications/tools/list_changed") {
            proxy.sessions.tools_changed(&exchange.session, &message);
        }
        let changed = match exchange.judge_server_message(&message) {
            Some(Cow::Borrowed(_)) => None,
            judged => Some(sse::with_data(&event, judged.as_deref())),
        };
        drop(message);
        changed.map_or(event, Bytes::from)
    }

    /// Whether nothing is missing, or the client can resume the stream to get it.
    fn is_answered(&self) -> bool {
        let exchange = &self.request.exchange;
        exchange.first().is_none() || exchange.is_resumable
    }

    /// An error for each unanswered request.
    fn unanswered(&mut self, why: &str) -> Bytes {
        self.is_over = true;
        let errors = self.request.exchange.fail(why);
        errors
            .iter()
            .flat_map(|error| message_event(error))
            .collect()
    }
}
