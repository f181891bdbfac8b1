//! Whether an error message describes a transient failure: rate limits, overloads, timeouts, broken connections.

use std::sync::LazyLock;

use regex::Regex;

/// Names of rate limits, overloads and timeouts. A bare number is not a status, and a word such as "timeout" may be the name of
/// an argument.
static TRANSIENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let status =
        r"(?:http(?:/[\d.]+)?|status|code|error)\W{0,3}(?:code\W{0,3})?(?:429|50[0234]|529)\b";
    let named = r"(?:429|50[0234]|529)\W{1,3}(?:too many|internal server|bad gateway|service|gateway|overloaded)";
    let limit = r"rate.?limit(?:ed|s)?.{0,20}(?:exceed|reach|hit)|rate.?limited|too many requests|quota exceeded.{0,20}retry";
    let busy = r"temporarily unavailable|service unavailable|bad gateway|overloaded|try again later|server is busy";
    let late = r"timed.out|time-?out.{0,3}(?:exceeded|expired|after|error|waiting)|(?:request|connection|read|gateway|operation|deadline|socket) time-?out|deadline exceeded";
    let line = r"econnreset|econnrefused|etimedout|eai_again|epipe|connection (?:was )?(?:reset|refused|aborted|closed)|network is unreachable";
    Regex::new(&format!(
        "(?i)\\b(?:{status}|{named}|{limit}|{busy}|{late}|{line})"
    ))
    .ok()
});

/// Messages of servers that reject a call unread. After a timeout, a reset connection or a server error the call may have taken
/// effect.
static TURNED_AWAY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = r"429|rate.?limit|too many requests|quota exceeded|overloaded|server is busy|econnrefused|eai_again|connection (?:was )?refused|network is unreachable";
    Regex::new(&format!("(?i)\\b(?:{words})")).ok()
});

/// Whether an error says that a call was rejected before it had any effect.
pub(crate) fn is_turned_away(error: &str) -> bool {
    let pattern = TURNED_AWAY.as_ref();
    pattern.is_some_and(|pattern| pattern.is_match(error))
}

/// Whether an error is transient.
pub(crate) fn is_transient(error: &str) -> bool {
    TRANSIENT
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transient_failures_are_recognised_by_their_words() {
        for error in [
            "HTTP 429",
            "Error: 503 Service Unavailable",
            "status code: 502",
            "Rate limit exceeded, retry in 20 s",
            "upstream timed out",
            "Request timeout",
            "ECONNRESET",
            "model is overloaded",
            "Too Many Requests",
        ] {
            assert!(is_transient(error), "{error}");
        }
        for error in [
            "Order 429 not found",
            "timeout must be positive",
            "invalid argument: retries",
            "404 Not Found",
            "User 503 does not exist",
            "rate_limit: expected integer",
            "HTTP 400",
        ] {
            assert!(!is_transient(error), "{error}");
        }
    }
}
