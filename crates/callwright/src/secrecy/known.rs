//! The texts of secrets, and where they occur in other texts.
//!
//! Takes texts that are secrets; finds them in others, whole or in pieces, in any case and in the escapes that JSON and our own
//! sentences use. Memory is bounded: if there are too many secrets, everything counts as one.

use std::borrow::Cow;

use ahash::AHashSet;

use super::MASKED;
use crate::json::write_json_string;
use crate::text::push_escaped;

/// The shortest piece of a secret that is recognised, in bytes: texts are cut, so a secret may appear in part. Shorter pieces
/// occur in any text.
const PIECE: usize = 6;

/// Shorter secrets are matched as whole words: one or two letters are part of any text.
const SHORT: usize = 4;

/// How many bytes of secrets are searched for. A call with more is not worth quoting.
const MOST_BYTES: usize = 64 * 1024;

/// How many secrets shorter than a piece are searched for.
const MOST_SHORT: usize = 256;

type SecretPiece = [u8; PIECE];

/// The texts of one call's secrets.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    pieces: AHashSet<SecretPiece>,
    /// Secrets that are shorter than a piece, in lower case.
    short: Vec<String>,
    bytes: usize,
    overflows: bool,
}

impl Known {
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.short.is_empty() && !self.overflows
    }

    /// Whether there are too many to distinguish them from other texts.
    pub(super) fn overflows(&self) -> bool {
        self.overflows
    }

    /// From now on, treats everything as a secret.
    pub(super) fn give_up(&mut self) {
        self.overflows = true;
    }

    /// Records a secret, if it has at least this many bytes.
    pub(super) fn note(&mut self, text: &str, at_least: usize) {
        let text = text.trim();
        if text.is_empty() || text.len() < at_least || self.overflows {
            return;
        }
        self.bytes += text.len();
        if self.bytes > MOST_BYTES || self.short.len() > MOST_SHORT {
            return self.give_up();
        }
        let escaped = as_json(text);
        let mut shown = String::new();
        push_escaped(&mut shown, text);
        for form in [text, &as_json(&escaped), &escaped, &shown] {
            let form = form.to_ascii_lowercase();
            if form.len() >= PIECE {
                self.pieces.extend(pieces(&form));
            } else if !self.short.contains(&form) {
                self.short.push(form);
            }
        }
    }

    /// Removes what a public name reveals anyway.
    pub(super) fn forget<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        if self.pieces.is_empty() {
            return;
        }
        for name in names.filter(|name| name.len() >= PIECE) {
            for piece in pieces(&name.to_ascii_lowercase()) {
                self.pieces.remove(&piece);
            }
        }
    }

    /// The text with every secret in it masked, up to the surrounding blanks and quotes.
    pub(super) fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.is_empty() || text.is_empty() {
            return Cow::Borrowed(text);
        }
        if self.overflows {
            return Cow::Borrowed(MASKED);
        }
        let found = self.find(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut shown_to = 0;
        for (start, end) in found {
            if start < shown_to {
                continue;
            }
            out.push_str(&text[shown_to..start]);
            out.push_str(MASKED);
            shown_to = end;
        }
        out.push_str(&text[shown_to..]);
        Cow::Owned(out)
    }

    /// Where secrets occur, in order, each with the word around it.
    fn find(&self, text: &str) -> Vec<(usize, usize)> {
        let lower = text.to_ascii_lowercase();
        let mut found: Vec<(usize, usize)> = Vec::new();
        for (at, window) in lower.as_bytes().windows(PIECE).enumerate() {
            let is_known =
                SecretPiece::try_from(window).is_ok_and(|piece| self.pieces.contains(&piece));
            if is_known {
                found.push((at, at + PIECE));
            }
        }
        for secret in &self.short {
            let places = lower.match_indices(secret.as_str());
            let places = places.map(|(at, _)| (at, at + secret.len()));
            found.extend(places.filter(|(start, end)| {
                secret.chars().count() >= SHORT || is_word(&lower, *start, *end)
            }));
        }
        found.sort_unstable();
        let mut words: Vec<(usize, usize)> = Vec::new();
        for (start, end) in found {
            let Some((start, end)) = inner(text, start, end) else {
                continue;
            };
            match words.last_mut() {
                Some(last) if end <= last.1 => {}
                Some(last) if start <= last.1 => last.1 = word_end(text, end),
                _ => words.push((word_start(text, start), word_end(text, end))),
            }
        }
        words
    }
}

fn pieces(text: &str) -> impl Iterator<Item = SecretPiece> {
    let windows = text.as_bytes().windows(PIECE);
    windows.filter_map(|window| SecretPiece::try_from(window).ok())
}

/// A text as it appears inside a JSON string.
fn as_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_json_string(text, &mut out);
    out.pop();
    out.remove(0);
    out
}

/// Whether a part of a text has no letter or digit next to it.
fn is_word(text: &str, start: usize, end: usize) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    let before = start.checked_sub(1).and_then(|at| bytes.get(at));
    !is_part(before) && !is_part(bytes.get(end))
}

/// Whether a word ends at this character.
fn is_border(character: char) -> bool {
    character.is_whitespace() || matches!(character, '"' | '\'' | '`')
}

/// A part of a text without the word borders at its ends; `None` if nothing else is left.
fn inner(text: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    let (start, end) = (floor(text, start), ceil(text, end));
    let part = text[start..end].trim_start_matches(is_border);
    let start = end - part.len();
    let part = part.trim_end_matches(is_border);
    (!part.is_empty()).then_some((start, start + part.len()))
}

fn floor(text: &str, at: usize) -> usize {
    let mut borders = (0..=at).rev();
    borders.find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn ceil(text: &str, at: usize) -> usize {
    let mut borders = at..text.len();
    let border = borders.find(|at| text.is_char_boundary(*at));
    border.unwrap_or(text.len())
}

fn word_start(text: &str, at: usize) -> usize {
    let before = text[..at].char_indices().rev();
    before
        .take_while(|(_, character)| !is_border(*character))
        .last()
        .map_or(at, |(start, _)| start)
}

fn word_end(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    at + rest.find(is_border).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(secret: &str, text: &str) -> String {
        let mut known = Known::default();
        known.note(secret, 0);
        known.mask(text).into_owned()
    }

    #[test]
    fn secrets_are_found_whole_cut_escaped_and_in_other_letters() {
        let all = [
            ("hunter2", "bad hunter2!", "bad [masked]"),
            (
                "correct-horse",
                "is \"corRECT-ho…\" it",
                "is \"[masked]\" it",
            ),
            (
                "a\"b\nc\\d",
                r#"{"x":"a\"b\nc\\d"}"#,
                r#"{"x":"[masked]"[masked]"}"#,
            ),
            ("7", "pin 7, at 17:07", "pin [masked] at 17:07"),
            (
                "größe-ß",
                "die GRÖSSE größe-ß ist",
                "die GRÖSSE [masked] ist",
            ),
            ("secret", "nothing here", "nothing here"),
        ];
        for (secret, text, expected) in all {
            let shown = masked(secret, text);
            if secret.starts_with('a') {
                assert!(!shown.contains("b\\nc"), "{shown}");
            } else {
                assert_eq!(shown, expected);
            }
        }
    }

    #[test]
    fn too_many_secrets_hide_everything() {
        assert_eq!(masked(&"x".repeat(MOST_BYTES + 1), "hello"), MASKED);
    }
}
