//! Inputs one after the other → their pieces and troubles.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::chunk::{Chunk, Chunks};
use super::open::{self, Text};
use super::{Form, Input, Piece, Position, SourceError, Trouble};

/// What comes next out of the inputs.
#[derive(Debug)]
pub enum Item {
    /// Some records.
    Piece(Piece),
    /// Something that could not be read.
    Trouble(Trouble),
}

/// How far reading has come. Another thread may look at it at any time.
#[derive(Debug, Default)]
pub struct Progress {
    read: Arc<AtomicU64>,
    files: AtomicU64,
    text: AtomicU64,
    total: Option<u64>,
    total_files: u64,
}

impl Progress {
    /// How many bytes have been read, as they are on disk.
    pub fn bytes(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// How many bytes there are on disk; `None` if one of the inputs has no size, as standard input.
    pub fn total_bytes(&self) -> Option<u64> {
        self.total
    }

    /// How many files have been opened.
    pub fn files(&self) -> u64 {
        self.files.load(Ordering::Relaxed)
    }

    /// How many files there are.
    pub fn total_files(&self) -> u64 {
        self.total_files
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
    current: Option<Current>,
    start: Option<Position>,
    progress: Arc<Progress>,
    number: u64,
}

#[derive(Debug)]
struct Current {
    file: Arc<str>,
    chunks: Chunks<Text>,
}

impl Pieces {
    /// All of these inputs.
    pub fn new(inputs: Vec<Input>) -> Self {
        let progress = Progress {
            total: inputs.iter().map(|input| input.bytes).sum(),
            total_files: inputs.len() as u64,
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

    /// The rest of these inputs, from a position on that [`Piece::end`] gave. Files before it count as read.
    ///
    /// # Errors
    /// Fails if the file of the position is not among the inputs.
    pub fn resume(inputs: Vec<Input>, from: Position) -> Result<Self, SourceError> {
        let mut pieces = Pieces::new(inputs);
        let mut left = pieces.left.iter();
        let Some(before) = left.position(|input| *input.name == *from.file) else {
            return Err(SourceError::NotTheSameFiles { file: from.file });
        };
        for done in pieces.left.drain(..before) {
            let bytes = done.bytes.unwrap_or(0);
            pieces.progress.read.fetch_add(bytes, Ordering::Relaxed);
            pieces.progress.files.fetch_add(1, Ordering::Relaxed);
        }
        pieces.start = Some(from);
        Ok(pieces)
    }

    /// The pieces of one reader, under this name: for text that comes from somewhere else.
    ///
    /// # Errors
    /// Fails if the beginning cannot be read.
    pub fn of_reader(name: &str, reader: impl Read + Send + 'static) -> std::io::Result<Self> {
        let mut pieces = Pieces::new(Vec::new());
        let text = open::text(reader, 0, &pieces.progress.read)?;
        pieces.progress.files.fetch_add(1, Ordering::Relaxed);
        pieces.current = Some(Current {
            file: Arc::from(name),
            chunks: Chunks::new(text),
        });
        Ok(pieces)
    }

    /// How far reading has come.
    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    fn open(&mut self, input: &Input) -> Result<(), Trouble> {
        let start = self.start.take();
        let (offset, line, form) = start.map_or((0, 1, Form::Unknown), |start| {
            (start.offset, start.line, start.form)
        });
        self.progress.files.fetch_add(1, Ordering::Relaxed);
        let text = open::open(input, offset, &self.progress.read).map_err(|error| Trouble {
            file: Arc::clone(&input.name),
            line,
            offset,
            what: format!("the file cannot be read: {error}"),
        })?;
        self.current = Some(Current {
            file: Arc::clone(&input.name),
            chunks: Chunks::resume(text, offset, line, form),
        });
        Ok(())
    }
}

impl Iterator for Pieces {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(current) = &mut self.current {
                match current.chunks.next() {
                    Some(Chunk::Records(mut piece)) => {
                        piece.file = Arc::clone(&current.file);
                        piece.number = self.number;
                        self.number += 1;
                        let bytes = piece.bytes.len() as u64;
                        self.progress.text.fetch_add(bytes, Ordering::Relaxed);
                        return Some(Item::Piece(piece));
                    }
                    Some(Chunk::Trouble { line, offset, what }) => {
                        let file = Arc::clone(&current.file);
                        return Some(Item::Trouble(Trouble {
                            file,
                            line,
                            offset,
                            what,
                        }));
                    }
                    None => self.current = None,
                }
            }
            let input = self.left.pop_front()?;
            if let Err(trouble) = self.open(&input) {
                return Some(Item::Trouble(trouble));
            }
        }
    }
}
