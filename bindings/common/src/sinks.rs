//! Events for other languages: one line of JSON each.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use callwright::event::{Event, JsonLines, Values};

/// Appends to a file of JSON Lines.
#[derive(Debug, Clone, Copy)]
pub struct JsonLinesFile {
    /// Which values are shown.
    pub values: Values,
    /// Whether results are written.
    pub with_output: bool,
}

impl JsonLinesFile {
    /// Opens or creates the file.
    ///
    /// # Errors
    /// Fails if the file cannot be opened.
    pub fn open(self, path: &Path) -> io::Result<JsonLines<File>> {
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        Ok(JsonLines::new(file)
            .with_values(self.values)
            .with_output(self.with_output))
    }
}

/// An event as a line of JSON, without a line break.
pub fn event_text(event: &Event, values: Values, with_output: bool) -> String {
    let mut line = String::new();
    event
        .line()
        .with_values(values)
        .with_output(with_output)
        .write(&mut line);
    line
}
