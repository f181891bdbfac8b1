//! What was read, and what could not be read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Bounded, Merge, earliest, latest, merge};

/// How many kinds of trouble are distinguished.
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
    /// Records in a known format that contain neither a call nor a result nor tools.
    pub without_calls: u64,
    /// Calls that were shown again by a later request, and not counted again.
    pub shown_again: u64,
    /// Results whose call was never seen.
    pub results_without_call: u64,
    /// Conversations that continued after being dropped in favour of later ones.
    pub forgotten_sessions: u64,
    /// The first and the last time seen, in microseconds since 1970.
    pub first: Option<i64>,
    /// See `first`.
    pub last: Option<i64>,
    /// What could not be read, by reason.
    pub troubles: Bounded<String, Trouble, KEPT_TROUBLES>,
    /// Whether the run was interrupted before its end.
    pub interrupted: bool,
}

/// Records that could not be read, for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Trouble {
    /// How many.
    pub records: u64,
    /// The first places, by file and line: five at most.
    pub places: std::collections::BTreeSet<(String, u64)>,
}

impl Trouble {
    /// How many places are kept.
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

merge!(Input {
    files, bytes, records, formats, without_calls, shown_again, results_without_call, forgotten_sessions, troubles,
    interrupted;
    first by earliest, last by latest
});
