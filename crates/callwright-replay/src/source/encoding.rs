//! Converts bytes in any known encoding to UTF-8.
//!
//! UTF-8 passes unchanged, without its byte order mark. UTF-16, which some shells write when output is redirected, is
//! decoded. Half a surrogate pair becomes bytes that are not UTF-8, so that its line is reported and nothing is
//! replaced.

use std::io::{self, Read};

/// How a file's text is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// UTF-8, or anything else, which is passed on unchanged.
    Utf8,
    /// UTF-16, the low byte first.
    Utf16Little,
    /// UTF-16, the high byte first.
    Utf16Big,
}

/// How many bytes are needed to decide.
pub(super) const NEEDED: usize = 3;

/// The encoding according to the first bytes of a file, and how many of them are its byte order mark. Without one, a
/// bracket next to a zero byte indicates UTF-16.
pub(super) fn detect(head: &[u8]) -> (Encoding, usize) {
    match head {
        [0xEF, 0xBB, 0xBF, ..] => (Encoding::Utf8, 3),
        [0xFF, 0xFE, ..] => (Encoding::Utf16Little, 2),
        [0xFE, 0xFF, ..] => (Encoding::Utf16Big, 2),
        [b'{' | b'[', 0, ..] => (Encoding::Utf16Little, 0),
        [0, b'{' | b'[', ..] => (Encoding::Utf16Big, 0),
        _ => (Encoding::Utf8, 0),
    }
}

/// Reads UTF-16 as UTF-8.
pub(super) struct Utf16<R> {
    reader: R,
    big: bool,
    raw: Vec<u8>,
    /// Decoded but not handed out yet, from `at` on.
    ready: Vec<u8>,
    at: usize,
    ended: bool,
}

/// How much is decoded at once.
const STEP: usize = 64 * 1024;

impl<R: Read> Utf16<R> {
    pub(super) fn new(reader: R, big: bool) -> Self {
        Utf16 {
            reader,
            big,
            raw: Vec::new(),
            ready: Vec::new(),
            at: 0,
            ended: false,
        }
    }

    fn step(&mut self) -> io::Result<()> {
        let before = self.raw.len();
        self.raw.resize(before + STEP, 0);
        let read = self.reader.read(&mut self.raw[before..]);
        self.raw
            .truncate(before + read.as_ref().copied().unwrap_or(0));
        self.ended = read? == 0;
        self.ready.clear();
        self.at = 0;
        let from_bytes = if self.big {
            u16::from_be_bytes
        } else {
            u16::from_le_bytes
        };
        let unit = |pair: &[u8]| from_bytes([pair[0], pair[1]]);
        let mut whole = self.raw.len() / 2 * 2;
        let last = self.raw[..whole].chunks_exact(2).next_back().map(unit);
        if !self.ended && last.is_some_and(|last| (0xD800..0xDC00).contains(&last)) {
            // Its other half is still to come.
            whole -= 2;
        }
        for decoded in char::decode_utf16(self.raw[..whole].chunks_exact(2).map(unit)) {
            match decoded {
                Ok(character) => self
                    .ready
                    .extend(character.encode_utf8(&mut [0; 4]).bytes()),
                Err(_) => self.ready.push(0xFF),
            }
        }
        self.raw.drain(..whole);
        if self.ended && !self.raw.is_empty() {
            // Half a character at the end of the file.
            self.raw.clear();
            self.ready.push(0xFF);
        }
        Ok(())
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.ready.len() {
            if self.ended {
                return Ok(0);
            }
            self.step()?;
        }
        let count = buffer.len().min(self.ready.len() - self.at);
        buffer[..count].copy_from_slice(&self.ready[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8], big: bool) -> Vec<u8> {
        let mut out = Vec::new();
        Utf16::new(bytes, big).read_to_end(&mut out).expect("bytes");
        out
    }

    #[test]
    fn utf16_of_both_orders_is_read() {
        let text = "{\"a\": \"ä 日 😀\"}\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode(&little, false), text.as_bytes());
        assert_eq!(decode(&big, true), text.as_bytes());
        assert_eq!(detect(&little), (Encoding::Utf16Little, 0));
        assert_eq!(detect(&big), (Encoding::Utf16Big, 0));
    }

    #[test]
    fn half_characters_spoil_their_line_and_no_other() {
        let mut bytes: Vec<u8> = "a\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        bytes.extend([0x3D, 0xD8]);
        bytes.extend("\nb\n".encode_utf16().flat_map(u16::to_le_bytes));
        bytes.push(7);
        assert_eq!(decode(&bytes, false), b"a\n\xFF\nb\n\xFF");
    }
}
