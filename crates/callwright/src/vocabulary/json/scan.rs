//! Finds where plain text in a JSON string ends, for reading and writing.

const LOW_BITS: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// The index of the first byte from `at` on that is not plain string content: a quote, a backslash or
/// a control character; the length of `bytes` if there is none. Eight bytes at a time.
pub(crate) fn plain_until(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let plain = plain_bytes(*chunk);
        at += plain;
        if plain < 8 {
            return at;
        }
    }
    while let Some(byte) = bytes.get(at) {
        if matches!(byte, b'"' | b'\\' | 0..0x20) {
            return at;
        }
        at += 1;
    }
    at
}

/// How many of eight bytes are plain string content before the first that is not.
pub(crate) fn plain_bytes(chunk: [u8; 8]) -> usize {
    let word = u64::from_le_bytes(chunk);
    let special = zero_bytes(word ^ (LOW_BITS * u64::from(b'"')))
        | zero_bytes(word ^ (LOW_BITS * u64::from(b'\\')))
        | (word.wrapping_sub(LOW_BITS * 0x20) & !word & HIGH_BITS);
    // If nothing is marked, all are plain: sixty-four zeros.
    special.trailing_zeros() as usize / 8
}

/// The high bit of every byte of `word` that is zero. Bytes above the first zero byte may be marked
/// wrongly, which is why only the lowest mark is used.
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(LOW_BITS) & !word & HIGH_BITS
}
