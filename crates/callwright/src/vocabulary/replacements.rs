//! Replaces parts of a text in place; every other byte stays as written.
//!
//! Takes spans of the text and what to write there instead. Does not check that the outcome is still JSON.

use std::collections::BTreeMap;
use std::ops::Range;

/// What to write at a span instead of what is there. An empty span inserts.
pub type Replacement = (Range<usize>, String);

/// Replacements in one text. Of two that begin at the same place the first counts; one that begins inside another is skipped.
#[derive(Debug, Default)]
pub struct Replacements(BTreeMap<usize, (usize, String)>);

impl Replacements {
    /// Adds one.
    pub fn add(&mut self, (span, new): Replacement) {
        self.0.entry(span.start).or_insert((span.end, new));
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one is for exactly this span.
    pub fn has(&self, span: &Range<usize>) -> bool {
        self.0
            .get(&span.start)
            .is_some_and(|(end, _)| *end == span.end)
    }

    /// The text with the replacements.
    pub fn in_text(&self, text: &str) -> String {
        self.in_part(text, 0..text.len())
    }

    /// A part of the text, with the replacements that begin in it.
    pub fn in_part(&self, text: &str, part: Range<usize>) -> String {
        let pieces = self.pieces(part);
        let pieces = pieces.flat_map(|(kept, new)| [text.get(kept).unwrap_or_default(), new]);
        pieces.collect::<Vec<_>>().concat()
    }

    /// The same for a text that is at hand as bytes.
    pub fn in_bytes(&self, text: &[u8]) -> Vec<u8> {
        let pieces = self.pieces(0..text.len());
        let kept = |kept| text.get(kept).unwrap_or_default();
        let pieces = pieces.flat_map(|(span, new)| [kept(span), new.as_bytes()]);
        pieces.collect::<Vec<_>>().concat()
    }

    /// What is kept of a part, and what is written after it.
    fn pieces(&self, part: Range<usize>) -> impl Iterator<Item = (Range<usize>, &str)> {
        let mut done = part.start;
        let all = self.0.range(part.start..);
        let all = all.map(|(start, (end, new))| (*start, *end, new.as_str()));
        let inside = all.take_while(move |(start, ..)| *start < part.end);
        let rest = [(part.end, part.end, "")];
        inside.chain(rest).filter_map(move |(start, end, new)| {
            if start < done {
                return None;
            }
            Some((std::mem::replace(&mut done, end)..start, new))
        })
    }
}

impl Extend<Replacement> for Replacements {
    fn extend<I: IntoIterator<Item = Replacement>>(&mut self, all: I) {
        all.into_iter().for_each(|one| self.add(one));
    }
}

impl FromIterator<Replacement> for Replacements {
    fn from_iter<I: IntoIterator<Item = Replacement>>(all: I) -> Self {
        let mut collected = Replacements::default();
        collected.extend(all);
        collected
    }
}

/// The span of a part in the text that it is a slice of.
pub fn span_in(text: impl AsRef<[u8]>, part: &str) -> Range<usize> {
    let text = text.as_ref();
    // A part of another text gets a span that this one does not have.
    let start = part.as_ptr().addr().wrapping_sub(text.as_ptr().addr());
    let span = start..start.wrapping_add(part.len());
    debug_assert!(text.get(span.clone()).is_some(), "a slice of the text");
    span
}

/// Another last item of a list, or another last member of an object.
pub fn appended(text: impl AsRef<[u8]>, to: &str, new: &str) -> Replacement {
    let end = span_in(text, to).end.saturating_sub(1);
    let inside = to.get(1..to.len().saturating_sub(1));
    let is_empty = inside.is_none_or(|inside| inside.trim_ascii().is_empty());
    let comma = if is_empty { "" } else { "," };
    (end..end, format!("{comma}{new}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced<const N: usize>(text: &str, all: [(Range<usize>, &str); N]) -> String {
        let all = all.map(|(span, new)| (span, new.to_owned()));
        let all = Replacements::from_iter(all);
        let text_with = all.in_text(text);
        assert_eq!(all.in_bytes(text.as_bytes()), text_with.as_bytes());
        text_with
    }

    #[test]
    fn only_the_spans_change() {
        let all = [(4..5, "Y"), (0..1, "X"), (2..2, "+")];
        assert_eq!(replaced("a-b-c-ü", all), "X-+b-Y-ü");
        assert_eq!(replaced("abc", [(0..2, "1"), (1..3, "2")]), "1c");
        assert_eq!(replaced("abc", [(0..1, "1"), (0..1, "2")]), "1bc");
        assert_eq!(replaced("abc", [(0..3, "")]), "");
        assert_eq!(replaced("", []), "");
    }

    #[test]
    fn parts_are_found_again() {
        let text = r#"{"a": [5], "b":{}, "c": { "d":1 } }"#;
        let span = span_in(text, &text[6..9]);
        assert_eq!(span, 6..9);
        let all = Replacements::from_iter([
            (span, "6".to_owned()),
            appended(text, &text[15..17], r#""e":2"#),
            appended(text, &text[24..33], r#""f":3"#),
        ]);
        let expected = r#"{"a": 6, "b":{"e":2}, "c": { "d":1 ,"f":3} }"#;
        assert_eq!(all.in_text(text), expected);
        assert_eq!(all.in_part(text, 24..33), r#"{ "d":1 ,"f":3}"#);
    }
}
