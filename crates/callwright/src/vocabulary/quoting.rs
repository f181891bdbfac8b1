//! Whether a quoted text ends where it was meant to.
//!
//! Takes the text between two quotes that are not JSON's; tells whether it holds the end of its own member and the next key, as
//! in `{"a": 'x", "b": 1, "c": 'y'}`. It looks at separators, quotes and brackets, and never at words.

use crate::text::first_bytes;

/// How far to look for the end of a key. Keys of real tools have up to 60 characters.
const LOOK_AHEAD: usize = 100;

/// Whether another key follows a comma in this text, or another item. Within brackets it belongs to something that is quoted as a whole:
/// `d = {"a": 1, "b": 2}`.
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
            ',' | '，' if depth == 0 || !is_balanced => {
                // A quote that closes nothing may be the one that was meant to end the text.
                let is_open = |quote| quotes[usize::from(quote == '"')] % 2 == 1;
                let end = before.filter(|c| matches!(c, '"' | '\'') && is_open(*c));
                let after = text[at + c.len_utf8()..].trim_start();
                if is_key(after, end.is_some()) || end.is_some_and(|end| after.starts_with(end)) {
                    return true;
                }
            }
            _ => {}
        }
        before = Some(c).filter(|c| !c.is_whitespace()).or(before);
    }
    false
}

/// Whether a key and what separates it from its value are here. Without quotes, any word may be before a colon.
fn is_key(text: &str, may_be_bare: bool) -> bool {
    let near = first_bytes(text, LOOK_AHEAD);
    let after = match near.chars().next() {
        Some(quote @ ('"' | '\'')) => near[1..].split_once(quote).map(|(_, after)| after),
        Some(_) if may_be_bare => {
            let after = near.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
            (after.len() < near.len()).then_some(after)
        }
        _ => None,
    };
    after.is_some_and(|after| after.trim_start().starts_with([':', '：', '=']))
}
