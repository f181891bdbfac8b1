//! A call under way that borrows from nothing: for whoever hears of its end elsewhere, and later.

use super::{Fingerprint, Moment, Place, Ticket};
use crate::json::Value;
use crate::words::{Edit, Notice};

/// What is left of a [`Ticket`] while somebody else runs the call: another process, another language. Whoever has one
/// closes it with [`crate::Gate::close_open`], at the gate that gave the ticket.
#[derive(Debug)]
#[must_use = "close it when the call has ended"]
pub struct OpenCall {
    pub(super) tool: String,
    arguments: Value<'static>,
    edits: Vec<Edit>,
    session: Option<(String, Moment)>,
    pub(super) fingerprint: Fingerprint,
    pub(super) counted_in: Option<u64>,
    pub(super) uncounted: bool,
    pub(super) notice: Option<Notice>,
}

impl OpenCall {
    pub(super) fn of(ticket: &Ticket<'_>) -> Self {
        OpenCall {
            tool: ticket.tool().name().to_owned(),
            arguments: ticket.arguments().clone().into_owned(),
            edits: ticket.edits().to_vec(),
            session: ticket
                .place()
                .map(|place| (place.session.to_owned(), place.at)),
            fingerprint: ticket.fingerprint(),
            counted_in: ticket.counted_in,
            uncounted: ticket.uncounted,
            notice: ticket.notice().cloned(),
        }
    }

    /// The tool that runs.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The arguments it runs with.
    pub fn arguments(&self) -> &Value<'static> {
        &self.arguments
    }

    /// What was changed about them.
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// The identity of the call.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Whether it runs although the ledger could not be reached: see [`Ticket::is_uncounted`].
    pub fn is_uncounted(&self) -> bool {
        self.uncounted
    }

    /// Where in a conversation the call stands, if it belongs to one.
    pub fn place(&self) -> Option<Place<'_>> {
        let (session, at) = self.session.as_ref()?;
        Some(Place { session, at: *at })
    }
}
