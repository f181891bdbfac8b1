//! `--record`: writes calls and tool lists as JSON Lines that `callwright replay` reads without any other file.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use callwright::event::{JsonLines, Sink, Values};
use clap::Args;
use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_128;

use crate::args::named;
use crate::input::shown;
use crate::mcp::tell;

/// The options for the file.
#[derive(Debug, Args)]
pub(crate) struct RecordOptions {
    /// Append a record of every call to this file, as JSON Lines
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Which values to record
    ///
    /// `masked` leaves out values that a schema marks as secret, and values that look like a password, a key or a token.
    #[arg(
        long,
        value_name = "VALUES",
        default_value = "masked",
        value_parser = named(&Values::ALL),
        requires = "record"
    )]
    record_values: Values,
}

impl RecordOptions {
    /// Opens the file, if one is given.
    pub(crate) fn open(&self) -> Result<Option<(impl Sink + use<>, ToolsListed)>> {
        let record = self.record.as_deref();
        record
            .map(|path| open(path, self.record_values))
            .transpose()
    }
}

/// How many tool lists are remembered, by their hashes. Beyond that, a list may be recorded twice.
const MOST_LISTS: usize = 10_000;

/// The file, to which calls and tool lists are written one line at a time.
#[derive(Clone)]
struct RecordFile(Arc<Mutex<File>>);

impl Write for RecordFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Receives each tool list that is seen, as JSON.
pub(crate) type ToolsListed = Box<dyn Fn(&str) + Send + Sync>;

/// Records calls, their results and the tools in a file that only its owner can read.
fn open(path: &Path, values: Values) -> Result<(impl Sink + use<>, ToolsListed)> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).with_context(|| {
        let path = shown(path);
        format!("cannot write records to {path}; check the path and its permissions")
    })?;
    let record = RecordFile(Arc::new(Mutex::new(file)));
    let lines = JsonLines::new(record.clone())
        .with_values(values)
        .with_output(true);
    let written = Mutex::new(HashSet::new());
    let tools_listed = move |tools: &str| {
        if !is_new(&written, xxh3_128(tools.as_bytes())) {
            return;
        }
        // Written like an MCP server's response, which replay understands.
        let line =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":\"tools\",\"result\":{{\"tools\":{tools}}}}}\n");
        if let Err(error) = record.clone().write_all(line.as_bytes()) {
            tell("warning", &format!("cannot record the tools: {error}"));
        }
    };
    Ok((lines, Box::new(tools_listed)))
}

/// Whether a list has not been recorded yet. The lock is not held while the list is written.
fn is_new(written: &Mutex<HashSet<u128>>, list: u128) -> bool {
    let mut written = written.lock();
    if written.len() < MOST_LISTS {
        written.insert(list)
    } else {
        !written.contains(&list)
    }
}
