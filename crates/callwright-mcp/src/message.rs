//! A JSON-RPC message in its serialised form: inspected, not parsed into a tree.
//!
//! Takes bytes; returns what kind of message they are and where its parts are. Nothing is copied, and unknown members
//! stay where they are. Anything that two readers could take for different messages is not read at all.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::members::{member, members, string};

/// A message from the client or the server.
#[derive(Debug)]
pub enum Message<'m> {
    /// Expects an answer.
    Request {
        /// As written.
        id: Id<'m>,
        /// The method to call.
        method: Cow<'m, str>,
        /// The parameters.
        params: Option<&'m RawValue>,
    },
    /// Expects no answer.
    Notification {
        /// The event.
        method: Cow<'m, str>,
        /// The parameters.
        params: Option<&'m RawValue>,
    },
    /// The answer to a request.
    Response {
        /// As written in the request.
        id: Id<'m>,
        /// The result.
        result: Option<&'m RawValue>,
        /// The error, if there is no result.
        error: Option<&'m RawValue>,
    },
    /// Several messages at once, as protocols up to 2025-03-26 allow.
    Batch(Vec<&'m RawValue>),
    /// Not a message, or an ambiguous one.
    Other,
}

/// The id of a request, as written: `7` or `"7"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Id<'m>(pub &'m str);

impl<'m> Id<'m> {
    /// The same for all spellings of an id: a server may answer `"\u00e9"` to `"é"`, and `1` to `1.0`.
    pub(crate) fn key(self) -> Cow<'m, str> {
        let text = self.0;
        if text.starts_with('"') {
            if text.contains('\\')
                && let Ok(plain) = serde_json::from_str::<String>(text)
            {
                return Cow::Owned(format!("\"{plain}\""));
            }
        } else if text.contains(['.', 'e', 'E'])
            && let Ok(number) = text.parse::<f64>()
            && number.fract() == 0.0
            && number.abs() <= LARGEST_EXACT
        {
            return Cow::Owned(format!("{number:.0}"));
        }
        Cow::Borrowed(text)
    }

    /// The key of the text `"7"` for the number 7, and the other way round. The official clients take either in an answer,
    /// whichever they sent.
    pub(crate) fn key_as_other_type(self) -> Option<String> {
        let key = self.key();
        let text = key
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        let number = Id(text.map_or(key.as_ref(), str::trim)).key();
        let digits = number.strip_prefix('-').unwrap_or(&number);
        let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_integer.then(|| match text {
            Some(_) => number.into_owned(),
            None => format!("\"{number}\""),
        })
    }

    /// Whether an answer with this id answers the request with that one.
    #[cfg(feature = "http")]
    pub(crate) fn answers(self, request: Id<'_>) -> bool {
        let key = request.key();
        self.key() == key || self.key_as_other_type().is_some_and(|other| other == key)
    }
}

const ENVELOPE: [&str; 5] = ["id", "method", "params", "result", "error"];

/// Real ids are numbers and UUIDs. Longer ones would fill up the table of requests in progress.
const LONGEST_ID: usize = 1_000;

/// The largest integer up to which a language with only floating-point numbers distinguishes all integers.
const LARGEST_EXACT: f64 = 9_007_199_254_740_991.0;

/// A member, unless it is `null`, which counts as missing.
pub(crate) fn not_null(value: Option<&RawValue>) -> Option<&RawValue> {
    value.filter(|value| value.get() != "null")
}

impl<'m> Message<'m> {
    /// Inspects a message.
    pub fn read(bytes: &'m [u8]) -> Self {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text.trim_ascii(),
            Err(_) => return Message::Other,
        };
        if text.starts_with('[') {
            return serde_json::from_str(text).map_or(Message::Other, Message::Batch);
        }
        let Ok([id, method, params, result, error]) = members(text, ENVELOPE) else {
            return Message::Other;
        };
        let (id, params) = (not_null(id).map(|id| Id(id.get())), not_null(params));
        if id.is_some_and(|id| id.0.len() > LONGEST_ID) {
            return Message::Other;
        }
        match (not_null(method), id) {
            (Some(method), id) => match (string(method), id) {
                (Some(method), Some(id)) => Message::Request { id, method, params },
                (Some(method), None) => Message::Notification { method, params },
                (None, _) => Message::Other,
            },
            (None, Some(id)) if result.is_some() || error.is_some() => Message::Response {
                id,
                result: not_null(result),
                error: not_null(error),
            },
            _ => Message::Other,
        }
    }
}

/// The id of the request that a `notifications/cancelled` is about.
pub(crate) fn cancelled_id(params: Option<&RawValue>) -> Option<Id<'_>> {
    member(params, "requestId").map(|id| Id(id.get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> String {
        match Message::read(text.as_bytes()) {
            Message::Request { id, method, .. } => format!("request {} {method}", id.0),
            Message::Notification { method, .. } => format!("notification {method}"),
            Message::Response { id, error, .. } => {
                format!("response {} {}", id.0, error.is_some())
            }
            Message::Batch(parts) => format!("batch {}", parts.len()),
            Message::Other => "other".to_owned(),
        }
    }

    #[test]
    fn kinds_of_messages_are_distinguished() {
        assert_eq!(kind(r#"{"id":7,"method":"ping"}"#), "request 7 ping");
        assert_eq!(kind(r#"{"id":"7","method":"a\/b"}"#), r#"request "7" a/b"#);
        assert_eq!(kind(r#" {"method":"x","params":{}} "#), "notification x");
        assert_eq!(kind(r#"{"id":null,"method":"x"}"#), "notification x");
        assert_eq!(kind(r#"{"id":1,"result":{}}"#), "response 1 false");
        assert_eq!(kind(r#"{"id":1,"error":{"code":1}}"#), "response 1 true");
        assert_eq!(kind(r#"{"id":1,"result":null}"#), "response 1 false");
        assert_eq!(kind(r#"[{"id":1},{"id":2}]"#), "batch 2");
        for other in ["", "hello", "{", "7", r#"{"id":1}"#, r#"{"method":5}"#] {
            assert_eq!(kind(other), "other", "{other}");
        }
    }

    #[test]
    fn ids_are_compared_by_value() {
        for (one, other) in [
            (r#""a\/b""#, r#""a/b""#),
            (r#""\u00e9""#, r#""é""#),
            ("1.0", "1"),
            ("1e2", "100"),
            ("-0.0", "-0"),
        ] {
            assert_eq!(Id(one).key(), Id(other).key());
        }
        for (one, other) in [
            ("1", r#""1""#),
            ("12345678901234567890", "12345678901234567891"),
            ("1.5", "1"),
            ("1e400", "1e401"),
            (r#""a""#, r#""A""#),
        ] {
            assert_ne!(Id(one).key(), Id(other).key());
        }
    }

    #[test]
    fn an_answer_may_have_the_id_as_the_other_type() {
        for (one, other) in [
            ("7", r#""7""#),
            (r#""7""#, "7"),
            (r#"" 7.0 ""#, "7"),
            ("-7.0", r#""-7""#),
        ] {
            assert_eq!(Id(one).key_as_other_type().as_deref(), Some(other));
        }
        for id in ["1.5", r#""a""#, r#""-""#, "null", "1e400"] {
            assert_eq!(Id(id).key_as_other_type(), None, "{id}");
        }
    }

    #[test]
    fn an_id_has_only_so_many_bytes() {
        let request = |id: &str| kind(&format!(r#"{{"id":{id},"method":"ping"}}"#));
        let id = format!("\"{}\"", "7".repeat(LONGEST_ID - 2));
        assert_eq!(request(&id), format!("request {id} ping"));
        let long = format!("\"{}\"", "7".repeat(LONGEST_ID - 1));
        assert_eq!(request(&long), "other");
        assert_eq!(kind(&format!(r#"{{"id":{long},"result":{{}}}}"#)), "other");
    }
}
