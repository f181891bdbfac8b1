//! What can go wrong before and while files are read.

use std::sync::Arc;

/// A path that cannot be used. Nothing has been read then.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Nothing is there.
    #[error(
        "{path}: no such file or folder; give files, folders, patterns such as 'logs/*.jsonl', or - for standard input"
    )]
    NotFound {
        /// What was given.
        path: String,
    },
    /// A pattern that nothing matches.
    #[error("{pattern}: no file matches this pattern")]
    NothingMatches {
        /// What was given.
        pattern: String,
    },
    /// A pattern with a mistake in it.
    #[error("{pattern}: not a pattern: {why}")]
    BadPattern {
        /// What was given.
        pattern: String,
        /// What is wrong with it.
        why: String,
    },
    /// A folder without logs.
    #[error(
        "{path}: no log in this folder; files are taken that end in .jsonl, .ndjson, .json, .log or .txt, also with .gz or .zst behind it. Name others one by one"
    )]
    EmptyFolder {
        /// The folder.
        path: String,
    },
    /// Something that may not be read.
    #[error("{path}: cannot be read: {why}")]
    Unreadable {
        /// What was given.
        path: String,
        /// What the system says.
        why: std::io::Error,
    },
    /// Standard input named twice.
    #[error("standard input (-) is given twice; it can be read once")]
    StandardInputTwice,
    /// A run that cannot be resumed.
    #[error(
        "{file}: the run stopped in this file, and it is not among the files given now; give the same ones, or start anew"
    )]
    NotTheSameFiles {
        /// Where it stopped.
        file: String,
    },
}

/// Something in a file that could not be read. The run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The file.
    pub file: Arc<str>,
    /// In which line it is.
    pub line: u64,
    /// How many bytes of the file, after decompression, come before it.
    pub offset: u64,
    /// What is wrong, in a sentence that is the same for the same reason.
    pub what: String,
}
