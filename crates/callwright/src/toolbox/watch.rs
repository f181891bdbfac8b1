//! Watches a call on its way through the toolbox, and tells about it in the end.
//!
//! Whatever happens, there is one event: also if nobody waits for the call any more. Where no sink is attached, no
//! clock is asked.

use std::time::{Duration, Instant, SystemTime};

use super::Toolbox;
use super::progress::Progress;
use crate::admit::{Place, Ticket};
use crate::call::Call;
use crate::check::{Output, Ran};
use crate::classify::{Failure, Refused};
use crate::event::{Event, SpanOutcome, ToolSpan};
use crate::json::Value;
use crate::verdict::{Settled, Verdict};

/// What a tool is called in traces that does not exist: what a model makes up is not for the names of spans.
const UNKNOWN: &str = "unknown";

/// Watches one call.
pub(super) struct Watch<'c> {
    toolbox: &'c Toolbox,
    call: &'c Call<'c>,
    place: Option<Place<'c>>,
    pub(super) span: ToolSpan,
    pub(super) progress: Progress,
    clock: Option<Clock>,
}

/// When what happened, if somebody wants to know.
#[derive(Clone, Copy)]
struct Clock {
    time: SystemTime,
    came: Instant,
}

impl<'c> Watch<'c> {
    pub(super) fn start(
        toolbox: &'c Toolbox,
        call: &'c Call<'c>,
        place: Option<Place<'c>>,
    ) -> Self {
        let clock = (!toolbox.sinks.is_empty()).then(|| Clock {
            time: SystemTime::now(),
            came: Instant::now(),
        });
        let session = place.map(|place| place.session);
        let name = || {
            toolbox
                .gate
                .tool_set()
                .meant(&call.tool)
                .map_or(UNKNOWN, |tool| tool.name())
        };
        Watch {
            span: ToolSpan::new(name, call.id.as_ref(), session),
            progress: Progress::new(clock.is_some()),
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

    /// The call has ended: what came of it is judged.
    pub(super) fn ended(self, ticket: Ticket<'c>, ran: Ran<'c>) -> Settled<'c> {
        let latency = self.progress.latency();
        let settled = self.toolbox.close(ticket, ran);
        self.report(&settled, latency);
        settled
    }

    /// The call goes on elsewhere: nothing is known of its end.
    #[cfg(feature = "rmcp")]
    pub(super) fn went_on(self, ticket: Ticket<'c>) -> Settled<'c> {
        let settled = Settled::from(ticket);
        self.report(&settled, self.progress.latency());
        settled
    }

    /// Tells everybody who listens.
    fn report(&self, settled: &Settled<'_>, latency: Duration) {
        let attempts = self.progress.attempts();
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
                .with_uncounted(settled.uncounted)
                .with_gate_time(clock.came.elapsed().saturating_sub(latency));
            if let Some(place) = self.place {
                event = event.at(place);
            }
            if let Some(result) = &settled.result {
                if attempts > 0 {
                    event = event.ran(attempts, latency);
                }
                event = event.with_result(result);
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
