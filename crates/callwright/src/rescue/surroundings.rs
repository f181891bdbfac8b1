//! Where calls start in a message, in which notation, and whether other text makes them a quotation.
//!
//! Takes the text of a message and the position after its reasoning. Anything around calls that is not known to be harmless
//! makes them a quotation: only the header of a message, the tokens that end it and a code block around the whole message are
//! harmless. Nothing is searched for after the first tag or bracket: a call inside something else is not a call.

use super::cursor::RescueResult;
use super::{NoCall, Notation, harmony, mistral, pythonic, tags};
use crate::vocabulary::template;

pub(super) const FENCE: &str = "```";

/// Where the calls of a message are.
pub(super) struct Surroundings {
    pub(super) notation: Notation,
    /// Where the first call starts.
    pub(super) calls: usize,
    /// Where the last call ends.
    pub(super) end: usize,
}

impl Surroundings {
    /// The surroundings of the calls that may start at this position of a text, which extends to the tokens that end it.
    pub(super) fn of(text: &str, start: usize, end: usize) -> RescueResult<Self> {
        let end = end.max(start);
        let text = &text[..end];
        let first = after_blanks(text, start);
        // Harmony's tokens look like a header.
        let calls = match notation(&text[first..]) {
            Some(_) => first,
            None => after_blanks(text, start + template::header_length(&text[start..])),
        };
        if text[calls..].starts_with(FENCE) {
            let inner = in_fence(&text[calls..]).ok_or(NoCall::InCode)?;
            // The fence is ASCII, and closes at the very end.
            let end = text[..end - FENCE.len()].trim_ascii_end().len();
            let calls = calls + inner;
            return Self::new(text.get(calls..end).unwrap_or_default(), calls, end);
        }
        Self::new(&text[calls..], calls, end).map_err(|_| {
            let words = &text[calls..];
            let words = &words[..words.find(['<', '[', '{']).unwrap_or(words.len())];
            if words.contains('`') {
                NoCall::InCode
            } else {
                NoCall::TextBefore
            }
        })
    }

    fn new(body: &str, calls: usize, end: usize) -> RescueResult<Self> {
        let notation = notation(body).ok_or(NoCall::NoMark)?;
        Ok(Surroundings {
            notation,
            calls,
            end,
        })
    }
}

/// The notation that a text starts with.
fn notation(text: &str) -> Option<Notation> {
    let starts = |token: &str| text.starts_with(token);
    if let Some(tagged) = tags::notation(text) {
        Some(tagged)
    } else if starts(mistral::CALLS) || mistral::starts_with_name(text) {
        Some(Notation::Mistral)
    } else if harmony::starts(text) {
        Some(Notation::Harmony)
    } else if pythonic::starts(text) {
        Some(Notation::Pythonic)
    } else if starts("{") || starts("[") && template::mark_end(text, 0).is_none() {
        Some(Notation::Json)
    } else {
        None
    }
}

/// The reason why a possible call is not one; without a marker there is nothing to explain.
pub(super) fn quoted(text: &str, why: NoCall) -> NoCall {
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

/// The position of the first character that is not a blank.
pub(super) fn after_blanks(text: &str, from: usize) -> usize {
    text.len() - text[from..].trim_ascii_start().len()
}

/// Where the content starts, if the whole text is a code block.
fn in_fence(text: &str) -> Option<usize> {
    let (language, content) = text.strip_prefix(FENCE)?.split_once('\n')?;
    let content = content.strip_suffix(FENCE)?;
    let known = template::is_language(language.trim_ascii());
    let whole = content.ends_with('\n') && !content.contains(FENCE);
    let blank = content.len() - content.trim_ascii_start().len();
    (known && whole).then(|| FENCE.len() + language.len() + 1 + blank)
}
