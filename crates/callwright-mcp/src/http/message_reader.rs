//! Reads the messages in a response meant for us: to the guard's own request for the tools, and to a bridged client.

use std::borrow::Cow;
use std::time::Duration;

use callwright_http::body::without_byte_order_mark;
use callwright_http::headers::MediaType;
use callwright_http::sse::{EventFields, EventReader};
use callwright_http::upstream::{TransferError, Upstream};
use hyper::Response;
use hyper::body::{Bytes, Incoming};
use hyper::header::HeaderValue;

/// How long to wait before requesting an ended stream again, if the server does not say.
const USUAL_RETRY: Duration = Duration::from_secs(1);

/// The longest such wait: a server that asks for more would keep a client waiting for nothing.
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// Reads the messages of a response, one after the other.
pub(super) struct MessageReader {
    /// The response, if it is a single message.
    whole: Option<Bytes>,
    events: Option<EventReader>,
    /// The id of the last event, after which the stream can be resumed.
    pub(super) last_id: Option<HeaderValue>,
    pub(super) retry: Duration,
    /// Whether any event has arrived since the stream was last resumed.
    pub(super) has_come: bool,
}

impl MessageReader {
    /// `None` if there are no messages in this response. A failed response may contain a message that says why.
    pub(super) async fn open(
        mut response: Response<Incoming>,
        upstream: &Upstream,
    ) -> Result<Option<Self>, TransferError> {
        let mut reader = MessageReader {
            whole: None,
            events: None,
            last_id: None,
            retry: USUAL_RETRY,
            has_come: false,
        };
        match MediaType::settle(response.headers_mut()) {
            MediaType::Json => {
                let whole = upstream.read(response.into_body()).await?;
                // Servers that merely accept a message send an empty body.
                let message = whole.slice_ref(without_byte_order_mark(&whole));
                reader.whole = Some(message).filter(|message| !message.trim_ascii().is_empty());
            }
            MediaType::EventStream if response.status().is_success() => {
                let events = EventReader::new(response.into_body(), upstream.max_bytes());
                reader.events = Some(events);
            }
            MediaType::EventStream | MediaType::Other => return Ok(None),
        }
        Ok(Some(reader))
    }

    pub(super) fn is_stream(&self) -> bool {
        self.events.is_some()
    }

    /// Continues with another stream; without one there are no more messages.
    pub(super) fn resume(&mut self, stream: Option<MessageReader>) {
        self.events = stream.and_then(|stream| stream.events);
        self.has_come = false;
    }

    /// The next message; `None` at the end, or when the response breaks off.
    pub(super) async fn next(&mut self) -> Option<Bytes> {
        if let Some(whole) = self.whole.take() {
            return Some(whole);
        }
        loop {
            let event = self.events.as_mut()?.next().await.ok()??;
            self.has_come = true;
            let fields = EventFields::read(&event);
            if let Some(id) = fields.id {
                self.last_id = HeaderValue::from_bytes(id).ok();
            }
            if let Some(retry) = fields.retry {
                self.retry = retry.min(LONGEST_RETRY);
            }
            if let Some(message) = message_in(fields) {
                return Some(message.into_owned().into());
            }
        }
    }
}

/// The message in an event; `None` if it carries none.
pub(super) fn message_in(event: EventFields<'_>) -> Option<Cow<'_, [u8]>> {
    let is_message = event.name.is_none_or(|name| name == b"message");
    event.data.filter(|_| is_message)
}
