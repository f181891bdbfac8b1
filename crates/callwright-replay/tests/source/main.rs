//! Reads files and readers into records: nothing is torn, nothing is lost, and what cannot be read is reported.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

mod compressed;
mod files;
mod forms;

use std::io::{self, Read};

use callwright_replay::source::Pieces;

/// What was read: records and troubles, each with its line.
#[derive(Debug, Default, PartialEq)]
struct Found {
    records: Vec<(u64, String)>,
    troubles: Vec<(u64, String)>,
}

fn collect(pieces: Pieces) -> Found {
    let mut found = Found::default();
    for item in pieces {
        match item {
            Ok(piece) => {
                for record in piece.records() {
                    match record.text {
                        Ok(text) => found.records.push((record.line, text.to_owned())),
                        Err(error) => found.troubles.push((record.line, error.to_string())),
                    }
                }
            }
            Err(trouble) => found
                .troubles
                .push((trouble.line, trouble.kind.to_string())),
        }
    }
    found
}

fn read(bytes: impl Into<Vec<u8>>) -> Found {
    let reader = io::Cursor::new(bytes.into());
    collect(Pieces::of_reader("log", reader).expect("readable"))
}

fn texts(found: &Found) -> Vec<&str> {
    found
        .records
        .iter()
        .map(|(_, text)| text.as_str())
        .collect()
}

/// A reader that returns the given numbers of bytes at a time.
struct Dribble {
    bytes: Vec<u8>,
    at: usize,
    sizes: Vec<usize>,
    turn: usize,
}

impl Dribble {
    fn new(bytes: impl Into<Vec<u8>>, sizes: &[usize]) -> Self {
        Dribble {
            bytes: bytes.into(),
            at: 0,
            sizes: sizes.to_vec(),
            turn: 0,
        }
    }
}

impl Read for Dribble {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.sizes[self.turn % self.sizes.len()];
        self.turn += 1;
        let count = size.min(buffer.len()).min(self.bytes.len() - self.at);
        buffer[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}
