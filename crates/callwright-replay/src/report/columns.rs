//! Colours and columns for the terminal. Colour never carries meaning: without it the same words are there.

use anstyle::{AnsiColor, Style};

use super::printable::width;
use crate::number::share;

/// How long the longest bar is.
const BAR: f64 = 16.0;

/// Whether there are colours.
#[derive(Clone, Copy)]
pub(super) struct Styles(pub(super) bool);

impl Styles {
    pub(super) fn bold(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    pub(super) fn faint(self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }

    /// In the colour of a kind of violation, by its name.
    pub(super) fn kind(self, kind: &str, text: &str) -> String {
        let colour = match kind {
            "edge_case" => AnsiColor::Cyan,
            "bug" => AnsiColor::Red,
            _ => AnsiColor::Yellow,
        };
        self.paint(colour.on_default(), text)
    }

    /// Each line separately, so that a line can be copied out.
    fn paint(self, style: Style, text: &str) -> String {
        if !self.0 {
            return text.to_owned();
        }
        let lines = text.split('\n');
        let painted: Vec<String> = lines
            .map(|line| format!("{style}{line}{style:#}"))
            .collect();
        painted.join("\n")
    }
}

/// Padded with spaces on the right.
pub(super) fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Padded with spaces on the left.
pub(super) fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Wrapped to this many columns, at spaces. A longer word gets its own line.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    filled(text.split(' '), " ", columns)
}

/// A command on as many lines as it needs; a shell reads them as one. An option stays with its value.
pub(super) fn command(command: &str, columns: usize) -> String {
    // Six spaces before it, and two columns for the continuation sign.
    let lines = filled(command.split(" --"), " --", columns.saturating_sub(6 + 2));
    format!("    {}", lines.join(" \\\n      --"))
}

/// Joins parts into lines of this many columns.
fn filled<'t>(parts: impl Iterator<Item = &'t str>, between: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if width(line) + width(between) + width(part) <= columns => {
                line.push_str(between);
                line.push_str(part);
            }
            _ => lines.push(part.to_owned()),
        }
    }
    lines
}

/// A part of the longest bar, in eighths of a column.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between zero and 128"
)]
pub(super) fn block_bar(part: u64, whole: u64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let part = share(part, whole);
    // A non-zero value is never drawn as nothing.
    let least = usize::from(part > 0.0);
    let eighths = ((part * BAR * 8.0).round() as usize).max(least);
    let bar = format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8]);
    left(&bar, BAR as usize)
}
