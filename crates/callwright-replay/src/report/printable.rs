//! The beginning of a text from a log, safe to print on a line.
//!
//! Characters that are invisible, move the cursor, or change the direction of what follows are shown as escapes, as
//! [`visible`](callwright::internal::visible) does for whole texts. Nothing else is changed: whatever else a page or a
//! terminal needs is done there.

use unicode_width::UnicodeWidthChar;

/// At most this many columns of it; a cut is marked with `…`.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    // Where to cut if the text does not fit.
    let mut fits = 0;
    for character in text.chars() {
        let before = out.len();
        push(&mut out, character);
        used += width(&out[before..]);
        if used > columns {
            out.truncate(fits);
            out.push('…');
            return out;
        }
        if used < columns {
            fits = out.len();
        }
    }
    out
}

/// How many columns a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.chars()
        .map(|character| character.width().unwrap_or(0))
        .sum()
}

fn push(out: &mut String, character: char) {
    if callwright::internal::is_invisible(character) {
        out.extend(character.escape_default());
    } else {
        out.push(character);
    }
}

#[cfg(test)]
mod tests {
    use callwright::internal::visible;

    use super::*;

    #[test]
    fn invisible_characters_are_shown() {
        for text in ["a\u{1b}[31m\n", "\u{202e}txt\u{200b}", "größer 東京 🎈"] {
            assert_eq!(cut(text, 100), visible(text));
        }
        assert_eq!(cut("a\u{1b}[31m\n", 100), "a\\u{1b}[31m\\n");
    }

    #[test]
    fn a_cut_is_marked_and_fits() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("longer", 5), "long…");
        assert_eq!(cut("東京都", 5), "東京…");
        assert_eq!(cut("東京都", 6), "東京都");
        assert_eq!(cut("a\nb", 3), "a…");
        assert_eq!(cut("", 0), "");
        assert_eq!(cut("a", 0), "…");
    }
}
