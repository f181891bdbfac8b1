//! Opens an input and returns its text, decompressed and decoded.
//!
//! The first bytes decide. A file that is not a log at all (Parquet, an archive) is refused, with what to do instead.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Input;
use super::encoding::{self, Encoding, Utf16};
use super::gzip::Gzip;
use super::zstd::Zstd;

/// The text of an input, in UTF-8 as far as it is text.
pub(super) type TextReader = Box<dyn Read + Send>;

/// How many bytes are needed to decide what a file is.
const NEEDED: usize = 6;

const GZIP: &[u8] = &[0x1F, 0x8B];
const ZSTD: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];

/// Files that are not logs, by their first bytes, with what to do instead.
const NOT_A_LOG: [(&[u8], &str); 5] = [
    (
        b"PAR1",
        "a Parquet file, which cannot be read directly; convert it with `duckdb -c \"COPY (FROM 'x.parquet') TO 'x.jsonl'\"`",
    ),
    (b"PK\x03\x04", "a zip archive; unpack it first"),
    (
        b"BZh",
        "compressed with bzip2; decompress it first, or pipe it in with `bzip2 -dc FILE | callwright replay … -`",
    ),
    (
        b"\xFD7zXZ\0",
        "compressed with xz; decompress it first, or pipe it in with `xz -dc FILE | callwright replay … -`",
    ),
    (
        b"SQLite",
        "an SQLite database; export its rows as JSON Lines first",
    ),
];

/// Opens an input, skipping this many bytes of its text.
pub(super) fn open(input: &Input, skip: u64, counter: &Arc<AtomicU64>) -> io::Result<TextReader> {
    match &input.path {
        Some(path) => {
            let mut file = File::open(path)?;
            let head = head(&mut file, NEEDED)?;
            if skip > 0 && packed(&head)?.is_none() {
                let (encoding, mark) = encoding::detect(&head);
                let place = skip.saturating_add(mark as u64);
                if encoding == Encoding::Utf8 && file.seek(SeekFrom::Start(place)).is_ok() {
                    counter.fetch_add(place, Ordering::Relaxed);
                    return Ok(Box::new(CountingReader::new(file, counter)));
                }
            }
            unpack(head, file, skip, counter)
        }
        None => text(io::stdin(), skip, counter),
    }
}

/// The text of a reader, skipping this many bytes.
pub(super) fn text(
    mut reader: impl Read + Send + 'static,
    skip: u64,
    counter: &Arc<AtomicU64>,
) -> io::Result<TextReader> {
    let head = head(&mut reader, NEEDED)?;
    unpack(head, reader, skip, counter)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Gzip,
    Zstd,
}

fn packed(head: &[u8]) -> io::Result<Option<Packing>> {
    if let Some((_, what)) = NOT_A_LOG.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, *what));
    }
    // In the first byte of a skippable frame, the last four bits are free.
    let is_skippable = matches!(head, [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..]);
    Ok(if head.starts_with(GZIP) {
        Some(Packing::Gzip)
    } else if head.starts_with(ZSTD) || is_skippable {
        Some(Packing::Zstd)
    } else {
        None
    })
}

fn unpack(
    head: Vec<u8>,
    reader: impl Read + Send + 'static,
    skip: u64,
    counter: &Arc<AtomicU64>,
) -> io::Result<TextReader> {
    let packing = packed(&head)?;
    let whole = CountingReader::new(Cursor::new(head).chain(reader), counter);
    let mut text = match packing {
        None => decoded(whole)?,
        Some(Packing::Gzip) => decoded(Gzip::new(whole))?,
        Some(Packing::Zstd) => decoded(Zstd::new(whole))?,
    };
    if skip > 0 {
        io::copy(&mut (&mut text).take(skip), &mut io::sink())?;
    }
    Ok(text)
}

/// The text of decompressed bytes.
fn decoded(mut reader: impl Read + Send + 'static) -> io::Result<TextReader> {
    let mut head = head(&mut reader, encoding::NEEDED)?;
    let (encoding, mark) = encoding::detect(&head);
    head.drain(..mark);
    let whole = Cursor::new(head).chain(reader);
    Ok(match encoding {
        Encoding::Utf8 => Box::new(whole),
        Encoding::Utf16Little => Box::new(Utf16::new(whole, false)),
        Encoding::Utf16Big => Box::new(Utf16::new(whole, true)),
    })
}

/// The first bytes of a reader, fewer if it ends earlier.
fn head(reader: &mut impl Read, bytes: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(bytes);
    reader.take(bytes as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Counts the bytes read.
struct CountingReader<R> {
    reader: R,
    counter: Arc<AtomicU64>,
}

impl<R> CountingReader<R> {
    fn new(reader: R, counter: &Arc<AtomicU64>) -> Self {
        CountingReader {
            reader,
            counter: Arc::clone(counter),
        }
    }
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.counter.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
