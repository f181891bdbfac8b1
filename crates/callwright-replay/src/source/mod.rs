//! Turns files, folders, globs and standard input, compressed or not, into pieces of text with complete records.
//!
//! Takes paths as a user types them; yields [`Piece`]s in a fixed order, each with the position from which reading
//! can resume. The bytes decide what a file is, not its name: gzip, zstd, UTF-8 or UTF-16, one JSON document per line
//! or documents that span lines. Memory does not grow with the file. Anything unreadable is a [`Trouble`] and never
//! ends the run; only a path that does not exist does, before anything is read.

mod chunk;
mod encoding;
mod find;
mod gzip;
mod open;
mod piece;
mod pieces;
mod records;
mod zstd;

pub(crate) use chunk::end_of_json;
pub use find::{Input, STANDARD_INPUT, SourceError, find};
pub use piece::{Form, NotText, Piece, Position, Record, Records};
pub use pieces::{Pieces, Progress, Trouble, TroubleKind};
pub(crate) use records::RecordPieces;

/// The longest record that is read: the largest possible call, as escaped text inside JSON.
pub const LONGEST_RECORD: usize = 64 * 1024 * 1024;

/// How much is read at once. Large enough that handing pieces to threads costs little, small enough that a handful of
/// them fit into the CPU cache, and that the tools of all their calls, which stay compiled until a piece is done, fit
/// into memory.
const READ_BYTES: usize = 64 * 1024;
