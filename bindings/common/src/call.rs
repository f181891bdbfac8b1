//! A call that ends later: its tool runs in another language, which then reports the outcome.

use std::time::{Duration, Instant, SystemTime};

use callwright::admit::{Fingerprint, Moment, Place, Ticket};
use callwright::check::{Output, Ran};
use callwright::event::Event;
use callwright::failure::Cause;
use callwright::feedback::Feedback;
use callwright::json::Value;
use callwright::wire::{self, Provider};
use callwright::{Call, Settled};

use crate::guard::Guard;

/// When a call arrived, by both clocks.
type Arrival = (SystemTime, Instant);

/// A session and a moment in it.
type OwnedPlace = (String, Moment);

/// A call that may run, or was refused.
#[derive(Debug)]
pub struct OpenCall(State);

#[derive(Debug)]
enum State {
    Admitted {
        call: Box<Call<'static>>,
        ticket: Box<Ticket<'static>>,
        came: Arrival,
    },
    Refused(Box<SettledCall>),
}

impl OpenCall {
    pub(crate) fn admitted(call: Call<'static>, ticket: Ticket<'static>, came: Arrival) -> Self {
        OpenCall(State::Admitted {
            call: Box::new(call),
            ticket: Box::new(ticket),
            came,
        })
    }

    pub(crate) fn refused(settled: SettledCall) -> Self {
        OpenCall(State::Refused(Box::new(settled)))
    }

    /// The permission to run the call; `None` if it was refused.
    pub fn ticket(&self) -> Option<&Ticket<'static>> {
        match &self.0 {
            State::Admitted { ticket, .. } => Some(ticket),
            State::Refused(_) => None,
        }
    }

    /// The refusal; `None` if the call may run.
    pub fn refusal(&self) -> Option<&SettledCall> {
        match &self.0 {
            State::Admitted { .. } => None,
            State::Refused(settled) => Some(settled),
        }
    }

    /// The call as received.
    pub fn call(&self) -> &Call<'static> {
        match &self.0 {
            State::Admitted { call, .. } => call,
            State::Refused(settled) => settled.call(),
        }
    }

    /// The fingerprint that identifies the call, if known.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        match &self.0 {
            State::Admitted { ticket, .. } => Some(ticket.fingerprint()),
            State::Refused(settled) => settled.objected_fingerprint(),
        }
    }

    /// The contract's line, before the call has ended.
    pub fn verdict_line(&self, guard: &Guard) -> String {
        match &self.0 {
            State::Refused(settled) => settled.line(guard.feedback()),
            State::Admitted { call, .. } => guard.verdict_line(call),
        }
    }

    /// Ends the call: its outcome is judged and counted. `latency` is how long the tool ran, and `attempts` how often
    /// it was started. A refused call stays refused.
    pub fn close(
        self,
        guard: &Guard,
        ran: Ran<'static>,
        attempts: u32,
        latency: Duration,
    ) -> SettledCall {
        self.end(guard, Some((attempts, latency)), |ticket| {
            guard.gate().close(ticket, ran)
        })
    }

    /// Ends the call only for the gate: its outcome will not be known.
    pub fn close_unknown(self, guard: &Guard) -> SettledCall {
        self.end(guard, None, Settled::from)
    }

    fn end(
        self,
        guard: &Guard,
        run: Option<(u32, Duration)>,
        settle: impl FnOnce(Ticket<'static>) -> Settled<'static>,
    ) -> SettledCall {
        match self.0 {
            State::Refused(settled) => *settled,
            State::Admitted { call, ticket, came } => {
                let place = ticket.place();
                let place = place.map(|place| (place.session.to_owned(), place.at));
                let settled = SettledCall::new(*call, settle(*ticket));
                settled.report(guard, place.as_ref(), came, run);
                settled
            }
        }
    }
}

/// A call with its outcome.
#[derive(Debug)]
pub struct SettledCall {
    call: Call<'static>,
    settled: Settled<'static>,
}

impl SettledCall {
    /// A call and its outcome.
    pub fn new(call: Call<'static>, settled: Settled<'static>) -> Self {
        SettledCall { call, settled }
    }

    /// The call as received.
    pub fn call(&self) -> &Call<'static> {
        &self.call
    }

    /// Its outcome.
    pub fn settled(&self) -> &Settled<'static> {
        &self.settled
    }

    /// The identity of a call that admission refused: the user's answer `allow_once` refers to it.
    pub fn objected_fingerprint(&self) -> Option<Fingerprint> {
        match &self.settled.failure()?.cause {
            Cause::Objection(objection) => Some(objection.fingerprint),
            _ => None,
        }
    }

    /// The contract's line.
    pub fn line(&self, feedback: &Feedback) -> String {
        self.settled.line(&self.call, feedback).to_string()
    }

    /// What the model gets.
    pub fn text(&self, feedback: &Feedback) -> String {
        self.settled.text(feedback).into_owned()
    }

    /// The tool result in a provider's format.
    pub fn message(&self, provider: Provider, feedback: &Feedback) -> Value<'_> {
        wire::render_settled(provider, &self.call, &self.settled, feedback)
    }

    /// Sends the event, if there is a sink.
    pub(crate) fn report(
        &self,
        guard: &Guard,
        place: Option<&OwnedPlace>,
        (time, came): Arrival,
        run: Option<(u32, Duration)>,
    ) {
        let sinks = guard.sinks();
        if sinks.is_empty() {
            return;
        }
        let settled = &self.settled;
        let latency = run.map_or(Duration::ZERO, |(_, latency)| latency);
        let event = Event::of(guard.gate(), &self.call, &settled.verdict, time);
        let mut event = event.settled(settled);
        event.gate_time = came.elapsed().saturating_sub(latency);
        if let Some((session, at)) = place {
            event = event.at(Place { session, at: *at });
        }
        if let Some(result) = &settled.result {
            if let Some((attempts @ 1.., latency)) = run {
                event = event.ran(attempts, latency);
            }
            let output = result.output.as_ref();
            event.output = output
                .filter(|_| guard.keeps_output())
                .map(Output::to_value);
        }
        sinks.send(event);
    }
}
