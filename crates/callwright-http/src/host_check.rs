//! Host and Origin checks (DNS-rebinding protection).
//!
//! A web page must not be able to talk to a server on its reader's machine. A page that points its own host name at
//! this machine still sends that name as `Host`, and its own address as `Origin`. Programs send no `Origin`.

use std::net::IpAddr;

use hyper::HeaderMap;
use hyper::header::{HOST, ORIGIN};

/// Who may send requests, besides programs and pages on this machine.
#[derive(Debug, Clone, Default)]
pub struct HostCheck {
    /// Host names of this server, besides `localhost` and IP addresses. With or without a port.
    pub hosts: Vec<String>,
    /// Origins of web pages: `https://app.example`.
    pub origins: Vec<String>,
}

impl HostCheck {
    /// Why a request with these headers is refused; `None` if it is allowed.
    pub fn objection(&self, headers: &HeaderMap) -> Option<&'static str> {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        let Some(host) = host else {
            return Some("The request has no `Host` header.");
        };
        let name = without_port(host);
        let is_allowed =
            |known: &String| known.eq_ignore_ascii_case(host) || known.eq_ignore_ascii_case(name);
        // An IP address is not resolved by name, so it cannot have been rebound to this machine.
        if !is_local(name) && ip_address(name).is_none() && !self.hosts.iter().any(is_allowed) {
            return Some(
                "Unknown `Host` header. Use localhost, or allow this host with --allow-host.",
            );
        }
        for origin in headers.get_all(ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            let at = origin.split_once("://").map_or("", |(_, at)| at);
            let is_known = is_local(without_port(at))
                || (!at.is_empty() && at.eq_ignore_ascii_case(host))
                || self
                    .origins
                    .iter()
                    .any(|known| known.eq_ignore_ascii_case(origin));
            if !is_known {
                return Some(
                    "The `Origin` of the request is not this machine. If you trust it, allow it with --allow-origin.",
                );
            }
        }
        None
    }
}

fn without_port(host: &str) -> &str {
    if host.starts_with('[') {
        return host.split_inclusive(']').next().unwrap_or(host);
    }
    host.split(':').next().unwrap_or(host)
}

fn ip_address(name: &str) -> Option<IpAddr> {
    name.trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok()
}

fn is_local(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost")
        || ip_address(name).is_some_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_open(host: &str, origin: Option<&str>, check: &HostCheck) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().expect("a host"));
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().expect("an origin"));
        }
        check.objection(&headers).is_none()
    }

    #[test]
    fn only_this_machine_and_allowed_hosts_pass() {
        let mut check = HostCheck::default();
        for host in ["localhost:8000", "LOCALHOST", "127.0.0.1:1", "[::1]:80"] {
            assert!(is_open(host, None, &check), "{host}");
            assert!(is_open(host, Some("http://localhost:6274"), &check));
            assert!(is_open(host, Some("http://[::1]:6274"), &check));
            for origin in [
                "http://evil.example",
                "null",
                "",
                "http://localhost.evil.example",
                "http://127.0.0.1.evil.example",
            ] {
                assert!(!is_open(host, Some(origin), &check), "{origin}");
            }
        }
        let same = Some("http://192.168.0.2:80");
        assert!(is_open("192.168.0.2:80", same, &check));
        for host in ["evil.example", "localhost.evil.example:80", ""] {
            assert!(!is_open(host, None, &check), "{host}");
        }
        check.hosts.push("tools.example".to_owned());
        check.origins.push("https://app.example".to_owned());
        assert!(is_open("tools.example:80", None, &check));
        let (known, other) = (Some("https://app.example"), Some("http://app.example"));
        assert!(is_open("tools.example", known, &check));
        assert!(!is_open("tools.example", other, &check));
        assert!(check.objection(&HeaderMap::new()).is_some());
    }
}
