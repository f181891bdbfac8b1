//! A call in progress in the toolbox, from its arrival until its event is sent.
//!
//! Takes a call; returns permission to run it, or the refusal to send to the model. The caller runs the tool and
//! reports the outcome with [`Invocation::end`]; an invocation that is dropped counts as cancelled. Either way the call
//! has exactly one event. No clock is read unless there is a sink.

use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};

use futures_util::FutureExt as _;
use scopeguard::{ScopeGuard, guard};

use super::{Toolbox, clock};
use crate::admit::{Opened, Ticket};
use crate::call::Call;
use crate::event::{Event, ToolSpan};
use crate::panics::words_of;
use crate::verdict::{Settled, Verdict};
use crate::vocabulary::{Output, Place, Ran, ToolFailure};

/// The name of an unknown tool in traces: names that a model makes up do not belong in span names.
const UNKNOWN: &str = "unknown";

/// A call that may run and has not ended yet. For tools that run outside the toolbox: see
/// [`ToolboxBuilder::external_tool`](super::ToolboxBuilder::external_tool).
pub struct Invocation<'c>(ScopeGuard<AdmittedCall<'c>, fn(AdmittedCall<'c>)>);

type AdmittedCall<'c> = (CallRecord<'c>, Ticket<'c>);

impl Toolbox {
    /// Judges a call and decides whether it may run now. A call without a place belongs to no conversation and is not counted.
    ///
    /// # Errors
    /// Returns the refusal if the call must not run.
    #[expect(
        clippy::result_large_err,
        reason = "both are as large as a settled call, and are matched once"
    )]
    pub fn begin<'c>(
        &'c self,
        call: &'c Call<'_>,
        place: impl Into<Option<Place<'c>>>,
    ) -> Result<Invocation<'c>, Settled<'c>> {
        let place = place.into();
        let record = CallRecord::start(self, call, place);
        match self.unblocked(|| self.gate.open(call, place)) {
            Opened::Admitted(ticket) => {
                Ok(Invocation(guard((record, ticket), |(record, ticket)| {
                    let cancelled = record.cancelled();
                    drop(record.ended(ticket, Ran::failed(cancelled)));
                })))
            }
            Opened::Refused(refused) => {
                let settled = Verdict::Refused(refused).into();
                record.report(&settled, Duration::ZERO);
                Err(settled)
            }
        }
    }
}

impl<'c> Invocation<'c> {
    /// The permission to run the call: its tool, and the arguments to run it with.
    pub fn ticket(&self) -> &Ticket<'c> {
        &self.0.1
    }

    /// Runs an external tool within the policy's time limit, if any, and catches its panics.
    ///
    /// # Errors
    /// Fails if the tool panicked or took too long.
    pub async fn run<F: Future>(&self, tool: F) -> Result<F::Output, ToolFailure> {
        self.count_attempt();
        let caught = AssertUnwindSafe(self.span().instrument(tool)).catch_unwind();
        let limit = self
            .record()
            .toolbox
            .external
            .get(self.ticket().tool().name());
        let ended = match limit.copied().flatten() {
            Some(limit) => clock::within(limit, pin!(caught))
                .await
                .ok_or_else(|| ToolFailure::timed_out(limit))?,
            None => caught.await,
        };
        ended.map_err(|panic| ToolFailure::panicked(words_of(panic)))
    }

    /// Ends the call: its outcome is judged and counted.
    pub fn end(self, ran: impl Into<Ran<'c>>) -> Settled<'c> {
        let (record, ticket) = ScopeGuard::into_inner(self.0);
        record.ended(ticket, ran.into())
    }

    /// Ends the call for the toolbox only: it continues elsewhere, and its outcome will not be known.
    pub fn end_unknown(self) -> Settled<'c> {
        let (record, ticket) = ScopeGuard::into_inner(self.0);
        let settled = Settled::from(ticket);
        record.report(&settled, record.latency());
        settled
    }

    fn record(&self) -> &CallRecord<'c> {
        &self.0.0
    }

    pub(super) fn span(&self) -> &ToolSpan {
        &self.record().span
    }

    /// Counts a start of the tool's function.
    pub(super) fn count_attempt(&self) {
        let record = self.record();
        record.attempts.fetch_add(1, Ordering::Relaxed);
        if record.clock.is_some() {
            record.began.get_or_init(Instant::now);
        }
    }

    /// The failure of a call whose caller went away.
    pub(super) fn cancelled(&self) -> ToolFailure {
        self.record().cancelled()
    }
}

impl fmt::Debug for Invocation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Invocation").field(self.ticket()).finish()
    }
}

/// The facts about one call, for its span and its event.
struct CallRecord<'c> {
    toolbox: &'c Toolbox,
    call: &'c Call<'c>,
    place: Option<Place<'c>>,
    span: ToolSpan,
    /// When the call arrived; `None` without sinks.
    clock: Option<(SystemTime, Instant)>,
    /// How often the tool's function was started, and when first.
    attempts: AtomicU32,
    began: OnceLock<Instant>,
}

impl<'c> CallRecord<'c> {
    fn start(toolbox: &'c Toolbox, call: &'c Call<'c>, place: Option<Place<'c>>) -> Self {
        let session = place.map(|place| place.session);
        let name = || {
            toolbox
                .gate
                .tool_set()
                .meant(&call.tool)
                .map_or(UNKNOWN, |tool| tool.name())
        };
        CallRecord {
            clock: (!toolbox.sinks.is_empty()).then(|| (SystemTime::now(), Instant::now())),
            span: ToolSpan::new(name, call.id.as_ref(), session),
            toolbox,
            call,
            place,
            attempts: AtomicU32::new(0),
            began: OnceLock::new(),
        }
    }

    fn cancelled(&self) -> ToolFailure {
        match self.attempts.load(Ordering::Relaxed) {
            0 => ToolFailure::not_started(),
            _ => ToolFailure::cancelled(),
        }
    }

    /// The time since the function was first started; zero if it was not.
    fn latency(&self) -> Duration {
        self.began.get().map_or(Duration::ZERO, Instant::elapsed)
    }

    fn ended(self, ticket: Ticket<'c>, ran: Ran<'c>) -> Settled<'c> {
        let latency = self.latency();
        let toolbox = self.toolbox;
        let settled = toolbox.unblocked(|| toolbox.gate.close(ticket, ran));
        self.report(&settled, latency);
        settled
    }

    /// Records the outcome in the span, and sends the event.
    fn report(&self, settled: &Settled<'_>, latency: Duration) {
        let attempts = self.attempts.load(Ordering::Relaxed);
        self.span.record_settled(settled, attempts);
        let Some((time, came)) = self.clock else {
            return;
        };
        let toolbox = self.toolbox;
        toolbox.sinks.report(|| {
            let event = Event::of(&toolbox.gate, self.call, &settled.verdict, time);
            let mut event = event.settled(settled);
            event.gate_time = came.elapsed().saturating_sub(latency);
            if let Some(place) = self.place {
                event = event.at(place);
            }
            if let Some(result) = &settled.result {
                if attempts > 0 {
                    event = event.ran(attempts, latency);
                }
                let output = result.output.as_ref();
                event.output = output
                    .filter(|_| toolbox.keeps_output)
                    .map(Output::to_value);
            }
            event
        });
    }
}
