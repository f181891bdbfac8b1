//! Admission's objections: which code, what next, and what the words are made of.

use super::{Cause, Code, Failure, Next};
use crate::admit::{Escalation, Fingerprint, Reason};

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

impl Notice {
    pub(crate) fn new(reason: Reason, tool: &str, count: u32) -> Self {
        Notice {
            code: match reason {
                Reason::Transient => Code::Transient,
                other => code(other),
            },
            reason,
            tool: tool.to_owned(),
            count,
            once: false,
        }
    }
}

impl Failure {
    /// Stands for a failure for as long as it takes to make another out of it.
    pub(crate) const PLACEHOLDER: Failure = Failure {
        code: Code::InvalidArguments,
        cause: Cause::Arguments(Vec::new()),
        escalated: None,
        advice: None,
    };

    /// Admission objects. `escalated` if refusals did not help so far.
    pub(crate) fn objection(objection: Objection, escalated: bool, escalation: Escalation) -> Self {
        // What has changed something already is not repeated without asking, from the start.
        let ran_already = objection.reason == Reason::Budget && !objection.failed && objection.once;
        let last_rung = match escalation {
            Escalation::Ask => Some(Next::AskUser),
            Escalation::Stop => Some(Next::Stop),
            Escalation::Never => None,
        };
        let next = match objection.reason {
            // The last bounds have no rung above them.
            Reason::TurnCalls | Reason::Refusals | Reason::Stopped => None,
            _ if escalated => last_rung,
            Reason::Budget if ran_already && escalation == Escalation::Ask => Some(Next::AskUser),
            Reason::Transient => Some(Next::RetryLater),
            // Other tools may still be called.
            Reason::ToolCalls => Some(Next::ChangeApproach),
            _ => None,
        };
        Failure {
            code: code(objection.reason),
            cause: Cause::Objection(Box::new(objection)),
            escalated: next,
            advice: None,
        }
    }

    /// Nothing is let through uncounted, and nobody can count.
    pub(crate) fn ledger_away(why: String) -> Self {
        Failure::new(Code::LedgerUnavailable, Cause::LedgerAway { why })
    }
}

fn code(reason: Reason) -> Code {
    match reason {
        Reason::Budget | Reason::Transient => Code::RetryBudgetExceeded,
        Reason::RepeatedCall => Code::RepeatedCall,
        Reason::RepeatedResult => Code::RepeatedResult,
        Reason::Cycle => Code::Cycle,
        Reason::ErrorStreak => Code::ErrorStreak,
        Reason::UnknownTools => Code::UnknownToolStreak,
        Reason::ToolCalls | Reason::TurnCalls | Reason::Refusals => Code::CallLimitExceeded,
        Reason::Stopped => Code::StoppedByUser,
    }
}
