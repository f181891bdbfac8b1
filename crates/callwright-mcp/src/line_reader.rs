//! Reads lines as they arrive.
//!
//! Takes any reader; returns one line after another, with its line break, from a single buffer that grows with the
//! longest line. Only an unfinished line is ever copied, when the buffer is compacted. The last line may lack a line
//! break and is returned as it is.

use std::io::{self, ErrorKind, Read};

use memchr::memchr;

/// The capacity of a pipe on Linux: one read empties it.
const USUAL: usize = 64 * 1024;

/// A buffer that a long line made larger than this is released after it.
const LARGEST_KEPT: usize = 4 * 1024 * 1024;

#[derive(Debug)]
pub(crate) struct LineReader<R> {
    reader: R,
    buffer: Vec<u8>,
    start: usize,
    /// Where it ends and the next one starts.
    line: usize,
    /// How far the buffer is filled.
    end: usize,
    /// How far the buffer contains no line break.
    searched: usize,
    most_bytes: usize,
}

impl<R: Read> LineReader<R> {
    /// Reads lines of at most `most_bytes`: an endless one must not use up our memory.
    pub(crate) fn new(reader: R, most_bytes: usize) -> Self {
        LineReader {
            reader,
            buffer: vec![0; USUAL],
            start: 0,
            line: 0,
            end: 0,
            searched: 0,
            most_bytes,
        }
    }

    /// Moves to the next line. `false` if there is none. A line that is too long is an error of kind `InvalidData`;
    /// more lines may follow after [`LineReader::skip_line`].
    pub(crate) fn advance(&mut self) -> io::Result<bool> {
        self.start = self.line;
        self.searched = self.line;
        loop {
            if let Some(end) = self.line_end() {
                self.line = end;
                return Ok(true);
            }
            self.searched = self.end;
            if self.end - self.start > self.most_bytes {
                let why = format!("a line has more than {} bytes", self.most_bytes);
                return Err(io::Error::new(ErrorKind::InvalidData, why));
            }
            self.make_room();
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => {
                    self.line = self.end;
                    return Ok(self.start < self.end);
                }
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Skips the rest of a line that is too long. `false` if nothing comes after it.
    pub(crate) fn skip_line(&mut self) -> io::Result<bool> {
        loop {
            if let Some(end) = self.line_end() {
                self.line = end;
                return Ok(true);
            }
            (self.start, self.line, self.end, self.searched) = (0, 0, 0, 0);
            match self.reader.read(&mut self.buffer) {
                Ok(0) => return Ok(false),
                Ok(read) => self.end = read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The line with its line break, which only the last one may lack.
    pub(crate) fn line(&self) -> &[u8] {
        &self.buffer[self.start..self.line]
    }

    /// Whether the next line has already been read.
    pub(crate) fn has_next(&self) -> bool {
        memchr(b'\n', &self.buffer[self.line..self.end]).is_some()
    }

    fn line_end(&self) -> Option<usize> {
        let unsearched = &self.buffer[self.searched..self.end];
        memchr(b'\n', unsearched).map(|at| self.searched + at + 1)
    }

    /// Makes room to read into, after the existing bytes.
    fn make_room(&mut self) {
        if self.start == self.end {
            (self.start, self.line, self.end, self.searched) = (0, 0, 0, 0);
            if self.buffer.len() > LARGEST_KEPT {
                self.buffer = vec![0; USUAL];
            }
        } else if self.end == self.buffer.len() {
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.searched -= self.start;
                (self.start, self.line) = (0, 0);
            }
            // A line that fills half the buffer is a long one. Doubling copies each byte once on average.
            if self.end > self.buffer.len() / 2 {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
    }
}

/// Whether readers that also end lines at a carriage return, such as Python's, see several lines.
pub(crate) fn has_inner_line_break(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    memchr(b'\r', line).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns this many bytes at a time.
    struct Drip(Vec<u8>, usize);

    impl Read for Drip {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(into.len()).min(self.0.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0.drain(..count);
            Ok(count)
        }
    }

    proptest! {
        #[test]
        fn lines_are_what_was_sent(
            lengths in proptest::collection::vec(prop_oneof![0_usize..300, 30_000_usize..140_000], 0..8),
            half in 0_usize..100,
            step in prop_oneof![1_usize..70_000, 60_000_usize..1_000_000],
        ) {
            let step = step.max(lengths.iter().sum::<usize>() / 5_000);
            let mut sent: Vec<Vec<u8>> = lengths
                .iter()
                .map(|length| [vec![b'x'; *length], vec![b'\n']].concat())
                .collect();
            if half > 0 {
                sent.push(vec![b'h'; half]);
            }
            let mut lines = LineReader::new(Drip(sent.concat(), step), usize::MAX);
            let mut came = Vec::new();
            while lines.advance().unwrap() {
                came.push(lines.line().to_vec());
            }
            prop_assert_eq!(came, sent);
        }
    }

    #[test]
    fn the_buffer_of_a_long_line_is_released() {
        let text = [vec![b'x'; 50_000_000], b"\nshort\n".to_vec()].concat();
        let mut lines = LineReader::new(io::Cursor::new(text), usize::MAX);
        assert!(lines.advance().unwrap());
        assert_eq!(lines.line().len(), 50_000_001);
        assert!(lines.advance().unwrap());
        assert_eq!(lines.line(), b"short\n");
        assert!(!lines.advance().unwrap());
        assert_eq!(lines.buffer.len(), USUAL);
    }

    #[test]
    fn a_line_without_end_has_a_bound() {
        let long = vec![b'x'; 20_000_000];
        let text = [b"short\n".to_vec(), long, b"\nnext\n".to_vec()].concat();
        let mut lines = LineReader::new(io::Cursor::new(text), 1_000_000);
        assert!(lines.advance().unwrap());
        assert_eq!(lines.advance().unwrap_err().kind(), ErrorKind::InvalidData);
        assert!(lines.buffer.len() < 4_000_000);
        assert!(lines.skip_line().unwrap() && lines.advance().unwrap());
        assert_eq!(lines.line(), b"next\n");
        assert!(!lines.advance().unwrap());
    }
}
