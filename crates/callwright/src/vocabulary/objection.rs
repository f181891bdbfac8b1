//! Admission's response to a call: an objection, or a notice that comes before one.

use serde::{Deserialize, Serialize};

use super::code::Code;
use super::failure::Failure;
use super::identity::{Fingerprint, as_digest};

/// Why a call may not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Its budget is spent.
    Budget,
    /// Its budget of transient failures is spent.
    Transient,
    /// It failed the same way before.
    RepeatedCall,
    /// It returned the same result before.
    RepeatedResult,
    /// The last rounds only repeated earlier calls.
    Cycle,
    /// Its tool fails the same way, whatever the arguments.
    ErrorStreak,
    /// The model keeps calling tools that do not exist.
    UnknownTools,
    /// Its tool was called too often.
    ToolCalls,
    /// Too many calls in this turn.
    TurnCalls,
    /// Too many refusals in this turn.
    Refusals,
    /// The user stopped the calls.
    Stopped,
}

/// Why a call that may be valid in itself does not run now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Objection {
    /// What admission objects to.
    pub reason: Reason,
    /// The tool that was called.
    pub tool: String,
    /// Whether the call must not be made twice without asking.
    pub once: bool,
    /// The identity of the call, which the user may allow.
    pub fingerprint: Fingerprint,
    /// The count that the reason refers to.
    pub count: u32,
    /// How many rounds ago this call last had an outcome; 0 if never.
    pub rounds_ago: u32,
    /// Whether that outcome was an error.
    pub failed: bool,
    /// The beginning of that outcome.
    pub last: String,
    /// The failure for which the call is refused in any case.
    pub original: Option<Box<Failure>>,
}

/// A notice to the model that goes with a result, before a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notice {
    /// A code of the table.
    pub code: Code,
    /// Its reason.
    pub reason: Reason,
    /// The tool that was called.
    pub tool: String,
    /// The count that the reason refers to.
    pub count: u32,
    /// Whether the call must not be made twice, so that the model has to find out whether it took effect.
    pub once: bool,
}

/// The user's answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// Allow this call once more.
    AllowOnce(Fingerprint),
    /// Allow calls of this tool from now on, up to the hard limits.
    AllowTool(#[serde(serialize_with = "as_digest")] String),
    /// Allow nothing until the user's next message.
    Stop,
}
