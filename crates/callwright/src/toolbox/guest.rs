//! Tools that somebody else runs: another framework's, or another server's.
//!
//! A guest is declared here and judged like any other tool, but its function is brought along with each call. Its time
//! and its panics are looked after; how often it is run, and how many at once, is left to whoever runs it.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;

use futures_util::FutureExt as _;

use super::clock;
use super::underway::Underway;
use super::{Toolbox, ToolboxBuilder};
use crate::check::ToolFailure;
use crate::event::Sinks;
use crate::panics::words_of;
use crate::tool::ToolSpec;

impl ToolboxBuilder {
    /// Adds a tool that somebody else runs.
    pub(crate) fn guest(mut self, spec: ToolSpec) -> Self {
        self.guests.push(spec);
        self
    }

    /// Sends events to sinks that run already.
    pub(crate) fn running_sinks(mut self, sinks: Sinks) -> Self {
        self.running_sinks = Some(sinks);
        self
    }
}

impl Toolbox {
    /// Runs a guest's function: in the time that the policy gives it, if it gives one, and with its panic caught.
    pub(crate) async fn in_time<F: Future>(
        &self,
        underway: &Underway<'_>,
        running: F,
    ) -> Result<F::Output, ToolFailure> {
        underway.progress().attempt();
        let caught = AssertUnwindSafe(underway.span().instrument(running)).catch_unwind();
        let limit = self.guests.get(underway.ticket().tool().name());
        let ended = match limit.copied().flatten() {
            Some(limit) => clock::within(limit, pin!(caught))
                .await
                .ok_or_else(|| ToolFailure::timed_out(limit))?,
            None => caught.await,
        };
        ended.map_err(|panic| ToolFailure::panicked(words_of(panic)))
    }
}
