//! Whether an error message describes a transient failure: rate limits, overloads, timeouts, broken connections.

use std::sync::LazyLock;

use regex::Regex;

use super::nearest::FoldedName;
use super::word_list;

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

/// What servers say that reject a call unread. After a timeout, a reset connection or a server error the call may have taken
/// effect.
static TURNED_AWAY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = r"429|rate.?limit|too many requests|quota exceeded|overloaded|server is busy|econnrefused|eai_again|connection (?:was )?refused|network is unreachable";
    Regex::new(&format!("(?i)\\b(?:{words})")).ok()
});

/// The words of such a message. Any other word may say what happened before: `Paid, but the receipt hit a rate limit`.
const WORDS_OF_REJECTION: &[&str] = word_list![
    a after again allowed an and api are at attempt be been before busy call client code com connect connection details eai
    econnrefused enotfound error errors exceeded exception exhausted for hard has have high hit host hour hours http https
    in io is it later limit limited limiting limits message minute minutes moment ms net network of on or overloaded per
    please quota rate reached reason refused request requests resource response retry retryable s sec second seconds secs
    server service slow status tcp tell temporarily the this to tokens too many transient try type unreachable url
    wait was were when with you your down
];

/// Longer messages say more than that a call was rejected.
const LONGEST_REJECTION: usize = 400;

/// Whether an error says that a call was rejected before it had any effect, and nothing else. A number may be anything:
/// `Request timed out. Amount: 429`.
pub(crate) fn is_turned_away(error: &str) -> bool {
    let words = FoldedName::new(error);
    // The status of a server error next to another number.
    let is_broken = |word: &str| matches!(word, "500" | "502" | "503" | "504");
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && !is_broken(word);
    let mut known = words.words();
    error.len() <= LONGEST_REJECTION
        && TURNED_AWAY.as_ref().is_some_and(|it| it.is_match(error))
        && known.all(|word| is_number(word) || WORDS_OF_REJECTION.contains(&word))
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

    #[test]
    fn a_rejection_says_nothing_else() {
        for error in [
            "429 Too Many Requests",
            "HTTP 429",
            "Rate limit exceeded, please retry after 20s.",
            r#"{"error": {"type": "rate_limit_error", "code": 429, "message": "Too many requests"}}"#,
            "connect ECONNREFUSED 127.0.0.1:443",
            "RateLimitError: rate limit reached for this API, try again in 20 seconds",
            "The server is overloaded.",
        ] {
            assert!(is_turned_away(error), "{error}");
        }
        for error in [
            "Request timed out. Amount: 429",
            "HTTP 500 for invoice #429",
            "connection reset while paying order 429",
            "timed out, then connection refused on retry",
            "Charged 5 EUR. Receipt mail failed: 429 Too Many Requests",
            "Pagado, pero: rate limit exceeded",
            "已付款 429",
            "HTTP 503",
            "HTTP 500, invoice 429",
            "HTTP 504 (429)",
        ] {
            assert!(!is_turned_away(error), "{error}");
        }
    }
}
