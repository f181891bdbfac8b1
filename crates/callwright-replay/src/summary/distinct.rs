//! Counts distinct things without keeping them.
//!
//! The smallest hashes are kept. As long as there is room for all, the count is exact; beyond that it is estimated
//! from the density of those kept, to about six percent.

use serde::{Deserialize, Deserializer, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::Merge;

/// How many hashes are kept: the error is about one over the square root of this.
const KEPT: usize = 256;

/// See the module documentation. The upper halves of the hashes, sorted: once it is full, most are only compared with
/// the last one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct Distinct(Vec<u32>);

impl Distinct {
    /// Adds something, by a hash of 64 good bits.
    pub fn add(&mut self, hash: u64) {
        self.add_half((hash >> 32) as u32);
    }

    fn add_half(&mut self, hash: u32) {
        let full = self.0.len() >= KEPT;
        if full && self.0.last().is_some_and(|largest| hash >= *largest) {
            return;
        }
        if let Err(at) = self.0.binary_search(&hash) {
            if full {
                self.0.pop();
            }
            self.0.insert(at, hash);
        }
    }

    /// Adds a text.
    pub fn add_text(&mut self, text: &str) {
        self.add(xxh3_64(text.as_bytes()));
    }

    /// How many there are; an estimate above 256.
    pub fn count(&self) -> u64 {
        self.count_from(0)
    }

    /// The same if everything below the smallest hash was left out on purpose.
    pub(super) fn count_from_smallest(&self) -> u64 {
        self.count_from(self.0.first().copied().unwrap_or(0))
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate"
    )]
    fn count_from(&self, first: u32) -> u64 {
        match self.0.last() {
            Some(largest) if self.0.len() >= KEPT => {
                // Of the hashes up to the largest, this share is taken. Some of them more than once, if there are
                // billions; hence the logarithm.
                let share = (KEPT - 1) as f64 / (f64::from(largest - first) + 1.0);
                let all = 2_f64.powi(32) - f64::from(first);
                (-(-share).ln_1p() * all).round() as u64
            }
            _ => self.0.len() as u64,
        }
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many hashes are kept.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// All hashes in it are at least as large as this one.
    pub(super) fn smallest(&self) -> u64 {
        self.0
            .first()
            .map_or(u64::MAX, |hash| u64::from(*hash) << 32)
    }
}

/// A file may list them in any order.
impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut distinct = Distinct::default();
        for hash in Vec::deserialize(deserializer)? {
            distinct.add_half(hash);
        }
        Ok(distinct)
    }
}

impl Merge for Distinct {
    fn absorb(&mut self, other: Self) {
        for hash in other.0 {
            self.add_half(hash);
        }
    }
}
