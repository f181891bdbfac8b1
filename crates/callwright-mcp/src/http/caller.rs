//! Who sends a request, as far as the request tells: what keeps tenants apart.
//!
//! Takes the address, the headers, the query and the message; returns hashes, never what they are made of. Every header
//! counts but those that are known to say nothing about the caller: a login may be in any of them. A client that sends
//! another header that differs from request to request is another caller each time, and nothing is remembered of it.

use std::net::IpAddr;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::value::RawValue;
use xxhash_rust::xxh3::{Xxh3, xxh3_128_with_seed};

use super::headers::SESSION;
use crate::call::CallParams;
use crate::message::Message;

/// Headers about a message, a connection, the way here or a trace. They end in `*` where all that begin so are meant.
const NOT_ABOUT_CALLERS: [&str; 46] = [
    "accept",
    "accept-*",
    "b3",
    "baggage",
    "cache-control",
    "connection",
    "content-*",
    "date",
    "expect",
    "forwarded",
    "host",
    "idempotency-key",
    "if-*",
    "keep-alive",
    "last-event-id",
    "mcp-*",
    "newrelic",
    "pragma",
    "priority",
    "proxy-connection",
    "referer",
    "sec-fetch-*",
    "sentry-trace",
    "te",
    "traceparent",
    "tracestate",
    "trailer",
    "transfer-encoding",
    "uber-trace-id",
    "upgrade",
    "via",
    "x-amzn-trace-id",
    "x-b3-*",
    "x-cloud-trace-context",
    "x-correlation-id",
    "x-datadog-*",
    "x-envoy-*",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-proto",
    "x-ot-span-context",
    "x-real-ip",
    "x-request-id",
    "x-request-start",
    "x-stainless-retry-count",
];

/// The sender of a request.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) from: IpAddr,
    /// Who it says that it is.
    identity: u128,
    /// What it says that it can do, which a list of tools may depend on.
    abilities: u128,
    /// The session that it says it is in.
    session: Option<String>,
    /// The same by the header that the operator named.
    own_session: Option<String>,
}

#[derive(Deserialize)]
struct Meta<'m> {
    #[serde(borrow, rename = "io.modelcontextprotocol/clientInfo")]
    info: Option<&'m RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'m RawValue>,
}

impl Caller {
    /// `own` is the header by which the operator tells conversations apart.
    pub(crate) fn new(
        from: IpAddr,
        headers: &HeaderMap,
        query: Option<&str>,
        message: &[u8],
        own: Option<&HeaderName>,
    ) -> Self {
        let text = |name: &HeaderName| headers.get(name)?.to_str().ok().map(str::to_owned);
        Caller {
            from,
            identity: identity(headers, query),
            abilities: abilities(message),
            session: text(&SESSION),
            own_session: own.and_then(text),
        }
    }

    /// The session that the client says it is in.
    pub(crate) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// What is the same for all requests of this caller in a session that the server has named, wherever it comes from.
    pub(crate) fn in_session(&self, name: &str, seed: u64) -> u128 {
        hash(
            seed,
            &[b"server", name.as_bytes(), &self.identity.to_le_bytes()],
        )
    }

    /// The same in a session by the operator's header. Such names may be guessed, so the address counts.
    pub(crate) fn in_own_session(&self, seed: u64) -> Option<u128> {
        let name = self.own_session.as_ref()?;
        let from = self.from.to_string();
        let identity = self.identity.to_le_bytes();
        Some(hash(
            seed,
            &[b"client", name.as_bytes(), &identity, from.as_bytes()],
        ))
    }

    /// What is the same for requests that get the same list of tools, though nothing says that one caller sent them.
    pub(crate) fn alike(&self, seed: u64) -> u128 {
        let session = self.session.as_deref().unwrap_or_default();
        let from = self.from.to_string();
        let (identity, abilities) = (self.identity.to_le_bytes(), self.abilities.to_le_bytes());
        hash(
            seed,
            &[
                b"alike",
                session.as_bytes(),
                &identity,
                &abilities,
                from.as_bytes(),
            ],
        )
    }
}

/// The parts with their lengths, so that no part can pass for the end of another.
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
        .filter(|(name, _)| !NOT_ABOUT_CALLERS.iter().any(|other| covers(other, name)))
        .collect();
    said.sort_unstable();
    let mut parts: Vec<&[u8]> = vec![query.unwrap_or_default().as_bytes()];
    parts.extend(
        said.iter()
            .flat_map(|(name, value)| [name.as_bytes(), *value]),
    );
    hash(0, &parts)
}

fn covers(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}

/// Since 2026-07-28 every request says what its client is and can do.
fn abilities(message: &[u8]) -> u128 {
    let Message::Request { params, .. } = Message::read(message) else {
        return 0;
    };
    let meta = CallParams::meta(params);
    let meta: Option<Meta<'_>> = meta.and_then(|meta| serde_json::from_str(meta.get()).ok());
    let Some(meta) = meta else { return 0 };
    let text = |value: Option<&RawValue>| value.map_or("", RawValue::get).to_owned();
    let said = format!("{}\n{}", text(meta.info), text(meta.capabilities));
    xxh3_128_with_seed(said.as_bytes(), 0)
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
        Caller::new(from, &headers.collect(), query, b"", None)
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
            assert_ne!(one.alike(1), plain.alike(1), "{headers:?} {query:?}");
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
    fn what_says_nothing_about_the_caller_does_not() {
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
        assert_ne!(one.alike(1), other.alike(1));
    }
}
