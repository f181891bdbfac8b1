//! A piece of a file: complete records, cheap to hand to another thread.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The layout of a file's records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Not yet known.
    #[default]
    Unknown,
    /// One per line.
    Lines,
    /// Concatenated JSON documents, each over several lines.
    Documents,
    /// The elements of one array.
    Elements,
}

/// A position from which reading can be resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The name of the file.
    pub file: String,
    /// How many bytes of its text come before: decompressed, in UTF-8, without a byte order mark.
    pub offset: u64,
    /// The number of the line it is in.
    pub line: u64,
    /// How its records are laid out.
    pub form: Form,
}

/// The span of a record in a [`Piece`], if records are not lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) line: u64,
}

/// Some complete records of a file.
#[derive(Debug)]
pub struct Piece {
    /// The name of the file.
    pub file: Arc<str>,
    /// Pieces are numbered from 0 in the order in which they are read, over all files.
    pub number: u64,
    pub(super) first_line: u64,
    pub(super) offset: u64,
    /// The text as in the file.
    pub bytes: Vec<u8>,
    /// `None` if every line is a record.
    pub(super) spans: Option<Vec<RecordSpan>>,
    pub(super) next_line: u64,
    pub(super) next_form: Form,
}

impl Piece {
    /// The position after this piece.
    pub fn end(&self) -> Position {
        Position {
            file: self.file.as_ref().to_owned(),
            offset: self.offset + self.bytes.len() as u64,
            line: self.next_line,
            form: self.next_form,
        }
    }

    /// Its records. Blank lines are not records.
    pub fn records(&self) -> Records<'_> {
        Records {
            text: std::str::from_utf8(&self.bytes).ok(),
            bytes: &self.bytes,
            at: 0,
            line: self.first_line,
            spans: self.spans.as_deref(),
        }
    }
}

/// A record: one line, or one JSON document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'p> {
    /// The number of the line in which it begins, from 1.
    pub line: u64,
    /// Its text, without surrounding white space.
    pub text: Result<&'p str, NotText>,
}

/// A record that is not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not UTF-8 text; write the log in UTF-8, or in UTF-16 with a byte order mark")]
pub struct NotText {
    /// How many of its bytes are valid.
    pub valid_up_to: usize,
}

/// The records of a [`Piece`].
#[derive(Debug)]
pub struct Records<'p> {
    /// The whole piece, if all of it is UTF-8: then no line is checked twice.
    text: Option<&'p str>,
    bytes: &'p [u8],
    at: usize,
    line: u64,
    spans: Option<&'p [RecordSpan]>,
}

impl<'p> Records<'p> {
    /// The text of a record, which may be empty.
    fn text(&self, start: usize, end: usize) -> Result<&'p str, NotText> {
        let text = match self.text.and_then(|text| text.get(start..end)) {
            Some(text) => text,
            None => std::str::from_utf8(&self.bytes[start..end]).map_err(|error| NotText {
                valid_up_to: error.valid_up_to(),
            })?,
        };
        // Concatenated files have byte order marks in the middle.
        Ok(text.trim_start_matches('\u{feff}').trim_ascii())
    }
}

impl<'p> Iterator for Records<'p> {
    type Item = Record<'p>;

    fn next(&mut self) -> Option<Record<'p>> {
        loop {
            let (start, end, line) = if let Some(spans) = self.spans {
                let (span, rest) = spans.split_first()?;
                self.spans = Some(rest);
                (span.start, span.end, span.line)
            } else {
                let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
                let end = memchr::memchr(b'\n', rest).map_or(self.bytes.len(), |at| self.at + at);
                let (start, line) = (self.at, self.line);
                (self.at, self.line) = (end + 1, line + 1);
                (start, end, line)
            };
            let text = self.text(start, end);
            if text != Ok("") {
                return Some(Record { line, text });
            }
        }
    }
}
