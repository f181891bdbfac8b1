//! Events as JSON Lines, in the format that a replay reads.
//!
//! Lines are buffered and written together, at the latest when no event is waiting, so that a reader that follows the file sees
//! them at once. When a write fails, the lines that were not written in full are dropped and counted, and later ones are tried
//! again; a partly written line is ended first, so that it does not spoil the next.

use std::io::{self, ErrorKind, Write};
use std::sync::Arc;
use std::{fmt, mem};

use super::{Event, Sink, SinkError, Values};

/// How many bytes are buffered before they are written. Larger writes are not faster.
const COLLECTED: usize = 64 * 1024;

/// Writes one line of JSON for each event.
pub struct JsonLines<W> {
    writer: W,
    values: Values,
    with_output: bool,
    /// Complete lines, each with its line break.
    lines: String,
    /// The last line was written in part.
    torn: bool,
}

impl<W: Write + Send> JsonLines<W> {
    /// Writes to `writer`, with secrets masked and without results. The writer needs no buffer.
    pub fn new(writer: W) -> Self {
        JsonLines {
            writer,
            values: Values::default(),
            with_output: false,
            lines: String::new(),
            torn: false,
        }
    }

    /// Sets which values are shown.
    #[must_use]
    pub fn with_values(mut self, values: Values) -> Self {
        self.values = values;
        self
    }

    /// Sets whether results are written, if the event has one.
    #[must_use]
    pub fn with_output(mut self, with_output: bool) -> Self {
        self.with_output = with_output;
        self
    }

    fn write_lines(&mut self) -> Result<(), SinkError> {
        if self.lines.is_empty() {
            return Ok(());
        }
        // Taken out first, so that a writer that panics gets them only once.
        let mut lines = mem::take(&mut self.lines);
        let was_torn = mem::replace(&mut self.torn, true);
        if was_torn {
            lines.insert(0, '\n');
        }
        let (written, outcome) = write_all(&mut self.writer, lines.as_bytes());
        let (done, left) = lines.as_bytes().split_at(written);
        self.torn = done.last().map_or(was_torn, |last| *last != b'\n');
        // The line break that ends a torn line does not end one of these.
        let ends_torn = usize::from(was_torn && done.is_empty());
        let lost = left.split(|byte| *byte == b'\n').count() - 1 - ends_torn;
        lines.clear();
        lines.shrink_to(2 * COLLECTED);
        self.lines = lines;
        let lost = u64::try_from(lost).unwrap_or(u64::MAX);
        outcome.map_err(|error| SinkError::new(error).with_lost(lost))
    }
}

/// Writes as much as possible; returns how much that was.
fn write_all(writer: &mut impl Write, bytes: &[u8]) -> (usize, io::Result<()>) {
    let mut written = 0;
    while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
        match writer.write(rest) {
            Ok(0) => return (written, Err(ErrorKind::WriteZero.into())),
            // A writer may claim to have written more than it was given.
            Ok(more) => written += more.min(rest.len()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return (written, Err(error)),
        }
    }
    (written, Ok(()))
}

impl<W: Write + Send> Sink for JsonLines<W> {
    fn record(&mut self, event: &Arc<Event>) -> Result<(), SinkError> {
        let line = event.line().with_values(self.values);
        line.with_output(self.with_output).write(&mut self.lines);
        self.lines.push('\n');
        if self.lines.len() < COLLECTED {
            return Ok(());
        }
        self.write_lines()
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.write_lines()?;
        // How much the writer itself has buffered is unknown here.
        let flushed = self.writer.flush();
        flushed.map_err(|error| SinkError::new(error).with_lost(0))
    }
}

impl<W> fmt::Debug for JsonLines<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonLines")
            .field("values", &self.values)
            .field("with_output", &self.with_output)
            .finish_non_exhaustive()
    }
}
