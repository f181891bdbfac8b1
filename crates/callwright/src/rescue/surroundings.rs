//! What surrounds the calls in a message, and whether they still count as calls.
//!
//! Takes the text of a message and returns where its calls start and end, and in which notation they
//! are. Whatever is not known to be harmless around them makes them a quotation: only reasoning, the
//! tokens that end a message, a code block around all of it and an announcement are. Nothing is looked
//! for after the first tag or bracket: what is in the middle of something is not a call.

use super::cursor::Read;
use super::prose::{announces, is_finished};
use super::{NoCall, Notation, harmony, mistral, pythonic, tags};

/// Tokens that end a message. Servers should take them off, and some do not.
pub(super) const END_TOKENS: [&str; 11] = [
    harmony::CALL,
    harmony::END,
    "<|return|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|endoftext|>",
    "</s>",
    // The beginning of another message, of which nothing came.
    "<|im_start|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
];

/// What is left of the header of a message; the first that fits is taken off.
pub(super) const HEADERS: [&str; 4] = [
    "<|im_start|>assistant\n",
    "<|start_header_id|>assistant<|end_header_id|>",
    "assistant<|end_header_id|>",
    "<|end_header_id|>",
];

/// The tags around reasoning.
pub(super) const REASONING: [(&str, &str); 2] =
    [("<think>", "</think>"), ("<thinking>", "</thinking>")];

/// The languages of code blocks in which models write calls.
pub(super) const LANGUAGES: [&str; 6] = ["", "json", "xml", "python", "tool_call", "tool_code"];

pub(super) const FENCE: &str = "```";

/// Where the calls of a message are.
pub(super) struct Surroundings {
    pub(super) notation: Notation,
    /// Where the text before the calls ends.
    pub(super) rest: usize,
    /// Where the first call starts.
    pub(super) calls: usize,
    /// Where the last call ends.
    pub(super) end: usize,
    /// Whether an announcement comes before them.
    pub(super) has_prose: bool,
}

impl Surroundings {
    pub(super) fn of(text: &str) -> Read<Self> {
        let end = without_end_tokens(text).len();
        let text = &text[..end];
        let start = after_reasoning(text).ok_or_else(|| quoted(text, NoCall::Ambiguous))?;
        if text[start..].starts_with(FENCE) {
            let inner = in_fence(&text[start..]).ok_or_else(|| quoted(text, NoCall::InCode))?;
            // The fence is ASCII and closes at the very end.
            let end = end - FENCE.len();
            let end = text[..end].trim_ascii_end().len();
            let calls = start + inner;
            let body = text.get(calls..end).unwrap_or_default();
            return Ok(Surroundings {
                rest: start,
                ..Self::new(body, calls, end, false)?
            });
        }
        let body = &text[start..];
        let whole = Self::new(body, start, end, false);
        if whole.is_ok() {
            return whole;
        }
        let at = first_tag(body);
        let (before, after) = body.split_at(at);
        let marked = notation(after).is_some_and(Notation::is_marked);
        if !marked || !before.ends_with('\n') || !announces(before) {
            let code = before.contains('`');
            let why = if code {
                NoCall::InCode
            } else {
                NoCall::TextBefore
            };
            return Err(quoted(text, why));
        }
        Self::new(after, start + at, end, true)
    }

    fn new(body: &str, calls: usize, end: usize, has_prose: bool) -> Read<Self> {
        let notation = notation(body).ok_or(NoCall::NoMark)?;
        Ok(Surroundings {
            notation,
            rest: calls,
            calls,
            end,
            has_prose,
        })
    }
}

impl Notation {
    /// Whether it starts with something that nothing else starts with.
    fn is_marked(self) -> bool {
        !matches!(self, Notation::Json | Notation::Pythonic)
    }
}

/// The notation that starts at the beginning of a text.
fn notation(text: &str) -> Option<Notation> {
    let starts = |token: &str| text.starts_with(token);
    if starts(tags::TOOL_CALL) {
        let inner = text[tags::TOOL_CALL.len()..].trim_ascii_start();
        return Some(if inner.starts_with(tags::FUNCTION) {
            Notation::Function
        } else {
            Notation::ToolCall
        });
    }
    if starts(tags::FUNCTION) {
        Some(Notation::Function)
    } else if tags::starts_invoke(text) {
        Some(Notation::Invoke)
    } else if starts(mistral::CALLS) || mistral::starts_with_name(text) {
        Some(Notation::Mistral)
    } else if starts(harmony::START) || starts(harmony::CHANNEL) {
        Some(Notation::Harmony)
    } else if pythonic::starts(text) {
        Some(Notation::Pythonic)
    } else if starts("{") || starts("[") {
        Some(Notation::Json)
    } else {
        None
    }
}

/// Where the first thing starts that is not prose; a name before `[ARGS]` belongs to it.
fn first_tag(body: &str) -> usize {
    let at = body.find(['<', '[', '{']).unwrap_or(body.len());
    if body[at..].starts_with(mistral::ARGS) {
        return body[..at].rfind('\n').map_or(0, |line| line + 1);
    }
    at
}

/// The reason why something that may be a call is not one; there is nothing to explain without a mark.
fn quoted(text: &str, why: NoCall) -> NoCall {
    let marks = [
        tags::TOOL_CALL,
        tags::FUNCTION,
        "invoke name=",
        "function_calls>",
        mistral::CALLS,
        mistral::ARGS,
        harmony::CHANNEL,
    ];
    let marked = marks.iter().any(|mark| text.contains(mark));
    if marked { why } else { NoCall::NoMark }
}

fn without_end_tokens(text: &str) -> &str {
    let mut text = text.trim_ascii_end();
    while let Some(shorter) = END_TOKENS.iter().find_map(|token| text.strip_suffix(token)) {
        text = shorter.trim_ascii_end();
    }
    text
}

/// Where the text after a header and a leading block of reasoning starts; nothing if it is not certain where that
/// ends: because one of its tags occurs again, or because it ends in the middle.
fn after_reasoning(text: &str) -> Option<usize> {
    let blank = |from: usize| text.len() - text[from..].trim_ascii_start().len();
    let start = blank(0);
    let header = HEADERS
        .iter()
        .find(|header| text[start..].starts_with(**header));
    let start = blank(start + header.map_or(0, |header| header.len()));
    let opening = REASONING
        .iter()
        .find(|(open, _)| text[start..].starts_with(open));
    let Some((open, close)) = opening else {
        return Some(start);
    };
    let (reasoning, after) = text.split_once(close)?;
    let repeated =
        after.contains(close) || after.contains(open) || reasoning[start + 1..].contains(open);
    (!repeated && is_finished(reasoning)).then(|| blank(reasoning.len() + close.len()))
}

/// Where the content of a code block starts that is all of the text.
fn in_fence(text: &str) -> Option<usize> {
    let (language, content) = text.strip_prefix(FENCE)?.split_once('\n')?;
    let content = content.strip_suffix(FENCE)?;
    let known = LANGUAGES.contains(&language.trim_ascii());
    let whole = content.ends_with('\n') && !content.contains(FENCE);
    let blank = content.len() - content.trim_ascii_start().len();
    (known && whole).then(|| FENCE.len() + language.len() + 1 + blank)
}
