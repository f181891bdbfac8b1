//! Server-sent events as they travel: cut out of a stream, and written again where their data has changed.
//!
//! In come bytes in any portions, out go events with every byte that belongs to them, their blank line included. Put
//! together they are the stream again. Ids, names, comments and line ends are never touched.

use std::borrow::Cow;
use std::time::Duration;

/// A server that wants a longer pause would keep a client waiting for nothing.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Cuts a stream into events.
#[derive(Debug, Default)]
pub(crate) struct Splitter {
    bytes: Vec<u8>,
    /// Up to where bytes have been looked at.
    seen: usize,
    /// Where the line begins that is looked at.
    line: usize,
    /// Whether the last line ended with `\r`, so that `\n` still belongs to its end.
    after_return: bool,
}

impl Splitter {
    /// More bytes of the stream.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// How much waits for its end.
    pub(crate) fn waiting(&self) -> usize {
        self.bytes.len()
    }

    /// The next whole event. A comment before an event is passed on at once, since it keeps connections alive.
    pub(crate) fn event(&mut self) -> Option<Vec<u8>> {
        while let Some(byte) = self.bytes.get(self.seen).copied() {
            self.seen += 1;
            let is_rest = std::mem::take(&mut self.after_return) && byte == b'\n';
            if is_rest {
                self.line = self.seen;
                continue;
            }
            if byte != b'\n' && byte != b'\r' {
                continue;
            }
            let is_blank = self.line + 1 == self.seen;
            let is_comment = self.line == 0 && self.bytes.first() == Some(&b':');
            if byte == b'\r' {
                if self.bytes.get(self.seen) == Some(&b'\n') {
                    self.seen += 1;
                } else {
                    self.after_return = true;
                }
            }
            self.line = self.seen;
            if is_blank || is_comment {
                return Some(self.take());
            }
        }
        None
    }

    /// What is left when the stream has ended within an event.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    fn take(&mut self) -> Vec<u8> {
        let rest = self.bytes.split_off(self.seen);
        self.seen = 0;
        self.line = 0;
        std::mem::replace(&mut self.bytes, rest)
    }
}

/// The lines of an event, each with its end.
fn lines(event: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = event;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let at = rest
            .iter()
            .position(|byte| matches!(byte, b'\n' | b'\r'))
            .unwrap_or(rest.len());
        let (line, behind) = rest.split_at(at);
        let end = match behind {
            [b'\r', b'\n', ..] => 2,
            [] => 0,
            _ => 1,
        };
        let (end, behind) = behind.split_at(end);
        rest = behind;
        Some((line, end))
    })
}

/// The value of a field, if a line holds it.
fn field<'l>(line: &'l [u8], name: &str) -> Option<&'l [u8]> {
    let rest = line.strip_prefix(name.as_bytes())?;
    match rest {
        [] => Some(rest),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        _ => None,
    }
}

/// The message that an event carries; `None` if it carries none.
pub(crate) fn data(event: &[u8]) -> Option<Cow<'_, [u8]>> {
    let mut data: Option<Cow<'_, [u8]>> = None;
    for (line, _) in lines(event) {
        if field(line, "event").is_some_and(|name| !name.is_empty() && name != b"message") {
            return None;
        }
        if let Some(value) = field(line, "data") {
            data = Some(match data {
                None => Cow::Borrowed(value),
                Some(before) => {
                    let mut before = before.into_owned();
                    before.push(b'\n');
                    before.extend_from_slice(value);
                    Cow::Owned(before)
                }
            });
        }
    }
    data.filter(|data| !data.is_empty())
}

/// What a client asks with for what comes after this event.
pub(crate) fn id(event: &[u8]) -> Option<&[u8]> {
    lines(event)
        .filter_map(|(line, _)| field(line, "id"))
        .find(|id| !id.is_empty())
}

/// How long a client is to wait before it asks.
pub(crate) fn pause(event: &[u8]) -> Option<Duration> {
    let (line, _) = lines(event).find(|(line, _)| line.starts_with(b"retry"))?;
    let value = std::str::from_utf8(field(line, "retry")?).ok()?;
    let milliseconds: u64 = value.trim().parse().ok()?;
    Some(Duration::from_millis(milliseconds).min(LONGEST_PAUSE))
}

/// The event with another message, on one line, or with none. Without a message nothing else is delivered, but the id
/// still counts.
pub(crate) fn with_data(event: &[u8], message: Option<&[u8]>) -> Vec<u8> {
    let mut written = Vec::with_capacity(event.len() + message.map_or(0, <[u8]>::len));
    let mut message = message;
    for (line, end) in lines(event) {
        if field(line, "data").is_none() {
            written.extend_from_slice(line);
            written.extend_from_slice(end);
        } else if let Some(message) = message.take() {
            written.extend_from_slice(b"data: ");
            written.extend_from_slice(message);
            written.extend_from_slice(end);
        }
    }
    written
}

/// An event of our own.
pub(crate) fn event_of(message: &[u8]) -> Vec<u8> {
    [b"event: message\ndata: ", message, b"\n\n"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = ": hello\n\nid: 1\nevent: message\ndata: {\"a\":1}\n\ndata: {\r\ndata:}\r\n\r\nretry: 5\rid:2\rdata\r\revent: other\ndata: x\n\n";

    fn events(stream: &str, portion: usize) -> Vec<String> {
        let mut splitter = Splitter::default();
        let mut events = Vec::new();
        for portion in stream.as_bytes().chunks(portion) {
            splitter.push(portion);
            while let Some(event) = splitter.event() {
                events.push(String::from_utf8(event).expect("text"));
            }
        }
        events.push(String::from_utf8(splitter.rest()).expect("text"));
        events
    }

    #[test]
    fn events_put_together_are_the_stream() {
        for portion in 1..STREAM.len() {
            let events = events(STREAM, portion);
            assert_eq!(events.concat(), STREAM, "in portions of {portion}");
            let messages: Vec<_> = events
                .iter()
                .filter_map(|event| data(event.as_bytes()))
                .map(|data| String::from_utf8_lossy(&data).into_owned())
                .collect();
            assert_eq!(messages, ["{\"a\":1}", "{\n}"], "in portions of {portion}");
        }
    }

    #[test]
    fn a_comment_does_not_wait() {
        let mut splitter = Splitter::default();
        splitter.push(b": ping\n");
        assert_eq!(splitter.event().as_deref(), Some(&b": ping\n"[..]));
    }

    #[test]
    fn what_has_no_end_is_passed_on_at_the_end() {
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
            String::from_utf8_lossy(&with_data(event, None)),
            "id: 7\r\nevent: message\r\n: x\r\n\r\n"
        );
        assert_eq!(id(event), Some(&b"7"[..]));
        assert_eq!(id(b"id\ndata: x\n\n"), None);
    }

    #[test]
    fn a_pause_is_what_the_server_says() {
        let second = Some(Duration::from_secs(1));
        assert_eq!(pause(b"id: 1\nretry: 1000\ndata:\n\n"), second);
        assert_eq!(pause(b"retry: 9999999999999\n\n"), Some(LONGEST_PAUSE));
        assert_eq!(pause(b"retry: soon\n\n"), None);
        assert_eq!(pause(b"data: x\n\n"), None);
    }
}
