//! Reads inputs one after another; yields their pieces, and what could not be read.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::chunk::Chunks;
use super::open::{self, TextReader};
use super::{Form, Input, LONGEST_RECORD, Piece, Position, SourceError};

/// Something in a file that could not be read. The run continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The file.
    pub file: Arc<str>,
    /// The line.
    pub line: u64,
    /// How many bytes of the file, after decompression, come before it.
    pub offset: u64,
    /// What is wrong.
    pub kind: TroubleKind,
}

/// What is wrong with a file or a record, in a sentence that is the same for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TroubleKind {
    /// The file cannot be opened, or is not a log.
    #[error("the file cannot be read: {0}")]
    NotOpened(String),
    /// Reading failed in the middle of the file.
    #[error("reading the file failed: {error}; everything before that was read{}", if *.torn { ", except for the record that was cut" } else { "" })]
    ReadFailed {
        /// What the system or the decoder says.
        error: String,
        /// Whether a record was lost.
        torn: bool,
    },
    /// A record is longer than [`LONGEST_RECORD`].
    #[error("the record is longer than the limit of {} MB, and was skipped", LONGEST_RECORD / 1024 / 1024)]
    TooLong {
        /// How many bytes it has.
        bytes: u64,
    },
}

/// How far reading has come. Other threads may look at it at any time.
#[derive(Debug, Default)]
pub struct Progress {
    read: Arc<AtomicU64>,
    files: AtomicU64,
    text: AtomicU64,
    total: Option<u64>,
}

impl Progress {
    /// How many bytes have been read, as stored on disk.
    pub fn bytes(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// How many bytes there are on disk; `None` if one of the inputs has no size, such as standard input.
    pub fn total_bytes(&self) -> Option<u64> {
        self.total
    }

    /// How many files have been opened.
    pub fn files(&self) -> u64 {
        self.files.load(Ordering::Relaxed)
    }

    /// How many bytes of text have been handed out, after decompression.
    pub fn text_bytes(&self) -> u64 {
        self.text.load(Ordering::Relaxed)
    }
}

/// The pieces of all inputs, in order. The same inputs always give the same records; where a piece ends may differ.
#[derive(Debug)]
pub struct Pieces {
    left: VecDeque<Input>,
    current: Option<Chunks<TextReader>>,
    start: Option<Position>,
    progress: Arc<Progress>,
    number: u64,
}

impl Pieces {
    /// All of these inputs.
    pub fn new(inputs: Vec<Input>) -> Self {
        let progress = Progress {
            total: inputs.iter().map(|input| input.bytes).sum(),
            ..Progress::default()
        };
        Pieces {
            left: inputs.into(),
            current: None,
            start: None,
            progress: Arc::new(progress),
            number: 0,
        }
    }

    /// The rest of these inputs, from a position returned by [`Piece::end`]. Files before it count as read.
    ///
    /// # Errors
    /// Fails if the file of the position is not among the inputs.
    pub fn resume(inputs: Vec<Input>, from: Position) -> Result<Self, SourceError> {
        let mut pieces = Pieces::new(inputs);
        let mut left = pieces.left.iter();
        let Some(before) = left.position(|input| *input.name == *from.file) else {
            return Err(SourceError::NotTheSameFiles(from.file));
        };
        for done in pieces.left.drain(..before) {
            let bytes = done.bytes.unwrap_or(0);
            pieces.progress.read.fetch_add(bytes, Ordering::Relaxed);
            pieces.progress.files.fetch_add(1, Ordering::Relaxed);
        }
        pieces.start = Some(from);
        Ok(pieces)
    }

    /// The pieces of one reader, under this name: for text from another source.
    ///
    /// # Errors
    /// Fails if the beginning cannot be read.
    pub fn of_reader(name: &str, reader: impl Read + Send + 'static) -> std::io::Result<Self> {
        let mut pieces = Pieces::new(Vec::new());
        let text = open::text(reader, 0, &pieces.progress.read)?;
        pieces.progress.files.fetch_add(1, Ordering::Relaxed);
        pieces.current = Some(Chunks::new(Arc::from(name), text, 0, 1, Form::Unknown));
        Ok(pieces)
    }

    /// How far reading has come.
    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    fn open(&mut self, input: &Input) -> Result<(), Trouble> {
        let (offset, line, form) = match self.start.take() {
            Some(start) => (start.offset, start.line, start.form),
            None => (0, 1, Form::Unknown),
        };
        self.progress.files.fetch_add(1, Ordering::Relaxed);
        let file = Arc::clone(&input.name);
        match open::open(input, offset, &self.progress.read) {
            Ok(text) => {
                self.current = Some(Chunks::new(file, text, offset, line, form));
                Ok(())
            }
            Err(error) => Err(Trouble {
                file,
                line,
                offset,
                kind: TroubleKind::NotOpened(error.to_string()),
            }),
        }
    }
}

impl Iterator for Pieces {
    type Item = Result<Piece, Trouble>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(next) = self.current.as_mut().and_then(Iterator::next) {
                return Some(next.map(|mut piece| {
                    piece.number = self.number;
                    self.number += 1;
                    let bytes = piece.bytes.len() as u64;
                    self.progress.text.fetch_add(bytes, Ordering::Relaxed);
                    piece
                }));
            }
            self.current = None;
            let input = self.left.pop_front()?;
            if let Err(trouble) = self.open(&input) {
                return Some(Err(trouble));
            }
        }
    }
}
