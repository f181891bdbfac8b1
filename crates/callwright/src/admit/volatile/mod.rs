//! Removes what changes from answer to answer without meaning anything: times, durations, request ids.
//!
//! Takes an answer; returns a text that is equal for answers that differ only in such values. A loop whose results carry a time
//! stamp is still a loop. A value is left out because of where it is, never because of what it looks like: under a key such as
//! `request_id`, after words such as `request id:`, at the start of a log line. An id or a time anywhere else is data, and so
//! is a value of the arguments wherever it is repeated. If nothing else would be left, the whole answer counts: a clock is
//! asked for the time.

mod keys;

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use self::keys::KeyKind;
use super::asked::Asked;
use super::outcome::AnswerContent;
use crate::json::{
    Value, read_value, with_buffer, write_canonical_string as write_string, write_object,
};
use crate::vocabulary::word_list;

/// The longest answer that is searched, in bytes. A longer one counts as it is: searching takes time, and a model that reads
/// megabytes again and again runs into the budget.
const LONGEST: usize = 1024 * 1024;

/// How deep an answer is searched. Anything deeper counts as it is.
const DEEPEST: usize = 100;

/// Replaces a value that was left out. It occurs in no JSON text.
const GAP: &str = "\u{1}";

/// Moments to the minute or finer, clock times and UUIDs. A bare date is data.
const MOMENT: &str = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d\b)?";
const CLOCK: &str = r"\d\d:\d\d:\d\d(?:[.,]\d+)?";
const UUID: &str = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}";

/// In text that is not JSON, such as the output of a program: how long it took, the id of a request, as servers put it into
/// their errors, and the memory address of an object.
const DURATION: &str = r"\d+(?:\.\d+)? ?(?:ns|us|µs|ms|s|secs?|seconds)\b";
const REQUEST: &str =
    r#"(?i:request|req|trace|span|correlation)[ _-]?(?i:id)["']?(?: ?[:=] ?| )["']?[\w-]*\d[\w-]*"#;
const REQUEST_UUID: &str = r#"(?i:request|trace|span|correlation)["']?(?: ?[:=] ?| )["']?"#;
const ADDRESS: &str = r"at 0x[0-9a-fA-F]+";

/// A time in the group `time`, anything else outside of it.
static IN_TEXT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let other = [DURATION, REQUEST, ADDRESS].join("|");
    Regex::new(&format!(
        r"\b(?:(?<time>{MOMENT}|{CLOCK})|{other}|{REQUEST_UUID}{UUID})"
    ))
    .ok()
});
static WHOLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!(r"^(?:{MOMENT}|{UUID})$")).ok());

/// Words before a time that make it the time of the answer.
const ANSWERED: &[&str] = word_list![
    time timestamp now built generated fetched retrieved queried checked measured logged requested reported
    match matches found nothing rows results
];

/// Passes the meaningful part of an answer to `read`.
pub(super) fn steady<T>(
    answer: &AnswerContent<'_>,
    asked: &Asked<'_>,
    read: impl FnOnce(&str) -> T,
) -> T {
    let text = match answer {
        AnswerContent::Text(text) | AnswerContent::Value(Value::String(text)) => text,
        AnswerContent::Value(value) => {
            return with_buffer(|out| {
                write_steady(value, asked, Blocks::Opened, out);
                read(out)
            });
        }
    };
    read(&steady_text(text, asked, Blocks::Opened))
}

/// Whether blocks of text are searched. Blocks inside such a block are not: one answer wraps one other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blocks {
    Opened,
    Closed,
}

fn steady_text<'t>(text: &'t str, asked: &Asked<'_>, blocks: Blocks) -> Cow<'t, str> {
    let text = text.trim_ascii();
    if text.len() > LONGEST {
        return Cow::Borrowed(text);
    }
    if text.starts_with(['{', '['])
        && let Ok(value) = read_value(text)
    {
        let mut out = String::new();
        write_steady(&value, asked, blocks, &mut out);
        return Cow::Owned(out);
    }
    let Some(pattern) = IN_TEXT.as_ref().filter(|_| may_match(text)) else {
        return Cow::Borrowed(text);
    };
    let steady = pattern.replace_all(text, |found: &Captures<'_>| {
        let all = found.get_match();
        let is_of_answer = found.name("time").is_none() || is_time_of_answer(&text[..all.start()]);
        let value = all.as_str().rsplit([' ', ':', '=', '"', '\'']).next();
        let is_asked_for = asked.holds(all.as_str()) || value.is_some_and(|it| asked.holds(it));
        if is_of_answer && !is_asked_for {
            GAP.to_owned()
        } else {
            all.as_str().to_owned()
        }
    });
    if steady.contains(char::is_alphanumeric) {
        steady
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether the pattern may match: it takes a digit, which need not be ASCII, or the dashes of a UUID.
fn may_match(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.any(|byte| byte.is_ascii_digit() || byte == b'-' || !byte.is_ascii())
}

/// Whether a time after this text is the time of the answer: it is at the start of a line, or follows one of the words above.
fn is_time_of_answer(before: &str) -> bool {
    let is_answered = |word: &str| {
        let mut known = ANSWERED.iter();
        known.any(|known| known.eq_ignore_ascii_case(word))
    };
    let Some((before, word)) = last_word(before) else {
        return true;
    };
    let word_before = || last_word(before).map(|(_, word)| word);
    match word {
        "at" | "on" => word_before().is_some_and(is_answered),
        "of" => word_before() == Some("as"),
        word => is_answered(word),
    }
}

/// The last word of the last line, and the text before it. No more is read, so that a line with many times is not read again
/// for each of them.
fn last_word(text: &str) -> Option<(&str, &str)> {
    let line = text.trim_end_matches(|it: char| !it.is_alphanumeric() && it != '\n');
    let before = line.trim_end_matches(char::is_alphanumeric);
    Some(line.split_at(before.len())).filter(|(_, word)| !word.is_empty())
}

/// Appends the canonical text of the meaningful part of a value.
fn write_steady(value: &Value<'_>, asked: &Asked<'_>, blocks: Blocks, out: &mut String) {
    let (start, mut kept) = (out.len(), false);
    let look = SteadyWriter {
        asked,
        blocks,
        is_meta: false,
    };
    look.write(value, DEEPEST, &mut kept, out);
    if !kept {
        out.truncate(start);
        value.write_canonical(out);
    }
}

/// Whether a whole text is a moment or a UUID.
fn is_volatile(text: &str) -> bool {
    // `2026-01-31T10:00`
    const SHORTEST: usize = 16;
    text.len() >= SHORTEST
        && text.as_bytes()[0].is_ascii_hexdigit()
        && WHOLE.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// Writes a value without its volatile parts.
#[derive(Clone, Copy)]
struct SteadyWriter<'l, 'a> {
    asked: &'l Asked<'a>,
    blocks: Blocks,
    /// Whether the value is inside an object, such as `meta`, that describes the answer.
    is_meta: bool,
}

impl SteadyWriter<'_, '_> {
    /// Appends the canonical text of a value without its volatile parts; sets `kept` if anything is left.
    fn write(self, value: &Value<'_>, depth_left: usize, kept: &mut bool, out: &mut String) {
        let Some(depth_left) = depth_left.checked_sub(1) else {
            *kept = true;
            return value.write_canonical(out);
        };
        match value {
            Value::Object(members) if !members.is_empty() => {
                let is_block = self.blocks == Blocks::Opened && is_text_block(members);
                let members = members.iter().map(|(key, member)| (key.as_ref(), member));
                write_object(members, out, |key, member, out| {
                    match (member, KeyKind::of(key)) {
                        (Value::String(text), _) if is_block && key == "text" => {
                            *kept = true;
                            write_string(&steady_text(text, self.asked, Blocks::Closed), out);
                        }
                        (scalar, KeyKind::OfAnswer) if !self.is_asked_for(scalar) => {
                            write_string(GAP, out);
                        }
                        (other, kind) => {
                            let is_meta = self.is_meta || kind == KeyKind::AroundAnswer;
                            SteadyWriter { is_meta, ..self }.write(other, depth_left, kept, out);
                        }
                    }
                });
            }
            Value::Array(items) if !items.is_empty() => {
                out.push('[');
                for item in items {
                    self.write(item, depth_left, kept, out);
                    out.push(',');
                }
                out.push(']');
            }
            Value::String(text) if self.is_meta && is_volatile(text) && !self.asked.holds(text) => {
                write_string(GAP, out);
            }
            other => {
                *kept = true;
                other.write_canonical(out);
            }
        }
    }

    /// Whether a value is one of the arguments, or not a single value.
    fn is_asked_for(self, value: &Value<'_>) -> bool {
        match value {
            Value::Object(_) | Value::Array(_) => true,
            Value::String(text) => self.asked.holds(text),
            Value::Number(number) => self.asked.holds(number.as_str()),
            Value::Null | Value::Bool(_) => false,
        }
    }
}

/// Whether this is a block of text in a message, as in MCP and provider shapes: its text is an answer by itself.
fn is_text_block(members: &[(Cow<'_, str>, Value<'_>)]) -> bool {
    members
        .iter()
        .any(|(key, kind)| key == "type" && *kind == Value::String("text".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(left: &str, right: &str) -> bool {
        let text = |text| {
            steady(
                &AnswerContent::Text(Cow::Borrowed(text)),
                &Asked::default(),
                str::to_owned,
            )
        };
        text(left) == text(right)
    }

    #[test]
    fn the_patterns_are_patterns() {
        assert!(IN_TEXT.is_some() && WHOLE.is_some());
    }

    #[test]
    fn times_and_request_ids_do_not_count() {
        for (left, right) in [
            (
                "built at 2026-01-31T10:00:00Z",
                "built at 2026-01-31T10:00:07.25+01:00",
            ),
            ("12:00:01 no match", "12:00:09 no match"),
            ("3 tests failed in 0.53s", "3 tests failed in 1.2s"),
            (
                "10 rows as of 2026-01-31 10:00",
                "10 rows as of 2026-01-31 10:01",
            ),
            (
                "[2026-01-31 10:00:00] nothing to do",
                "[2026-01-31 10:00:07] nothing to do",
            ),
            (
                "failed, request 1b4e28ba-2fa1-11d2-883f-0016d3cca427",
                "failed, request 6fa459ea-ee8a-3ca4-894e-db77e160355e",
            ),
            (
                "server error (request id: req_8Fa1)",
                "server error (request id: req_77bc)",
            ),
            ("RequestId=4A1F failed", "RequestId=9C03 failed"),
            ("<Job object at 0x7f3a10>", "<Job object at 0x7f3b98>"),
            (
                r#"{"rows": [], "request_id": "a1"}"#,
                r#"{"rows": [], "request_id": "b2"}"#,
            ),
            (
                r#"{"content": [{"type": "text", "text": "10:00:01 nothing in 3 ms"}]}"#,
                r#"{"content": [{"text": "10:00:02 nothing in 4 ms", "type": "text"}]}"#,
            ),
            (
                r#"{"n": 1, "meta": {"elapsed_ms": 4, "at": "2026-01-31 10:00"}}"#,
                r#"{"meta": {"at": "2026-01-31 10:01", "elapsed_ms": 9.5}, "n": 1.0}"#,
            ),
        ] {
            assert!(same(left, right), "{left} / {right}");
        }
    }

    #[test]
    fn data_is_not_ignored() {
        for (left, right) in [
            ("result 798619b2da10", "result f98a389e1762"),
            ("due 2026-01-31", "due 2026-02-01"),
            ("12:00:01", "12:00:02"),
            (
                r#"{"now": "2026-01-31T10:00:00Z"}"#,
                r#"{"now": "2026-01-31T10:00:01Z"}"#,
            ),
            (r#"{"progress": 10}"#, r#"{"progress": 20}"#),
            (
                r#"[{"type": "text", "text": "10:00:01"}]"#,
                r#"[{"type": "text", "text": "10:00:02"}]"#,
            ),
            (r#"{"id": 1}"#, r#"{"id": 2}"#),
            ("5 apples", "6 apples"),
            ("order id 17", "order id 18"),
            ("took request 17", "took request 18"),
            (
                "no such order 1b4e28ba-2fa1-11d2-883f-0016d3cca427",
                "no such order 6fa459ea-ee8a-3ca4-894e-db77e160355e",
            ),
            (
                "job 1b4e28ba-2fa1-11d2-883f-0016d3cca427 queued",
                "job 6fa459ea-ee8a-3ca4-894e-db77e160355e queued",
            ),
            (
                r#"{"status": "ok", "job": "1b4e28ba-2fa1-11d2-883f-0016d3cca427"}"#,
                r#"{"status": "ok", "job": "6fa459ea-ee8a-3ca4-894e-db77e160355e"}"#,
            ),
            (
                r#"{"state": "waiting", "due": "2026-01-31T10:00:00Z"}"#,
                r#"{"state": "waiting", "due": "2026-01-31T10:00:01Z"}"#,
            ),
            (
                "no free slot at 2026-01-31 10:00",
                "no free slot at 2026-01-31 10:15",
            ),
            ("next run at 10:00:00", "next run at 10:15:00"),
            ("the request id is missing", "the request id is invalid"),
            ("commit 0x7f3a10", "commit 0x7f3b98"),
            ("[1, 2]", "[2, 1]"),
        ] {
            assert!(!same(left, right), "{left} / {right}");
        }
    }

    #[test]
    fn values_of_the_arguments_count_wherever_they_are_repeated() {
        let of = |id: &str, answer: &str| {
            let arguments = Value::Object(vec![("id".into(), Value::String(id.into()))]);
            steady(
                &AnswerContent::Text(answer.into()),
                &Asked::new(&arguments),
                str::to_owned,
            )
        };
        for answer in [
            "no trace of request id ID",
            r#"{"error": "not found", "request_id": "ID"}"#,
            r#"{"error": "not found", "meta": {"id": "ID"}}"#,
        ] {
            let [one, other] = [
                "1b4e28ba-2fa1-11d2-883f-0016d3cca427",
                "6fa459ea-ee8a-3ca4-894e-db77e160355e",
            ];
            let answer = |id: &str| answer.replace("ID", id);
            assert_ne!(of(one, &answer(one)), of(other, &answer(other)));
            assert_eq!(of("7", &answer(one)), of("7", &answer(other)));
        }
        assert_ne!(of("30s", "at most 30s"), of("40s", "at most 40s"));
    }

    #[test]
    fn a_line_with_many_times_is_read_once() {
        let text = "built at 10:00:00, next run on 11:00:00; ".repeat(1_000);
        let mut looked_at = 0;
        for found in IN_TEXT.as_ref().expect("a pattern").find_iter(&text) {
            let (before, _) = last_word(&text[..found.start()]).expect("a word");
            let (before, _) = last_word(before).expect("another");
            looked_at += found.start() - before.len();
        }
        assert!(looked_at < text.len(), "{looked_at} of {}", text.len());
        // Reading the line again for each time took seconds here.
        let long = "built at 10:00:00, ".repeat(LONGEST / 20);
        assert!(same(&long, &long.replace('1', "2")));
    }
}
