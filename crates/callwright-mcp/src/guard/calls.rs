//! Calls on their way to the server: judged if the tools are known, held until they are.

use std::sync::Arc;
use std::time::Instant;

use callwright::admit::{Place, Ticket};
use callwright::check::{Ran, ToolFailure};
use callwright::event::{Event, Judgement};
use callwright::failure::Code;
use callwright::tool::Tool;
use callwright::{Call, Gate, Opened, Verdict};
use serde_json::value::RawValue;

use super::GuardStep;
use super::action::{Action, Fate};
use super::consent::WordedRefusal;
use super::results::ServerAnswer;
use super::state::{Expects, ForwardedCall, HeldCall, SessionState};
use crate::call::CallParams;
use crate::message::{Id, Message, cancelled_id};
use crate::own_messages::{self, code};
use crate::tools::{ToolLookup, undeclared};

pub(super) struct IncomingCall<'m> {
    pub(super) message: &'m [u8],
    pub(super) id: Id<'m>,
    raw_params: &'m RawValue,
    pub(super) params: CallParams<'m>,
    pub(super) call: Call<'m>,
    /// Whether the user may be asked about it, which happens only once.
    pub(super) may_ask: bool,
}

impl<'m> IncomingCall<'m> {
    fn new(message: &'m [u8], id: Id<'m>, params: Option<&'m RawValue>) -> Option<Self> {
        let read = CallParams::read(params)?;
        Some(IncomingCall {
            message,
            id,
            raw_params: params?,
            call: read.call(id.0)?,
            params: read,
            may_ask: true,
        })
    }

    /// Reads a message that is known to be a call.
    pub(super) fn read(message: &'m [u8]) -> Option<Self> {
        match Message::read(message) {
            Message::Request { id, params, .. } => IncomingCall::new(message, id, params),
            _ => None,
        }
    }
}

impl<'a> GuardStep<'a, '_> {
    pub(super) fn call(&mut self, message: &[u8], id: Id<'_>, params: Option<&RawValue>) -> Fate {
        let Some(call) = IncomingCall::new(message, id, params) else {
            return self.bad_params(id);
        };
        if self.state.is_full() {
            return self.too_many(&call);
        }
        self.expire_list();
        let Some(answer) = self.state.take_user_answer(&call) else {
            return self.judge_known(&call);
        };
        if !answer.is_in_params {
            return self.judge_answered(&call, answer.reply.as_ref());
        }
        // The server does not know about our question.
        let message = CallParams::without_answers(message, call.raw_params);
        let Some(message) = message else {
            return self.bad_params(id);
        };
        let Some(mut call) = IncomingCall::read(&message) else {
            return self.bad_params(id);
        };
        // A client asks as often as it is told to, and its user has just been asked.
        call.may_ask = false;
        match self.judge_answered(&call, answer.reply.as_ref()) {
            Fate::Pass => Fate::Replace(message),
            fate => fate,
        }
    }

    /// Judges a call by what is known about its tool; if nothing is known yet, holds it.
    pub(super) fn judge_known(&mut self, call: &IncomingCall<'_>) -> Fate {
        self.state.try_again(self.now.instant);
        let may_wait = !self.state.gave_up;
        match self.state.tools.lookup(&call.call.tool) {
            // Servers add tools without announcing it.
            ToolLookup::Gate(gate) if may_wait && is_unknown(&gate, &call.call) => self.hold(call),
            ToolLookup::Gate(gate) => self.judge(&gate, call),
            ToolLookup::NotYet if may_wait => self.hold(call),
            ToolLookup::NotYet | ToolLookup::Undeclared => self.judge_undeclared(call),
        }
    }

    /// More calls are waiting than we remember.
    fn too_many(&mut self, call: &IncomingCall<'_>) -> Fate {
        if self.guard.settings.only_warns() {
            self.guard.settings.status.unjudged(&call.call.tool);
            return self.state.pass(call.id);
        }
        let why = "too many calls are waiting for an answer; wait for some of them";
        Fate::Reply(own_messages::error(call.id.0, code::SERVER_FAILED, why))
    }

    fn hold(&mut self, call: &IncomingCall<'_>) -> Fate {
        if !self.state.has_room_to_hold(call.message.len()) {
            return self.too_many(call);
        }
        let is_sent = self.guard.settings.only_warns();
        self.state.waiting_since.get_or_insert(self.now.instant);
        self.state.held.push_back(HeldCall {
            key: call.id.key().into_owned(),
            id: call.id.0.to_owned(),
            message: call.message.to_vec(),
            may_ask: call.may_ask,
            is_sent,
            answer: None,
        });
        self.request_tools(call.params.meta.map(|meta| meta.get().to_owned()));
        if is_sent {
            return Fate::Pass;
        }
        self.out.push(Action::Hold(call.id.0.to_owned()));
        Fate::Keep
    }

    /// Judges the calls that waited for the tools, which are now known as well as they ever will be.
    pub(super) fn release_all(&mut self) {
        for held in std::mem::take(&mut self.state.held) {
            self.release(held);
        }
    }

    fn release(&mut self, held: HeldCall) {
        let Message::Request { id, .. } = Message::read(&held.message) else {
            return;
        };
        let fate = match IncomingCall::read(&held.message) {
            Some(mut call) => {
                call.may_ask = held.may_ask;
                match self.state.tools.lookup(&call.call.tool) {
                    ToolLookup::Gate(gate) => self.judge(&gate, &call),
                    ToolLookup::NotYet | ToolLookup::Undeclared => self.judge_undeclared(&call),
                }
            }
            None => self.state.pass(id),
        };
        if let Some(message) = &held.answer
            && let Some(call) = self.state.take_call(&held.key, self.now.instant)
        {
            self.settle_early(call, message);
        }
        if !held.is_sent {
            self.out
                .extend(Action::of_held(held.id, held.message, fate));
        }
    }

    /// Judges an answer that came before the call could be judged. The client already has it.
    fn settle_early(&mut self, call: ForwardedCall, message: &[u8]) {
        let Message::Response { id, result, error } = Message::read(message) else {
            return call.forget(&self.guard.settings.sinks);
        };
        let answer = ServerAnswer {
            message,
            id,
            result,
            error,
        };
        let (_, unfinished) = self.guard.result(call, &answer, self.now, self.out);
        if let Some(call) = unfinished {
            self.state.left_unfinished(call);
        }
    }

    /// Judges a call of a tool that no list declares.
    fn judge_undeclared(&mut self, call: &IncomingCall<'_>) -> Fate {
        if let Some(gate) = undeclared(&call.call.tool, &self.guard.settings) {
            return self.judge(&gate, call);
        }
        self.guard.settings.status.unjudged(&call.call.tool);
        self.state.pass(call.id)
    }

    pub(super) fn judge(&mut self, gate: &Arc<Gate>, incoming: &IncomingCall<'_>) -> Fate {
        let guard = self.guard;
        let (settings, remembers, now) = (&guard.settings, guard.remembers, self.now);
        let recorded = !settings.sinks.is_empty();
        // Only records tell how long it took.
        let began = recorded.then(Instant::now);
        let gate_time = || began.map(|began| began.elapsed()).unwrap_or_default();
        let call = &incoming.call;
        let place = self.place();
        let verdict = gate.judge(call);
        let event = |verdict: &Verdict<'_>| {
            let event = Event::of(gate, call, verdict, now.time);
            if remembers { event.at(place) } else { event }
        };
        let judged = recorded.then(|| event(&verdict));
        // A call that continues after a question from the server is the same call, not another one.
        let is_continued = incoming.params.is_continuation()
            && self.state.take_unfinished(gate.fingerprint(call, &verdict));
        let counted = (remembers && !is_continued).then_some(place);
        match gate.admit(call, verdict, counted) {
            Opened::Admitted(ticket) => {
                let is_unjudged = is_unjudged(ticket.tool());
                let (fate, open) = self.admitted(incoming, ticket);
                let judged = judged.map(|mut event| {
                    if is_unjudged {
                        event.verdict = Judgement::Unjudged;
                    }
                    event
                });
                let mut forwarded = ForwardedCall {
                    open,
                    gate: Arc::clone(gate),
                    began: now.instant,
                    gate_time: gate_time(),
                    event: judged,
                    has_result_type: incoming.params.names_protocol(),
                    shares_id: false,
                };
                if let Some(other) = self.state.take_call(&incoming.id.key(), now.instant) {
                    other.forget(&settings.sinks);
                    forwarded.shares_id = true;
                }
                let expects = Expects::Result(Box::new(forwarded));
                self.state.forward(incoming.id, expects);
                fate
            }
            Opened::Refused(refused) => {
                self.state.rounds.end(now.instant);
                let tool = refused.shown_name(call).to_owned();
                let text = settings
                    .feedback
                    .render_with(&refused.failure, refused.notice.as_ref());
                let failure = refused.failure.clone();
                let mut event = recorded.then(|| event(&Verdict::Refused(refused)));
                if let Some(event) = &mut event {
                    event.gate_time = gate_time();
                }
                if settings.only_warns() {
                    guard.record_refused(&tool, &failure, event);
                    self.warn(format!("tool {tool:?}: the call would be refused: {text}"));
                    return self.state.pass(incoming.id);
                }
                let refused = WordedRefusal {
                    tool,
                    failure,
                    text,
                    event,
                };
                self.refuse(incoming, refused)
            }
        }
    }

    /// The place in the conversation of a call that begins now.
    pub(super) fn place(&mut self) -> Place<'a> {
        let (guard, now) = (self.guard, self.now.instant);
        Place {
            session: &guard.session,
            at: self.state.rounds.begin(now, guard.settings.quiet),
        }
    }

    fn admitted(
        &mut self,
        incoming: &IncomingCall<'_>,
        ticket: Ticket<'_>,
    ) -> (Fate, Ticket<'static>) {
        let settings = &self.guard.settings;
        let tool = ticket.tool().name();
        let edits = ticket.edits();
        settings.status.admitted(tool, edits);
        if is_unjudged(ticket.tool()) {
            settings.status.unjudged(tool);
        }
        let fate = if edits.is_empty() {
            Fate::Pass
        } else if settings.only_warns() {
            // Only rule names, since values may be secret.
            let rules: Vec<&str> = edits.iter().map(|edit| edit.rule).collect();
            let rules = rules.join(", ");
            self.warn(format!(
                "tool {tool:?}: the call would be repaired: {rules}"
            ));
            Fate::Pass
        } else {
            let IncomingCall {
                message,
                raw_params,
                params,
                ..
            } = incoming;
            Fate::Replace(params.rewritten(message, raw_params, tool, ticket.arguments()))
        };
        (fate, ticket.into_owned())
    }

    pub(super) fn cancelled(&mut self, params: Option<&RawValue>) -> Fate {
        let Some(id) = cancelled_id(params) else {
            return Fate::Pass;
        };
        let key = id.key();
        let now = self.now.instant;
        if let Some(asking) = self.state.take_asking(&key) {
            self.state.rounds.end(now);
            self.answer_client(asking.withdrawn());
            self.out.push(Action::Drop(asking.id));
            return Fate::Keep;
        }
        let at = self.state.held.iter().position(|held| held.key == key);
        if let Some(held) = at.and_then(|at| self.state.held.remove(at)) {
            if held.is_sent {
                return Fate::Pass;
            }
            // The server never saw it.
            self.out.push(Action::Drop(held.id));
            return Fate::Keep;
        }
        if let Some(call) = self.state.take_call(&key, now) {
            // The server need not answer it any more, and its answer would not be read.
            let ran = Ran::failed(ToolFailure::cancelled());
            let settled = call.gate.close(call.open, ran);
            if let Some(event) = call.event {
                let latency = now.saturating_duration_since(call.began);
                let mut event = event.settled(&settled).ran(1, latency);
                event.gate_time = call.gate_time;
                self.guard.settings.sinks.send(event);
            }
        }
        Fate::Pass
    }
}

/// Whether a call is refused because the tool does not exist.
fn is_unknown(gate: &Gate, call: &Call<'_>) -> bool {
    gate.tool(&call.tool).is_none()
        && matches!(gate.judge(call), Verdict::Refused(refused) if refused.failure.code == Code::UnknownTool)
}

/// Whether no schema can judge calls of a tool.
fn is_unjudged(tool: &Tool) -> bool {
    tool.quarantined().is_some() || tool.spec().input_schema.is_none()
}

impl SessionState {
    /// Keeps the server's answer to a call sent before its tools were known: both are judged once they are.
    pub(super) fn answered_early(&mut self, key: &str, answer: &[u8]) {
        let has_room = self.has_room_for(answer.len());
        let is_this = |held: &&mut HeldCall| held.is_sent && held.key == key;
        if let Some(held) = self.held.iter_mut().find(is_this) {
            let kept = if has_room { answer } else { &[] };
            held.answer = Some(kept.to_vec());
        }
    }
}
