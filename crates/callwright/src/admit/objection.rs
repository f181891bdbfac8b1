//! Admission's objections: the code, the next step, and the data for their text.

use super::Escalation;
use crate::vocabulary::{Cause, Code, Failure, Next, Notice, Objection, Reason};

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
    /// The failure for an objection; `escalated` if refusals have not helped so far.
    pub(crate) fn objection(objection: Objection, escalated: bool, escalation: Escalation) -> Self {
        // A call that has already changed something is never repeated without asking, not even the first time.
        let ran_already = objection.reason == Reason::Budget && !objection.failed && objection.once;
        let last_rung = match escalation {
            Escalation::Ask => Some(Next::AskUser),
            Escalation::Stop => Some(Next::Stop),
            Escalation::Never => None,
        };
        let next = match objection.reason {
            // There is no further escalation beyond the hard limits.
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
            example: None,
        }
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
