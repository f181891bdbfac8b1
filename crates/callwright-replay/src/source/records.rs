//! Gathers records provided by the caller into pieces.

use std::sync::Arc;

use super::piece::RecordSpan;
use super::{Form, LONGEST_RECORD, Piece, READ_BYTES, Trouble, TroubleKind};

/// Gathers records into pieces as large as those of a file. A record is named by its number, from 1.
#[derive(Debug)]
pub(crate) struct RecordPieces<I> {
    name: Arc<str>,
    records: I,
    /// How many records have been taken, and how many bytes they were.
    taken: u64,
    offset: u64,
    pieces: u64,
    /// An unreadable record, kept until the piece before it is handed out.
    trouble: Option<Trouble>,
}

impl<I> RecordPieces<I> {
    pub(crate) fn new(name: &str, records: I) -> Self {
        RecordPieces {
            name: Arc::from(name),
            records,
            taken: 0,
            offset: 0,
            pieces: 0,
            trouble: None,
        }
    }
}

impl<I: Iterator<Item: AsRef<[u8]>>> Iterator for RecordPieces<I> {
    type Item = Result<Piece, Trouble>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(trouble) = self.trouble.take() {
            return Some(Err(trouble));
        }
        let (first, offset) = (self.taken + 1, self.offset);
        let (mut bytes, mut spans) = (Vec::new(), Vec::new());
        while bytes.len() < READ_BYTES {
            let Some(record) = self.records.next() else {
                break;
            };
            let record = record.as_ref();
            self.taken += 1;
            self.offset += record.len() as u64;
            if record.len() > LONGEST_RECORD {
                self.trouble = Some(Trouble {
                    file: Arc::clone(&self.name),
                    line: self.taken,
                    offset: self.offset - record.len() as u64,
                    kind: TroubleKind::TooLong {
                        bytes: record.len() as u64,
                    },
                });
                break;
            }
            let start = bytes.len();
            bytes.extend_from_slice(record);
            spans.push(RecordSpan {
                start,
                end: bytes.len(),
                line: self.taken,
            });
        }
        if spans.is_empty() {
            return self.trouble.take().map(Err);
        }
        self.pieces += 1;
        Some(Ok(Piece {
            file: Arc::clone(&self.name),
            number: self.pieces - 1,
            first_line: first,
            offset,
            bytes,
            spans: Some(spans),
            next_line: self.taken + 1,
            next_form: Form::Documents,
        }))
    }
}
