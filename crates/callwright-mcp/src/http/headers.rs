//! Headers on their way: what is passed on, and what goes with our own question.
//!
//! Everything is passed on, credentials included, except what is only about one connection. Nothing here is ever written
//! down.

use hyper::HeaderMap;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT,
    HOST, HeaderName, HeaderValue, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};

/// Names a session.
pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// From where a stream goes on.
pub(crate) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// Names the method of the message.
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// Names the tool of the message.
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// Names the protocol.
pub(crate) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// How headers begin that repeat an argument.
pub(crate) const PARAMETER: &str = "mcp-param-";

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const ANY_ANSWER: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// What is only about one connection.
const OF_CONNECTION: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-authenticate"),
    HeaderName::from_static("proxy-authorization"),
    HeaderName::from_static("proxy-connection"),
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Takes out what is only about one connection.
pub(crate) fn strip(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&OF_CONNECTION) {
        headers.remove(name);
    }
}

/// The headers of a client's request as the server gets them. What we cannot read, such as compressed answers, is not
/// asked for.
pub(crate) fn to_server(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    strip(&mut headers);
    for name in [HOST, CONTENT_LENGTH, ACCEPT_ENCODING, EXPECT] {
        headers.remove(name);
    }
    headers
}

/// Headers for our own question for the tools, from those of the call that waits for it.
pub(crate) fn for_list(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    headers.insert(CONTENT_TYPE, JSON);
    headers.insert(ACCEPT, ANY_ANSWER);
    headers.remove(LAST_EVENT);
    headers.remove(NAME);
    let repeated: Vec<HeaderName> = headers
        .keys()
        .filter(|name| name.as_str().starts_with(PARAMETER))
        .cloned()
        .collect();
    for name in repeated {
        headers.remove(name);
    }
    if headers.contains_key(METHOD) {
        headers.insert(METHOD, HeaderValue::from_static("tools/list"));
    }
    headers
}

/// What a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One message, or several in an array.
    Json,
    /// Events, a message each.
    Stream,
    /// Nothing that we know.
    Other,
}

/// What the body of an answer is.
pub(crate) fn kind(headers: &HeaderMap) -> Kind {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .map(|value| value.trim().to_ascii_lowercase());
    match kind.as_deref() {
        Some("application/json") => Kind::Json,
        Some("text/event-stream") => Kind::Stream,
        _ => Kind::Other,
    }
}

/// Whether a body is compressed, so that we cannot judge it.
pub(crate) fn is_compressed(headers: &HeaderMap) -> bool {
    headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            })
            .collect()
    }

    #[test]
    fn what_is_about_the_connection_stays_there() {
        let sent = headers(&[
            ("authorization", "Bearer x"),
            ("connection", "close, x-own"),
            ("x-own", "1"),
            ("x-other", "2"),
            ("transfer-encoding", "chunked"),
            ("accept-encoding", "gzip"),
            ("host", "localhost"),
            ("mcp-session-id", "s"),
        ]);
        let passed = to_server(&sent);
        let mut names: Vec<&str> = passed.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["authorization", "mcp-session-id", "x-other"]);
    }

    #[test]
    fn our_question_has_headers_of_its_own() {
        let sent = headers(&[
            ("mcp-method", "tools/call"),
            ("mcp-name", "Add"),
            ("mcp-param-a", "1"),
        ]);
        let list = for_list(&sent);
        assert_eq!(list[METHOD], "tools/list");
        assert!(!list.contains_key(NAME) && !list.contains_key("mcp-param-a"));
    }
}
