//! What a session remembers of a call and of a tool.

use serde::{Deserialize, Serialize};

use crate::words::Digest;

/// What is remembered of one call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct Entry {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<Digest>,
    pub(super) failed: bool,
    /// Rounds in a row with this outcome, in this epoch.
    pub(super) streak: u32,
    pub(super) epoch: u32,
    /// The changes of the session when it was last made or had an outcome.
    pub(super) changes: u32,
    /// Calls that count against the budget.
    pub(super) calls: u32,
    /// Transient failures in a row.
    pub(super) transient: u32,
    /// When it last had an outcome.
    pub(super) ordinal: u32,
    /// Its results change by themselves.
    pub(super) living: bool,
    /// Its last result does not tell one run from the next: it waits, or only says that it was done.
    pub(super) waits: bool,
    /// Its last call used up a permission of the user's.
    pub(super) permitted: bool,
    /// How often it worked in this turn.
    pub(super) done: u32,
    /// What was news when it last had an outcome.
    pub(super) news: u32,
    /// The round in which a transient failure was last counted.
    pub(super) waited: u32,
    pub(super) last: String,
}

/// What is remembered of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ToolEntry {
    pub(super) calls: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Digest>,
    /// Rounds in a row with this error and no news.
    pub(super) streak: u32,
    pub(super) news: u32,
    pub(super) last: String,
}

impl Entry {
    /// Whether its calls still count against the budget: no other call changed something since, and if it failed,
    /// nothing new was learned since. A payment counts as long as it is not known to have failed.
    pub(super) fn is_current(&self, changes: u32, news: u32, spends: bool) -> bool {
        let may_be_paid = spends && !self.failed;
        let current = self.changes == changes || may_be_paid;
        current && !(self.failed && self.news != news)
    }
}
