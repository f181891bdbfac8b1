//! The requests in one client message, until each is answered or the client is gone.

use std::borrow::Cow;
use std::sync::Arc;

use hyper::body::Bytes;

use super::client_session::{AdmittedMessage, ClientSession, Route};
use crate::message::{Id, Message};
use crate::own_messages;

/// In the range that JSON-RPC leaves to servers: something between client and server failed.
pub(super) const PROXY_ERROR: i32 = -32_000;

/// A client message: which guard judges it, how it is sent to the server, and its unanswered requests.
pub(super) struct Exchange {
    pub(super) session: Arc<ClientSession>,
    pub(super) route: Route,
    open: Vec<String>,
    /// Whether answers may still come on another stream.
    pub(super) is_resumable: bool,
}

impl Exchange {
    pub(super) fn new(session: Arc<ClientSession>, route: Route, open: Vec<String>) -> Self {
        Exchange {
            session,
            route,
            open,
            is_resumable: false,
        }
    }

    pub(super) fn first(&self) -> Option<String> {
        self.open.first().cloned()
    }

    pub(super) fn admit(&self, message: &[u8]) -> AdmittedMessage {
        self.session.admit(&self.route, message, &self.open)
    }

    /// Judges a server message; see [`ClientSession::judge_server_message`].
    pub(super) fn judge_server_message<'m>(&mut self, message: &'m [u8]) -> Option<Cow<'m, [u8]>> {
        let judged = self.session.judge_server_message(&self.route, message);
        self.note_answers(message);
        judged
    }

    /// Notes the answers in a message for the client.
    pub(super) fn note_answers(&mut self, message: &[u8]) {
        if self.open.is_empty() {
            return;
        }
        for id in answers(message) {
            if let Some(at) = self.open.iter().position(|open| Id(&id).answers(Id(open))) {
                self.session.answered(&self.open.swap_remove(at));
            }
        }
    }

    /// Errors for all unanswered requests. No answer will come any more.
    pub(super) fn fail(&mut self, why: &str) -> Vec<Vec<u8>> {
        let failed = std::mem::take(&mut self.open).into_iter().map(|id| {
            self.session.abandoned(&id);
            own_messages::error(&id, PROXY_ERROR, why)
        });
        failed.collect()
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        for id in &self.open {
            if self.is_resumable {
                self.session.answered(id);
            } else {
                self.session.abandoned(id);
            }
        }
    }
}

pub(super) fn requests(message: &[u8]) -> Vec<String> {
    ids(message, |message| match message {
        Message::Request { id, .. } => Some(id),
        _ => None,
    })
}

/// The ids of the requests that a message answers. Client and server number their requests independently, so a
/// request from the server may have the id of one from the client.
pub(super) fn answers(message: &[u8]) -> Vec<String> {
    ids(message, |message| match message {
        Message::Response { id, .. } => Some(id),
        _ => None,
    })
}

fn ids<'m>(message: &'m [u8], id: fn(Message<'m>) -> Option<Id<'m>>) -> Vec<String> {
    let owned = |id: Id<'_>| id.0.to_owned();
    match Message::read(message) {
        Message::Batch(parts) => parts
            .into_iter()
            .filter_map(|part| id(Message::read(part.get().as_bytes())))
            .map(owned)
            .collect(),
        message => id(message).map(owned).into_iter().collect(),
    }
}

/// Why a request gets no answer although its response has ended.
pub(super) const UNANSWERED: &str = "The MCP server ended its response before the result. The request may or may not have been carried out.";

/// Whether a message answers every request in another one.
pub(super) fn answers_all(message: &[u8], requested: &[u8]) -> bool {
    let answered = answers(message);
    let is_answered = |id: &String| answered.iter().any(|answer| Id(answer).answers(Id(id)));
    requests(requested).iter().all(is_answered)
}

/// Whether a message is a request or a notification with this method.
pub(super) fn has_method(message: &[u8], name: &str) -> bool {
    matches!(Message::read(message),
        Message::Request { method, .. } | Message::Notification { method, .. } if method == name)
}

pub(super) fn is_batch(message: &[u8]) -> bool {
    // Checked before anything is parsed.
    message.trim_ascii_start().starts_with(b"[")
        && matches!(Message::read(message), Message::Batch(_))
}

/// Combines messages: into an array if there are several, or if they came as one. `None` if there is nothing to send.
pub(super) fn together(mut messages: Vec<Vec<u8>>, is_batch: bool) -> Option<Bytes> {
    match &mut messages[..] {
        [] => None,
        [message] if !is_batch => Some(std::mem::take(message).into()),
        several => Some([&b"["[..], &several.join(&b','), b"]"].concat().into()),
    }
}

/// A message on a single line. JSON only has line breaks between its tokens.
pub(super) fn one_line(message: &[u8]) -> Vec<u8> {
    let is_break = |byte: u8| matches!(byte, b'\n' | b'\r');
    let bytes = message.iter();
    bytes
        .map(|byte| if is_break(*byte) { b' ' } else { *byte })
        .collect()
}
