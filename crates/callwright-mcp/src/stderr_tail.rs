//! The last lines that a server wrote to stderr: they usually say why it ended.

use parking_lot::Mutex;

/// The end of a stack trace says why; its beginning is on our own stderr.
const LINES: usize = 8;

/// A line of a minified file must not fill the message.
const LONGEST_LINE: usize = 400;

/// How much is kept: enough for the last lines even if they are long, and little enough for many servers.
const KEPT: usize = 32 * 1024;

#[derive(Debug, Default)]
pub(crate) struct StderrTail(Mutex<Vec<u8>>);

impl StderrTail {
    pub(crate) fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock();
        kept.extend_from_slice(bytes);
        if kept.len() > 2 * KEPT {
            let excess = kept.len() - KEPT;
            kept.drain(..excess);
        }
    }

    /// The last lines as one text, which is empty if there are none.
    pub(crate) fn text(&self) -> String {
        let kept = self.0.lock();
        let lines = kept.split(|byte| *byte == b'\n');
        let lines = lines.map(<[u8]>::trim_ascii_end);
        let mut lines: Vec<_> = lines
            .rev()
            .filter(|line| !line.is_empty())
            .take(LINES)
            .collect();
        lines.reverse();
        let cut = |line: &[u8]| {
            String::from_utf8_lossy(&line[..line.len().min(LONGEST_LINE)]).into_owned()
        };
        let lines: Vec<String> = lines.into_iter().map(cut).collect();
        lines.join("\n")
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
