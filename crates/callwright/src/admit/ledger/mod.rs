//! The memory of admission: its interface, and where it is kept.
//!
//! A ledger holds one [`Session`] per conversation and changes it in two atomic steps: [`Ledger::open`] before a call runs,
//! [`Ledger::close`] when its outcome is known. It never sees arguments or results, only their hashes and, if the policy
//! allows, the beginning of a result. [`MemoryLedger`] keeps sessions in this process; the crate `callwright-redis` shares them
//! between replicas.

mod evictions;
mod memory;

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

pub use memory::MemoryLedger;

use super::session::Session;
use super::thresholds::AdmissionPolicy;
pub use crate::vocabulary::Reply;
use crate::vocabulary::place::number_as_text;
use crate::vocabulary::{Digest, Fingerprint, Moment, Reason, Success};

/// A memory of sessions with atomic operations.
pub trait Ledger: Send + Sync + fmt::Debug {
    /// Whether a step may block on a server. An async caller then calls it where blocking is allowed.
    fn waits(&self) -> bool {
        false
    }

    /// Decides whether this call may run. If so, it is counted.
    ///
    /// # Errors
    /// Fails if the ledger cannot be reached; the policy decides what happens then.
    fn open(&self, session: &str, ask: &Ask<'_>) -> Result<Ruling, LedgerAway>;

    /// Records the outcome of an admitted call.
    ///
    /// # Errors
    /// Fails if the ledger cannot be reached; the outcome is lost then.
    fn close(&self, session: &str, report: &Report<'_>) -> Result<Noted, LedgerAway>;

    /// Both steps at once, for a recorded call: whether it may run, and if so, its outcome.
    ///
    /// # Errors
    /// Fails if the ledger cannot be reached.
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

    /// Records the user's answer to a question.
    ///
    /// # Errors
    /// Fails if the ledger cannot be reached.
    fn answer(&self, session: &str, reply: &Reply) -> Result<(), LedgerAway>;

    /// The current state of the session, to be stored and resumed elsewhere.
    ///
    /// # Errors
    /// Fails if the ledger cannot be reached.
    fn save(&self, session: &str) -> Result<Option<Session>, LedgerAway>;

    /// Restores a saved session.
    ///
    /// # Errors
    /// Fails if the ledger cannot be reached.
    fn resume(&self, session: &str, saved: Session) -> Result<(), LedgerAway>;
}

/// The ledger cannot be reached.
#[derive(Debug)]
pub struct LedgerAway(pub String);

impl fmt::Display for LedgerAway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the ledger cannot be reached: {}", self.0)
    }
}

impl std::error::Error for LedgerAway {}

/// The name of a tool, remembered by its digest: short, and the same everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolName<'a> {
    name: &'a str,
    digest: Digest,
}

impl<'a> ToolName<'a> {
    /// A tool of this name, which need not exist.
    pub fn new(name: &'a str) -> Self {
        ToolName::with_digest(name, None)
    }

    /// The same if the digest may be known: it takes a while to compute.
    pub(crate) fn with_digest(name: &'a str, known: Option<Digest>) -> Self {
        let digest = known.unwrap_or_else(|| Digest::of(name));
        ToolName { name, digest }
    }

    /// The name.
    pub fn as_str(self) -> &'a str {
        self.name
    }

    /// The digest of the name.
    pub fn digest(self) -> Digest {
        self.digest
    }
}

impl Serialize for ToolName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.digest.serialize(serializer)
    }
}

/// A question to the ledger, with all the limits that decide it.
#[derive(Debug, Clone, Serialize)]
pub struct Ask<'a> {
    /// When the call is made.
    pub at: Moment,
    /// The identity of the call.
    pub fingerprint: Fingerprint,
    /// The tool.
    pub tool: ToolName<'a>,
    /// The limits that apply to it.
    pub limits: Limits,
    /// Whether the call runs even if the ledger cannot be reached. If not, a failed step must not count.
    #[serde(skip)]
    pub runs_uncounted: bool,
    /// Set if the gate refuses the call anyway: it is only counted, and the refusal may become firmer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusedCall>,
}

/// A call that the gate refuses for what it contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RefusedCall {
    /// Equal for refusals with the same reason.
    pub digest: Digest,
    /// Whether the tool does not exist.
    pub unknown_tool: bool,
}

/// The limits that apply to a call. A step of `n` means the n-th time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields of `AdmissionPolicy`, for one tool")]
pub struct Limits {
    pub budget: u32,
    /// Whether a second call has a further effect, as the operator declared or the name implies.
    pub once: bool,
    /// Whether money moves: a call that worked is not repeated, whatever else has changed.
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
    /// The limits of a tool that nothing is known about.
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
    /// The identity of the call.
    pub fingerprint: Fingerprint,
    /// The tool.
    pub tool: ToolName<'a>,
    /// How it ended.
    #[serde(flatten)]
    pub ended: Ended,
    /// The beginning of the answer; empty if it must not be remembered.
    pub beginning: &'a str,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// Whether it worked.
    pub success: Success,
    /// Equal for equal answers.
    pub digest: Digest,
    /// Whether the tool may change something, that is, unless it is declared read-only.
    pub changes: bool,
    /// Whether a repeated result means nothing: the tool is meant to be polled, or its answer only acknowledges.
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
    /// The count that the reason refers to.
    pub count: u32,
    /// How many rounds ago this call last had an outcome; 0 if never.
    pub rounds_ago: u32,
    /// Rounds with refusals since the last news, including this one if the call is refused.
    pub refused_rounds: u32,
    /// Whether the last outcome of this call was an error.
    pub failed: bool,
    /// The beginning of the last outcome of this call.
    pub last: String,
    /// How often in a row this call has had its last outcome.
    pub streak: u32,
    /// Calls in this turn, including this one.
    pub turn_calls: u32,
    /// Calls of this tool in this turn, including this one.
    pub tool_calls: u32,
    /// Consecutive rounds with unknown tools, including this one.
    pub unknown_rounds: u32,
    /// Consecutive rounds in which this tool failed the same way.
    pub error_rounds: u32,
}

/// What the ledger knows after recording an outcome.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Noted {
    /// How often in a row this call has had this outcome, including this time.
    pub streak: u32,
    /// Consecutive rounds that only repeated earlier calls, including this one if it has only repeated so far.
    pub idle_rounds: u32,
    /// Consecutive rounds in which this tool failed this way, including this one.
    pub error_rounds: u32,
    /// Consecutive transient failures of this call.
    pub transient: u32,
    /// Whether results of this call are known to change on their own.
    pub living: bool,
}
