//! Strings of the templates that have a token for a quote, as Gemma's: `{city:<|"|>Rome<|"|>}`.
//!
//! Takes a text; returns the token that starts a string there, or how long an object with such strings is. Such a string is the
//! exact text between two tokens. Nothing is decoded here, and an object that does not end has no length.

/// The token of Gemma 4, and that of `FunctionGemma`.
const TOKENS: [&str; 2] = ["<|\"|>", "<escape>"];

/// The token that a text starts with, if a string starts there.
pub(crate) fn string_token(text: &str) -> Option<&'static str> {
    TOKENS.into_iter().find(|token| text.starts_with(token))
}

/// Whether a string between tokens holds a piece of another one, which may belong to it or end its call.
pub(crate) fn holds_token(text: &str) -> bool {
    const PIECES: [&str; 3] = ["<|", "|>", "function_call>"];
    PIECES.iter().any(|piece| text.contains(piece))
}

/// The length of the object that a text starts with, if it has a string between tokens.
pub(crate) fn object_length(text: &str) -> Option<usize> {
    let (mut at, mut depth, mut has_token) = (0, 0_usize, false);
    while let Some(next) = text[at..].find(['{', '}', '[', ']', '"', '<']) {
        at += next;
        let rest = &text[at..];
        if let Some(token) = string_token(rest) {
            has_token = true;
            at += rest[token.len()..].find(token)? + 2 * token.len();
            continue;
        }
        at += 1;
        match rest.as_bytes()[0] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b'"' => at += string_length(&rest[1..])?,
            _ => {}
        }
        if depth == 0 {
            return has_token.then_some(at);
        }
    }
    None
}

/// How long the rest of a JSON string is, with the quote that ends it.
fn string_length(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].find(['"', '\\'])?;
        if text[at..].starts_with('"') {
            return Some(at + 1);
        }
        at += 1 + text[at + 1..].chars().next()?.len_utf8();
    }
}
