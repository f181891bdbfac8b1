//! Server-sent events: split out of a byte stream, parsed, and rewritten with other data.
//!
//! [`EventReader`] takes the body of a response and returns events with every byte that belongs to them, including
//! the blank line: concatenated they are the original stream, without the byte order mark that it may begin with: some
//! clients skip it, and for others it spoils the first event. Ids, names, comments and line ends are never changed.

use std::borrow::Cow;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use memchr::memchr2;

use crate::body::without_byte_order_mark;
use crate::upstream::TransferError;

/// Reads the events of a response.
#[derive(Debug)]
pub struct EventReader {
    body: Incoming,
    splitter: EventSplitter,
    has_begun: bool,
    max_bytes: usize,
}

impl EventReader {
    /// Accepts events of at most `max_bytes` each.
    pub fn new(body: Incoming, max_bytes: usize) -> Self {
        EventReader {
            body,
            splitter: EventSplitter::default(),
            has_begun: false,
            max_bytes,
        }
    }

    /// The next event; `None` at the end of the stream. Cancel-safe: may be dropped and called again.
    ///
    /// # Errors
    ///
    /// If the event is too large, or if the stream breaks off or ends in the middle of an event.
    pub async fn next(&mut self) -> Result<Option<Bytes>, TransferError> {
        loop {
            if let Some(event) = self.splitter.next_event() {
                let is_first = !std::mem::replace(&mut self.has_begun, true);
                return Ok(Some(if is_first {
                    event.slice_ref(without_byte_order_mark(&event))
                } else {
                    event
                }));
            }
            if self.splitter.bytes.len() > self.max_bytes {
                return Err(TransferError::TooLarge(self.max_bytes));
            }
            let Some(frame) = self.body.frame().await else {
                // Clients must not deliver an unfinished event, but some do.
                return match EventFields::read(&self.splitter.bytes).data {
                    Some(_) => Err(TransferError::Unfinished),
                    None => Ok(None),
                };
            };
            if let Ok(data) = frame?.into_data() {
                self.splitter.push(&data);
            }
        }
    }

    /// The bytes after the last complete event, for a proxy that passes on everything, readable or not.
    pub fn rest(&mut self) -> Bytes {
        self.splitter.rest()
    }
}

/// Splits a stream into events.
#[derive(Debug, Default)]
pub struct EventSplitter {
    /// Bytes not split yet. More are added at the end.
    bytes: BytesMut,
    /// No event ends before this position.
    searched: usize,
    line: usize,
    /// Whether the bytes up to `searched` end with `\r`, so that a following `\n` belongs to it.
    after_return: bool,
}

impl EventSplitter {
    /// Adds received bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// How many bytes have arrived that are not a complete event yet.
    pub fn pending(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes left when the stream ends in the middle of an event.
    pub fn rest(&mut self) -> Bytes {
        std::mem::take(self).bytes.freeze()
    }

    /// The next complete event. A comment before an event is returned separately and immediately: it keeps
    /// connections alive.
    pub fn next_event(&mut self) -> Option<Bytes> {
        loop {
            let rest = self.bytes.get(self.searched..).unwrap_or_default();
            let first = rest.first()?;
            if std::mem::take(&mut self.after_return) && *first == b'\n' {
                self.searched += 1;
                self.line = self.searched;
                continue;
            }
            let Some(at) = memchr2(b'\n', b'\r', rest) else {
                self.searched = self.bytes.len();
                return None;
            };
            let is_blank = self.line == self.searched + at;
            let is_comment = self.line == 0 && self.bytes.first() == Some(&b':');
            let line_end = match rest.get(at..).unwrap_or_default() {
                [b'\r', b'\n', ..] => 2,
                end => {
                    self.after_return = end == b"\r";
                    1
                }
            };
            self.searched += at + line_end;
            self.line = self.searched;
            if is_blank || is_comment {
                let event = self.bytes.split_to(self.searched).freeze();
                (self.searched, self.line) = (0, 0);
                return Some(event);
            }
        }
    }
}

/// The fields of an event.
#[derive(Debug, Default)]
pub struct EventFields<'e> {
    /// The value of `event`; `None` means `message`.
    pub name: Option<&'e [u8]>,
    /// The values of all `data` fields, joined with line breaks; `None` if there is nothing to deliver.
    pub data: Option<Cow<'e, [u8]>>,
    /// The value of `id`: a client that reconnects sends it as the last event it received.
    pub id: Option<&'e [u8]>,
    /// How long the client should wait before it reconnects.
    pub retry: Option<Duration>,
}

impl<'e> EventFields<'e> {
    /// Parses an event.
    pub fn read(event: &'e [u8]) -> Self {
        let mut fields = EventFields::default();
        for (line, _) in lines(event) {
            match field(line) {
                (b"event", value) => fields.name = not_empty(value),
                (b"id", value) => fields.id = not_empty(value),
                (b"retry", value) => fields.retry = milliseconds(value).or(fields.retry),
                (b"data", value) => match &mut fields.data {
                    None => fields.data = Some(Cow::Borrowed(value)),
                    Some(data) => {
                        let data = data.to_mut();
                        data.push(b'\n');
                        data.extend_from_slice(value);
                    }
                },
                _ => {}
            }
        }
        fields.data = fields.data.filter(|data| !data.is_empty());
        fields
    }
}

/// The lines of an event, each with its line end.
fn lines(event: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = event;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (line, from_end) = rest.split_at(memchr2(b'\n', b'\r', rest).unwrap_or(rest.len()));
        let end = match from_end {
            [b'\r', b'\n', ..] => 2,
            [] => 0,
            _ => 1,
        };
        let (end, after) = from_end.split_at(end);
        rest = after;
        Some((line, end))
    })
}

/// The name and the value of the field on a line. A comment has no name.
fn field(line: &[u8]) -> (&[u8], &[u8]) {
    let Some(colon) = memchr::memchr(b':', line) else {
        return (line, &[]);
    };
    match line.split_at(colon) {
        (name, [_, b' ', value @ ..] | [_, value @ ..]) => (name, value),
        (name, []) => (name, &[]),
    }
}

fn not_empty(value: &[u8]) -> Option<&[u8]> {
    (!value.is_empty()).then_some(value)
}

fn milliseconds(value: &[u8]) -> Option<Duration> {
    let value = std::str::from_utf8(value).ok()?.trim();
    value.parse().ok().map(Duration::from_millis)
}

/// The event with other data, or without any. An event without data is not delivered, but its id still counts.
#[must_use]
pub fn with_data(event: &[u8], data: Option<&[u8]>) -> Vec<u8> {
    let mut written = Vec::with_capacity(event.len() + data.map_or(0, <[u8]>::len));
    let mut data = data;
    for (line, end) in lines(event) {
        if field(line).0 != b"data" {
            written.extend_from_slice(line);
            written.extend_from_slice(end);
        } else if let Some(data) = data.take() {
            write_data(&mut written, data, end);
        }
    }
    written
}

/// A new event. The name must not contain a line break.
#[must_use]
pub fn event(name: &str, data: &[u8]) -> Vec<u8> {
    let mut written = [b"event: ", name.as_bytes(), b"\n"].concat();
    write_data(&mut written, data, b"\n");
    written.push(b'\n');
    written
}

/// Writes data, one field per line: a line break within a field would end the field.
fn write_data(written: &mut Vec<u8>, data: &[u8], end: &[u8]) {
    for (line, _) in lines(data) {
        for part in [b"data: ", line, end] {
            written.extend_from_slice(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STREAM: &str = ": hello\n\nid: 1\nevent: message\ndata: {\"a\":1}\n\ndata: {\r\ndata:}\r\n\r\nretry: 5\rid:2\rdata\r\revent: other\ndata: x\n\n";

    fn events(stream: &str, portion: usize) -> Vec<String> {
        let mut splitter = EventSplitter::default();
        let mut events = Vec::new();
        for portion in stream.as_bytes().chunks(portion) {
            splitter.bytes.extend_from_slice(portion);
            while let Some(event) = splitter.next_event() {
                events.push(String::from_utf8(event.to_vec()).expect("text"));
            }
        }
        events.push(String::from_utf8(splitter.bytes.to_vec()).expect("text"));
        events
    }

    #[test]
    fn concatenated_events_are_the_stream() {
        for portion in 1..STREAM.len() {
            let events = events(STREAM, portion);
            assert_eq!(events.concat(), STREAM, "in portions of {portion}");
            let said: Vec<_> = events
                .iter()
                .map(|event| EventFields::read(event.as_bytes()))
                .filter_map(|fields| Some((fields.name, fields.data?.into_owned())))
                .collect();
            let expected: [(Option<&[u8]>, Vec<u8>); 3] = [
                (Some(b"message"), b"{\"a\":1}".to_vec()),
                (None, b"{\n}".to_vec()),
                (Some(b"other"), b"x".to_vec()),
            ];
            assert_eq!(said, expected, "in portions of {portion}");
        }
    }

    proptest! {
        #[test]
        fn no_byte_is_lost_wherever_a_stream_is_cut(
            stream in "(data|event|id|:|[ x]|\r|\n|\r\n){0,40}",
            portion in 1_usize..9,
        ) {
            let whole = events(&stream, stream.len().max(1));
            let cut = events(&stream, portion);
            prop_assert_eq!(whole.concat(), stream.clone());
            prop_assert_eq!(cut.concat(), stream);
        }
    }

    #[test]
    fn a_comment_does_not_wait() {
        let mut splitter = EventSplitter::default();
        splitter.bytes.extend_from_slice(b": ping\n");
        assert_eq!(splitter.next_event().as_deref(), Some(&b": ping\n"[..]));
    }

    #[test]
    fn an_unfinished_event_is_returned_at_the_end() {
        assert_eq!(events("data: 1\n\ndata: 2", 3), ["data: 1\n\n", "data: 2"]);
    }

    #[test]
    fn only_data_changes() {
        let event = b"id: 7\r\ndata: {\r\nevent: message\r\ndata: }\r\n: x\r\n\r\n";
        assert_eq!(
            String::from_utf8_lossy(&with_data(event, Some(b"[]"))),
            "id: 7\r\ndata: []\r\nevent: message\r\n: x\r\n\r\n"
        );
        assert_eq!(
            String::from_utf8_lossy(&with_data(event, Some(b"[\n1]"))),
            "id: 7\r\ndata: [\r\ndata: 1]\r\nevent: message\r\n: x\r\n\r\n"
        );
        assert_eq!(
            String::from_utf8_lossy(&with_data(event, None)),
            "id: 7\r\nevent: message\r\n: x\r\n\r\n"
        );
        assert_eq!(EventFields::read(event).id, Some(&b"7"[..]));
        assert_eq!(EventFields::read(b"id\ndata: x\n\n").id, None);
    }

    #[test]
    fn a_new_event_reads_back() {
        for data in [&b"{}"[..], b"{\n}", b"{\n\n \"a\": 1\n}"] {
            let event = event("ping", data);
            let fields = EventFields::read(&event);
            assert_eq!(fields.name, Some(&b"ping"[..]));
            assert_eq!(fields.data.as_deref(), Some(data));
        }
    }

    #[test]
    fn a_retry_waits_as_long_as_the_server_says() {
        let retry = |event: &'static [u8]| EventFields::read(event).retry;
        let second = Some(Duration::from_secs(1));
        assert_eq!(retry(b"id: 1\nretry: 1000\ndata:\n\n"), second);
        assert_eq!(retry(b"retry: soon\n\n"), None);
        assert_eq!(retry(b"data: x\n\n"), None);
    }
}
