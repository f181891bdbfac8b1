//! What may be around a value without being part of it: fences, tags, control tokens, closers, words.
//!
//! Takes the text in front of a value, between two or after it; returns the liberty that leaving it out takes, or
//! nothing, where it may hold data or another call. It never reads a value out of words, and does not judge what they
//! mean: no list of words could, in every language. Words are a guess for tools that read ([`syntax::PROSE`]).

use super::extract::JSON_BLANK;
use super::syntax;
use super::table::RuleRow;
use crate::words::control_tokens::is_token_name;
use crate::words::word_list;

/// What it takes to leave out the text in front of a value.
pub(super) fn in_front(before: &str, tool: &str) -> Option<&'static RuleRow> {
    let words = without_frame(before)?;
    let last = words.trim().lines().last().unwrap_or_default().trim();
    // One word alone may be the name of another tool.
    let is_name = !last.is_empty() && !last.contains(char::is_whitespace) && !last.ends_with(':');
    if is_name && last.trim_matches(|c: char| !c.is_alphanumeric()) != tool {
        return None;
    }
    // `limit=5`, `'limit': 5`: members that are not in the value.
    let holds_data = words.contains('=') || words.contains("':");
    of_words(before, &words).filter(|_| !holds_data)
}

/// Whether text between two values only separates them.
pub(super) fn is_between(between: &str) -> bool {
    without_frame(between).is_some_and(|words| words.trim().is_empty())
}

/// What it takes to leave out the text after a value.
pub(super) fn after(behind: &str) -> Option<&'static RuleRow> {
    let closers = |c: char| matches!(c, '}' | ']' | ')' | ';') || c.is_whitespace();
    let visible = behind.trim_matches(JSON_BLANK);
    if !visible.trim().is_empty() && visible.chars().all(closers) {
        return Some(&syntax::EXTRA_CLOSER);
    }
    // A tag that opens here opens another call.
    let opens = behind
        .split('<')
        .skip(1)
        .any(|tag| tag.starts_with(|c: char| c.is_ascii_alphabetic()));
    let words = without_frame(behind).filter(|_| !opens)?;
    let apart = behind
        .trim_start_matches([' ', '\t'])
        .starts_with(['\n', '\r', '<', '`']);
    // What follows on the same line may belong to the value: `} or 5`.
    if !apart && !words.trim().is_empty() {
        return None;
    }
    of_words(behind, &words)
}

/// What it takes to leave out a text of which `words` are left without the frame.
fn of_words(around: &str, words: &str) -> Option<&'static RuleRow> {
    if !words.trim().is_empty() {
        // `"limit": 5`: a member that is not in the value.
        (!words.contains("\":")).then_some(&syntax::PROSE)
    } else if around.trim().is_empty() {
        Some(&syntax::WHITE_SPACE)
    } else if around.contains("```") {
        Some(&syntax::FENCE)
    } else {
        Some(&syntax::CONTROL_TOKEN)
    }
}

/// What a fence may call its content, if anything. Any other word may say something, such as "example".
const LANGUAGES: &[&str] = word_list![
    json json5 jsonc jsonl js javascript python py xml text tool_call tool_code function_call
];

/// The tags that models put around a call. Any other may say something: `<example>`.
const WRAPPERS: &[&str] = word_list![
    tool_call tool_calls function_call function_calls functioncall function tool call arguments args json output
    response xml
];

/// Text without fences, control tokens and the tags that models put around a call; `None` if there are
/// other tags, which may hold or name something.
fn without_frame(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find(['<', '`']) {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        if let Some(behind) = rest.strip_prefix("```") {
            let length = behind.find(|c: char| !(c.is_alphanumeric() || c == '_'));
            let (language, behind) = behind.split_at(length.unwrap_or(behind.len()));
            if !LANGUAGES.contains(&language.to_lowercase().as_str()) {
                out.push_str(language);
            }
            rest = behind;
            continue;
        }
        if let Some(behind) = rest.strip_prefix('`') {
            out.push('`');
            rest = behind;
            continue;
        }
        let close = rest.find('>')?;
        let tag = &rest[1..close];
        let name = tag.trim_start_matches('/').trim();
        let token = is_token(tag);
        let header = is_xml_header(tag);
        if !token && !header && !WRAPPERS.contains(&name.to_lowercase().as_str()) {
            return None;
        }
        rest = &rest[close + 1..];
        if token {
            rest = without_role(tag, &mut out, rest);
        }
    }
    out.push_str(rest);
    Some(out)
}

/// Whether the inside of a tag is a control token: `|im_end|`.
fn is_token(tag: &str) -> bool {
    let bar = |c: char| matches!(c, '|' | '｜');
    let name = tag.strip_prefix(bar).and_then(|tag| tag.strip_suffix(bar));
    name.is_some_and(is_token_name)
}

/// Whether the inside of a tag is the header of an XML file, and says nothing else.
fn is_xml_header(tag: &str) -> bool {
    let known = |word: &str| {
        let attribute = word.split_once('=').map(|(name, _)| name);
        matches!(attribute, Some("version" | "encoding" | "standalone"))
    };
    let inner = tag.strip_prefix("?xml");
    inner.is_some_and(|inner| inner.trim_end_matches('?').split_whitespace().all(known))
}

/// The model's own turn, which a chat template announces: `assistant<|end_header_id|>` and
/// `<|im_start|>assistant`. Any other role speaks for another, so its name stays, and is a word.
fn without_role<'t>(token: &str, out: &mut String, behind: &'t str) -> &'t str {
    const ROLE: &str = "assistant";
    let own_line = |before: &&str| before.is_empty() || before.ends_with('\n');
    if token == "|end_header_id|"
        && let Some(before) = out.strip_suffix(ROLE).filter(own_line)
    {
        out.truncate(before.len());
    }
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(['\n', '\r', '<']);
    match behind.strip_prefix(ROLE) {
        Some(rest) if token == "|im_start|" && ends(rest) => rest,
        _ => behind,
    }
}
