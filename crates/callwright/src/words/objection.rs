//! What admission has to say about a call: an objection, or a notice before it comes to one.

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
    /// It brought the same result before.
    RepeatedResult,
    /// The last rounds repeated earlier calls only.
    Cycle,
    /// Its tool fails the same way, whatever the arguments.
    ErrorStreak,
    /// Tools are called that do not exist.
    UnknownTools,
    /// Its tool was called too often.
    ToolCalls,
    /// Too many calls in this turn.
    TurnCalls,
    /// Too many refusals in this turn.
    Refusals,
    /// The user said so.
    Stopped,
}

/// Why a call that may be good in itself does not run now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Objection {
    /// What admission objects to.
    pub reason: Reason,
    /// The tool that was called.
    pub tool: String,
    /// Whether the call must not be made twice without asking.
    pub once: bool,
    /// Which call: an answer of the user may allow it.
    pub fingerprint: Option<Fingerprint>,
    /// How often: the number that the reason is about.
    pub count: u32,
    /// How many rounds ago this call last had an outcome; 0 if it never had.
    pub rounds_ago: u32,
    /// Whether that outcome was an error.
    pub failed: bool,
    /// The beginning of that outcome.
    pub last: String,
    /// What the call is refused for anyway.
    pub original: Option<Box<Failure>>,
}

/// Something to tell the model with a result, before it comes to a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notice {
    /// Out of the one table.
    pub code: Code,
    /// What it is about.
    pub reason: Reason,
    /// The tool that was called.
    pub tool: String,
    /// How often.
    pub count: u32,
    /// Whether the call must not be made twice, so that a failure which may have been none needs looking into.
    pub once: bool,
}

/// What the user says when asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// Let this call through once more.
    AllowOnce(Fingerprint),
    /// Let calls of this tool through from now on, up to the last bounds.
    AllowTool(#[serde(serialize_with = "as_digest")] String),
    /// Let nothing through until the user's next message.
    Stop,
}
