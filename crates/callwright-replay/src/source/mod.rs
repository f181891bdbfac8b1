//! Files, folders, globs and standard input, compressed or not → pieces of text with whole records in them.
//!
//! In come the paths that somebody wrote, out go [`Piece`]s in a fixed order, each with the place from which its file can
//! be read on. What a file is, is told by its bytes and not by its name: gzip, zstd, UTF-8 or UTF-16, one JSON document
//! per line or documents over many lines. Memory does not grow with a file. What cannot be read is a [`Trouble`] and never
//! ends the run; only a path that names nothing does, before anything is read.

mod chunk;
mod encoding;
mod find;
mod gzip;
mod open;
mod piece;
mod pieces;
mod trouble;
mod zstd;

pub(crate) use chunk::end_of_json;
pub use find::{Input, STANDARD_INPUT, find};
pub use piece::{Form, NotText, Piece, Position, Record, Records};
pub use pieces::{Item, Pieces, Progress};
pub use trouble::{SourceError, Trouble};

/// The largest record that is taken: a call of the largest size, as text inside of JSON, escaped.
pub const LONGEST_RECORD: usize = 64 * 1024 * 1024;

/// How much is read at once. Large enough to make the hand-over between threads cheap, small enough for a handful of them
/// to fit into a processor's cache.
const READ_BYTES: usize = 192 * 1024;
