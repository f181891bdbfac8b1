//! Which events a sink wants.

use super::{Event, Judgement};
use crate::words::OutputVerdict;

/// What happened, as a question to an event. An event may be several of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum On {
    /// Anything.
    #[default]
    Any,
    /// Something went wrong: the call was refused, the tool failed, or its result was refused.
    Error,
    /// The call was refused; the tool did not run.
    Refused,
    /// The call was repaired; it may have been refused afterwards for another reason.
    Repaired,
    /// The tool was run, however that went.
    ToolExecuted,
    /// The tool was run and failed, or said that it did.
    ToolFailed,
    /// The tool answered, and the answer was refused.
    OutputRefused,
    /// The tool answered, and the answer is only a part.
    OutputPartial,
    /// There was an objection that the policy only warns about.
    Warning,
    /// The model got a notice with the result: it repeats itself.
    Notice,
}

impl On {
    /// Whether an event is one of these.
    pub fn is(self, event: &Event) -> bool {
        match self {
            On::Any => true,
            On::Error => event.error().is_some() || event.is_error,
            On::Refused => event.verdict == Judgement::Refused,
            On::Repaired => event.verdict == Judgement::Repaired,
            On::ToolExecuted => event.was_executed(),
            On::ToolFailed => event.was_executed() && event.is_error,
            On::OutputRefused => event.output_verdict == Some(OutputVerdict::Refused),
            On::OutputPartial => event.output_verdict == Some(OutputVerdict::Partial),
            On::Warning => {
                event.warning.is_some() || event.output_verdict == Some(OutputVerdict::Warned)
            }
            On::Notice => event.notice.is_some(),
        }
    }
}
