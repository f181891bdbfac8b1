//! Recognises one tag, control token or marker by its shape: `<…>`, `<|…|>`, `[…]`, closed or not, and names between rows of
//! the same character, `=== TOOL CALL ===`.

use super::names::{
    NameShape, is_last_token, is_layout, is_of_template, may_begin_name, may_end_name,
};
use crate::text::first_bytes;

/// A mark of a chat template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark<'t> {
    /// How long it is, in bytes.
    pub(super) length: usize,
    /// What is between its brackets.
    pub(super) name: &'t str,
    /// The tool that it names: `<function=search>`, `<invoke name="search">`.
    pub(super) tool: Option<&'t str>,
    /// Whether it belongs to the header of a message, and the word before it may be a role.
    pub(super) is_header: bool,
    /// Whether it ends a message.
    pub(super) ends_message: bool,
    pub(super) kind: MarkKind,
}

/// Whether a mark is meant for people or for a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MarkKind {
    /// `<|name|>`, which only templates have.
    Token,
    /// A tag or a marker.
    Tag,
    /// A tag that displays its content where people read it, or that someone else's text follows: HTML, an escaped tag,
    /// `[INST]`.
    Shown,
}

impl<'t> Mark<'t> {
    fn plain(length: usize, name: &'t str) -> Self {
        Mark {
            length,
            name,
            tool: None,
            is_header: false,
            ends_message: false,
            kind: MarkKind::Tag,
        }
    }
}

/// Tokens without a name: the start and the end of a message of the model itself.
const ODD_TOKENS: [&str; 2] = ["]~b]ai", "[e~["];

/// Longer ones are ignored. A name that contains a tool's is shorter.
const LONGEST: usize = 200;

/// The bars of control tokens: the usual one, and the full-width one.
pub(crate) fn is_bar(c: char) -> bool {
    matches!(c, '|' | '｜')
}

/// The mark that a text starts with. `is_last` means that the text may be cut off within one.
pub(super) fn mark(text: &str, is_last: bool) -> Option<Mark<'_>> {
    let (text, is_all) = beginning(text);
    let is_opening = |c: char| matches!(c, '<' | '/' | '\\') || is_bar(c);
    if let Some(odd) = ODD_TOKENS.iter().find(|token| text.starts_with(**token)) {
        return Some(Mark::plain(odd.len(), ""));
    }
    if let Some(ruled) = ruled(text).or_else(|| escaped(text)) {
        return Some(ruled);
    }
    let opened = match text.as_bytes().first()? {
        b'[' => text.strip_prefix("[/").or_else(|| text.strip_prefix('['))?,
        b'<' => text.trim_start_matches(is_opening),
        _ => return None,
    };
    let opening = &text[..text.len() - opened.len()];
    if opened.starts_with('?') && opening == "<" {
        return xml_header(text);
    }
    let is_marker = opening.starts_with('[');
    let stop = opened
        .find(['>', ']', '<', '{', '[', '`', '\n'])
        .unwrap_or(opened.len());
    let (inside, after) = opened.split_at(stop);
    let is_end = after.is_empty() && is_all;
    if after.is_empty() && !is_all {
        return None;
    }
    let closers = after.len()
        - after
            .trim_start_matches(if is_marker { ']' } else { '>' })
            .len();
    // A tag that is closed by the other kind of bracket.
    let closers = if closers == 0 && !is_marker && after.starts_with(']') {
        1
    } else {
        closers
    };
    let body = inside.trim_end_matches(|c: char| c == '/' || is_bar(c) || c.is_whitespace());
    let shape = if is_marker {
        NameShape::Marker
    } else if opening.contains(is_bar) || inside.trim_end().ends_with(is_bar) {
        NameShape::Token
    } else {
        NameShape::Tag
    };
    let (name, tool) = named(body)?;
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '▁' | ' ');
    // Another character may mean something: `<?>`.
    if !name.chars().all(|c| is_part(c) || is_bar(c)) {
        return None;
    }
    let is_whole = match closers {
        // One more marker would open a list.
        0 if is_marker => false,
        0 => !name.is_empty() && (is_end || after.starts_with(['\n', '<', '{'])),
        _ => !(is_marker && (name.is_empty() || closers > 1)),
    };
    // One or two letters may begin anything.
    let letters = name.chars().filter(|c| c.is_alphanumeric()).count();
    let is_begun = shape == NameShape::Token || name.is_empty() || letters > 2;
    let is_open = !is_marker && closers == 0 && is_end && tool.is_none();
    let is_cut = is_open && is_last && is_begun && may_begin_name(name);
    let is_layout = shape == NameShape::Tag && is_layout(name);
    let is_known = is_layout
        || is_of_template(name, shape)
        || is_last
            && shape == NameShape::Token
            && is_last_token(name)
            && closers > 0
            && is_all
            && after[closers..].trim().is_empty();
    if !(is_cut || is_whole && is_known) {
        return None;
    }
    let lower = name.to_lowercase();
    // Both may be the first token of a text. But `<s>` also strikes out what follows, and after `[INST]` the user speaks.
    let is_first =
        (opening, lower.as_str()) == ("<", "s") || (opening, lower.as_str()) == ("[", "inst");
    let is_shown = is_layout || is_first && !is_last;
    Some(Mark {
        length: opening.len() + inside.len() + closers,
        name,
        tool,
        is_header: ["header", "message", "channel", "role", "turn", "sep"]
            .iter()
            .any(|word| lower.contains(word)),
        ends_message: lower == "s"
            || ["eos", "eot", "im_end", "endof", "end_of", "end▁of"]
                .iter()
                .any(|word| lower.contains(word)),
        kind: match shape {
            NameShape::Token => MarkKind::Token,
            _ if is_shown => MarkKind::Shown,
            _ => MarkKind::Tag,
        },
    })
}

/// A name between rows of one character, or between brackets that are doubled or not those of a tag: `###TOOL_CALL###`,
/// `[[TOOL_CALL]]`, `(tool_call)`.
fn ruled(text: &str) -> Option<Mark<'_>> {
    let sign = text.chars().next()?;
    let (closer, fewest) = match sign {
        // A single one starts an item, a heading or a word in italics.
        '-' | '=' | '#' | '*' | '_' | '+' => (sign, 2),
        '[' => (']', 2),
        '(' => (')', 1),
        '{' => ('}', 1),
        '@' | '%' | '§' | '✿' => (sign, 1),
        _ => return None,
    };
    let opened = text.trim_start_matches(sign);
    let run = text.len() - opened.len();
    if run < fewest * sign.len_utf8() {
        return None;
    }
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ' | ':');
    let stop = opened
        .find(|c: char| c == closer || c != '/' && !is_part(c))
        .filter(|stop| opened[*stop..].starts_with(closer))?;
    let (inside, after) = opened.split_at(stop);
    let closing = after.len() - after.trim_start_matches(closer).len();
    let label = inside.trim().trim_start_matches('/').trim_end_matches(':');
    let is_name = label.chars().all(is_part) && !label.is_empty();
    let is_known = is_of_template(label, NameShape::Marker)
        || closer == sign && is_of_template(label, NameShape::Tag);
    // Anything directly after it would be one word with it.
    let ends = !after[closing..].starts_with(|c: char| c.is_alphanumeric());
    (closing == run && is_name && ends && is_known)
        .then(|| Mark::plain(run + stop + closing, label))
}

/// A tag whose brackets are escaped: `&lt;tool_call&gt;`, `\<tool_call\>`.
fn escaped(text: &str) -> Option<Mark<'_>> {
    let [(open, close), (other, last)] = [("&lt;", "&gt;"), ("\\<", "\\>")];
    let (opened, close) = match text.strip_prefix(open) {
        Some(opened) => (opened, close),
        None => (text.strip_prefix(other)?, last),
    };
    let (inside, _) = opened.split_once(close)?;
    let name = inside.trim_start_matches('/');
    let length = text.len() - opened.len() + inside.len() + close.len();
    // `&lt;parameter=note&gt;` names a parameter.
    let is_plain = !name.contains(['=', '"', '\'']);
    (!name.is_empty() && is_plain && is_of_template(name, NameShape::Tag)).then(|| Mark {
        kind: MarkKind::Shown,
        ..Mark::plain(length, name)
    })
}

/// The beginning of a text, as long as a mark may be, and whether that is all of it.
fn beginning(text: &str) -> (&str, bool) {
    let beginning = first_bytes(text, LONGEST);
    (beginning, beginning.len() == text.len())
}

/// The rest of a mark whose beginning is lost, at the very start of a text: `_call>`.
pub(super) fn rest_of_mark(text: &str) -> Option<usize> {
    let (text, _) = beginning(text);
    let length = text.find('>')?;
    let name = text[..length].trim_matches(|c: char| is_bar(c) || c == '/');
    let is_name = !name.contains(['<', '{', '[', '\n', ' ', '=', '"', '\'']);
    (length > 0 && is_name && may_end_name(name)).then_some(length + 1)
}

/// The name of a tag, and the tool that it names. `None` if it says anything else.
fn named(body: &str) -> Option<(&str, Option<&str>)> {
    let Some(equals) = body.find('=') else {
        return Some((body, None));
    };
    let name_end = body.find(char::is_whitespace).unwrap_or(equals).min(equals);
    let (name, attributes) = body.split_at(name_end);
    if let Some(tool) = attributes.strip_prefix('=') {
        let tool = tool.trim().trim_matches(['"', '\'']);
        return Some((name, Some(tool)));
    }
    let mut tool = None;
    for attribute in attributes.split_whitespace() {
        let (key, value) = attribute.split_once('=')?;
        let value = value.trim_matches(['"', '\'']);
        match key {
            "name" | "tool" | "function" if tool.is_none() => tool = Some(value),
            "type" if is_of_template(value, NameShape::Tag) => {}
            "id" | "index" | "call_id" if is_id(value) => {}
            _ => return None,
        }
    }
    Some((name, tool))
}

/// Whether this only distinguishes calls and means nothing: a name with a digit in it.
fn is_id(value: &str) -> bool {
    value.len() <= 40
        && value.contains(|c: char| c.is_ascii_digit())
        && value
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// The header of an XML file with nothing else in it.
fn xml_header(text: &str) -> Option<Mark<'_>> {
    let end = text.find('>')?;
    let inside = text
        .get("<?xml".len()..end)
        .filter(|_| text.starts_with("<?xml"))?;
    let known = |word: &str| {
        let attribute = word.split_once('=').map(|(name, _)| name);
        matches!(attribute, Some("version" | "encoding" | "standalone"))
    };
    let mut words = inside.trim_end_matches('?').split_whitespace();
    words.all(known).then(|| Mark::plain(end + 1, "xml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_recognised_by_their_shape() {
        for (text, length) in [
            ("<tool_call>x", 11),
            ("</tool_call>", 12),
            ("<|im_end|>", 10),
            ("<|im_end>", 9),
            ("<im_end|>", 9),
            ("<<tool_call>>", 13),
            ("<tool_call\nx", 10),
            ("<tool_call]", 11),
            ("<\\/invoke>", 10),
            ("[TOOL_CALLS]", 12),
            ("[/INST]", 7),
            ("<tool_call id=\"c1\">", 19),
            ("<>", 2),
            ("<?xml version=\"1.0\"?>", 21),
            ("<?xml>", 6),
            ("=== TOOL CALL ===\n", 17),
            ("###TOOL_CALL###", 15),
            ("[[TOOL_CALL]]", 13),
            ("(tool_call){", 11),
            ("**Tool Call:**", 14),
            ("&lt;/tool_call&gt;", 18),
            ("\\<tool_call\\>", 13),
            ("<pre>", 5),
        ] {
            let found = mark(text, false).map(|mark| mark.length);
            assert_eq!(found, Some(length), "{text}");
        }
        assert_eq!(
            mark("<｜tool▁calls▁begin｜>", false).map(|mark| mark.tool),
            Some(None)
        );
        for text in [
            "<function=look>",
            "<invoke name=\"look\">",
            "<tool_call name='look'>",
        ] {
            assert_eq!(
                mark(text, false).and_then(|mark| mark.tool),
                Some("look"),
                "{text}"
            );
        }
    }

    #[test]
    fn other_brackets_are_not_marks() {
        for text in [
            "<b>",
            "<example>",
            "<|user|>",
            "[1]",
            "[]",
            "[[DRY_RUN]]",
            "=== EXAMPLE ===",
            "--- tool_call",
            "***not a tool call***",
            "(call me)",
            "&lt;user&gt;",
            "<del>",
            "[\"a\"]",
            "<!-- x -->",
            "<tool_call dry=\"1\">",
            "<tool_call or not>",
            "<^",
            "<?>",
            "<tool_ca",
            "<?xml do not?>",
            "< 5",
            "<path>",
            "[TOOL_CALLS",
        ] {
            assert_eq!(mark(text, false), None, "{text}");
        }
    }

    #[test]
    fn a_mark_may_be_cut_at_the_end_of_a_text() {
        for text in ["<", "</", "<|", "</tool_ca", "<|im_e"] {
            assert!(mark(text, true).is_some(), "{text}");
        }
        for text in ["<d", "</path", "<|user", "[TOOL"] {
            assert_eq!(mark(text, true), None, "{text}");
        }
        for text in ["call>", "_call>", "|>", "im_end|>", "/tool_call>"] {
            assert_eq!(rest_of_mark(text), Some(text.len()), "{text}");
        }
        for text in ["not>", "x <tool_call>", "a > b", "> "] {
            assert_eq!(rest_of_mark(text), None, "{text}");
        }
    }
}
