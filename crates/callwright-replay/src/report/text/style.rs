//! Colours and columns. Colour never carries meaning: without it the same words are there.

use anstyle::{AnsiColor, Style};

use crate::decide::Kind;

use super::super::printable::width;

/// Whether there are colours.
#[derive(Clone, Copy)]
pub(super) struct Styles(pub(super) bool);

impl Styles {
    pub(super) fn heading(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    pub(super) fn faint(self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }

    pub(super) fn kind(self, kind: Kind, text: &str) -> String {
        let colour = match kind {
            Kind::EdgeCase => AnsiColor::Cyan,
            Kind::Unclear => AnsiColor::Yellow,
            Kind::Bug => AnsiColor::Red,
        };
        self.paint(colour.on_default(), text)
    }

    fn paint(self, style: Style, text: &str) -> String {
        if self.0 {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

/// Padded with blanks after it.
pub(super) fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Padded with blanks before it.
pub(super) fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// In lines of so many columns, broken at blanks. A longer word gets its own line.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
