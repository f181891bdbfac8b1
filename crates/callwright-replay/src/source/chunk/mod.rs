//! Text → pieces with whole records in them, in bounded memory.
//!
//! How records stand is told by the beginning of the text: [`form`]. Then either lines are cut off ([`lines`]) or
//! documents are found by their brackets ([`documents`]). A piece is handed on as soon as a whole record is there. No
//! record is torn; one that is longer than the bound is skipped and reported, never collected.

mod documents;
mod form;
mod lines;
mod scan;

pub(crate) use scan::end_of_first as end_of_json;

use std::io::{self, Read};
use std::sync::Arc;

use documents::Found;

use super::piece::Span;
use super::{Form, LONGEST_RECORD, Piece, READ_BYTES};

/// What comes next out of a text.
#[derive(Debug)]
pub(super) enum Chunk {
    /// Some records. The file and the number are the caller's to fill in.
    Records(Piece),
    /// Something that could not be read.
    Trouble {
        line: u64,
        offset: u64,
        what: String,
    },
}

/// Cuts one text into chunks.
pub(super) struct Chunks<R> {
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
    pub(super) fn new(reader: R) -> Self {
        Chunks::resume(reader, 0, 1, Form::Unknown)
    }

    /// Goes on in the middle of a text.
    pub(super) fn resume(reader: R, offset: u64, line: u64, form: Form) -> Self {
        Chunks {
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

    /// Appends what can be read now; notes the end of the text, and an error as one.
    fn fill(&mut self) {
        let before = self.rest.len();
        self.rest.resize(before + READ_BYTES, 0);
        let read = loop {
            match self.reader.read(&mut self.rest[before..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let count = match read {
            Ok(count) => count,
            Err(error) => {
                self.failed = Some(error);
                0
            }
        };
        self.rest.truncate(before + count);
        self.ended = count == 0;
    }

    /// Hands out the first `end` bytes of what was read.
    fn cut(&mut self, end: usize, spans: Option<Vec<Span>>, next_form: Form) -> Chunk {
        let rest = self.rest.split_off(end);
        let bytes = std::mem::replace(&mut self.rest, rest);
        let (first_line, offset) = (self.line, self.offset);
        self.pass(&bytes);
        Chunk::Records(Piece {
            file: Arc::from(""),
            number: 0,
            first_line,
            offset,
            bytes,
            spans,
            next_line: self.line,
            next_form,
        })
    }

    /// Counts bytes that are not looked at again.
    fn pass(&mut self, bytes: &[u8]) {
        self.line += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.offset += bytes.len() as u64;
    }

    /// Leaves out the first `end` bytes of what was read.
    fn drop_first(&mut self, end: usize) {
        let rest = self.rest.split_off(end);
        let dropped = std::mem::replace(&mut self.rest, rest);
        self.pass(&dropped);
    }

    /// The text has ended, or cannot be read on: what is left at its end.
    fn last(&mut self) -> Option<Chunk> {
        let error = self.failed.take()?;
        let torn = if self.rest.trim_ascii().is_empty() {
            "all before it was read"
        } else {
            "all before it was read, but for the record that it tears"
        };
        let (line, offset) = (self.line, self.offset);
        self.drop_first(self.rest.len());
        Some(Chunk::Trouble {
            line,
            offset,
            what: format!("the file cannot be read on: {error}; {torn}"),
        })
    }

    fn too_long(line: u64, offset: u64) -> Chunk {
        Chunk::Trouble {
            line,
            offset,
            what: format!(
                "the record is longer than the {} MB that are read, and was skipped",
                LONGEST_RECORD / 1024 / 1024
            ),
        }
    }
}

impl<R: Read> Iterator for Chunks<R> {
    type Item = Chunk;

    fn next(&mut self) -> Option<Chunk> {
        if self.form == Form::Unknown {
            self.form = self.find_form();
        }
        match self.form {
            Form::Documents | Form::Elements => self.next_documents(),
            Form::Lines | Form::Unknown => self.next_lines(),
        }
    }
}
