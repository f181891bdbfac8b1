//! A hash of keys that are hashes themselves: a part of the key.
//!
//! It needs no state, which would be the largest part of most sessions. Whoever crafts keys that collide slows down one session,
//! whose calls are bounded.

use std::hash::{BuildHasherDefault, Hasher};

/// For maps whose keys are [`crate::vocabulary::Fingerprint`]s, [`crate::vocabulary::Digest`]s or keyed hashes.
pub(super) type HashedKeys = BuildHasherDefault<KeyPart>;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct KeyPart(u64);

impl Hasher for KeyPart {
    /// The first eight bytes. The length comes in here as well, but is the same for all keys of a map.
    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk() {
            self.0 ^= u64::from_le_bytes(*first);
        }
    }

    /// The upper half: the lower one may have selected the map.
    fn write_u128(&mut self, key: u128) {
        self.0 ^= (key >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
