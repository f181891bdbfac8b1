//! A summary as bytes: JSON, packed or not.

use std::io::{self, Read as _, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::{Summary, VERSION};

/// How a gzip file begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The largest summary that is unpacked. They are bounded, and have some megabytes; only a file that was made to unpack to
/// more than the memory holds is larger.
const MOST_UNPACKED: u64 = 512 * 1024 * 1024;

/// Why a summary cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryError {
    /// It is something else.
    #[error("not a summary of a replay: {0}; give files that `--emit-summary` wrote")]
    NotOne(serde_json::Error),
    /// It cannot be unpacked.
    #[error("the summary cannot be unpacked: {0}; write or copy the file again")]
    Unpacked(io::Error),
    /// Another version wrote it: this one.
    #[error("written by another version ({0} instead of {VERSION}); make it again")]
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

    /// Writes it as JSON packed with gzip, which is a quarter of the size.
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

    /// Reads what [`Summary::to_bytes`] or [`Summary::to_json`] wrote.
    ///
    /// # Errors
    /// Fails if it is something else, damaged, or of another version.
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
        let summary: Summary = serde_json::from_slice(json).map_err(SummaryError::NotOne)?;
        match summary.v {
            VERSION => Ok(summary),
            found => Err(SummaryError::Version(found)),
        }
    }
}
