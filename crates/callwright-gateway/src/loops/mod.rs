//! Loop detection without state: takes the conversation in a request; returns what admission says about the next
//! calls.
//!
//! The rounds since the last user message are replayed through the gate, in a session that is discarded with the
//! answer. A user message begins a turn and resets the session, so nothing before it matters. Messages stored by the
//! provider (`previous_response_id`, `conversation`) are not counted. Nothing is replayed until a call has to be
//! admitted.

pub(crate) mod stop;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use callwright::admit::{MemoryLedger, Place};
use callwright::call::Call;
use callwright::check::Checked;
use callwright::failure::{Cause, Failure};
use callwright::feedback::Feedback;
use callwright::internal::RawObject;
use callwright::json::Value;
use callwright::parse::read_value;
use callwright::wire::{self, CallResult, HistoryEntry, OpenCalls, read_history};
use callwright::{Gate, Opened, Settled, Verdict};

use crate::api::Api;
use crate::request::RequestView;

/// How many rounds are replayed. Every admission limit is reached with fewer, except those for the calls of a whole
/// turn; replaying takes a few microseconds per round.
const MOST_ROUNDS: usize = 200;

/// Detects whether a call repeats the conversation.
#[derive(Debug)]
pub(crate) struct LoopCheck {
    /// The rounds of this turn as a JSON array, until they are replayed.
    turn: Option<String>,
    session: ThrowAwaySession,
    /// How many rounds were replayed.
    rounds: u64,
}

/// A ledger session, discarded when this is dropped.
#[derive(Debug)]
struct ThrowAwaySession {
    ledger: Arc<MemoryLedger>,
    name: String,
}

impl ThrowAwaySession {
    fn new(ledger: Arc<MemoryLedger>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = NEXT.fetch_add(1, Ordering::Relaxed).to_string();
        ThrowAwaySession { ledger, name }
    }
}

impl Drop for ThrowAwaySession {
    fn drop(&mut self) {
        self.ledger.forget(&self.name);
    }
}

impl LoopCheck {
    /// For a request; `None` if the model has not called anything in this turn, so nothing can be repeated. Parallel
    /// calls of one answer do not count as a repetition. Reads only the messages of this turn.
    pub(crate) fn new(request: &RequestView, ledger: &Arc<MemoryLedger>) -> Option<Self> {
        Some(LoopCheck {
            turn: Some(this_turn(request)?),
            session: ThrowAwaySession::new(Arc::clone(ledger)),
            rounds: 0,
        })
    }

    /// Asks whether a judged call may run now. `counts` says which tools of the conversation are known.
    pub(crate) fn admit<'c>(
        &'c mut self,
        gate: &'c Gate,
        call: &Call<'_>,
        verdict: Verdict<'c>,
        counts: impl Fn(&str) -> bool,
    ) -> Settled<'c> {
        if let Some(turn) = self.turn.take()
            && let Ok(history) = read_value(&turn)
        {
            self.replay(gate, history, counts);
        }
        let place = Place::new(&self.session.name, 0, self.rounds);
        match gate.admit(call, verdict, place) {
            Opened::Admitted(ticket) => ticket.into(),
            Opened::Refused(refused) => Verdict::Refused(refused).into(),
        }
    }

    /// Takes the calls of a conversation through the gate like recorded calls.
    fn replay(&mut self, gate: &Gate, history: Value<'_>, counts: impl Fn(&str) -> bool) {
        for (round, call, result) in paired(read_history(history)) {
            self.rounds = self.rounds.max(round + 1);
            if !counts(&call.tool) {
                continue;
            }
            let verdict = gate.judge(&call);
            let checked = result
                .as_ref()
                .and_then(|result| checked(gate, &verdict, result));
            let opened = gate.admit(&call, verdict, Place::new(&self.session.name, 0, round));
            if let (Opened::Admitted(ticket), Some(checked)) = (opened, checked) {
                let _ = gate.settle(ticket, checked);
            }
        }
    }
}

/// The text for the user that replaces the calls of an answer if one of them loops.
pub(crate) fn stop_text(failure: Option<&Failure>) -> Option<String> {
    let failure = failure?;
    let Cause::Objection(objection) = &failure.cause else {
        return None;
    };
    Some(Feedback::default().stopped(objection, failure))
}

/// The messages since the last user message, as a JSON array; `None` if they contain no call.
fn this_turn(request: &RequestView) -> Option<String> {
    let mut turn = Vec::new();
    let (mut rounds, mut is_answer) = (0, false);
    for span in request.found.messages.iter().rev() {
        let bytes = request.body.part(span);
        let text = std::str::from_utf8(&bytes).ok()?;
        let message = RawObject::read(text).ok()?;
        let role = message.text("role");
        if role.as_deref() == Some("user") && begins_turn(text) {
            break;
        }
        let is_later = is_answer;
        let is_models = |role| Api::ALL.iter().any(|api| api.model_role() == role);
        is_answer = role.as_deref().is_some_and(is_models) || message.is_a("function_call");
        if is_answer && !is_later {
            rounds += 1;
        }
        if rounds > MOST_ROUNDS {
            break;
        }
        turn.push(span);
    }
    if rounds == 0 {
        return None;
    }
    let messages: Vec<_> = turn
        .iter()
        .rev()
        .map(|span| request.body.part(span))
        .collect();
    String::from_utf8([b"[", messages.join(&b","[..]).as_slice(), b"]"].concat()).ok()
}

/// Whether a user message is more than the results of calls.
fn begins_turn(message: &str) -> bool {
    let history = read_value(message).map(|message| read_history(Value::Array(vec![message])));
    history.is_ok_and(|history| matches!(history[..], [HistoryEntry::User]))
}

/// The calls of a conversation, each with the number of its round and its result.
fn paired(history: Vec<HistoryEntry<'_>>) -> Vec<(u64, Call<'_>, Option<CallResult<'_>>)> {
    let mut calls: Vec<(u64, Call<'_>, Option<CallResult<'_>>)> = Vec::new();
    let mut round = 0;
    // Results follow their calls, so only calls of the latest round are open. It begins at this number.
    let (mut open, mut latest) = (OpenCalls::default(), 0);
    for entry in history {
        match entry {
            HistoryEntry::Answer(answer) => {
                let before = calls.len();
                let read = answer.calls.into_iter().flatten();
                calls.extend(read.map(|call| (round, call, None)));
                if calls.len() > before {
                    round += 1;
                    latest = before;
                    open = OpenCalls::default();
                    calls[before..]
                        .iter()
                        .for_each(|(_, call, _)| open.push(call));
                }
            }
            HistoryEntry::Result(result) => {
                let its = open.take(&result).and_then(|at| calls.get_mut(latest + at));
                if let Some((_, _, known)) = its {
                    *known = Some(result);
                }
            }
            _ => {}
        }
    }
    calls
}

/// The gate's verdict on a result in the conversation, if the call would have run.
fn checked<'r>(
    gate: &Gate,
    verdict: &Verdict<'_>,
    result: &'r CallResult<'_>,
) -> Option<Checked<'r>> {
    let (Verdict::Valid(_) | Verdict::Repaired(_)) = verdict else {
        return None;
    };
    let ran = wire::recorded_outcome(Cow::Borrowed(&result.output), result.is_error);
    Some(gate.check(verdict.tool()?, verdict.arguments()?, ran))
}
