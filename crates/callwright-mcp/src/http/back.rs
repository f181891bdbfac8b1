//! The server's answer on its way back to the client: judged, with answers of our own beside it.

use std::sync::Arc;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::CONTENT_LENGTH;
use hyper::{Response, StatusCode};

use super::body::Stream;
use super::caller::Caller;
use super::exchange::Exchange;
use super::headers::{self, Kind, SESSION};
use super::relay::{Answer, Shared, bad};
use super::reply::{self, Body};
use super::session::{Passed, Way};
use super::sse;
use super::upstream::Trouble;
use crate::message::Message;

/// The way back to the client.
pub(super) struct Back<'s> {
    pub(super) shared: &'s Arc<Shared>,
    pub(super) exchange: Exchange,
    pub(super) caller: Caller,
    /// Whether the client says, in this very request, that it can ask the user.
    pub(super) elicits: bool,
    pub(super) way: Way,
    /// Answers of our own.
    pub(super) answers: Vec<Vec<u8>>,
    pub(super) is_batch: bool,
    pub(super) is_endless: bool,
}

impl Back<'_> {
    pub(super) async fn answer(mut self, answer: Response<Incoming>) -> Answer {
        let shared = self.shared;
        let asked_in = self.caller.session();
        let has_session = asked_in.is_some();
        let named = answer.headers().get(SESSION);
        match (asked_in, named.and_then(|name| name.to_str().ok())) {
            // The server has forgotten it.
            (Some(name), _) if answer.status() == StatusCode::NOT_FOUND => {
                shared.sessions.ended(&self.caller, name);
            }
            // It has begun one, or confirms the one that it was asked in.
            (asked_in, Some(name))
                if answer.status().is_success() && asked_in.is_none_or(|asked| asked == name) =>
            {
                shared.sessions.named(&self.caller, name, self.elicits);
            }
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
                let passed = self.exchange.session.pass(shared, &self.way, &body);
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
                    way: self.way,
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

/// An answer that does not concern the guard.
pub(super) fn untouched(answer: Response<Incoming>) -> Response<Body> {
    let (mut parts, body) = answer.into_parts();
    headers::strip(&mut parts.headers);
    Response::from_parts(parts, body.map_err(Into::into).boxed_unsync())
}
