//! A call that was let through and has not ended yet.
//!
//! In comes a call, out comes leave to run it or what the model gets instead. Whoever runs it says in the end what came
//! of it; if nobody does, the call counts as cancelled.

use std::fmt;
use std::time::Duration;

use scopeguard::{ScopeGuard, guard};

use super::Toolbox;
use super::progress::Progress;
use super::watch::Watch;
use crate::admit::Opened;
use crate::admit::{Place, Ticket};
use crate::call::Call;
use crate::check::Ran;
use crate::event::ToolSpan;
use crate::verdict::Settled;

type Open<'c> = (Watch<'c>, Ticket<'c>);

/// A call that runs.
pub(crate) struct Underway<'c>(ScopeGuard<Open<'c>, fn(Open<'c>)>);

impl Toolbox {
    /// Judges a call and asks whether it may run now.
    #[expect(
        clippy::result_large_err,
        reason = "both are as large as what a call is settled with, and are looked at once"
    )]
    pub(crate) fn begin<'c>(
        &'c self,
        call: &'c Call<'_>,
        place: Option<Place<'c>>,
    ) -> Result<Underway<'c>, Settled<'c>> {
        let watch = Watch::start(self, call, place);
        match self.unblocked(|| self.gate.open(call, place)) {
            // If nobody waits for it any more, there is an end all the same.
            Opened::Admitted(ticket) => Ok(Underway(guard((watch, ticket), |(watch, ticket)| {
                let cancelled = watch.progress.cancelled();
                drop(watch.ended(ticket, Ran::failed(cancelled)));
            }))),
            Opened::Refused(refused) => Err(watch.refused(refused)),
        }
    }
}

impl<'c> Underway<'c> {
    /// The leave to run it.
    pub(crate) fn ticket(&self) -> &Ticket<'c> {
        &self.0.1
    }

    pub(super) fn span(&self) -> &ToolSpan {
        &self.0.0.span
    }

    /// It has ended: what came of it is judged.
    pub(crate) fn end(self, ran: Ran<'c>) -> Settled<'c> {
        let (watch, ticket) = ScopeGuard::into_inner(self.0);
        watch.ended(ticket, ran)
    }

    /// How far it has come.
    pub(super) fn progress(&self) -> &Progress {
        &self.0.0.progress
    }

    /// It goes on elsewhere, and nothing will be known of its end.
    #[cfg(feature = "rmcp")]
    pub(crate) fn goes_on(self) -> Settled<'c> {
        let (watch, ticket) = ScopeGuard::into_inner(self.0);
        watch.went_on(ticket)
    }
}

impl fmt::Debug for Underway<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Underway").field(self.ticket()).finish()
    }
}

/// How long a guest may take, if somebody said so.
pub(super) type Limit = Option<Duration>;
