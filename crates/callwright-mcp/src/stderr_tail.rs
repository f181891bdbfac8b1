//! The last lines that a server wrote to stderr: they usually say why it ended.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The end of a stack trace says why; its beginning is on our own stderr.
const LINES: usize = 8;

/// A line of a minified file must not fill the message.
const LONGEST_LINE: usize = 400;

/// The last lines.
#[derive(Debug, Default)]
pub(crate) struct StderrTail(Mutex<TailLines>);

#[derive(Debug, Default)]
struct TailLines {
    lines: VecDeque<Vec<u8>>,
    /// A line without a line break so far.
    unfinished: Vec<u8>,
}

impl StderrTail {
    /// Adds bytes as they come.
    pub(crate) fn push(&self, bytes: &[u8]) {
        let mut tail = self.lock();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LONGEST_LINE.saturating_sub(tail.unfinished.len());
            let text = piece.trim_ascii_end();
            tail.unfinished
                .extend_from_slice(&text[..text.len().min(room)]);
            if piece.ends_with(b"\n") {
                tail.end_line();
            } else {
                // Spaces at the end of the piece do not end the line.
                let room = LONGEST_LINE.saturating_sub(tail.unfinished.len());
                let spaces = &piece[text.len()..];
                tail.unfinished
                    .extend_from_slice(&spaces[..spaces.len().min(room)]);
            }
        }
    }

    /// The lines as one text, which is empty if there are none.
    pub(crate) fn text(&self) -> String {
        let mut tail = self.lock();
        tail.end_line();
        let lines: Vec<_> = tail
            .lines
            .iter()
            .map(|line| String::from_utf8_lossy(line))
            .collect();
        lines.join("\n")
    }

    fn lock(&self) -> MutexGuard<'_, TailLines> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TailLines {
    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.unfinished);
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
        let tail = StderrTail::default();
        assert_eq!(tail.text(), "");
        for number in 0..20 {
            tail.push(format!("line {number}\n\nha").as_bytes());
            tail.push(b"lf \r\n");
        }
        tail.push(b"no ");
        tail.push(b"end");
        let text = tail.text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), LINES);
        assert_eq!(lines[LINES - 3..], ["line 19", "half", "no end"]);
    }

    #[test]
    fn a_long_line_is_cut() {
        let tail = StderrTail::default();
        tail.push(&vec![b'x'; 1_000_000]);
        assert_eq!(tail.text().len(), LONGEST_LINE);
    }
}
