//! A JSON-RPC message as it travels: looked at, not built.
//!
//! In come bytes, out goes what kind of message they are and where its parts stand. Nothing is copied, unknown members
//! stay where they are, and what cannot be read is passed on untouched.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A message of the client's or the server's.
#[derive(Debug)]
pub enum Message<'m> {
    /// Wants an answer.
    Request {
        /// As it is written.
        id: Id<'m>,
        /// What is wanted.
        method: Cow<'m, str>,
        /// With what.
        params: Option<&'m RawValue>,
    },
    /// Wants none.
    Notification {
        /// What is told.
        method: Cow<'m, str>,
        /// With what.
        params: Option<&'m RawValue>,
    },
    /// The answer to a request.
    Response {
        /// As it is written in the request.
        id: Id<'m>,
        /// What came of it.
        result: Option<&'m RawValue>,
        /// Why nothing came of it.
        error: Option<&'m RawValue>,
    },
    /// Several messages at once, as protocols up to 2025-03-26 allow.
    Batch(Vec<&'m RawValue>),
    /// Something else, which is not for us to judge.
    Other,
}

/// The id of a request, as it is written: `7` or `"7"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Id<'m>(pub &'m str);

#[derive(Deserialize)]
struct Envelope<'m> {
    #[serde(borrow)]
    id: Option<&'m RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'m, str>>,
    #[serde(borrow)]
    params: Option<&'m RawValue>,
    #[serde(borrow)]
    result: Option<&'m RawValue>,
    #[serde(borrow)]
    error: Option<&'m RawValue>,
}

impl<'m> Message<'m> {
    /// Looks at a message.
    pub fn read(bytes: &'m [u8]) -> Self {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text.trim_ascii(),
            Err(_) => return Message::Other,
        };
        if text.starts_with('[') {
            return serde_json::from_str(text).map_or(Message::Other, Message::Batch);
        }
        let Ok(envelope) = serde_json::from_str::<Envelope<'m>>(text) else {
            return Message::Other;
        };
        let id = envelope
            .id
            .map(RawValue::get)
            .filter(|id| *id != "null")
            .map(Id);
        match (envelope.method, id) {
            (Some(method), Some(id)) => Message::Request {
                id,
                method,
                params: envelope.params,
            },
            (Some(method), None) => Message::Notification {
                method,
                params: envelope.params,
            },
            (None, Some(id)) if envelope.result.is_some() || envelope.error.is_some() => {
                Message::Response {
                    id,
                    result: envelope.result,
                    error: envelope.error,
                }
            }
            _ => Message::Other,
        }
    }
}

/// Where a part stands in the bytes that it was read from.
pub(crate) fn place(whole: &[u8], part: &str) -> Option<Range<usize>> {
    let start = (part.as_ptr().addr()).checked_sub(whole.as_ptr().addr())?;
    let end = start.checked_add(part.len())?;
    (end <= whole.len()).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_apart() {
        let kind = |text: &str| match Message::read(text.as_bytes()) {
            Message::Request { id, method, .. } => format!("request {} {method}", id.0),
            Message::Notification { method, .. } => format!("notification {method}"),
            Message::Response { id, error, .. } => {
                format!("response {} {}", id.0, error.is_some())
            }
            Message::Batch(parts) => format!("batch {}", parts.len()),
            Message::Other => "other".to_owned(),
        };
        assert_eq!(kind(r#"{"id":7,"method":"ping"}"#), "request 7 ping");
        assert_eq!(kind(r#"{"id":"7","method":"a\/b"}"#), r#"request "7" a/b"#);
        assert_eq!(kind(r#" {"method":"x","params":{}} "#), "notification x");
        assert_eq!(kind(r#"{"id":null,"method":"x"}"#), "notification x");
        assert_eq!(kind(r#"{"id":1,"result":{}}"#), "response 1 false");
        assert_eq!(kind(r#"{"id":1,"error":{"code":1}}"#), "response 1 true");
        assert_eq!(kind(r#"[{"id":1},{"id":2}]"#), "batch 2");
        for other in ["", "hello", "{", "7", r#"{"id":1}"#, r#"{"method":5}"#] {
            assert_eq!(kind(other), "other", "{other}");
        }
    }

    #[test]
    fn parts_are_found_again() {
        let bytes = br#"{"id":1,"method":"x","params":{"a": 5}}"#;
        let Message::Request { params, .. } = Message::read(bytes) else {
            panic!("a request")
        };
        let range = place(bytes, params.map(RawValue::get).unwrap_or_default());
        assert_eq!(range.map(|range| &bytes[range]), Some(&br#"{"a": 5}"#[..]));
    }
}
