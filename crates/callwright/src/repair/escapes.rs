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
        own if own == quote => own,
        'u' => {
            let decoded = unicode_escape(text.as_bytes()).map_err(|problem| match problem {
                Problem::CutOff => NoReading::CutOff,
                _ => NoReading::Unclear,
            });
            return decoded.map(|(decoded, length)| (Some(decoded), length));
        }
        // Escapes of other languages, which may be meant. (`\a` and `\v` are control characters, which no path contains, and a
        // backslash in front of them is only kept in a path.)
        '\'' | 'x' | 'N' | '\n' | '\r' | '0'..='9' => {
            return Err(NoReading::Unclear);
        }
        'U' if text[2..].starts_with("000") => return Err(NoReading::Unclear),
        _ => return Ok((None, 1)),
    };
    Ok((Some(decoded), 1 + kind.len_utf8()))
}

/// Whether `\'` between these two parts of a text in double quotes can only be an apostrophe, as in Python and JavaScript. In
/// front of a word the backslash may be there for a shell (`echo \'a\'`), and inside of one it may be an accent of LaTeX
/// (`Poincar\'e`): only `user\'s`, `don\'t` and the like are clear, and `l\'eau`, `qu\'il`, `O\'Brien`.
pub(super) fn is_apostrophe(before: &str, after: &str) -> bool {
    const ENDINGS: [&str; 7] = ["s", "t", "d", "m", "re", "ve", "ll"];
    const LONGEST_ELIDED: usize = 2;
    let letters = before.chars().rev().take_while(|c| c.is_alphabetic());
    let word = after.trim_start_matches(char::is_alphabetic);
    let word = &after[..after.len() - word.len()];
    match letters.take(LONGEST_ELIDED + 1).count() {
        0 => false,
        length => !word.is_empty() && (length <= LONGEST_ELIDED || ENDINGS.contains(&word)),
    }
}

/// Whether a text has signs that programs and markup are made of: in them a backslash may matter.
pub(super) fn may_be_code(text: &str) -> bool {
    text.contains(['{', '}', '$', '|', '<', '>', '=', '`'])
}

/// Whether some escapes of a text may be backslashes of a path or a pattern that lack another backslash: `C:\new`, `src\test`,
/// `\bword`. No text is meant to hold a backspace. Without a drive, a path has no blanks and more than line breaks.
pub(super) fn may_be_unescaped(written: &str) -> bool {
    let mut characters = written.chars();
    let (mut has_line_break, mut has_tab) = (false, false);
    while let Some(character) = characters.next() {
        let escaped = (character == '\\').then(|| characters.next()).flatten();
        match escaped {
            Some('b' | 'f') => return true,
            Some('n') => has_line_break = true,
            Some('r' | 't') => has_tab = true,
            _ => {}
        }
    }
    let has_extension = has_line_break && written.contains('.');
    let is_relative = !written.contains(char::is_whitespace) && (has_tab || has_extension);
    is_relative || starts_path(written) && (has_tab || has_line_break)
}

/// Whether a text starts with a drive, or with two backslashes.
fn starts_path(written: &str) -> bool {
    let mut letters = written.chars();
    let drive = letters.next().is_some_and(|c| c.is_ascii_alphabetic());
    drive && letters.as_str().starts_with(":\\") || written.starts_with("\\\\")
}

/// Whether the backslashes of a text can only be those of a Windows path or a regular expression. Elsewhere they may be
/// Markdown (`snake\_case`), or a typing error.
pub(super) fn keeps_backslashes(written: &str) -> bool {
    starts_path(written) || is_pattern(written)
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
            // `Lon\don` contains a typing error, not a class; `import\s+` a class.
            Some(kind)
                if CLASSES.contains(&kind)
                    && (!after_letter || characters.as_str().starts_with(['+', '*', '{'])) =>
            {
                has_class = true;
            }
            Some(sign) if sign.is_ascii_punctuation() => {}
            _ => return false,
        }
        after_letter = false;
    }
    has_class
}
