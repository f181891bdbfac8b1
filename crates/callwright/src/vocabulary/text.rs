//! Safe excerpts of foreign text: escaped, so that they cannot break out of their line, and cut at character boundaries.
//!
//! Everything that a model or a tool wrote and that is shown again passes through here.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::json::Path;

/// Appends `text` with everything escaped that could end the line, hide text or imitate our own quotes.
pub(crate) fn push_escaped(out: &mut String, text: &str) {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    if text.bytes().all(is_plain) {
        out.push_str(text);
        return;
    }
    for character in text.chars() {
        push_escaped_char(out, character);
    }
}

fn push_escaped_char(out: &mut String, character: char) {
    match character {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        hidden if is_invisible(hidden) => {
            // Writing to a `String` cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(hidden));
        }
        visible => out.push(visible),
    }
}

/// Control characters, spaces other than the plain one, line separators, marks that change the direction of the text, and
/// characters without a glyph: none of them may reach a line that a person or a model reads.
pub fn is_invisible(character: char) -> bool {
    character.is_control()
        || (character.is_whitespace() && character != ' ')
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e01ef}'
        )
}

/// `text` in quotes, escaped, with at most `max` characters of it.
pub(crate) fn quoted(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max) + 2);
    out.push('"');
    push_cut(&mut out, text, max);
    out.push('"');
    out
}

/// Appends the beginning of `text`, escaped, with an ellipsis if it was cut.
pub(crate) fn push_cut(out: &mut String, text: &str, max: usize) {
    match text.char_indices().nth(max) {
        Some((cut, _)) => {
            push_escaped(out, &text[..cut]);
            out.push('…');
        }
        None => push_escaped(out, text),
    }
}

/// The beginning of `text` in backticks: anything that could end the line or hide text is escaped, quotes and backslashes are
/// shown as they are.
pub(crate) fn snippet(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(max.min(text.len()) + 4);
    // Plain letters need not be checked one by one.
    let plain = text.bytes().take(max);
    let plain = plain.take_while(|byte| matches!(byte, b' '..=b'~') && *byte != b'`');
    let (plain, rest) = text.split_at(plain.count());
    out.push_str(plain);
    let max = max - plain.len();
    for character in rest.chars().take(max) {
        match character {
            '"' | '\\' => out.push(character),
            '`' => out.push('\''),
            other => push_escaped_char(&mut out, other),
        }
    }
    if rest.chars().nth(max).is_some() {
        out.push('…');
    }
    out
}

/// A tool's or an operator's own text, unchanged except for anything that could end the line or hide text, at most `max`
/// characters.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    // The rest of a long text can be skipped: a character has at least one byte.
    cut_line(visible(first_bytes(text, max * 4)), max)
}

/// A line, unchanged except that anything that could end the line or hide text is escaped. Escaping it again changes nothing.
pub fn visible(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for character in line.chars() {
        match character {
            '"' | '\\' => out.push(character),
            other => push_escaped_char(&mut out, other),
        }
    }
    out
}

/// The first `bytes` of a text, or a few less to avoid cutting a character.
pub fn first_bytes(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// `line` with at most `max` characters, the last of which is an ellipsis if it was cut.
pub(crate) fn cut_line(mut line: String, max: usize) -> String {
    if line.len() > max && line.chars().count() > max {
        let keep = line
            .char_indices()
            .nth(max.saturating_sub(1))
            .map_or(0, |(at, _)| at);
        line.truncate(keep);
        line.push('…');
    }
    line
}

/// A path as people write it: `edits.0.path`, and `Root object` for the whole value. A key that would be misread in that form
/// is put in brackets: `headers["x.y"]`. If a path has more than `max` characters, its beginning is cut: the end names the
/// field.
pub(crate) fn dotted_within(path: &Path, max: usize) -> String {
    let mut out = String::with_capacity(path.as_pointer().len());
    push_dotted_within(&mut out, path, max);
    out
}

/// Appends a dotted path of at most `max` characters.
pub(crate) fn push_dotted_within(out: &mut String, path: &Path, max: usize) {
    let start = out.len();
    push_dotted(out, &end_of(path, max));
    if out.len() - start <= max {
        return;
    }
    let length = out[start..].chars().count();
    if length > max {
        let whole = out.split_off(start);
        out.push('…');
        out.extend(whole.chars().skip(length - max.saturating_sub(1)));
    }
}

/// The end of a path, with one segment more than fit into `max` characters: each takes at least one.
fn end_of(path: &Path, max: usize) -> Cow<'_, Path> {
    let pointer = path.as_pointer();
    match pointer.rmatch_indices('/').nth(max) {
        Some((at, _)) if at > 0 => Cow::Owned(Path::from_pointer(&pointer[at..])),
        _ => Cow::Borrowed(path),
    }
}

fn push_dotted(out: &mut String, path: &Path) {
    if path.is_root() {
        out.push_str("Root object");
    }
    for (at, segment) in path.segments().enumerate() {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-$@".contains(&byte);
        let plain = !segment.is_empty()
            && (segment.bytes().all(is_plain)
                || segment.chars().all(|c| {
                    matches!(c, '_' | '-' | '$' | '@') || c.is_alphanumeric() && !is_invisible(c)
                }));
        if plain {
            if at > 0 {
                out.push('.');
            }
            out.push_str(&segment);
        } else {
            out.push_str("[\"");
            push_escaped(out, &segment);
            out.push_str("\"]");
        }
    }
}

/// Names in quotes, as many as fit in `max` characters, and how many more there are.
pub(crate) fn list<S: AsRef<str>>(names: &[S], max: usize) -> String {
    list_of(names, names.len(), max)
}

/// The same for the first of `count` names.
pub(crate) fn list_of<S: AsRef<str>>(first: &[S], count: usize, max: usize) -> String {
    let names = first.iter().map(|name| quoted(name.as_ref(), 40));
    fitting(names, count, max)
}

/// As many of `count` phrases as fit in `max` characters, at least one, and how many more there are. No further phrases are
/// made.
pub(crate) fn fitting(phrases: impl Iterator<Item = String>, count: usize, max: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for (at, phrase) in phrases.enumerate() {
        let length = phrase.chars().count() + 2;
        if at > 0 && used + length > max {
            // Writing to a `String` cannot fail.
            let _ = write!(out, " … +{}", count - at);
            return out;
        }
        if at > 0 {
            out.push_str(", ");
        }
        out.push_str(&phrase);
        used += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_of_its_line() {
        let text = quoted("a\n\"b\\\u{202e}\u{0}", 20);
        assert_eq!(text, r#""a\n\"b\\\u{202e}\u{0}""#);
    }

    /// To Unicode, fillers are letters, but they are still invisible.
    #[test]
    fn invisible_letters_are_escaped_in_paths() {
        let path = Path::root().key("a\u{3164}b");
        assert_eq!(dotted_within(&path, 99), r#"["a\u{3164}b"]"#);
        assert_eq!(visible("a\u{fff9}\u{2066}b"), r"a\u{fff9}\u{2066}b");
        assert_eq!(visible(r"a\u{fff9}"), r"a\u{fff9}");
    }

    #[test]
    fn cuts_fall_on_character_borders() {
        assert_eq!(quoted("日本語テキスト", 3), "\"日本語…\"");
        assert_eq!(cut_line("日本語テキスト".to_owned(), 4), "日本語…");
    }

    #[test]
    fn odd_keys_are_bracketed() {
        let path = Path::root().key("a").key("b.c").index(0).key("");
        assert_eq!(dotted_within(&path, 99), r#"a["b.c"].0[""]"#);
        assert_eq!(dotted_within(&Path::root(), 99), "Root object");
    }

    #[test]
    fn a_long_path_keeps_its_end() {
        let path = Path::root().key(&"x".repeat(50)).key("name");
        assert_eq!(dotted_within(&path, 10), "…xxxx.name");
    }

    #[test]
    fn lists_say_what_they_leave_out() {
        assert_eq!(list(&["a", "b"], 30), r#""a", "b""#);
        assert_eq!(
            list(&["aaaa", "bbbb", "cccc"], 16),
            r#""aaaa", "bbbb" … +1"#
        );
    }
}
