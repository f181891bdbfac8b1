//! Who may come in: a web page must not talk to a server on the machine of who reads it.
//!
//! In come the headers of a request, out goes why it is refused. A page that points a name of its own at this machine
//! still sends that name as `Host`, and its own address as `Origin`; programs send no `Origin`.

use std::net::IpAddr;

use hyper::HeaderMap;
use hyper::header::{HOST, ORIGIN};

use super::Options;

/// Why a request is refused.
pub(crate) fn objection(headers: &HeaderMap, options: &Options) -> Option<String> {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let Some(host) = host else {
        return Some("The request does not say its `Host`.".to_owned());
    };
    // A number was not looked up anywhere, so nobody can have pointed it here.
    let is_known = is_local(name(host))
        || address(name(host)).is_some()
        || options.hosts.iter().any(|known| is_same(known, host));
    if !is_known {
        return Some(
            "The `Host` of the request is not known here. Use localhost, or allow this host."
                .to_owned(),
        );
    }
    for origin in headers.get_all(ORIGIN) {
        let origin = origin.to_str().unwrap_or_default();
        let at = origin.split_once("://").map_or("", |(_, at)| at);
        let is_known = is_local(name(at))
            || (!at.is_empty() && at.eq_ignore_ascii_case(host))
            || options
                .origins
                .iter()
                .any(|known| known.eq_ignore_ascii_case(origin));
        if !is_known {
            return Some(
                "The `Origin` of the request is not this machine. Allow this origin if you trust it."
                    .to_owned(),
            );
        }
    }
    None
}

/// A host without its port.
fn name(host: &str) -> &str {
    if host.starts_with('[') {
        return host.split_inclusive(']').next().unwrap_or(host);
    }
    host.split(':').next().unwrap_or(host)
}

fn address(name: &str) -> Option<IpAddr> {
    name.trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok()
}

fn is_local(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost")
        || address(name).is_some_and(|address| address.is_loopback())
}

/// Whether a host is the allowed one, which may be given with a port or without.
fn is_same(known: &str, host: &str) -> bool {
    known.eq_ignore_ascii_case(host) || known.eq_ignore_ascii_case(name(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_open(host: &str, origin: Option<&str>, options: &Options) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().expect("a host"));
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().expect("an origin"));
        }
        objection(&headers, options).is_none()
    }

    #[test]
    fn only_this_machine_and_who_is_allowed() {
        let mut options = Options::new("http://localhost:1/mcp");
        for host in ["localhost:8000", "LOCALHOST", "127.0.0.1:1", "[::1]:80"] {
            assert!(is_open(host, None, &options), "{host}");
            assert!(is_open(host, Some("http://localhost:6274"), &options));
            assert!(is_open(host, Some("http://[::1]:6274"), &options));
            for origin in [
                "http://evil.example",
                "null",
                "",
                "http://localhost.evil.example",
                "http://127.0.0.1.evil.example",
            ] {
                assert!(!is_open(host, Some(origin), &options), "{origin}");
            }
        }
        assert!(is_open(
            "192.168.0.2:80",
            Some("http://192.168.0.2:80"),
            &options
        ));
        for host in ["evil.example", "localhost.evil.example:80", ""] {
            assert!(!is_open(host, None, &options), "{host}");
        }
        options.hosts.push("tools.example".to_owned());
        options.origins.push("https://app.example".to_owned());
        assert!(is_open("tools.example:80", None, &options));
        assert!(is_open(
            "tools.example",
            Some("https://app.example"),
            &options
        ));
        assert!(!is_open(
            "tools.example",
            Some("http://app.example"),
            &options
        ));
    }
}
