//! The memory of admission: what it is asked, what it answers, and where it is kept.
//!
//! A ledger holds one [`Session`] per conversation and changes it in two atomic steps: [`Ledger::open`] before a call
//! runs, [`Ledger::close`] when its outcome is known. It never sees arguments or results, only their hashes and, if
//! the policy allows, the beginning of a result. [`MemoryLedger`] keeps sessions in this process; the crate
//! `callwright-redis` shares them between replicas.

mod departed;
mod memory;

use serde::{Deserialize, Serialize};

pub use memory::MemoryLedger;

use super::session::Session;
use super::thresholds::AdmissionPolicy;
pub use crate::words::Reply;
use crate::words::as_digest;
use crate::words::place::number_as_text;
use crate::words::{Digest, Fingerprint, Moment, Reason, Success};

/// A memory of sessions with atomic operations.
pub trait Ledger: Send + Sync + std::fmt::Debug {
    /// Whether a step may wait for a server. An async caller then calls it where blocking is allowed.
    fn waits(&self) -> bool {
        false
    }

    /// May this call run? If so, it is counted.
    ///
    /// # Errors
    /// Fails if the memory cannot be reached; the policy says what then happens.
    fn open(&self, session: &str, ask: &Ask<'_>) -> Result<Ruling, LedgerAway>;

    /// The outcome of a call that was let through.
    ///
    /// # Errors
    /// Fails if the memory cannot be reached; the outcome is then forgotten.
    fn close(&self, session: &str, report: &Report<'_>) -> Result<Noted, LedgerAway>;

    /// Both at once, of a call that ran long ago: may it run, and if so, its outcome.
    ///
    /// # Errors
    /// Fails if the memory cannot be reached.
    fn relive(
        &self,
        session: &str,
        ask: &Ask<'_>,
        report: Option<&Report<'_>>,
    ) -> Result<Ruling, LedgerAway> {
        let ruling = self.open(session, ask)?;
        if let (None, Some(report)) = (ruling.reason, report) {
            let turn = ruling.turn;
            self.close(
                session,
                &Report {
                    turn,
                    ..report.clone()
                },
            )?;
        }
        Ok(ruling)
    }

    /// What the user said when asked.
    ///
    /// # Errors
    /// Fails if the memory cannot be reached.
    fn answer(&self, session: &str, reply: &Reply) -> Result<(), LedgerAway>;

    /// The session as it is now, to be stored and resumed elsewhere.
    ///
    /// # Errors
    /// Fails if the memory cannot be reached.
    fn save(&self, session: &str) -> Result<Option<Session>, LedgerAway>;

    /// Puts back a session that was saved.
    ///
    /// # Errors
    /// Fails if the memory cannot be reached.
    fn resume(&self, session: &str, saved: Session) -> Result<(), LedgerAway>;
}

/// The ledger cannot be reached.
#[derive(Debug, thiserror::Error)]
#[error("the ledger cannot be reached: {0}")]
pub struct LedgerAway(pub String);

/// A question to the ledger, with all numbers that it is decided by.
#[derive(Debug, Clone, Serialize)]
pub struct Ask<'a> {
    /// When.
    pub at: Moment,
    /// Which call.
    pub fingerprint: Fingerprint,
    /// Of which tool. It is remembered by the digest of its name.
    #[serde(serialize_with = "as_digest")]
    pub tool: &'a str,
    /// What holds for it.
    pub limits: Limits,
    /// Whether the call runs even if the ledger cannot be reached. If not, a step that fails must not count.
    #[serde(skip)]
    pub runs_uncounted: bool,
    /// Set if the gate refuses the call anyway: it is only counted, and may be told more firmly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusedCall>,
}

/// A call that the gate refuses for what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RefusedCall {
    /// Equal for refusals for the same reason.
    pub digest: Digest,
    /// Whether there is no such tool.
    pub unknown_tool: bool,
}

/// The numbers that hold for a call. A step of `n` means the n-th.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields of `AdmissionPolicy`, for one tool")]
pub struct Limits {
    pub budget: u32,
    /// Whether twice is not as good as once, as the operator declared or the name says.
    pub once: bool,
    /// Whether money moves: a call that worked is not repeated, whatever else changed.
    pub spends: bool,
    pub repeated_refusal: u32,
    pub repeated_call: u32,
    pub repeated_result: u32,
    pub polling: u32,
    pub poller: bool,
    pub cycle: u32,
    pub error_streak: u32,
    pub unknown_tools: u32,
    pub tool_calls: u32,
    pub turn_calls: u32,
    pub transient: u32,
    pub most_refusals: u32,
}

impl From<&AdmissionPolicy> for Limits {
    /// What holds for a tool that nothing is known about.
    fn from(policy: &AdmissionPolicy) -> Self {
        Limits {
            budget: policy.budget,
            once: false,
            spends: false,
            repeated_refusal: policy.repeated_refusal.refuse,
            repeated_call: policy.repeated_call.refuse,
            repeated_result: policy.repeated_result.refuse,
            polling: policy.polling.refuse,
            poller: false,
            cycle: policy.cycle.refuse,
            error_streak: policy.error_streak.refuse,
            unknown_tools: policy.unknown_tools.refuse,
            tool_calls: policy.tool_calls.refuse,
            turn_calls: policy.turn_calls.refuse,
            transient: policy.transient,
            most_refusals: policy.most_refusals,
        }
    }
}

/// The outcome of a call.
#[derive(Debug, Clone, Serialize)]
pub struct Report<'a> {
    /// The turn in which the call was counted: [`Ruling::turn`].
    #[serde(with = "number_as_text", skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// Which call.
    pub fingerprint: Fingerprint,
    /// Of which tool. It is remembered by the digest of its name.
    #[serde(serialize_with = "as_digest")]
    pub tool: &'a str,
    /// How it ended.
    #[serde(flatten)]
    pub ended: Ended,
    /// The beginning of the answer; empty if it is not to be remembered.
    pub beginning: &'a str,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// Whether it worked.
    pub success: Success,
    /// Equal for answers that say the same.
    pub digest: Digest,
    /// Whether the tool may change something: not if it is declared to only read.
    pub changes: bool,
    /// Whether the same result again says nothing: it is meant to be called again and again, or its answer only
    /// acknowledges.
    pub waits: bool,
}

/// The ledger's answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ruling {
    /// The turn in which the call was judged: its own, or the latest.
    #[serde(with = "number_as_text", skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// Why the call may not run; `None` if it may.
    pub reason: Option<Reason>,
    /// How often: the number that the reason is about.
    pub count: u32,
    /// How many rounds ago this call last had an outcome; 0 if it never had.
    pub rounds_ago: u32,
    /// Rounds with refusals since something new came, this one included if the call is refused.
    pub refused_rounds: u32,
    /// Whether the last outcome of this call was an error.
    pub failed: bool,
    /// The beginning of the last outcome of this call.
    pub last: String,
    /// How often this call had its last outcome in a row.
    pub streak: u32,
    /// Calls of this turn, and of this tool in it, this one included.
    pub turn_calls: u32,
    /// See `turn_calls`.
    pub tool_calls: u32,
    /// Rounds in a row with unknown tools, this one included.
    pub unknown_rounds: u32,
    /// Rounds in a row in which this tool failed the same way.
    pub error_rounds: u32,
}

/// What the ledger says about an outcome.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Noted {
    /// How often in a row this call has had this outcome, this time included.
    pub streak: u32,
    /// Rounds in a row that repeated earlier calls only, this one included if it does so far.
    pub idle_rounds: u32,
    /// Rounds in a row in which this tool failed this way, this one included.
    pub error_rounds: u32,
    /// Transient failures of this call in a row.
    pub transient: u32,
    /// Whether results of this call are known to change by themselves.
    pub living: bool,
}
