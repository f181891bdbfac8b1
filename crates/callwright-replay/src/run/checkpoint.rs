//! A run as it stands between two pieces of the log, to be written down.

use serde::{Deserialize, Serialize};

use crate::conversation::SavedConversations;
use crate::source::Position;
use crate::summary::{Summary, VERSION};

/// See the module.
#[derive(Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    pub(super) identity: u64,
    pub(super) inputs: Vec<(String, Option<u64>)>,
    pub(super) position: Option<Position>,
    pub(super) ended: bool,
    pub(super) summary: Summary,
    pub(super) conversations: SavedConversations,
}

/// Why a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// It is none.
    #[error("not a state of a replay: {0}; delete the file to start anew")]
    NotOne(serde_json::Error),
    /// Another version wrote it.
    #[error(
        "written by another version ({found} instead of {VERSION}); delete the file to start anew"
    )]
    Version {
        /// Its version.
        found: u32,
    },
}

impl Checkpoint {
    /// Writes it down.
    ///
    /// # Errors
    /// Fails if it cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Reads one that was written down.
    ///
    /// # Errors
    /// Fails if it is none, or of another version.
    pub fn from_json(text: &str) -> Result<Self, CheckpointError> {
        let checkpoint: Checkpoint = serde_json::from_str(text).map_err(CheckpointError::NotOne)?;
        let found = checkpoint.summary.v;
        if found != VERSION {
            return Err(CheckpointError::Version { found });
        }
        Ok(checkpoint)
    }

    /// The files that the run was about, with their sizes.
    pub fn inputs(&self) -> &[(String, Option<u64>)] {
        &self.inputs
    }

    /// Whether the run had come to its end.
    pub fn ended(&self) -> bool {
        self.ended
    }
}
