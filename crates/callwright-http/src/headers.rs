//! Headers between two hops: which ones are passed on, and what they say about a body.
//!
//! Takes the headers of one hop; returns those of the next. Passes on everything, credentials included, except what
//! concerns a single connection.

use hyper::HeaderMap;
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST,
    HeaderName, HeaderValue, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};

/// Headers that concern a single connection, besides those that `Connection` names.
const HOP_BY_HOP: [HeaderName; 9] = [
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

/// Removes the headers that concern a single connection.
pub fn strip_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
}

/// The client's request headers as the upstream gets them. Compressed responses are not requested, because they could
/// not be examined.
#[must_use]
pub fn to_upstream(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    strip_hop_by_hop(&mut headers);
    for name in [HOST, CONTENT_LENGTH, ACCEPT_ENCODING, EXPECT] {
        headers.remove(name);
    }
    headers
}

/// The media type of a body, as far as proxies care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaType {
    /// `application/json`.
    Json,
    /// `text/event-stream`.
    EventStream,
    /// Anything else, or not declared.
    Other,
}

impl MediaType {
    /// The media type that these headers declare.
    pub fn of(headers: &HeaderMap) -> Self {
        let declared = headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split(';').next())
            .map(|value| value.trim().to_ascii_lowercase());
        match declared.as_deref() {
            Some("application/json") => MediaType::Json,
            Some("text/event-stream") => MediaType::EventStream,
            _ => MediaType::Other,
        }
    }

    /// The media type that the most lenient client reads in these headers: some look for it at the beginning of the
    /// value, others anywhere in it. Where clients could differ, the headers are changed to say what was decided.
    pub fn settle(headers: &mut HeaderMap) -> Self {
        let all: Vec<String> = headers
            .get_all(CONTENT_TYPE)
            .iter()
            .map(|value| String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase())
            .collect();
        let has = |name: &str| all.iter().any(|value| value.contains(name));
        let (has_json, has_events) = (has("application/json"), has("text/event-stream"));
        let declared = MediaType::of(headers);
        let settled = match declared {
            MediaType::Other if has_events => MediaType::EventStream,
            MediaType::Other if has_json => MediaType::Json,
            declared => declared,
        };
        let is_clear = all.len() <= 1 && settled == declared && !(has_json && has_events);
        let name = match settled {
            MediaType::Json => "application/json",
            MediaType::EventStream => "text/event-stream",
            MediaType::Other => return settled,
        };
        if !is_clear {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(name));
        }
        settled
    }
}

/// Whether a body is compressed.
pub fn is_compressed(headers: &HeaderMap) -> bool {
    headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Whether a body that is decoded as declared is in UTF-8. In UTF-7, `+ACI-` is a quotation mark.
pub fn is_utf8(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_TYPE).iter().all(|value| {
        let declared = value.as_bytes().to_ascii_lowercase();
        let Ok(declared) = String::from_utf8(declared) else {
            return false;
        };
        declared.split("charset").skip(1).all(|rest| {
            let name = rest.trim_start().strip_prefix('=').unwrap_or("?");
            let name = name.split([';', ',']).next().unwrap_or_default();
            matches!(name.trim().trim_matches('"'), "utf-8" | "utf8")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hop_by_hop_headers_are_not_passed_on() {
        let sent = [
            ("authorization", "Bearer x"),
            ("connection", "close, x-own"),
            ("x-own", "1"),
            ("x-other", "2"),
            ("transfer-encoding", "chunked"),
            ("accept-encoding", "gzip"),
            ("host", "localhost"),
            ("mcp-session-id", "s"),
        ];
        let sent = sent.map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        });
        let passed = to_upstream(&sent.into_iter().collect());
        let mut names: Vec<&str> = passed.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["authorization", "mcp-session-id", "x-other"]);
    }

    #[test]
    fn media_types_are_read_without_their_parameters() {
        for (declared, expected) in [
            ("application/json", MediaType::Json),
            ("Application/JSON; charset=utf-8", MediaType::Json),
            ("text/event-stream", MediaType::EventStream),
            ("text/plain", MediaType::Other),
        ] {
            let value = HeaderValue::from_static(declared);
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, value)]);
            assert_eq!(MediaType::of(&headers), expected, "{declared}");
        }
        assert_eq!(MediaType::of(&HeaderMap::new()), MediaType::Other);
    }

    #[test]
    fn only_utf8_is_utf8() {
        let is_declared = |values: &[&'static str]| {
            let values = values.iter().copied().map(HeaderValue::from_static);
            let headers = values.map(|value| (CONTENT_TYPE, value));
            is_utf8(&headers.collect())
        };
        assert!(is_declared(&[]));
        for utf8 in [
            "application/json",
            "application/json;charset=UTF-8",
            "application/json; charset=\"utf-8\"; v=1",
            "application/json; Charset = utf8",
        ] {
            assert!(is_declared(&[utf8]), "{utf8}");
        }
        for other in [
            "application/json; charset=utf-7",
            "application/json; charset='utf-7'",
            "application/json; charset*=utf-7''x",
            "application/json; charset=utf-8; charset=utf-7",
            "application/json; charset=\"utf-\\7\"",
            "application/json; charset=",
            "application/json; charset",
        ] {
            assert!(!is_declared(&[other]), "{other}");
            assert!(!is_declared(&["application/json", other]), "{other}");
        }
    }
}
