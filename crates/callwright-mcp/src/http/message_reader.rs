//! The messages in a response that is ours to read: to the guard's own question for the tools, and to a bridged client.

use std::borrow::Cow;
use std::time::Duration;

use callwright_http::headers::MediaType;
use callwright_http::sse::{EventFields, EventSplitter};
use callwright_http::upstream::Upstream;
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Incoming;
use hyper::header::HeaderValue;

/// How long to wait before a stream that has ended is asked for again, if the server does not say.
const USUAL_RETRY: Duration = Duration::from_secs(1);

/// A server that asks for a longer wait would keep a client waiting for nothing.
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// Reads the messages of a response, one after the other.
pub(super) struct MessageReader {
    body: Option<Incoming>,
    /// `None` if the response is one message.
    events: Option<EventSplitter>,
    /// The id of the last event, after which the stream can be taken up again.
    pub(super) last_id: Option<HeaderValue>,
    /// How long to wait before that.
    pub(super) retry: Duration,
    /// Whether any event has come since the stream was last taken up.
    pub(super) has_come: bool,
}

impl MessageReader {
    /// `None` if there are no messages in this response.
    pub(super) fn new(response: Response<Incoming>) -> Option<Self> {
        let media_type = MediaType::of(response.headers());
        if !response.status().is_success() || media_type == MediaType::Other {
            return None;
        }
        let is_stream = media_type == MediaType::EventStream;
        Some(MessageReader {
            body: Some(response.into_body()),
            events: is_stream.then(EventSplitter::default),
            last_id: None,
            retry: USUAL_RETRY,
            has_come: false,
        })
    }

    /// Goes on with another stream; without one there are no more messages.
    pub(super) fn resume(&mut self, stream: Option<MessageReader>) {
        self.body = stream.and_then(|stream| stream.body);
        self.events = Some(EventSplitter::default());
        self.has_come = false;
    }

    /// The next message; `None` at the end, and where the response breaks off.
    pub(super) async fn next(&mut self, upstream: &Upstream) -> Option<Vec<u8>> {
        let Some(events) = &mut self.events else {
            let body = self.body.take()?;
            return upstream.read(body).await.ok().map(Into::into);
        };
        loop {
            while let Some(event) = events.next_event() {
                self.has_come = true;
                let fields = EventFields::read(&event);
                if let Some(id) = fields.id {
                    self.last_id = HeaderValue::from_bytes(id).ok();
                }
                if let Some(retry) = fields.retry {
                    self.retry = retry.min(LONGEST_RETRY);
                }
                if let Some(message) = message_in(fields) {
                    return Some(message.into_owned());
                }
            }
            if events.buffered() > upstream.max_bytes() {
                return None;
            }
            let frame = self.body.as_mut()?.frame().await?.ok()?;
            if let Ok(data) = frame.into_data() {
                events.push(&data);
            }
        }
    }
}

/// The message that an event carries; `None` if it carries none.
pub(super) fn message_in(event: EventFields<'_>) -> Option<Cow<'_, [u8]>> {
    let is_message = event.name.is_none_or(|name| name == b"message");
    event.data.filter(|_| is_message)
}
