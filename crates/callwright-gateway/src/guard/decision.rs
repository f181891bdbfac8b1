//! The decision about a call, and the trait that makes it.

use callwright::call::Call;
use callwright::wire::EnvelopeDefect;
use callwright::{Gate, Verdict};

/// Decides what happens to the calls of an answer.
pub trait CallJudge {
    /// Judges a call. If it is refused, `split` returns the calls that it contains, if these may replace it.
    fn judge(&mut self, gate: &Gate, call: &Call<'_>, split: &mut SplitCall<'_>) -> Decision;

    /// Reports a defect around a call that was mended.
    fn mended(&mut self, defect: EnvelopeDefect);
}

/// Returns the calls that a call contains, with their ids; `None` if it is a single call, or must stay one.
pub type SplitCall<'s> = dyn FnMut(&Call<'_>) -> Option<Vec<Call<'static>>> + 's;

/// What happens to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It is valid, and passes unchanged.
    Valid,
    /// It is replaced with another call.
    Change(NewCall),
    /// It is split into several: the first takes its place, the others follow it.
    Split(Vec<NewCall>),
    /// It is invalid or of unknown validity, and passes unchanged.
    Leave,
}

/// The replacement of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCall {
    /// The name of its tool.
    pub tool: String,
    /// Its arguments, as JSON.
    pub arguments: String,
}

impl NewCall {
    /// The call as it may run after this verdict; `None` if it was refused.
    pub(crate) fn of(verdict: &Verdict<'_>) -> Option<Self> {
        let (tool, arguments) = verdict.tool().zip(verdict.arguments())?;
        verdict.failure().is_none().then(|| NewCall {
            tool: tool.name().to_owned(),
            arguments: arguments.to_string(),
        })
    }
}
