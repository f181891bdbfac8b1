//! Which parts of a log were counted, so that none counts twice.
//!
//! A job that is run again, or a list of files that names one twice, gives the same part again. Counts cannot be
//! taken out of a sum, so a summary lists the parts it consists of.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{Summary, is_default};

/// See the module documentation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Parts {
    /// A hash of the counts of each part, by its id.
    #[serde(skip_serializing_if = "is_default")]
    named: BTreeMap<String, u64>,
    /// Whether parts without an id are included too.
    #[serde(skip_serializing_if = "is_default")]
    unnamed: bool,
}

/// The outcome of merging a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Merged {
    /// Its counts were added.
    Added,
    /// All of its parts had already been counted, so nothing was added.
    Known,
    /// It contains all parts counted so far, and more: it replaced the others.
    Replaced,
}

/// Why two summaries cannot be merged. Neither has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// This part was counted twice, and the counts differ.
    #[error(
        "two summaries of the part `{0}` differ, as from another log, other tools or an interrupted run; merge only one of them"
    )]
    Differ(String),
    /// This part, and perhaps others, is in both; and each has parts that the other lacks.
    #[error(
        "both sides include the part `{0}`, and each has parts that the other lacks; merge the summaries that they were made from"
    )]
    Overlap(String),
}

impl Parts {
    /// The single part that a run has counted.
    pub(crate) fn of(id: Option<String>, counted: &Summary) -> Self {
        let mut parts = Parts::default();
        match id {
            // Not everything: with too many conversations at once, what is remembered about them is a matter of
            // chance.
            Some(id) => {
                let (input, calls) = (&counted.input, &counted.calls);
                let counts = [
                    input.bytes,
                    input.records,
                    calls.calls,
                    calls.valid,
                    calls.repaired,
                ];
                let bytes: Vec<u8> = counts
                    .iter()
                    .flat_map(|count| count.to_le_bytes())
                    .collect();
                parts.named.insert(id, xxh3_64(&bytes));
            }
            None => parts.unnamed = true,
        }
        parts
    }

    /// The ids, sorted. Parts without one are not included.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.named.keys().map(String::as_str)
    }

    /// The outcome of adding other parts to these.
    pub(super) fn compare(&self, other: &Self) -> Result<Merged, MergeError> {
        let mut shared = Vec::new();
        for (id, counted) in &other.named {
            match self.named.get(id) {
                None => {}
                Some(before) if before == counted => shared.push(id),
                Some(_) => return Err(MergeError::Differ(id.clone())),
            }
        }
        let Some(first) = shared.first() else {
            return Ok(Merged::Added);
        };
        if !other.unnamed && shared.len() == other.named.len() {
            Ok(Merged::Known)
        } else if !self.unnamed && shared.len() == self.named.len() {
            Ok(Merged::Replaced)
        } else {
            Err(MergeError::Overlap((*first).clone()))
        }
    }

    pub(super) fn absorb(&mut self, other: Self) {
        self.named.extend(other.named);
        self.unnamed |= other.unnamed;
    }
}
