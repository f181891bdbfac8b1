//! Reads zstd, also with several frames and skippable frames between them.
//!
//! The decoder holds back as much as later data may refer to. If the data end too early, it gets an empty last block
//! instead of the missing ones, so that it hands out what it has.

use std::io::{self, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// A raw block without content, the last of its frame, and room for a checksum.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Reads zstd-compressed data.
pub(super) struct Zstd<R> {
    reader: R,
    decoder: FrameDecoder,
    /// Whether a frame is being read.
    inside: bool,
    failed: Option<io::Error>,
    ended: bool,
}

impl<R: Read> Zstd<R> {
    pub(super) fn new(reader: R) -> Self {
        Zstd {
            reader,
            decoder: FrameDecoder::new(),
            inside: false,
            failed: None,
            ended: false,
        }
    }

    /// Begins the next frame, or records that there is none.
    fn next_frame(&mut self) -> io::Result<()> {
        let mut first = [0];
        loop {
            match self.reader.read(&mut first) {
                Ok(0) => {
                    self.ended = true;
                    return Ok(());
                }
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        match self.decoder.reset((&first[..]).chain(&mut self.reader)) {
            Ok(()) => {
                self.inside = true;
                Ok(())
            }
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let length = u64::from(length);
                let skipped = io::copy(&mut (&mut self.reader).take(length), &mut io::sink())?;
                if skipped < length {
                    return Err(cut_off());
                }
                Ok(())
            }
            Err(error) => Err(explain(&error)),
        }
    }

    /// Decodes some blocks; on an error, makes the decoder hand out what it holds.
    fn decode(&mut self) {
        let some = BlockDecodingStrategy::UptoBytes(super::READ_BYTES);
        if let Err(error) = self.decoder.decode_blocks(&mut self.reader, some) {
            self.failed = Some(explain(&error));
            // If this fails too, the rest of the frame is lost, as the first error says.
            let _ = self
                .decoder
                .decode_blocks(&LAST_BLOCK[..], BlockDecodingStrategy::UptoBlocks(1));
        }
    }
}

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.inside && self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if let Some(error) = self.failed.take() {
                self.ended = true;
                return Err(error);
            }
            if self.ended {
                return Ok(0);
            }
            if self.inside && !self.decoder.is_finished() {
                self.decode();
                continue;
            }
            self.inside = false;
            if let Err(error) = self.next_frame() {
                self.ended = true;
                return Err(error);
            }
        }
    }
}

/// Explains what the error means for the file.
fn explain(error: &FrameDecoderError) -> io::Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(inner) = cause {
        if let Some(inner) = inner.downcast_ref::<io::Error>() {
            return match inner.kind() {
                io::ErrorKind::UnexpectedEof => cut_off(),
                kind => io::Error::new(kind, inner.to_string()),
            };
        }
        cause = inner.source();
    }
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the zstd data are damaged ({error})"),
    )
}

fn cut_off() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the zstd data are truncated")
}
