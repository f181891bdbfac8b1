//! Whether a quoted text ends where it was meant to.
//!
//! Takes the text between two quotes that are not JSON's; tells whether it holds the end of its own member and the next key, as
//! in `{"a": 'x", "b": 1, "c": 'y'}`. It looks at separators, quotes and brackets, and never at words.

use crate::text::first_bytes;

/// How far to look for the end of a key. Keys of real tools have up to 60 characters.
const LOOK_AHEAD: usize = 100;

/// Whether another key or item follows in this text: after a comma, or on the line after one that a quote ends. Within brackets
/// it belongs to something that is quoted as a whole: `d = {"a": 1, "b": 2}`.
pub(crate) fn swallows_member(text: &str) -> bool {
    let count = |sign: &[char]| text.matches(sign).count();
    let is_balanced = count(&['{', '[', '(']) == count(&['}', ']', ')']);
    let (mut depth, mut quotes) = (0_usize, [0_usize; 2]);
    // The character before this one, besides blanks.
    let mut before = None;
    for (at, c) in text.char_indices() {
        match c {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth = depth.saturating_sub(1),
            '"' | '\'' => quotes[usize::from(c == '"')] += 1,
            ',' | '，' | '\n' if depth == 0 || !is_balanced => {
                // A quote that closes nothing may be the one that was meant to end the text.
                let is_open = |quote| quotes[usize::from(quote == '"')] % 2 == 1;
                let end = before.filter(|c| matches!(c, '"' | '\'') && is_open(*c));
                let next = first_bytes(&text[at + c.len_utf8()..], LOOK_AHEAD).trim_start();
                let is_item = || end.is_some_and(|end| next.starts_with(end));
                let is_member = match (c, end) {
                    ('\n', None) => false,
                    ('\n', Some(_)) => is_key(next, false),
                    _ => is_key(next, end.is_some()) || is_item(),
                };
                if is_member {
                    return true;
                }
            }
            _ => {}
        }
        before = Some(c).filter(|c| !c.is_whitespace()).or(before);
    }
    false
}

/// Whether a text starts with a key and what separates it from its value. Without quotes, any word may be before a colon.
fn is_key(text: &str, may_be_bare: bool) -> bool {
    let after = match text.chars().next() {
        Some(quote @ ('"' | '\'')) => text[1..].split_once(quote).map(|(_, after)| after),
        Some(_) if may_be_bare => {
            let after = text.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
            (after.len() < text.len()).then_some(after)
        }
        _ => None,
    };
    after.is_some_and(|after| after.trim_start().starts_with([':', '：', '=']))
}
