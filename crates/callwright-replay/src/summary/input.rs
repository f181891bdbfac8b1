//! What was read, and what could not be.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Bounded, Merge};

/// How many kinds of trouble are told apart.
const KEPT_TROUBLES: usize = 200;

/// What was read.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Input {
    /// Files, standard input included.
    pub files: u64,
    /// Bytes, after decompression.
    pub bytes: u64,
    /// Records: lines, or JSON documents.
    pub records: u64,
    /// Records by format.
    pub formats: BTreeMap<String, u64>,
    /// Records that hold neither a call nor a result nor tools, and are in a known format.
    pub without_calls: u64,
    /// Calls that were shown again by a later request, and not counted again.
    pub shown_again: u64,
    /// Results whose call was never seen.
    pub results_without_call: u64,
    /// Conversations that were forgotten for later ones.
    pub forgotten_sessions: u64,
    /// The first and the last time that was seen, in microseconds since 1970.
    pub first: Option<i64>,
    /// See `first`.
    pub last: Option<i64>,
    /// What could not be read, by what is wrong with it.
    pub troubles: Bounded<String, Trouble, KEPT_TROUBLES>,
    /// Whether the run was interrupted before its end.
    pub interrupted: bool,
}

/// Records that could not be read, for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Trouble {
    /// How many.
    pub records: u64,
    /// Where, the first ones by file and line: five at most.
    pub places: std::collections::BTreeSet<(String, u64)>,
}

impl Trouble {
    /// How many places are named.
    const PLACES: usize = 5;

    /// One record at a place.
    pub fn at(file: &str, line: u64) -> Self {
        Trouble {
            records: 1,
            places: [(file.to_owned(), line)].into(),
        }
    }
}

impl Merge for Trouble {
    fn absorb(&mut self, other: Self) {
        self.records.absorb(other.records);
        self.places.extend(other.places);
        while self.places.len() > Self::PLACES {
            self.places.pop_last();
        }
    }
}

impl Merge for Input {
    fn absorb(&mut self, other: Self) {
        self.files.absorb(other.files);
        self.bytes.absorb(other.bytes);
        self.records.absorb(other.records);
        self.formats.absorb(other.formats);
        self.without_calls.absorb(other.without_calls);
        self.shown_again.absorb(other.shown_again);
        self.results_without_call.absorb(other.results_without_call);
        self.forgotten_sessions.absorb(other.forgotten_sessions);
        self.first = earliest(self.first, other.first);
        self.last = self.last.max(other.last);
        self.troubles.absorb(other.troubles);
        self.interrupted |= other.interrupted;
    }
}

/// The earlier of two times, where either may be unknown.
pub(super) fn earliest(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
