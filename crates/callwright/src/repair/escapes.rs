//! Escapes inside a text, as JSON writes them and as models do.
//!
//! Takes text that starts with a backslash; returns the character that it means and its length; or nothing, if it may mean more
//! than one thing. It never guesses at escapes of other languages. A backslash that is not a JSON escape is kept only if the
//! whole text shows that it is a path or a pattern.

use super::tolerant::{NoReading, TolerantResult};
use crate::json::{Problem, unicode_escape};

/// The meaning of the escape, and its length; no character if it is not a JSON escape and the backslash stands for itself.
pub(super) fn escape(text: &str, quote: char) -> TolerantResult<(Option<char>, usize)> {
    let mut characters = text.chars();
    characters.next();
    let kind = characters.next().ok_or(NoReading::CutOff)?;
    let decoded = match kind {
        '"' => '"',
        '\\' => '\\',
        '/' if quote == '"' => '/',
        '/' => return Err(NoReading::Unclear),
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        '\'' if quote == '\'' => '\'',
        'u' => {
            let decoded = unicode_escape(text.as_bytes()).map_err(|problem| match problem {
                Problem::CutOff => NoReading::CutOff,
                _ => NoReading::Unclear,
            });
            return decoded.map(|(decoded, length)| (Some(decoded), length));
        }
        // Escapes of other languages, which may be meant.
        '\'' | 'x' | 'N' | 'a' | 'v' | '\n' | '\r' | '0'..='9' => {
            return Err(NoReading::Unclear);
        }
        'U' if text[2..].starts_with("000") => return Err(NoReading::Unclear),
        _ => return Ok((None, 1)),
    };
    Ok((Some(decoded), 1 + kind.len_utf8()))
}

/// Whether the backslashes of a text can only be those of a Windows path or a regular expression. Elsewhere they may be
/// Markdown (`snake\_case`), or a typing error.
pub(super) fn keeps_backslashes(written: &str) -> bool {
    let mut letters = written.chars();
    let drive = letters.next().is_some_and(|c| c.is_ascii_alphabetic());
    if (drive && letters.as_str().starts_with(":\\")) || written.starts_with("\\\\") {
        return true;
    }
    is_pattern(written)
}

/// Whether each backslash starts a class of a regular expression (`\d`), or escapes a character next to such a class.
fn is_pattern(written: &str) -> bool {
    const CLASSES: [char; 6] = ['d', 'D', 'w', 'W', 's', 'S'];
    let mut has_class = false;
    let mut after_letter = false;
    let mut characters = written.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            after_letter = character.is_alphanumeric();
            continue;
        }
        match characters.next() {
            // `Lon\don` contains a typing error, not a class.
            Some(kind) if CLASSES.contains(&kind) && !after_letter => has_class = true,
            Some(sign) if sign.is_ascii_punctuation() => {}
            _ => return false,
        }
        after_letter = false;
    }
    has_class
}
