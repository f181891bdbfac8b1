//! Credentials: which clients may connect, and which headers the upstream gets.
//!
//! A client's own credentials pass through. A gateway key only opens the gateway, and is never sent upstream.

use callwright_http::headers;
use hyper::HeaderMap;
use hyper::header::HeaderValue;

use crate::gateway::LiveSettings;

/// The headers in which clients of these APIs send their keys.
const KEYS: [&str; 4] = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];

impl LiveSettings {
    /// The request headers that the upstream gets.
    pub(crate) fn headers(&self, client: &HeaderMap) -> HeaderMap {
        let mut sent = headers::to_upstream(client);
        for name in KEYS {
            if sent.get_all(name).iter().any(|value| self.is_key(value)) {
                sent.remove(name);
            }
        }
        for name in self.upstream_headers.keys() {
            sent.remove(name);
        }
        sent.extend(self.upstream_headers.clone());
        sent
    }

    /// Whether a client sends one of the keys, or needs none.
    pub(crate) fn is_client(&self, headers: &HeaderMap) -> bool {
        let sent = KEYS.iter().flat_map(|name| headers.get_all(*name));
        self.client_keys.is_empty() || sent.fold(false, |any, value| any | self.is_key(value))
    }

    /// Whether this is one of the keys. Compares it with every key in full, so that timing reveals nothing.
    fn is_key(&self, value: &HeaderValue) -> bool {
        let value = value.as_bytes();
        // The name of the scheme has no case, and any number of spaces may follow it.
        let sent = match value.split_at_checked(b"Bearer ".len()) {
            Some((scheme, sent)) if scheme.eq_ignore_ascii_case(b"Bearer ") => {
                sent.trim_ascii_start()
            }
            _ => value,
        };
        let keys = self.client_keys.iter();
        keys.fold(false, |any, key| any | is_equal(sent, key.as_bytes()))
    }
}

/// Compares two byte strings in a time that depends only on their lengths.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let differs = one
        .iter()
        .zip(other)
        .fold(0, |differs, (one, other)| differs | (one ^ other));
    differs == 0 && one.len() == other.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::GatewayOptions;

    #[test]
    fn a_key_is_known_however_its_scheme_is_written() {
        let mut options = GatewayOptions::new("http://localhost");
        options.client_keys.push("key".to_owned());
        let settings = LiveSettings::of(&options).expect("valid options");
        for sent in ["Bearer key", "bearer key", "BEARER  key", "key"] {
            let headers = HeaderMap::from_iter([(
                hyper::header::AUTHORIZATION,
                HeaderValue::from_static(sent),
            )]);
            assert!(settings.is_client(&headers), "{sent}");
            assert!(settings.headers(&headers).is_empty(), "{sent}");
        }
    }
}
