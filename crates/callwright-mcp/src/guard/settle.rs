//! Results that the client gets before they are settled.
//!
//! Most results pass whatever they say: the tool declares no schema for them, they report no error, and the call is not
//! a repetition. Reading such a result and recording it takes longer than everything else that the guard does with a
//! call, so a driver may send it first, and then call [`Guard::settle`]. It is settled before the guard looks at the
//! client's next message, which may be a reaction to it.

use serde_json::value::RawValue;

use super::action::Action;
use super::results::ServerAnswer;
use super::state::ForwardedCall;
use super::{Guard, Now};
use crate::members::members;
use crate::message::Id;

/// A result that was passed on.
#[derive(Debug)]
pub(super) struct UnsettledResult {
    call: Box<ForwardedCall>,
    /// A copy, since another thread may settle it.
    result: Box<RawValue>,
    came: Now,
}

/// When results are settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settling {
    /// Before they are passed on.
    First,
    /// If possible, afterwards.
    Later,
}

impl Guard {
    /// Leaves a result for [`Guard::settle`] if it passes in any case; otherwise returns its call.
    pub(super) fn settle_later(
        &self,
        call: Box<ForwardedCall>,
        result: Option<&RawValue>,
        came: Now,
    ) -> Result<(), Box<ForwardedCall>> {
        let Some(result) = result.filter(|result| passes_unread(&call, result)) else {
            return Err(call);
        };
        // Never waits for another result that is being settled.
        let Some(mut unsettled) = self.unsettled.try_lock() else {
            return Err(call);
        };
        unsettled.push(UnsettledResult {
            call,
            result: result.to_owned(),
            came,
        });
        Ok(())
    }

    /// Settles the results that [`Guard::from_server_unsettled`] has passed on. Call this once they are sent.
    pub fn settle(&self, out: &mut Vec<Action<'_>>) {
        // Locked until the end: the client's next call waits until the results before it count.
        let mut unsettled = self.unsettled.lock();
        for UnsettledResult { call, result, came } in unsettled.drain(..) {
            // Only the result matters, since none of it is replaced.
            let answer = ServerAnswer {
                message: result.get().as_bytes(),
                id: Id("null"),
                result: Some(&result),
                error: None,
            };
            // It passes. Only if another process made the same call meanwhile, in a ledger that both share, would it
            // have come with a notice; the next one does.
            let _passed = self.result(*call, &answer, came, out);
        }
    }
}

/// Whether a result passes whatever else it says.
fn passes_unread(call: &ForwardedCall, result: &RawValue) -> bool {
    let text = result.get();
    if call.shares_id || !call.gate.passes_unread(&call.open, text.len()) {
        return false;
    }
    // An error, or a call that goes on.
    let telling = members(text, ["isError", "task", "resultType"]);
    telling.is_ok_and(|[is_error, task, kind]| {
        let is_plain =
            |value: Option<&RawValue>, plain: &str| value.is_none_or(|value| value.get() == plain);
        is_plain(is_error, "false") && task.is_none() && is_plain(kind, "\"complete\"")
    })
}
