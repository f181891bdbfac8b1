//! Cuts text into pieces with complete records, in bounded memory.
//!
//! The beginning of the text shows the layout of the records ([`form`]). Then either lines are cut off, which is the
//! usual and fast way, or documents are found by their brackets ([`documents`]). A piece is passed on as soon as it
//! contains a complete record. No record is ever torn; one that is longer than the limit is skipped and reported,
//! never collected.

mod documents;
mod form;
mod scan;

pub(crate) use scan::end_of_first as end_of_json;

use std::io::{self, Read};
use std::sync::Arc;

use documents::DocumentScan;
use scan::is_whole;

use super::piece::RecordSpan;
use super::{Form, LONGEST_RECORD, Piece, READ_BYTES, Trouble, TroubleKind};

/// The next output of a text.
type NextPiece = Result<Piece, Trouble>;

/// Cuts one text into pieces. The caller fills in their number.
pub(super) struct Chunks<R> {
    file: Arc<str>,
    reader: R,
    /// Bytes read but not handed out yet.
    rest: Vec<u8>,
    /// Where `rest` begins in the text.
    offset: u64,
    /// The line in which `rest` begins.
    line: u64,
    ended: bool,
    failed: Option<io::Error>,
    form: Form,
    /// How far documents have been found.
    found: DocumentScan,
}

impl<R> std::fmt::Debug for Chunks<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chunks")
            .field("offset", &self.offset)
            .field("line", &self.line)
            .field("form", &self.form)
            .finish_non_exhaustive()
    }
}

impl<R: Read> Chunks<R> {
    /// A text that begins at this position of its file.
    pub(super) fn new(file: Arc<str>, reader: R, offset: u64, line: u64, form: Form) -> Self {
        Chunks {
            file,
            reader,
            rest: Vec::new(),
            offset,
            line,
            ended: false,
            failed: None,
            form,
            found: DocumentScan::new(form == Form::Elements),
        }
    }

    /// Appends what can be read now; records the end of the text, and treats an error as one.
    fn fill(&mut self) {
        let before = self.rest.len();
        self.rest.resize(before + READ_BYTES, 0);
        let read = loop {
            match self.reader.read(&mut self.rest[before..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let count = read.unwrap_or_else(|error| {
            self.failed = Some(error);
            0
        });
        self.rest.truncate(before + count);
        self.ended = count == 0;
    }

    fn next_lines(&mut self) -> Option<NextPiece> {
        let mut searched = 0;
        loop {
            if let Some(at) = memchr::memrchr(b'\n', &self.rest[searched..]) {
                return Some(Ok(self.cut(searched + at + 1, None, Form::Lines)));
            }
            if self.rest.len() > LONGEST_RECORD {
                return Some(Err(self.skip_line()));
            }
            if self.ended {
                // A file that fails while being read ends anywhere. The last record counts if nothing of it is
                // missing.
                let torn = self.failed.is_some() && !is_whole(&self.rest);
                if self.rest.is_empty() || torn {
                    return self.last().map(Err);
                }
                return Some(Ok(self.cut(self.rest.len(), None, Form::Lines)));
            }
            searched = self.rest.len();
            self.fill();
        }
    }

    /// Skips to the end of a line that is too long, keeping nothing of it.
    fn skip_line(&mut self) -> Trouble {
        let (line, offset) = (self.line, self.offset);
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.rest) {
                let bytes = self.offset + end as u64 - offset;
                self.drop_first(end + 1);
                return self.too_long(line, offset, bytes);
            }
            // The memory of dropped bytes is reused.
            self.offset += self.rest.len() as u64;
            self.rest.clear();
            if self.ended {
                return self.too_long(line, offset, self.offset - offset);
            }
            self.fill();
        }
    }

    /// Hands out the first `end` bytes.
    fn cut(&mut self, end: usize, spans: Option<Vec<RecordSpan>>, next_form: Form) -> Piece {
        let (first_line, offset) = (self.line, self.offset);
        let bytes = self.drop_first(end);
        Piece {
            file: Arc::clone(&self.file),
            number: 0,
            first_line,
            offset,
            bytes,
            spans,
            next_line: self.line,
            next_form,
        }
    }

    /// Removes and counts the first `end` bytes.
    fn drop_first(&mut self, end: usize) -> Vec<u8> {
        let rest = self.rest.split_off(end);
        let bytes = std::mem::replace(&mut self.rest, rest);
        self.line += memchr::memchr_iter(b'\n', &bytes).count() as u64;
        self.offset += bytes.len() as u64;
        bytes
    }

    /// The text has ended, or failed: what is left to report.
    fn last(&mut self) -> Option<Trouble> {
        let error = self.failed.take()?.to_string();
        let torn = !self.rest.trim_ascii().is_empty();
        let (line, offset) = (self.line, self.offset);
        self.drop_first(self.rest.len());
        Some(self.trouble(line, offset, TroubleKind::ReadFailed { error, torn }))
    }

    fn too_long(&self, line: u64, offset: u64, bytes: u64) -> Trouble {
        self.trouble(line, offset, TroubleKind::TooLong { bytes })
    }

    fn trouble(&self, line: u64, offset: u64, kind: TroubleKind) -> Trouble {
        Trouble {
            file: Arc::clone(&self.file),
            line,
            offset,
            kind,
        }
    }
}

impl<R: Read> Iterator for Chunks<R> {
    type Item = NextPiece;

    fn next(&mut self) -> Option<NextPiece> {
        if self.form == Form::Unknown {
            self.form = self.find_form();
        }
        match self.form {
            Form::Documents | Form::Elements => self.next_documents(),
            Form::Lines | Form::Unknown => self.next_lines(),
        }
    }
}
