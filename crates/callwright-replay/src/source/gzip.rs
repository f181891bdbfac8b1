//! Reads gzip, also with several members, as appending to a log produces them.

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;

/// How much is requested at once, which is the decoder's window. If the data are damaged, the last request is lost.
const STEP: usize = 32 * 1024;

/// Reads gzip-compressed data.
pub(super) struct Gzip<R: Read> {
    decoder: MultiGzDecoder<R>,
    failed: Option<io::Error>,
}

impl<R: Read> Gzip<R> {
    pub(super) fn new(reader: R) -> Self {
        Gzip {
            decoder: MultiGzDecoder::new(reader),
            failed: None,
        }
    }
}

impl<R: Read> Read for Gzip<R> {
    /// Fills the buffer; reports an error after everything before it has been handed out.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let mut filled = 0;
        while filled < buffer.len() {
            let end = buffer.len().min(filled + STEP);
            match self.decoder.read(&mut buffer[filled..end]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let error = explain(&error);
                    if filled == 0 {
                        return Err(error);
                    }
                    self.failed = Some(error);
                    break;
                }
            }
        }
        Ok(filled)
    }
}

/// Explains what the error means for the file.
fn explain(error: &io::Error) -> io::Error {
    let what = match error.kind() {
        io::ErrorKind::UnexpectedEof => "the gzip data are truncated".to_owned(),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            format!("the gzip data are damaged ({error})")
        }
        _ => error.to_string(),
    };
    io::Error::new(error.kind(), what)
}
