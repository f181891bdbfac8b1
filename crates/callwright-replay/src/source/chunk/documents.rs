//! Finds JSON documents that span lines: alone, concatenated, or as the elements of one array.
//!
//! An array is read element by element, unless its first element shows that it is one record: the messages of a
//! conversation, or the pieces of a stream. Anything that is not a document is a record up to the end of its line,
//! for later stages to judge. After a document that does not end where it should, reading continues with the next
//! one.

use std::io::Read;

use super::scan::{Scan, ScanStep};
use super::{Chunks, Form, LONGEST_RECORD, NextPiece, Piece, READ_BYTES, RecordSpan, Trouble};
use crate::read::is_one_record;

/// How far documents have been found in the bytes read.
#[derive(Debug, Default)]
pub(super) struct DocumentScan {
    scan: Scan,
    /// How far the bytes have been scanned.
    at: usize,
    /// Complete records.
    spans: Vec<RecordSpan>,
    /// Where the incomplete record begins.
    open: Option<usize>,
    /// Whether that record is a line that is not a document.
    is_text: bool,
    /// The depth at which records begin: 1 inside an array of records.
    base: u32,
    /// The record is an array, and its first element will show whether it is one record or many.
    undecided: bool,
    /// The line and offset of a record that is too long, of which nothing is kept.
    skipping: Option<(u64, u64)>,
    /// Lines up to here are counted.
    counted: usize,
    line: u64,
}

impl DocumentScan {
    pub(super) fn new(in_array: bool) -> Self {
        DocumentScan {
            base: u32::from(in_array),
            ..DocumentScan::default()
        }
    }
}

impl<R: Read> Chunks<R> {
    pub(super) fn next_documents(&mut self) -> Option<NextPiece> {
        self.found.line = self.found.line.max(self.line);
        loop {
            if let Some(trouble) = self.look() {
                return Some(Err(trouble));
            }
            let enough = self.found.at >= READ_BYTES || self.ended;
            if enough && !self.found.spans.is_empty() {
                return Some(Ok(self.hand_out()));
            }
            if self.ended {
                return self.end_of_documents();
            }
            let is_long = |start| self.rest.len() - start > LONGEST_RECORD;
            if self.found.skipping.is_some() || self.found.open.is_some_and(is_long) {
                self.forget();
            } else if self.found.open.is_none() && self.found.spans.is_empty() {
                // Only white space and commas.
                self.release(self.found.at);
            }
            self.fill();
        }
    }

    /// Scans everything that was read.
    fn look(&mut self) -> Option<Trouble> {
        while self.found.at < self.rest.len() {
            if self.found.is_text {
                let Some(end) = memchr::memchr(b'\n', &self.rest[self.found.at..]) else {
                    self.found.at = self.rest.len();
                    return None;
                };
                if let Some(trouble) = self.close(self.found.at + end) {
                    return Some(trouble);
                }
                continue;
            }
            if self.found.open.is_none() && self.found.skipping.is_none() {
                self.begin();
                continue;
            }
            let Some((step, place)) = self.found.scan.step(&self.rest, self.found.at) else {
                self.found.at = self.rest.len();
                return None;
            };
            let closed = match step {
                ScanStep::Opened(_) => {
                    self.found.at = place + 1;
                    None
                }
                ScanStep::Closed(depth) => {
                    self.found.at = place + 1;
                    self.closed(depth, place + 1)
                }
                // The document is broken; what follows is scanned again.
                ScanStep::TornString | ScanStep::Misplaced | ScanStep::NotOpen => self.close(place),
            };
            if closed.is_some() {
                return closed;
            }
        }
        None
    }

    /// Between two records: finds the beginning of the next one.
    fn begin(&mut self) {
        let found = &mut self.found;
        let byte = self.rest[found.at];
        match byte {
            // The last one separates the records of JSON text sequences.
            b' ' | b'\t' | b'\r' | b'\n' | b',' | 0x1E => found.at += 1,
            b']' if found.base == 1 => {
                found.base = 0;
                found.at += 1;
            }
            b'{' | b'[' => {
                found.open = Some(found.at);
                found.scan = Scan::inside(found.base);
                found.undecided = byte == b'[' && found.base == 0;
            }
            _ => {
                found.open = Some(found.at);
                found.is_text = true;
            }
        }
    }

    /// A container was closed.
    fn closed(&mut self, depth: u32, end: usize) -> Option<Trouble> {
        if self.found.undecided && depth == 1 {
            self.found.undecided = false;
            let array = self.found.open?;
            let text = &self.rest[array..end];
            let first = text
                .iter()
                .skip(1)
                .position(|byte| !byte.is_ascii_whitespace());
            let element = &text[first.map_or(end - array, |at| at + 1)..];
            let is_many = match element.first() {
                Some(b'{') => !is_one_record(element),
                other => other == Some(&b'['),
            };
            if is_many {
                // Many records: this is the first.
                self.found.base = 1;
                self.found.open = Some(end - element.len());
                return self.close(end);
            }
            return None;
        }
        if depth == self.found.base {
            return self.close(end);
        }
        None
    }

    /// The open record ends here.
    fn close(&mut self, end: usize) -> Option<Trouble> {
        let found = &mut self.found;
        found.at = end;
        found.is_text = false;
        found.undecided = false;
        if let Some((line, offset)) = found.skipping.take() {
            let bytes = self.offset + end as u64 - offset;
            return Some(self.too_long(line, offset, bytes));
        }
        if let Some(start) = found.open.take() {
            let new_lines = memchr::memchr_iter(b'\n', &self.rest[found.counted..start]).count();
            found.line += new_lines as u64;
            found.counted = start;
            found.spans.push(RecordSpan {
                start,
                end,
                line: found.line,
            });
        }
        None
    }

    /// All complete records, with what lies between them.
    fn hand_out(&mut self) -> Piece {
        let end = self.found.open.unwrap_or(self.found.at);
        let spans = std::mem::take(&mut self.found.spans);
        let form = if self.found.base == 1 {
            Form::Elements
        } else {
            Form::Documents
        };
        let piece = self.cut(end, Some(spans), form);
        self.moved(end);
        piece
    }

    /// The first bytes were removed.
    fn moved(&mut self, bytes: usize) {
        self.found.at -= bytes;
        self.found.open = self.found.open.map(|start| start - bytes);
        self.found.counted = 0;
        self.found.line = self.line;
    }

    /// Drops bytes that contain no record.
    fn release(&mut self, end: usize) {
        self.drop_first(end);
        self.moved(end);
    }

    /// Keeps nothing of a record that is too long except its scanning state.
    fn forget(&mut self) {
        if let Some(start) = self.found.open {
            self.release(start);
            self.found.open = None;
            self.found.skipping = Some((self.line, self.offset));
            self.found.undecided = false;
        }
        self.release(self.found.at);
    }

    /// The text has ended: the open record is the last one, complete or not.
    fn end_of_documents(&mut self) -> Option<NextPiece> {
        // A file that fails while being read is reported as such, once.
        if self.failed.is_none() && (self.found.open.is_some() || self.found.skipping.is_some()) {
            let end = self.rest.len();
            return Some(match self.close(end) {
                Some(trouble) => Err(trouble),
                None => Ok(self.hand_out()),
            });
        }
        self.found = DocumentScan::default();
        self.last().map(Err)
    }
}
