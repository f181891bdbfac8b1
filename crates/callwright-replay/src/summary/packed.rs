//! A summary as bytes: JSON, compressed or not.

use std::io::{self, Read as _, Write as _};
use std::str;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::{Summary, VERSION};

/// How a gzip file begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The largest summary that is decompressed. They are bounded, and have a few megabytes; only a decompression bomb is
/// larger.
const MOST_UNPACKED: u64 = 512 * 1024 * 1024;

/// Why a summary cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryError {
    /// It is something else.
    #[error("not a replay summary: {0}; give files written by `--emit-summary`")]
    NotOne(serde_json::Error),
    /// It cannot be decompressed.
    #[error("cannot decompress the summary: {0}; write or copy the file again")]
    Unpacked(io::Error),
    /// It was written by this other version.
    #[error("written by another version ({0} instead of {VERSION}); create it again")]
    Version(u32),
}

impl Summary {
    /// Writes it as JSON.
    ///
    /// # Errors
    /// Fails if it cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Writes it as gzip-compressed JSON, which is a quarter of the size.
    ///
    /// # Errors
    /// Fails if it cannot be written as JSON.
    pub fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed
            .write_all(self.to_json()?.as_bytes())
            .and_then(|()| packed.finish())
            .map_err(serde_json::Error::io)
    }

    /// Reads the output of [`Summary::to_bytes`] or [`Summary::to_json`].
    ///
    /// # Errors
    /// Fails if it is something else, damaged, or from another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SummaryError> {
        let mut unpacked = Vec::new();
        let json = if bytes.starts_with(&GZIP) {
            GzDecoder::new(bytes)
                .take(MOST_UNPACKED)
                .read_to_end(&mut unpacked)
                .map_err(SummaryError::Unpacked)?;
            &unpacked
        } else {
            bytes
        };
        // As text, like a checkpoint: reading bytes would instantiate every derived reader a second time.
        let text = str::from_utf8(json).map_err(not_text)?;
        let summary: Summary = serde_json::from_str(text).map_err(SummaryError::NotOne)?;
        match summary.v {
            VERSION => Ok(summary),
            found => Err(SummaryError::Version(found)),
        }
    }
}

fn not_text(error: str::Utf8Error) -> SummaryError {
    let error = io::Error::new(io::ErrorKind::InvalidData, error);
    SummaryError::NotOne(serde_json::Error::io(error))
}
