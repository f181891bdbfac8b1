//! Counts over time, in as many pieces as are worth looking at.
//!
//! Starts with pieces of a minute. Where there are too many, two neighbours become one, until there are not. How wide a
//! piece is follows from the times alone, so it does not matter in which order they came. Times that are far off, as of a
//! clock that jumped, cost a piece each and disturb nothing else.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::Merge;

/// How many pieces there are at most: more than a chart has room for.
const PIECES: usize = 512;

/// A minute.
const FINEST_US: i64 = 60_000_000;

/// More doublings than any two times need; with more, a piece would be longer than time.
const MOST_DOUBLINGS: u32 = 36;

/// See the module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timeline<T> {
    /// A piece is two to the power of this many minutes.
    #[serde(deserialize_with = "doublings")]
    doublings: u32,
    pieces: BTreeMap<i64, T>,
}

impl<T> Default for Timeline<T> {
    fn default() -> Self {
        Timeline {
            doublings: 0,
            pieces: BTreeMap::new(),
        }
    }
}

impl<T: Merge> Timeline<T> {
    /// Adds something that happened at a time, in microseconds since 1970.
    pub fn add(&mut self, time: i64, value: T) {
        let piece = time.div_euclid(FINEST_US) >> self.doublings;
        merge_at(&mut self.pieces, piece, value);
        self.fit();
    }

    fn fit(&mut self) {
        while self.pieces.len() > PIECES {
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.doublings += 1;
        for (piece, value) in std::mem::take(&mut self.pieces) {
            merge_at(&mut self.pieces, piece >> 1, value);
        }
    }
}

impl<T> Timeline<T> {
    /// How wide a piece is, in microseconds.
    pub fn width_us(&self) -> i64 {
        FINEST_US << self.doublings
    }

    /// The pieces in which something happened, each with its beginning in microseconds since 1970.
    pub fn iter(&self) -> impl Iterator<Item = (i64, &T)> {
        let width = self.width_us();
        self.pieces
            .iter()
            .map(move |(piece, value)| (piece.saturating_mul(width), value))
    }

    /// In how many pieces something happened.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether nothing happened, or the times are unknown.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// How often the width was doubled.
    pub(crate) fn doublings(&self) -> u32 {
        self.doublings
    }
}

impl<T: Merge + Clone> Timeline<T> {
    /// The same in pieces at least as wide as those of another.
    #[must_use]
    pub fn as_wide_as<U>(&self, other: &Timeline<U>) -> Self {
        let mut wide = self.clone();
        while wide.doublings < other.doublings() {
            wide.halve();
        }
        wide
    }
}

/// Reads how wide the pieces are; a file may say anything.
fn doublings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let doublings = u32::deserialize(deserializer)?;
    if doublings > MOST_DOUBLINGS {
        return Err(D::Error::custom("pieces of time that are longer than time"));
    }
    Ok(doublings)
}

fn merge_at<T: Merge>(pieces: &mut BTreeMap<i64, T>, piece: i64, value: T) {
    match pieces.get_mut(&piece) {
        Some(known) => known.absorb(value),
        None => {
            pieces.insert(piece, value);
        }
    }
}

impl<T: Merge> Merge for Timeline<T> {
    fn absorb(&mut self, mut other: Self) {
        while self.doublings < other.doublings {
            self.halve();
        }
        while other.doublings < self.doublings {
            other.halve();
        }
        for (piece, value) in other.pieces {
            merge_at(&mut self.pieces, piece, value);
        }
        self.fit();
    }
}
