//! What becomes of a call, and who decides it.

use callwright::Gate;
use callwright::call::Call;
use callwright::wire::EnvelopeDefect;

/// Decides what becomes of the calls of an answer.
pub trait CallJudge {
    /// Judges a call. For one that is refused, `split` says which calls it holds, if these may take its place.
    fn judge(&mut self, gate: &Gate, call: &Call<'_>, split: &mut SplitCall<'_>) -> Decision;

    /// Hears of a defect around a call that was mended.
    fn mended(&mut self, defect: EnvelopeDefect);
}

/// The calls that a call holds, with their ids; `None` if it is one, or has to stay one.
pub type SplitCall<'s> = dyn FnMut(&Call<'_>) -> Option<Vec<Call<'static>>> + 's;

/// What is to become of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It is valid, and goes on as it came.
    Valid,
    /// It becomes another one.
    Change(NewCall),
    /// It becomes several: the first takes its place, the others follow it.
    Split(Vec<NewCall>),
    /// It is not valid, or that is not known, and goes on as it came.
    Leave,
}

/// What a call becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCall {
    /// The name of its tool.
    pub tool: String,
    /// Its arguments, as JSON.
    pub arguments: String,
}
