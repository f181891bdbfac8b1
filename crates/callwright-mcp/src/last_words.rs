//! What a server last wrote to its stderr, for whoever wants to know why it ended.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The end of a stack trace tells why; its beginning is on our own stderr.
const LINES: usize = 8;

/// A line of a minified file must not fill the message.
const LONGEST_LINE: usize = 400;

/// The last lines.
#[derive(Debug, Default)]
pub(crate) struct LastWords(Mutex<Words>);

#[derive(Debug, Default)]
struct Words {
    lines: VecDeque<Vec<u8>>,
    /// A line without an end so far.
    open: Vec<u8>,
}

impl LastWords {
    /// Takes in bytes as they come.
    pub(crate) fn heard(&self, bytes: &[u8]) {
        let mut words = self.lock();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LONGEST_LINE.saturating_sub(words.open.len());
            let text = piece.trim_ascii_end();
            words.open.extend_from_slice(&text[..text.len().min(room)]);
            if piece.ends_with(b"\n") {
                words.end_line();
            } else {
                // Spaces at its end are no end of the line.
                let room = LONGEST_LINE.saturating_sub(words.open.len());
                let spaces = &piece[text.len()..];
                words
                    .open
                    .extend_from_slice(&spaces[..spaces.len().min(room)]);
            }
        }
    }

    /// The lines, one below the other; empty if there are none.
    pub(crate) fn text(&self) -> String {
        let mut words = self.lock();
        words.end_line();
        let lines: Vec<_> = words
            .lines
            .iter()
            .map(|line| String::from_utf8_lossy(line))
            .collect();
        lines.join("\n")
    }

    fn lock(&self) -> MutexGuard<'_, Words> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Words {
    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.open);
        if line.is_empty() {
            return;
        }
        if self.lines.len() == LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept() {
        let words = LastWords::default();
        assert_eq!(words.text(), "");
        for number in 0..20 {
            words.heard(format!("line {number}\n\nha").as_bytes());
            words.heard(b"lf \r\n");
        }
        words.heard(b"no ");
        words.heard(b"end");
        let text = words.text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), LINES);
        assert_eq!(lines[LINES - 3..], ["line 19", "half", "no end"]);
    }

    #[test]
    fn a_long_line_is_cut() {
        let words = LastWords::default();
        words.heard(&vec![b'x'; 1_000_000]);
        assert_eq!(words.text().len(), LONGEST_LINE);
    }
}
