//! Text → pieces that hold whole records, in bounded memory.
//!
//! The beginning of the text shows how records are laid out ([`form`]). Then either lines are cut off, which is the usual
//! way and the fast one, or documents are found by their brackets ([`documents`]). A piece is handed on as soon as a whole
//! record is there. No record is torn; one that is longer than the limit is skipped and reported, never collected.

mod documents;
mod form;
mod scan;

pub(crate) use scan::end_of_first as end_of_json;

use std::io::{self, Read};
use std::sync::Arc;

use documents::Found;
use scan::is_whole;

use super::piece::RecordSpan;
use super::{Form, LONGEST_RECORD, Piece, READ_BYTES, Trouble, TroubleKind};

/// What comes next out of a text.
type Next = Result<Piece, Trouble>;

/// Cuts one text into pieces. Their number is for the caller to fill in.
pub(super) struct Chunks<R> {
    file: Arc<str>,
    reader: R,
    /// Read and not yet handed out.
    rest: Vec<u8>,
    /// Where `rest` begins in the text.
    offset: u64,
    /// In which line `rest` begins.
    line: u64,
    ended: bool,
    failed: Option<io::Error>,
    form: Form,
    /// How far documents have been found.
    found: Found,
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
    /// A text that begins at this place of its file.
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
            found: Found::new(form == Form::Elements),
        }
    }

    /// Appends what can be read now; notes the end of the text, and takes an error for one.
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

    fn next_lines(&mut self) -> Option<Next> {
        let mut searched = 0;
        loop {
            if let Some(at) = memchr::memrchr(b'\n', &self.rest[searched..]) {
                return Some(Ok(self.cut(searched + at + 1, None, Form::Lines)));
            }
            if self.rest.len() > LONGEST_RECORD {
                return Some(Err(self.skip_line()));
            }
            if self.ended {
                // A file that cannot be read on ends anywhere. The last record counts if nothing of it is missing.
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

    /// Reads on to the end of a line that is too long, keeping nothing of it.
    fn skip_line(&mut self) -> Trouble {
        let (line, offset) = (self.line, self.offset);
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.rest) {
                let bytes = self.offset + end as u64 - offset;
                self.drop_first(end + 1);
                return self.too_long(line, offset, bytes);
            }
            // The memory of what is dropped is used again.
            self.offset += self.rest.len() as u64;
            self.rest.clear();
            if self.ended {
                return self.too_long(line, offset, self.offset - offset);
            }
            self.fill();
        }
    }

    /// Hands out the first `end` bytes of what was read.
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

    /// Takes out the first `end` bytes of what was read, and counts them.
    fn drop_first(&mut self, end: usize) -> Vec<u8> {
        let rest = self.rest.split_off(end);
        let bytes = std::mem::replace(&mut self.rest, rest);
        self.line += memchr::memchr_iter(b'\n', &bytes).count() as u64;
        self.offset += bytes.len() as u64;
        bytes
    }

    /// The text has ended, or cannot be read on: what is left to report.
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
    type Item = Next;

    fn next(&mut self) -> Option<Next> {
        if self.form == Form::Unknown {
            self.form = self.find_form();
        }
        match self.form {
            Form::Documents | Form::Elements => self.next_documents(),
            Form::Lines | Form::Unknown => self.next_lines(),
        }
    }
}
