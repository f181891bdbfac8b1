//! Identifies the sender of a request, which keeps tenants apart.
//!
//! Takes the address, the headers, the query and the message; returns hashes, never what they are made of. Every
//! header counts except those known to say nothing about the caller: a login may be in any of them. A client that
//! sends some other header with a different value in each request is a new caller each time, and nothing about it is
//! remembered.

use std::net::IpAddr;
use std::sync::LazyLock;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use hyper::http::request::Parts;
use serde_json::value::RawValue;
use xxhash_rust::xxh3::Xxh3;

use super::headers::SESSION;
use crate::members::{member, members};
use crate::message::Message;

/// Headers that say nothing about the caller. A trailing `*` matches any suffix.
const NOT_ABOUT_CALLERS: [&str; 4] = [
    // About the message.
    "accept accept-* cache-control content-* date expect idempotency-key if-* last-event-id mcp-* pragma priority \
     referer sec-fetch-* x-stainless-retry-count",
    // About the connection.
    "connection host keep-alive proxy-connection te trailer transfer-encoding upgrade",
    // About the route here.
    "forwarded via x-envoy-* x-forwarded-for x-forwarded-host x-forwarded-port x-forwarded-proto x-real-ip \
     x-request-start",
    // About a trace.
    "b3 baggage newrelic sentry-trace traceparent tracestate uber-trace-id x-amzn-trace-id x-b3-* \
     x-cloud-trace-context x-correlation-id x-datadog-* x-ot-span-context x-request-id",
];

#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) from: IpAddr,
    identity: u128,
    /// The capabilities that it declares, which a tool list may depend on.
    abilities: u128,
    session: Option<String>,
    /// The session named by the header that the operator configured.
    own_session: Option<String>,
}

impl Caller {
    /// `own` is the header by which the operator tells conversations apart.
    pub(super) fn new(
        from: IpAddr,
        request: &Parts,
        message: &[u8],
        own: Option<&HeaderName>,
    ) -> Self {
        let headers = &request.headers;
        let text = |name: &HeaderName| headers.get(name)?.to_str().ok().map(str::to_owned);
        Caller {
            from,
            identity: identity(headers, request.uri.query()),
            abilities: abilities(message),
            session: text(&SESSION),
            own_session: own.and_then(text),
        }
    }

    pub(super) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// What all requests of this caller have in common in a session named by the server, from any address.
    pub(super) fn in_session(&self, name: &str, seed: u64) -> u128 {
        self.key(seed, &[b"server", name.as_bytes()])
    }

    /// Same, in a session named by the operator's header. Such names may be guessed, so the address counts.
    pub(super) fn in_own_session(&self, seed: u64) -> Option<u128> {
        let name = self.own_session.as_ref()?;
        let from = self.from.to_string();
        Some(self.key(seed, &[b"client", name.as_bytes(), from.as_bytes()]))
    }

    /// What requests that get the same tool list have in common, though nothing says that they come from one caller.
    pub(super) fn anonymous_key(&self, seed: u64) -> u128 {
        let session = self.session().unwrap_or_default().as_bytes();
        let (from, abilities) = (self.from.to_string(), self.abilities.to_le_bytes());
        self.key(seed, &[b"anonymous", session, &abilities, from.as_bytes()])
    }

    fn key(&self, seed: u64, parts: &[&[u8]]) -> u128 {
        hash(seed, &[parts, &[&self.identity.to_le_bytes()]].concat())
    }
}

/// Hashes the parts with their lengths, so that no part can be confused with the end of another.
fn hash(seed: u64, parts: &[&[u8]]) -> u128 {
    let mut hash = Xxh3::with_seed(seed);
    for part in parts {
        hash.update(&part.len().to_le_bytes());
        hash.update(part);
    }
    hash.digest128()
}

fn identity(headers: &HeaderMap, query: Option<&str>) -> u128 {
    let mut said: Vec<(&str, &[u8])> = headers
        .iter()
        .map(|(name, value)| (name.as_str(), HeaderValue::as_bytes(value)))
        .filter(|(name, _)| !is_not_about_callers(name))
        .collect();
    said.sort_unstable();
    let mut parts: Vec<&[u8]> = vec![query.unwrap_or_default().as_bytes()];
    parts.extend(
        said.iter()
            .flat_map(|(name, value)| [name.as_bytes(), *value]),
    );
    hash(0, &parts)
}

fn is_not_about_callers(name: &str) -> bool {
    static PATTERNS: LazyLock<Vec<&str>> = LazyLock::new(|| {
        let groups = NOT_ABOUT_CALLERS.iter();
        groups.flat_map(|group| group.split_whitespace()).collect()
    });
    PATTERNS
        .iter()
        .any(|pattern| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => *pattern == name,
        })
}

/// Where a request declares its client and its capabilities.
const ABILITIES: [&str; 2] = [
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
];

/// Since 2026-07-28 every request declares its client and its capabilities.
fn abilities(message: &[u8]) -> u128 {
    let Message::Request {
        params: Some(params),
        ..
    } = Message::read(message)
    else {
        return 0;
    };
    let said = member(Some(params), "_meta").and_then(|meta| members(meta.get(), ABILITIES).ok());
    let text = |value: Option<&'_ RawValue>| value.map_or("", RawValue::get).to_owned();
    said.map_or(0, |[info, abilities]| {
        hash(0, &[text(info).as_bytes(), text(abilities).as_bytes()])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(headers: &[(&str, &str)], query: Option<&str>) -> Caller {
        let headers = headers.iter().map(|(name, value)| {
            let name: HeaderName = name.parse().expect("a name");
            (name, value.parse().expect("a value"))
        });
        let from = IpAddr::from([127, 0, 0, 1]);
        let (mut request, ()) = hyper::Request::new(()).into_parts();
        request.headers = headers.collect();
        request.uri = format!("/mcp?{}", query.unwrap_or_default())
            .parse()
            .expect("a URI");
        Caller::new(from, &request, b"", None)
    }

    #[test]
    fn any_login_tells_callers_apart() {
        let plain = caller(&[], None);
        for (headers, query) in [
            (&[("authorization", "Bearer a")][..], None),
            (&[("cookie", "sid=a")], None),
            (&[("x-api-key", "a")], None),
            (&[("proxy-authorization", "a")], None),
            (&[("x-forwarded-client-cert", "a")], None),
            (&[("x-acme-customer", "a")], None),
            (&[], Some("api_key=a")),
        ] {
            let one = caller(headers, query);
            assert_ne!(
                one.anonymous_key(1),
                plain.anonymous_key(1),
                "{headers:?} {query:?}"
            );
            assert_ne!(
                one.in_session("s", 1),
                plain.in_session("s", 1),
                "{headers:?}"
            );
            assert_eq!(
                one.in_session("s", 1),
                caller(headers, query).in_session("s", 1)
            );
        }
    }

    #[test]
    fn other_headers_do_not_tell_callers_apart() {
        let plain = caller(&[], None);
        for (name, value) in [
            ("traceparent", "00-1"),
            ("mcp-param-city", "Oslo"),
            ("content-length", "7"),
            ("x-request-id", "7"),
        ] {
            let one = caller(&[(name, value)], None);
            assert_eq!(one.in_session("s", 1), plain.in_session("s", 1), "{name}");
        }
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        let one = caller(&[("x-a", "1"), ("x-b", "2")], None);
        let other = caller(&[("x-a", "1x-b2")], None);
        assert_ne!(one.anonymous_key(1), other.anonymous_key(1));
    }
}
