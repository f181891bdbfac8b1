//! A sentence with names between backticks → its parts.

use serde::Serialize;

use super::super::printable::cut;

/// A part of a sentence.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Span {
    code: bool,
    text: String,
}

/// The parts of at most so many columns of a sentence. Where backticks do not come in pairs it is one part.
pub(super) fn spans(text: &str, columns: usize) -> Vec<Span> {
    let text = cut(text, columns);
    if text.matches('`').count() % 2 == 1 {
        return vec![Span { code: false, text }];
    }
    text.split('`')
        .enumerate()
        .map(|(index, part)| Span {
            code: index % 2 == 1,
            text: part.to_owned(),
        })
        .filter(|span| !span.text.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_words() {
        let parts = spans("`priority` may be `null`", 100);
        let codes: Vec<bool> = parts.iter().map(|span| span.code).collect();
        assert_eq!(codes, [true, false, true]);
        assert_eq!(spans("a ` b", 100).len(), 1);
    }
}
