//! Counts over time, in as many pieces as are useful.
//!
//! Starts with pieces of a minute. If there are too many, two neighbours become one, until there are few enough. The
//! width of a piece follows from the times alone, so the order in which they came does not matter. Times that are far
//! off, as from a wrong clock, cost one piece each and disturb nothing else.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Merge;

/// The most pieces: more than a chart has room for.
const PIECES: usize = 512;

/// A minute.
const FINEST_US: i64 = 60_000_000;

/// More doublings than any two times need; with more, a piece would be longer than the range of time.
const MOST_DOUBLINGS: u32 = 36;

/// See the module documentation.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline<T> {
    /// A piece is two to the power of this many minutes.
    doublings: u32,
    /// Sorted. A log is mostly in order, so nearly everything goes to the end.
    pieces: Vec<(i64, T)>,
}

impl<T> Default for Timeline<T> {
    fn default() -> Self {
        Timeline {
            doublings: 0,
            pieces: Vec::new(),
        }
    }
}

impl<T: Merge> Timeline<T> {
    /// Adds something that happened at a time, in microseconds since 1970.
    pub fn add(&mut self, time: i64, value: T) {
        let piece = time.div_euclid(FINEST_US) >> self.doublings;
        self.merge_at(piece, value);
        self.fit();
    }

    fn merge_at(&mut self, piece: i64, value: T) {
        match self.pieces.last_mut() {
            Some((last, known)) if *last == piece => known.absorb(value),
            Some((last, _)) if *last > piece => {
                let known = self
                    .pieces
                    .binary_search_by_key(&piece, |(known, _)| *known);
                match known {
                    Ok(at) => self.pieces[at].1.absorb(value),
                    Err(at) => self.pieces.insert(at, (piece, value)),
                }
            }
            _ => self.pieces.push((piece, value)),
        }
    }

    fn fit(&mut self) {
        while self.pieces.len() > PIECES {
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.doublings += 1;
        for (piece, value) in std::mem::take(&mut self.pieces) {
            self.merge_at(piece >> 1, value);
        }
    }
}

impl<T> Timeline<T> {
    /// The width of a piece, in microseconds.
    pub fn width_us(&self) -> i64 {
        FINEST_US << self.doublings
    }

    /// The pieces in which something happened, each with its start in microseconds since 1970.
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

    /// About how many bytes it takes. A timeline whose pieces were merged has had the most.
    pub(super) fn bytes(&self) -> usize {
        let pieces = if self.doublings > 0 {
            PIECES
        } else {
            self.len()
        };
        pieces * 24
    }

    /// How often the width was doubled.
    pub(crate) fn doublings(&self) -> u32 {
        self.doublings
    }
}

impl<T: Merge + Clone> Timeline<T> {
    /// The same in pieces at least as wide as another's.
    #[must_use]
    pub fn as_wide_as<U>(&self, other: &Timeline<U>) -> Self {
        let mut wide = self.clone();
        while wide.doublings < other.doublings() {
            wide.halve();
        }
        wide
    }
}

/// The serialised form.
#[derive(Serialize, Deserialize)]
struct Written<T> {
    doublings: u32,
    /// Each with its distance from the previous piece: small numbers are short.
    pieces: Vec<(i64, T)>,
}

impl<T: Serialize> Serialize for Timeline<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut before = 0;
        let pieces = self.pieces.iter().map(|(piece, value)| {
            let after = piece.wrapping_sub(std::mem::replace(&mut before, *piece));
            (after, value)
        });
        Written {
            doublings: self.doublings,
            pieces: pieces.collect(),
        }
        .serialize(serializer)
    }
}

impl<'de, T: Merge + Deserialize<'de>> Deserialize<'de> for Timeline<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(deserializer)?;
        // A file may contain anything.
        if written.doublings > MOST_DOUBLINGS {
            return Err(D::Error::custom("pieces of time that are longer than time"));
        }
        let mut timeline = Timeline {
            doublings: written.doublings,
            pieces: Vec::new(),
        };
        let mut piece = 0_i64;
        for (after, value) in written.pieces {
            piece = piece.wrapping_add(after);
            timeline.merge_at(piece >> (timeline.doublings - written.doublings), value);
            timeline.fit();
        }
        Ok(timeline)
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
            self.merge_at(piece, value);
        }
        self.fit();
    }
}
