//! The end of a round: folds its outcomes into what the session remembers of calls and tools.
//!
//! Takes the outcomes of one answer of the model; the result does not depend on their order.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::session::Session;
use crate::vocabulary::{Digest, Fingerprint};

/// What is remembered of one call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct CallMemory {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<Digest>,
    pub(super) failed: bool,
    /// Consecutive rounds with this outcome, in this epoch.
    pub(super) streak: u32,
    pub(super) epoch: u32,
    /// The session's count of changes when this call was last made or had an outcome.
    pub(super) changes: u32,
    /// Calls that count against the budget.
    pub(super) calls: u32,
    /// Consecutive transient failures.
    pub(super) transient: u32,
    /// When it last had an outcome.
    pub(super) ordinal: u32,
    /// Its results change on their own.
    pub(super) living: bool,
    /// Its last result does not distinguish one run from the next: it is waiting, or only acknowledges.
    pub(super) waits: bool,
    /// Its last call used up a permission from the user.
    pub(super) permitted: bool,
    /// How often it worked in this turn.
    pub(super) done: u32,
    /// The session's count of news when it last had an outcome.
    pub(super) news: u32,
    /// The round in which a transient failure was last counted.
    pub(super) waited: u32,
    pub(super) last: String,
}

/// What is remembered of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ToolMemory {
    pub(super) calls: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Digest>,
    /// Consecutive rounds with this error and no news.
    pub(super) streak: u32,
    pub(super) news: u32,
    pub(super) last: String,
}

/// An outcome in the current round.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Pending {
    pub(super) fingerprint: Fingerprint,
    pub(super) digest: Digest,
    pub(super) kind: OutcomeKind,
    /// The tool may change something.
    pub(super) changes: bool,
    /// Its result does not distinguish one run from the next.
    pub(super) waits: bool,
    pub(super) tool: Digest,
    pub(super) last: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OutcomeKind {
    Ok,
    Error,
    /// The gate refused it.
    Refused,
    /// The tool does not exist.
    Unknown,
}

impl OutcomeKind {
    fn ran(self) -> bool {
        matches!(self, OutcomeKind::Ok | OutcomeKind::Error)
    }
}

/// What a whole round did.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "seven independent observations"
)]
struct RoundSummary {
    /// A tool returned something that differs from this call's last result.
    fresh: bool,
    /// A call returned the same as last time.
    repeats: bool,
    /// Something new worked.
    news: bool,
    /// Something new worked that may have changed the world.
    changed: bool,
    /// Something worked that may have changed the world, new or not.
    acted: bool,
    ran: bool,
    unknown: bool,
}

impl Session {
    pub(super) fn end_round(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.sort_unstable();
        let mut summary = RoundSummary::default();
        for group in pending.chunk_by(|one, next| one.fingerprint == next.fingerprint) {
            let entry = self.entries.entry(group[0].fingerprint).or_default();
            summary.add(group, entry);
        }
        if summary.fresh {
            self.idle_rounds = 0;
        } else if summary.repeats {
            self.idle_rounds = self.idle_rounds.saturating_add(1);
        }
        if summary.news {
            self.refused_rounds = 0;
        } else if self.refused_now {
            self.refused_rounds = self.refused_rounds.saturating_add(1);
        }
        self.refused_now = false;
        if summary.unknown {
            self.unknown_rounds = self.unknown_rounds.saturating_add(1);
        } else if summary.ran {
            self.unknown_rounds = 0;
        }
        self.count_errors(&pending, summary.news);
        self.news = self.news.saturating_add(summary.news.into());
        self.changes = self.changes.saturating_add(summary.acted.into());
        let epoch = self.epoch.saturating_add(summary.changed.into());
        for group in pending.chunk_by_mut(|one, next| one.fingerprint == next.fingerprint) {
            let entry = self.entries.entry(group[0].fingerprint).or_default();
            entry.note(group, self.epoch, self.ordinal);
            entry.news = self.news;
            // The order within a round is unknown, so other calls of the same round do not restore the budget.
            entry.changes = self.changes;
            if summary.changed {
                // The order is unknown, so this may have been before the change.
                entry.streak = 1;
            }
            entry.epoch = epoch;
        }
        self.epoch = epoch;
    }

    /// Records which tools only failed in this round, and whether they all failed the same way.
    fn count_errors(&mut self, pending: &[Pending], news: bool) {
        let mut by_tool: SmallVec<[&Pending; 1]> = pending
            .iter()
            .filter(|outcome| outcome.kind != OutcomeKind::Unknown)
            .collect();
        by_tool.sort_by_key(|outcome| outcome.tool);
        let before = self.news;
        for group in by_tool.chunk_by(|one, next| one.tool == next.tool) {
            let first = group[0];
            let same_error = group
                .iter()
                .all(|outcome| outcome.kind != OutcomeKind::Ok && outcome.digest == first.digest);
            let tool = self.tools.entry(first.tool).or_default();
            tool.streak = match same_error {
                false => 0,
                true if tool.error == Some(first.digest) && tool.news == before && !news => {
                    tool.streak.saturating_add(1)
                }
                true => 1,
            };
            tool.error = same_error.then_some(first.digest);
            tool.last.clear();
            if same_error {
                tool.last.push_str(&first.last);
            }
            tool.news = before.saturating_add(news.into());
        }
    }
}

impl RoundSummary {
    /// Adds the outcomes of one call, compared with what is remembered of it.
    fn add(&mut self, group: &[Pending], entry: &CallMemory) {
        let same = entry.is_same(group);
        let waits = entry.living || group.iter().any(|outcome| outcome.waits);
        let worked = group.iter().any(|outcome| outcome.kind == OutcomeKind::Ok);
        let ran = group.iter().any(|outcome| outcome.kind.ran());
        self.ran |= ran;
        self.unknown |= group
            .iter()
            .any(|outcome| outcome.kind == OutcomeKind::Unknown);
        self.repeats |= ran && same && !waits;
        self.acted |= worked && group[0].changes;
        if ran && !same {
            self.fresh = true;
            self.news |= worked;
            self.changed |= worked && group[0].changes;
        }
    }
}

impl CallMemory {
    /// Whether its calls still count against the budget: no other call has changed anything since, and if it failed, there has
    /// been no news since. A payment counts as long as it is not known to have failed.
    pub(super) fn is_current(&self, changes: u32, news: u32, spends: bool) -> bool {
        let may_be_paid = spends && !self.failed;
        let current = self.changes == changes || may_be_paid;
        current && !(self.failed && self.news != news)
    }

    /// How often in a row it will have had this outcome, in this epoch.
    pub(super) fn streak_with(&self, digest: Digest, epoch: u32) -> u32 {
        if self.epoch == epoch && self.outcome == Some(digest) {
            self.streak.saturating_add(1)
        } else {
            1
        }
    }

    fn is_same(&self, group: &[Pending]) -> bool {
        group
            .iter()
            .all(|outcome| self.outcome == Some(outcome.digest))
    }

    /// Records the outcomes of one round.
    fn note(&mut self, group: &mut [Pending], epoch: u32, ordinal: u32) {
        let same = self.is_same(group);
        let calls = u32::try_from(group.len()).unwrap_or(u32::MAX);
        let worked = group
            .iter()
            .filter(|outcome| outcome.kind == OutcomeKind::Ok);
        let worked = u32::try_from(worked.count()).unwrap_or(u32::MAX);
        let Some(last) = group.last_mut() else {
            return;
        };
        let known = self.streak > 0 && self.epoch == epoch;
        let failed = last.kind != OutcomeKind::Ok;
        if same {
            self.streak = if known {
                self.streak.saturating_add(1)
            } else {
                1
            };
        } else {
            // It changed with no action in between, as results do when a model waits for something.
            self.living |= known && !failed && !self.failed;
            if self.outcome.is_some() && !failed {
                // A changed result is progress, and restores the budget. A different error is not.
                self.calls = calls;
            }
            self.streak = 1;
        }
        self.outcome = Some(last.digest);
        self.failed = failed;
        self.waits = last.waits && !failed;
        self.done = self.done.saturating_add(worked);
        self.transient = 0;
        self.ordinal = ordinal;
        self.last = std::mem::take(&mut last.last);
    }
}
