//! Calls on their way to the server: judged if the tools are known, held until they are.

use std::sync::Arc;
use std::time::Instant;

use callwright::admit::{Place, Ticket};
use callwright::check::{Ran, ToolFailure};
use callwright::event::{Event, Judgement};
use callwright::tool::Tool;
use callwright::{Call, Gate, Opened, Verdict};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::consent::Told;
use super::results::with_outcome;
use super::state::{Held, Running, State};
use super::{Fate, Guard, Now, Outbox};
use crate::answer;
use crate::call::Params;
use crate::message::{Id, Message};
use crate::tools::{Known, undeclared};

/// How long an answer may be that is kept until the tools are known. A thousand of them are a gigabyte.
const LONGEST_EARLY_ANSWER: usize = 1_000_000;

/// What JSON-RPC leaves to servers: there is no room for more.
const BUSY: i32 = -32_000;

/// A call as it travels.
pub(super) struct Sent<'m> {
    pub(super) message: &'m [u8],
    pub(super) id: Id<'m>,
    params: &'m RawValue,
    pub(super) read: Params<'m>,
    pub(super) call: Call<'m>,
    /// Whether the user may be asked about it: not twice.
    pub(super) may_ask: bool,
}

#[derive(Deserialize)]
struct Cancelled<'m> {
    #[serde(borrow, rename = "requestId")]
    id: &'m RawValue,
}

impl Guard {
    /// A call of the client's.
    pub(super) fn call(
        &self,
        state: &mut State,
        message: &[u8],
        id: Id<'_>,
        params: Option<&RawValue>,
        now: Now,
        out: &mut Outbox<'_>,
    ) -> Fate {
        let Some(sent) = Sent::read(message, id, params) else {
            return self.bad_params(state, id, out);
        };
        if state.is_full() && self.settings.only_warns() {
            self.settings.status.unjudged(&sent.call.tool);
            return state.passes(id);
        }
        if state.is_full() {
            let why = "too many calls wait for an answer; wait for some of them";
            return Fate::Answered(answer::error(id.0, BUSY, why));
        }
        self.let_lists_age(state, now);
        let Some(answer) = state.take_answer(&sent) else {
            return self.judge_known(state, &sent, now, out);
        };
        let reply = answer.reply;
        let judge = |state: &mut State, sent: &Sent<'_>, out: &mut Outbox<'_>| match &reply {
            Some(reply) => self.user_said(state, sent, reply, now, out),
            None => self.judge_known(state, sent, now, out),
        };
        if !answer.is_in_params {
            return judge(state, &sent, out);
        }
        // The server knows nothing of our question.
        let Some(message) = Params::without_answers(message, sent.params) else {
            return self.bad_params(state, id, out);
        };
        let read = match Message::read(&message) {
            Message::Request { id, params, .. } => Sent::read(&message, id, params),
            _ => None,
        };
        let Some(mut sent) = read else {
            return self.bad_params(state, id, out);
        };
        // A client asks again as often as it is told to, and its user has just been asked.
        sent.may_ask = false;
        match judge(state, &sent, out) {
            Fate::Passes => Fate::Becomes(message),
            fate => fate,
        }
    }

    /// Judges a call by what is known of its tool; it waits if nothing is.
    pub(super) fn judge_known(
        &self,
        state: &mut State,
        sent: &Sent<'_>,
        now: Now,
        out: &mut Outbox<'_>,
    ) -> Fate {
        let (message, id) = (sent.message, sent.id);
        match state.tools.known(&sent.call.tool) {
            Known::Gate(gate) => self.judge(state, &gate, sent, now, out),
            Known::Undeclared => self.judge_undeclared(state, sent, now, out),
            Known::NotYet if state.asked.as_ref().is_some_and(|asked| asked.gave_up) => {
                self.judge_undeclared(state, sent, now, out)
            }
            Known::NotYet => {
                let is_sent = self.settings.only_warns();
                state.held.push_back(Held {
                    key: id.key().into_owned(),
                    id: id.0.to_owned(),
                    message: message.to_vec(),
                    is_sent,
                    answer: None,
                });
                let meta = sent.read.meta.map(|meta| meta.get().to_owned());
                self.ask(state, meta, now, out);
                if is_sent { Fate::Passes } else { Fate::Stays }
            }
        }
    }

    /// The tools are known, as far as they ever will be: a call that waited for them is judged.
    pub(super) fn release(
        &self,
        state: &mut State,
        held: Held,
        now: Now,
        out: &mut Outbox<'_>,
    ) -> Option<Vec<u8>> {
        let Message::Request { id, params, .. } = Message::read(&held.message) else {
            return None;
        };
        let fate = match Sent::read(&held.message, id, params) {
            Some(sent) => match state.tools.known(&sent.call.tool) {
                Known::Gate(gate) => self.judge(state, &gate, &sent, now, out),
                Known::NotYet | Known::Undeclared => self.judge_undeclared(state, &sent, now, out),
            },
            None => state.passes(id),
        };
        if held.answer.is_some() {
            state.passed.remove(&held.key);
        }
        if let Some(answer) = &held.answer
            && let Some(running) = state.calls.remove(&held.key)
        {
            state.rounds.end(now.instant);
            match Message::read(answer) {
                Message::Response { id, result, error } => {
                    self.result(running, answer, id, result, error, now, out);
                }
                _ => running.forget(&self.settings.sinks),
            }
        }
        match fate {
            _ if held.is_sent => None,
            Fate::Passes => Some(held.message),
            Fate::Becomes(other) => Some(other),
            Fate::Answered(answer) => {
                out.to_client.push(answer.into());
                None
            }
            Fate::Stays => None,
        }
    }

    /// A call of a tool that no list declares.
    fn judge_undeclared(
        &self,
        state: &mut State,
        sent: &Sent<'_>,
        now: Now,
        out: &mut Outbox<'_>,
    ) -> Fate {
        if let Some(gate) = undeclared(&sent.call.tool, &self.settings) {
            return self.judge(state, &gate, sent, now, out);
        }
        self.settings.status.unjudged(&sent.call.tool);
        state.passes(sent.id)
    }

    pub(super) fn judge(
        &self,
        state: &mut State,
        gate: &Arc<Gate>,
        sent: &Sent<'_>,
        now: Now,
        out: &mut Outbox<'_>,
    ) -> Fate {
        let began = Instant::now();
        let settings = &self.settings;
        let call = &sent.call;
        let place = self.place(state, now);
        let verdict = gate.judge(call);
        let recorded = !settings.sinks.is_empty();
        let event = |verdict: &Verdict<'_>| {
            let event = Event::of(gate, call, verdict, now.time);
            if self.remembers {
                event.at(place)
            } else {
                event
            }
        };
        let judged = recorded.then(|| event(&verdict));
        // A call that goes on after a question of the server's is the same call, not another one.
        let goes_on = sent.read.goes_on() && state.goes_on(gate.fingerprint(call, &verdict));
        let counted = (self.remembers && !goes_on).then_some(place);
        match gate.admit(call, verdict, counted) {
            Opened::Admitted(ticket) => {
                let is_unjudged = is_unjudged(ticket.tool());
                let (fate, open) = self.admitted(sent, ticket, out);
                let judged = judged.map(|mut event| {
                    if is_unjudged {
                        event.verdict = Judgement::Unjudged;
                    }
                    event
                });
                let mut running = Running {
                    id: sent.id.0.to_owned(),
                    open,
                    gate: Arc::clone(gate),
                    began: now.instant,
                    gate_time: began.elapsed(),
                    event: judged,
                    says_all: sent.read.names_protocol(),
                    shares_id: false,
                };
                let key = sent.id.key().into_owned();
                if let Some(other) = state.calls.remove(&key) {
                    state.rounds.end(now.instant);
                    other.forget(&settings.sinks);
                    running.shares_id = true;
                }
                state.calls.insert(key, running);
                fate
            }
            Opened::Refused(refused) => {
                state.rounds.end(now.instant);
                let tool = refused.shown_name(call).to_owned();
                let text = settings
                    .feedback
                    .render_with(&refused.failure, refused.notice.as_ref());
                let failure = refused.failure.clone();
                let event = recorded
                    .then(|| event(&Verdict::Refused(refused)).with_gate_time(began.elapsed()));
                if settings.only_warns() {
                    self.refused(&tool, &failure, event);
                    out.warnings
                        .push(format!("tool {tool:?}: the call would be refused: {text}"));
                    return state.passes(sent.id);
                }
                let told = Told {
                    tool,
                    failure,
                    text,
                    event,
                };
                self.refuse(state, sent, told, now, out)
            }
        }
    }

    /// Where in the conversation a call is that begins now.
    pub(super) fn place(&self, state: &mut State, now: Now) -> Place<'_> {
        Place {
            session: &self.session,
            at: state.rounds.begin(now.instant, self.settings.quiet),
        }
    }

    fn admitted(
        &self,
        sent: &Sent<'_>,
        ticket: Ticket<'_>,
        out: &mut Outbox<'_>,
    ) -> (Fate, Ticket<'static>) {
        let tool = ticket.tool().name();
        let edits = ticket.edits();
        self.settings.status.admitted(tool, edits);
        if is_unjudged(ticket.tool()) {
            self.settings.status.unjudged(tool);
        }
        let rewritten = if edits.is_empty() {
            None
        } else if self.settings.only_warns() {
            // By their names, since their values may be secret.
            let rules: Vec<&str> = edits.iter().map(|edit| edit.rule).collect();
            let rules = rules.join(", ");
            out.warnings.push(format!(
                "tool {tool:?}: the call would be repaired: {rules}"
            ));
            None
        } else {
            let arguments = ticket.arguments();
            sent.read
                .rewritten(sent.message, sent.params, tool, arguments)
        };
        (
            rewritten.map_or(Fate::Passes, Fate::Becomes),
            ticket.into_owned(),
        )
    }

    /// The client gives up on a request.
    pub(super) fn cancelled(
        &self,
        state: &mut State,
        params: Option<&RawValue>,
        now: Now,
        out: &mut Outbox<'_>,
    ) -> Fate {
        let id = params.and_then(|params| {
            let cancelled: Cancelled<'_> = serde_json::from_str(params.get()).ok()?;
            Some(cancelled.id)
        });
        let Some(id) = id else {
            return Fate::Passes;
        };
        let key = Id(id.get()).key();
        state.passed.remove(key.as_ref());
        if let Some(asking) = state.take_asking(&key) {
            state.rounds.end(now.instant);
            out.to_client.push(asking.withdrawn().into());
            return Fate::Stays;
        }
        if let Some(at) = state.held.iter().position(|held| held.key == key) {
            let is_sent = state.held.remove(at).is_some_and(|held| held.is_sent);
            // Otherwise the server never heard of it.
            return if is_sent { Fate::Passes } else { Fate::Stays };
        }
        if let Some(running) = state.calls.remove(key.as_ref()) {
            // A server need not answer it any more, and what it answers nobody reads.
            state.rounds.end(now.instant);
            let ran = Ran::failed(ToolFailure::cancelled());
            let settled = running.gate.close(running.open, ran);
            if let Some(event) = running.event {
                let latency = now.instant.saturating_duration_since(running.began);
                let event = with_outcome(event, &settled).ran(1, latency);
                self.settings
                    .sinks
                    .send(event.with_gate_time(running.gate_time));
            }
        }
        Fate::Passes
    }
}

/// Whether no schema can judge calls of a tool.
fn is_unjudged(tool: &Tool) -> bool {
    tool.quarantined().is_some() || tool.spec().input_schema.is_none()
}

impl State {
    /// The server answers a call that it got before we knew its tools: both are judged when we do.
    pub(super) fn answered_early(&mut self, key: &str, answer: &[u8]) {
        let is_this = |held: &&mut Held| held.is_sent && held.key == key;
        if let Some(held) = self.held.iter_mut().find(is_this) {
            let is_short = answer.len() <= LONGEST_EARLY_ANSWER;
            held.answer = Some(if is_short {
                answer.to_vec()
            } else {
                Vec::new()
            });
        }
    }
}

impl<'m> Sent<'m> {
    pub(super) fn read(
        message: &'m [u8],
        id: Id<'m>,
        params: Option<&'m RawValue>,
    ) -> Option<Self> {
        let read = Params::read(params)?;
        Some(Sent {
            message,
            id,
            params: params?,
            call: read.call(id.0)?,
            read,
            may_ask: true,
        })
    }
}
