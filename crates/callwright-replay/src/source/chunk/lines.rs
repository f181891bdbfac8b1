//! One record per line: the usual form, and the fast one.

use std::io::Read;

use super::scan::is_whole;
use super::{Chunk, Chunks, Form, LONGEST_RECORD};

impl<R: Read> Chunks<R> {
    pub(super) fn next_lines(&mut self) -> Option<Chunk> {
        let mut searched = 0;
        loop {
            if let Some(at) = memchr::memrchr(b'\n', &self.rest[searched..]) {
                return Some(self.cut(searched + at + 1, None, Form::Lines));
            }
            if self.rest.len() > LONGEST_RECORD {
                return Some(self.skip_line());
            }
            if self.ended {
                // A file that cannot be read on ends anywhere. The last record counts if nothing of it is missing.
                let torn = self.failed.is_some() && !is_whole(&self.rest);
                if self.rest.is_empty() || torn {
                    return self.last();
                }
                return Some(self.cut(self.rest.len(), None, Form::Lines));
            }
            searched = self.rest.len();
            self.fill();
        }
    }

    /// Reads on to the end of a line that is too long, keeping nothing of it.
    fn skip_line(&mut self) -> Chunk {
        let (line, offset) = (self.line, self.offset);
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.rest) {
                self.drop_first(end + 1);
                break;
            }
            // The memory of what is dropped is used again.
            self.offset += self.rest.len() as u64;
            self.rest.clear();
            if self.ended {
                break;
            }
            self.fill();
        }
        Self::too_long(line, offset)
    }
}
