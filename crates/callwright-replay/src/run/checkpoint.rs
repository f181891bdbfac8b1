//! The state of a run between two pieces of the log, in a form that can be saved.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::conversation::SavedConversations;
use crate::source::Position;
use crate::summary::{Summary, VERSION};

/// What the counts of a run depend on: a digest of the source of each setting, by the name that the user knows. The
/// bytes of files and options are digested, not their parsed form, so nothing in them is missed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SettingsDigest(BTreeMap<String, String>);

impl SettingsDigest {
    /// Adds a setting: the content of a file, or the value of an option.
    pub fn add(&mut self, name: &str, source: &[u8]) {
        let digest = format!("{:032x}", xxh3_128(source));
        self.0.insert(name.to_owned(), digest);
    }

    /// The names of the settings that differ.
    pub(super) fn differences(&self, other: &Self) -> Vec<String> {
        let names: BTreeSet<&String> = self.0.keys().chain(other.0.keys()).collect();
        let differ = names
            .into_iter()
            .filter(|name| self.0.get(*name) != other.0.get(*name));
        differ.cloned().collect()
    }
}

/// See the module documentation.
#[derive(Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    /// `None` in states of earlier versions, whose settings cannot be compared.
    #[serde(default)]
    pub(super) settings: Option<SettingsDigest>,
    pub(super) position: Option<Position>,
    pub(super) ended: bool,
    pub(super) summary: Summary,
    pub(super) conversations: SavedConversations,
}

/// Why a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// It is something else.
    #[error(
        "not a replay state: {0}; give a file that `--state` wrote, or one that does not exist yet"
    )]
    NotOne(serde_json::Error),
    /// It was written by this other version.
    #[error("written by another version ({0} instead of {VERSION}); delete the file to start over")]
    Version(u32),
}

impl Checkpoint {
    /// Saves it.
    ///
    /// # Errors
    /// Fails if it cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Reads a saved state.
    ///
    /// # Errors
    /// Fails if it is something else, or from another version.
    pub fn from_json(text: &str) -> Result<Self, CheckpointError> {
        let checkpoint: Checkpoint = serde_json::from_str(text).map_err(CheckpointError::NotOne)?;
        let found = checkpoint.summary.v;
        if found != VERSION {
            return Err(CheckpointError::Version(found));
        }
        Ok(checkpoint)
    }
}
