//! Input → chunks of whole lines.
//!
//! In comes any reader, out go chunks that end at a line's end, each with the number of its first
//! line. A chunk is handed on as soon as a whole line is there, so a slow pipe is judged as it
//! comes. A line longer than the bound is skipped and reported, never collected.

use std::io::{self, Read};

/// How much is read at once. Large enough to make the hand-over between threads cheap, small enough
/// for a handful of them to fit into a processor's cache.
const READ_BYTES: usize = 256 * 1024;

/// The longest line that is taken: a call of the largest size, as text inside JSON, escaped.
const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// Some lines of the input.
#[derive(Debug)]
pub(super) enum Chunk {
    /// Whole lines, the first of which has this number.
    Lines { first_line: usize, bytes: Vec<u8> },
    /// A line that is longer than the bound.
    TooLong { line: usize, bytes: usize },
}

impl Chunk {
    pub(super) const LONGEST_LINE: usize = LONGEST_LINE;
}

pub(super) struct Chunks<R> {
    reader: R,
    rest: Vec<u8>,
    next_line: usize,
    ended: bool,
}

impl<R: Read> Chunks<R> {
    pub(super) fn new(reader: R) -> Self {
        Chunks {
            reader,
            rest: Vec::new(),
            next_line: 1,
            ended: false,
        }
    }

    /// Appends what can be read now; at the end of the input notes that.
    fn fill(&mut self) -> io::Result<()> {
        let before = self.rest.len();
        self.rest.resize(before + READ_BYTES, 0);
        let read = loop {
            match self.reader.read(&mut self.rest[before..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let count = *read.as_ref().unwrap_or(&0);
        self.rest.truncate(before + count);
        self.ended = count == 0;
        read.map(|_| ())
    }

    /// Reads on to the end of a line that is too long, keeping nothing of it.
    fn skip_line(&mut self) -> io::Result<Chunk> {
        let line = self.next_line;
        let mut bytes = 0;
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.rest) {
                self.rest.drain(..=end);
                bytes += end;
                break;
            }
            bytes += self.rest.len();
            self.rest.clear();
            if self.ended {
                break;
            }
            self.fill()?;
        }
        self.next_line += 1;
        Ok(Chunk::TooLong { line, bytes })
    }

    fn lines(&mut self, end: usize) -> Chunk {
        let rest = self.rest.split_off(end);
        let bytes = std::mem::replace(&mut self.rest, rest);
        let first_line = self.next_line;
        self.next_line += memchr::memchr_iter(b'\n', &bytes).count();
        Chunk::Lines { first_line, bytes }
    }
}

impl<R: Read> Iterator for Chunks<R> {
    type Item = io::Result<Chunk>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut searched = 0;
        loop {
            let newline = memchr::memrchr(b'\n', &self.rest[searched..]);
            if let Some(at) = newline {
                return Some(Ok(self.lines(searched + at + 1)));
            }
            if self.rest.len() > LONGEST_LINE {
                return Some(self.skip_line());
            }
            if self.ended {
                if self.rest.is_empty() {
                    return None;
                }
                return Some(Ok(self.lines(self.rest.len())));
            }
            searched = self.rest.len();
            if let Err(error) = self.fill() {
                self.ended = true;
                self.rest.clear();
                return Some(Err(error));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that gives one byte at a time, as a slow pipe may.
    struct Dribble(&'static [u8]);

    impl Read for Dribble {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else {
                return Ok(0);
            };
            self.0 = rest;
            buffer[0] = *first;
            Ok(1)
        }
    }

    fn collect(reader: impl Read) -> Vec<(usize, String)> {
        Chunks::new(reader)
            .map(|chunk| match chunk.expect("readable") {
                Chunk::Lines { first_line, bytes } => {
                    (first_line, String::from_utf8(bytes).expect("UTF-8"))
                }
                Chunk::TooLong { line, bytes } => (line, format!("{bytes} bytes")),
            })
            .collect()
    }

    #[test]
    fn lines_are_never_torn() {
        let text: &[u8] = b"one\ntwo\n\nfour";
        let expected = [(1, "one\n"), (2, "two\n"), (3, "\n"), (4, "four")];
        let expected = expected.map(|(line, text)| (line, text.to_owned()));
        assert_eq!(collect(Dribble(text)), expected);
        assert_eq!(
            collect(text),
            [(1, "one\ntwo\n\n".to_owned()), (4, "four".to_owned())]
        );
    }

    #[test]
    fn an_endless_line_is_skipped_and_counted() {
        let long = io::repeat(b'x').take(LONGEST_LINE as u64 + 5_000_000);
        let reader = long.chain(&b"\nnext\n"[..]);
        let expected = [
            (1, format!("{} bytes", LONGEST_LINE + 5_000_000)),
            (2, "next\n".to_owned()),
        ];
        assert_eq!(collect(reader), expected);
    }
}
