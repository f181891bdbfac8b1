//! What a tool's function can learn about the call it serves.

use crate::admit::Ticket;
use crate::json::Value;
use crate::vocabulary::{Fingerprint, Place};

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
    /// The identity of the call: the same for the same tool and arguments. Together with the id it makes a good
    /// idempotency key.
    pub fingerprint: Fingerprint,
    /// How often the function has already run for this call.
    pub attempt: u32,
}

/// The same, borrowed: most functions do not ask for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin<'r> {
    pub(super) tool: &'r str,
    pub(super) arguments: &'r Value<'r>,
    pub(super) place: Option<Place<'r>>,
    pub(super) fingerprint: Fingerprint,
    pub(super) id: Option<&'r Value<'r>>,
    pub(super) attempt: u32,
}

impl<'r> Origin<'r> {
    pub(super) fn new(ticket: &'r Ticket<'_>, id: Option<&'r Value<'_>>) -> Self {
        Origin {
            tool: ticket.tool().name(),
            arguments: ticket.arguments(),
            place: ticket.place(),
            fingerprint: ticket.fingerprint(),
            id,
            attempt: 0,
        }
    }
}

impl From<Origin<'_>> for CallContext {
    fn from(origin: Origin<'_>) -> Self {
        let text = |id: &Value<'_>| id.as_str().map_or_else(|| id.to_string(), str::to_owned);
        CallContext {
            tool: origin.tool.to_owned(),
            id: origin.id.map(text),
            session: origin.place.map(|place| place.session.to_owned()),
            turn: origin.place.and_then(|place| place.at.turn),
            round: origin.place.and_then(|place| place.at.round),
            fingerprint: origin.fingerprint,
            attempt: origin.attempt,
        }
    }
}
