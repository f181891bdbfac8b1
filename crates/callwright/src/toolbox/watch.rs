//! Watches a call on its way through the toolbox, and tells about it in the end.
//!
//! Whatever happens, there is one event: also if nobody waits for the call any more. Where no sink is attached, no
//! clock is asked.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};

use super::Toolbox;
use crate::admit::{Place, Ticket};
use crate::call::Call;
use crate::check::{Output, Ran, ToolFailure};
use crate::classify::{Failure, Refused};
use crate::event::{Event, SpanOutcome, ToolSpan};
use crate::json::Value;
use crate::verdict::{Settled, Verdict};

/// Watches one call.
pub(super) struct Watch<'c> {
    toolbox: &'c Toolbox,
    call: &'c Call<'c>,
    place: Option<Place<'c>>,
    pub(super) span: ToolSpan,
    /// How often the tool was run.
    pub(super) runs: AtomicU32,
    clock: Option<Clock>,
}

/// When what happened, if somebody wants to know.
#[derive(Clone, Copy)]
struct Clock {
    time: SystemTime,
    came: Instant,
    /// When the tool began.
    began: Instant,
}

impl<'c> Watch<'c> {
    pub(super) fn start(
        toolbox: &'c Toolbox,
        call: &'c Call<'c>,
        place: Option<Place<'c>>,
    ) -> Self {
        let clock = (!toolbox.sinks.is_empty()).then(|| {
            let now = Instant::now();
            Clock {
                time: SystemTime::now(),
                came: now,
                began: now,
            }
        });
        let session = place.map(|place| place.session);
        Watch {
            span: ToolSpan::new(&call.tool, call.id.as_ref(), session),
            runs: AtomicU32::new(0),
            toolbox,
            call,
            place,
            clock,
        }
    }

    /// The call did not run.
    pub(super) fn refused(self, refused: Box<Refused<'c>>) -> Settled<'c> {
        let settled = Verdict::Refused(refused).into();
        self.report(&settled, Duration::ZERO);
        settled
    }

    /// The call runs from now on.
    pub(super) fn began(&mut self) {
        if let Some(clock) = &mut self.clock {
            clock.began = Instant::now();
        }
    }

    /// The call has ended: what came of it is judged.
    pub(super) fn ended(self, ticket: Ticket<'c>, ran: Ran<'static>) -> Settled<'c> {
        let latency = self.clock.map(|clock| clock.began.elapsed());
        let settled = self.toolbox.close(ticket, ran);
        self.report(&settled, latency.unwrap_or_default());
        settled
    }

    /// Nobody waits for the call any more.
    pub(super) fn cancelled(self, ticket: Ticket<'c>) -> Settled<'c> {
        let failure = match self.runs.load(Ordering::Relaxed) {
            0 => ToolFailure::not_started(),
            _ => ToolFailure::cancelled(),
        };
        self.ended(ticket, Ran::failed(failure))
    }

    /// Tells everybody who listens.
    fn report(&self, settled: &Settled<'_>, latency: Duration) {
        let attempts = self.runs.load(Ordering::Relaxed);
        self.span.record_outcome(&SpanOutcome {
            verdict: settled.verdict.name(),
            output_verdict: settled.result.as_ref().map(|result| result.verdict.name()),
            edits: settled.verdict.edits().len(),
            attempts,
            error: settled
                .failure()
                .filter(|_| settled.is_error())
                .map(Failure::code_name),
        });
        let Some(clock) = self.clock else { return };
        let toolbox = self.toolbox;
        toolbox.sinks.report(|| {
            let mut event = Event::of(&toolbox.gate, self.call, &settled.verdict, clock.time)
                .with_notice(settled.notice().cloned())
                .with_gate_time(clock.came.elapsed().saturating_sub(latency));
            if let Some(place) = self.place {
                event = event.at(place);
            }
            if let Some(result) = &settled.result {
                event = event.ran(attempts, latency).with_result(result);
                if let Some(output) = result.output.as_ref().filter(|_| toolbox.keeps_output) {
                    event = event.with_output(match output {
                        Output::Value(value) => value.clone(),
                        other => Value::String(other.text()),
                    });
                }
            }
            event
        });
    }
}
