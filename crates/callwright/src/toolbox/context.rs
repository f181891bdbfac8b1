//! What a tool's function may know about the call that it serves.

use crate::admit::{Fingerprint, Place};

/// Which call a tool's function serves.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallContext {
    /// The tool that was called.
    pub tool: String,
    /// The provider's id of the call, if it has one.
    pub id: Option<String>,
    /// The conversation, if it belongs to one.
    pub session: Option<String>,
    /// The turn in the conversation.
    pub turn: Option<u64>,
    /// The round in the turn.
    pub round: Option<u64>,
    /// The identity of the call: the same for the same tool and arguments. Good as an idempotency key together with the
    /// id.
    pub fingerprint: Fingerprint,
    /// How often the function was run for this call before.
    pub attempt: u32,
}

impl CallContext {
    pub(super) fn new(
        tool: &str,
        id: Option<&crate::json::Value<'_>>,
        place: Option<Place<'_>>,
        fingerprint: Fingerprint,
        attempt: u32,
    ) -> Self {
        CallContext {
            tool: tool.to_owned(),
            id: id.map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned)),
            session: place.map(|place| place.session.to_owned()),
            turn: place.and_then(|place| place.at.turn),
            round: place.and_then(|place| place.at.round),
            fingerprint,
            attempt,
        }
    }
}
