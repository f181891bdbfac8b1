//! Detects a text that is only a part: it says so at its end, or it starts as JSON and stops in the middle.
//!
//! Tools cut what exceeds their own limit and leave a marker: `[truncated]`, `... (123 more lines)`, `<response clipped>`. A
//! model overlooks it and takes the part for the whole. Detected: markers at the very end of a text, and of a member such as
//! `content` or `stdout` of an object. Ignored: texts that stop in the middle of a sentence, as many good ones do, an ellipsis
//! by itself, markers in the middle of a text, and snippets in lists, which are meant to be short.

use std::sync::LazyLock;

use regex::Regex;

use super::names::{is_one_of, unwrapped};
use crate::check::read;
use crate::json::{Member, Value};
use crate::vocabulary::{OutputFault, word_list};

/// How many bytes at the end of a text are searched for a marker. Markers that say how to continue have about two hundred.
const SEARCHED: usize = 512;

/// How many characters of a marker are kept: enough to recognise it.
const KEPT: usize = 120;

/// Members that hold the text of a result.
const TEXTS: &[&str] = word_list![
    content text body output stdout stderr result diff log logs markdown html
];

static MARK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let unit = r"(?:more|lines?|rows?|items?|results?|records?|entries|matches|files?|pages?|char(?:acter)?s?|bytes?|kb|tokens?|words?|messages?|chunks?)";
    let whole =
        r"(?:output|response|result|content|text|message|file|log|data|transcript|document)s?";
    let gone = r"(?:truncated|clipped|cut off|cut short)";
    let left_out = r"(?:omitted|elided|not shown|hidden|trimmed|skipped|removed|remaining)";
    // `[truncated]`, `(output truncated)`, `<response clipped>`
    let said =
        format!(r"[\[(<{{][^\[\](){{}}<>=\n]{{0,60}}\b{gone}\b[^\[\](){{}}<>=\n]{{0,160}}[\])>}}]");
    // `[... 12 lines omitted ...]`
    let counted = format!(
        r"[\[(<{{][^\[\](){{}}<>=\n]{{0,20}}\b\d[\d,. ]*(?:more )?{unit}\b[^\[\](){{}}<>=\n]{{0,30}}\b{left_out}\b[^\[\](){{}}<>=\n]{{0,40}}[\])>}}]"
    );
    // `... (123 more lines)`, `… and 12 more`
    let more = format!(
        r"(?:\.\.\.|…)\s*[\[(]?\s*(?:and |\+\s?)?\d[\d,]* (?:more|additional|other)\b(?: {unit})?[^\n]{{0,20}}"
    );
    // `(123 more lines)`, `[+4 rows]`
    let bracketed = format!(
        r"[\[(](?:and )?(?:\+\s?\d[\d,]* {unit}|\d[\d,]* more {unit})(?: [^\[\]()\n]{{0,40}})?[\])]"
    );
    // `Output truncated to 30,000 characters.` on a separate line
    let line = format!(
        r"(?:^|\n)[ \t]*(?:[-=*#.…]{{1,10}}|<[a-z]{{1,20}}>)?\s*(?:the |this |your )?{whole} (?:was |were |is |are |has been |have been )?(?:too long (?:and|so) (?:was |is )?)?{gone}(?:\s*[-.:;,!(\[…<][^\n]{{0,250}}| (?:to|at|after|because|due|since|for)\b[^\n]{{0,200}})?"
    );
    // `... truncated`
    let ellipsis = r"(?:\.\.\.|…)\s?truncated(?:\s?(?:\.\.\.|…))?";
    Regex::new(&format!(
        r"(?i)(?:{said}|{counted}|{more}|{bracketed}|{line}|{ellipsis})[\s.…`]*$"
    ))
    .ok()
});

pub(in crate::check) fn truncated_text(output: &Value<'_>) -> Option<OutputFault> {
    let inner = unwrapped(output);
    if let Value::String(text) = inner {
        return in_text(text);
    }
    texts(inner).find_map(in_text)
}

/// The texts of an object: of its own members, of objects directly inside it, and of the blocks of an MCP result.
fn texts<'v>(object: &'v Value<'_>) -> impl Iterator<Item = &'v str> {
    let inner = members(object).iter().flat_map(|(_, value)| members(value));
    let texts = members(object)
        .iter()
        .chain(inner)
        .filter(|(key, _)| is_one_of(key, TEXTS))
        .filter_map(|(_, value)| value.as_str());
    let blocks = object.get("content").and_then(Value::as_array);
    let blocks = blocks.unwrap_or_default().iter().filter_map(|block| {
        let is_text = block.get("type").and_then(Value::as_str) == Some("text");
        is_text.then(|| block.get("text")?.as_str())?
    });
    texts.chain(blocks)
}

fn members<'v, 'a>(value: &'v Value<'a>) -> &'v [Member<'a>] {
    value.as_object().unwrap_or_default()
}

fn in_text(text: &str) -> Option<OutputFault> {
    if let Some(mark) = mark(text) {
        return Some(OutputFault::Omitted { mark });
    }
    (starts_as_json(text)
        && matches!(read::read(text, true), Err(OutputFault::CutOff { path }) if !path.is_root()))
    .then_some(OutputFault::CutText)
}

/// The marker at the end of a text.
fn mark(text: &str) -> Option<String> {
    let text = text.trim_end();
    let mut start = text.len().saturating_sub(SEARCHED);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let found = MARK.as_ref()?.find(text.get(start..)?)?;
    let mark = found
        .as_str()
        .trim_end_matches(['`', '.', '\n', '\r', ' ', '\t']);
    let mark = mark.trim_start_matches(['\n', '\r', ' ', '\t']);
    Some(mark.chars().take(KEPT).collect())
}

/// Whether a text starts like a JSON object or a list of objects: `{"` or `[{`. Prose and logs start with `[` as well.
fn starts_as_json(text: &str) -> bool {
    let text = text.trim_ascii_start();
    let second = |rest: &str| rest.trim_ascii_start().bytes().next();
    match text.as_bytes().first() {
        Some(b'{') => second(&text[1..]) == Some(b'"'),
        Some(b'[') => matches!(second(&text[1..]), Some(b'{' | b'[' | b'"')),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_is_a_pattern() {
        assert!(MARK.is_some());
    }

    #[test]
    fn marks_are_found_at_the_end_only() {
        for text in [
            "a\n[truncated]",
            "a... (123 more lines)",
            "a <response clipped>",
            "a [output truncated]",
            "a… [+1234 chars]",
            "a (truncated)",
            "a ...[truncated]...",
            "a\n... and 12 more",
            "a\n[... 120 lines omitted ...]",
            "a\nOutput truncated to 30000 characters.",
            "a\n--- Output truncated ---",
            "<error>Content truncated. Call the tool with a start_index of 5000 to get more content.</error>",
            "```\na\n... truncated\n```",
            "a\n(5 more items not shown)",
            "é\n<NOTE: result was truncated at 100 rows>",
        ] {
            assert!(mark(text).is_some(), "{text}");
        }
        for text in [
            "",
            "a...",
            "a…",
            "[truncated] a",
            "the log was truncated by hand",
            "Run `truncate -s 0 log` (never `rm`).",
            "and 3 more",
            "Alice, Bob and 3 more people came.",
            "There are 12 more lines to write.",
            "The table was truncated (see ticket 12).",
            "(names omitted)",
            "<div class=\"truncated\">",
            "fn truncated() -> bool",
            "is_truncated: false",
            "[1, 2, 3]",
            "3 more lines",
        ] {
            assert_eq!(mark(text), None, "{text}");
        }
    }

    #[test]
    fn a_text_is_json_if_it_starts_like_json() {
        for text in ["{\"a\"", " [ {", "[\"a", "[["] {
            assert!(starts_as_json(text), "{text}");
        }
        for text in ["", "{", "[", "[INFO] a", "{a", "{}", "[1"] {
            assert!(!starts_as_json(text), "{text}");
        }
    }
}
