//! Secrets that no schema marks, recognised by the names of their keys and by their shape.
//!
//! Takes the line of an event; replaces whatever looks like a password, a key or a token, anywhere in it: in arguments, in
//! results, in JSON inside a text, in sentences about a value. It only knows the common kinds, so a schema that marks its
//! secrets hides more.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::secrecy::MASKED;

/// Shorter values are also ordinary words and numbers, so they are hidden at their key only.
const SHORTEST_ELSEWHERE: usize = 6;

/// How many of them are searched for elsewhere: each costs another pass over the line.
const MOST_ELSEWHERE: usize = 32;

/// The name of a key whose text is a secret. Page tokens and token counts are not.
const KEY: &str = r"(?i:[a-z0-9_.-]*(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|(?:access|auth|refresh|session|bearer|api|bot)[_-]?token|authorization|credentials?|cookie)[a-z0-9_]{0,8}|token|pwd|pass)";

/// A member with such a name, also one level deeper, in JSON inside a text.
static NAMED: LazyLock<[Option<Regex>; 2]> = LazyLock::new(|| {
    let plain = format!(r#"("{KEY}"\s*:\s*")((?:[^"\\]|\\.)+)""#);
    let escaped = format!(r#"(\\"{KEY}\\"\s*:\s*\\")((?:[^"\\]|\\\\.)+)\\""#);
    [plain, escaped].map(|pattern| Regex::new(&pattern).ok())
});

/// Secrets that are recognised whatever they are called. Each alternative ends before a quote or a backslash, so the JSON stays
/// valid.
static SHAPED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let shapes = [
        // PEM keys; their line breaks are escaped.
        r#"-----BEGIN [A-Z ]*PRIVATE KEY-----[^"]*?-----END [A-Z ]*PRIVATE KEY-----"#,
        // OpenAI, Anthropic, Stripe and others with the same prefixes.
        r"\b[prs]k[-_][A-Za-z0-9_-]{16,}",
        r"\b(?:gh[opsur]|github_pat)_[A-Za-z0-9_]{20,}",
        r"\bglpat-[A-Za-z0-9_-]{16,}",
        r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
        r"\bAIza[A-Za-z0-9_-]{30,}",
        r"\b(?:hf|npm)_[A-Za-z0-9]{30,}",
        // A JSON web token.
        r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*",
        r"(?i:\bbearer\s+)[A-Za-z0-9._~+/=-]{16,}",
        // Credentials in a URL.
        r#"[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/@:"\\]+:[^\s/@"\\]+@"#,
        // Environment variables, command lines, query strings.
        r#"(?i:\b(?:password|passwd|secret|token|api[_-]?key)=)[^\s"'\\,;&]{6,}"#,
    ];
    Regex::new(&shapes.join("|")).ok()
});

/// Hides common secrets in a line of JSON.
pub(super) fn hide(line: &mut String) {
    let mut known = BTreeSet::new();
    for named in NAMED.iter().flatten() {
        let hidden = named.replace_all(line, |found: &Captures<'_>| {
            let (before, value) = (&found[1], &found[2]);
            if value.len() >= SHORTEST_ELSEWHERE && known.len() < MOST_ELSEWHERE {
                known.insert(value.to_owned());
            }
            let after = &found[0][before.len() + value.len()..];
            format!("{before}{MASKED}{after}")
        });
        if let Cow::Owned(hidden) = hidden {
            *line = hidden;
        }
    }
    for value in known {
        if line.contains(&value) {
            *line = line.replace(&value, MASKED);
        }
    }
    if let Some(shaped) = SHAPED.as_ref()
        && let Cow::Owned(hidden) = shaped.replace_all(line, MASKED)
    {
        *line = hidden;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(text: &str) -> String {
        let mut line = text.to_owned();
        hide(&mut line);
        assert!(
            serde_json::from_str::<serde_json::Value>(&line).is_ok(),
            "{line}"
        );
        line
    }

    #[test]
    fn common_secrets_are_hidden() {
        for (line, secret) in [
            (
                r#"{"a":{"password":"hun\"ter2"},"detail":"got hun\"ter2"}"#,
                "ter2",
            ),
            (r#"{"DB_PASSWORD":"x","apiKey":"y1y1y1"}"#, "y1y1y1"),
            (
                r#"{"sent":"{\"client_secret\": \"abc-def-ghi\"}"}"#,
                "abc-def",
            ),
            (
                r#"{"headers":{"Authorization":"Basic dXNlcjpwYXNz"}}"#,
                "dXNl",
            ),
            (r#"{"token":"t-0"}"#, "t-0"),
            (
                r#"{"text":"use sk-proj-0123456789abcdef0123 now"}"#,
                "0123456789",
            ),
            (
                r#"{"text":"ghp_0123456789abcdefghijABCDEFGHIJ012345"}"#,
                "ghp_",
            ),
            (r#"{"text":"AKIAIOSFODNN7EXAMPLE"}"#, "AKIA"),
            (
                r#"{"text":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln"}"#,
                "eyJ",
            ),
            (r#"{"text":"postgres://me:pa55word@host/db"}"#, "pa55"),
            (
                r#"{"text":"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"}"#,
                "MIIE",
            ),
            (r#"{"text":"PASSWORD=hunter22 run"}"#, "hunter22"),
        ] {
            let hidden = hidden(line);
            assert!(
                !hidden.contains(secret) && hidden.contains(MASKED),
                "{hidden}"
            );
        }
    }

    #[test]
    fn everything_else_is_unchanged() {
        for line in [
            r#"{"max_tokens":100,"page_token":"abcdef","next_token":"x","keys":["a"],"author":"Ann"}"#,
            r#"{"detail":"api_key: expected string, received integer 5","path":"/password"}"#,
            r#"{"text":"https://example.com/a:b@c and sk-learn, bearer of news"}"#,
            r#"{"id":"call_0123456789abcdef0123456789","fingerprint":"0492afdf246b48b6cad4c945bb58a358"}"#,
        ] {
            assert_eq!(hidden(line), line);
        }
    }
}
