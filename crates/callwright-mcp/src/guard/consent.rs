//! The user's consent: a refusal that says "ask the user" becomes a question, and the answer lets the call run or
//! stops it.
//!
//! There are three ways to ask, depending on what the client says it can do:
//!
//! - before 2026-07-28 the call is held here, and the client gets an `elicitation/create`;
//! - since then the call ends with `input_required`, and the client repeats it with the answer;
//! - a client without elicitation gets the refusal, with the id of the question in its `_meta`. A program that asks its
//!   user by itself repeats the call with the answer in `_meta`, which programs write and models do not.
//!
//! An answer counts once, for the question that it names, and only for the exact call that was refused.

use std::time::{Duration, Instant};

use callwright::admit::Reply;
use callwright::event::Event;
use callwright::failure::Failure;
use callwright::json::Value;
use callwright::parse::read_value;
use callwright::wire;
use serde_json::json;
use serde_json::value::RawValue;

use super::action::{Action, Fate, HeldMessage};
use super::calls::IncomingCall;
use super::state::SessionState;
use super::{Guard, GuardStep, Now};
use crate::members::{members, string};
use crate::message::{Id, not_null};
use crate::own_messages;
use crate::tools::{ToolLookup, undeclared};

/// How long a call waits for the user: after five minutes without an answer, the user is most likely away.
const LONGEST_ASKED: Duration = Duration::from_secs(5 * 60);

/// How many questions may be open; users answer one at a time.
const MOST_QUESTIONS: usize = 64;

/// A question about a refused call.
#[derive(Debug)]
pub(super) struct OpenQuestion {
    id: String,
    failure: Failure,
}

#[derive(Debug)]
pub(super) struct AskedCall {
    asked: String,
    since: Instant,
    /// The key of the call.
    key: String,
    /// As the client wrote it.
    pub(super) id: String,
    message: Vec<u8>,
    question: OpenQuestion,
    /// The refusal that the model gets if there is no answer.
    text: String,
    event: Option<Event>,
}

/// The user's answer that comes with a call.
pub(super) struct UserAnswer {
    /// `None` if it is neither a yes nor a no.
    pub(super) reply: Option<Reply>,
    /// Whether it is among the parameters, as in the protocol since 2026-07-28.
    pub(super) is_in_params: bool,
}

/// A refusal, and its wording.
pub(super) struct WordedRefusal {
    /// The tool name, safe to show.
    pub(super) tool: String,
    pub(super) failure: Failure,
    pub(super) text: String,
    pub(super) event: Option<Event>,
}

impl Guard {
    /// Counts and records a refused call.
    pub(super) fn record_refused(&self, tool: &str, failure: &Failure, event: Option<Event>) {
        self.settings.status.refused(tool, failure);
        if let Some(event) = event {
            self.settings.sinks.send(event);
        }
    }

    /// The client has stopped sending, so no user will answer.
    pub fn client_ended(&self, now: Now, out: &mut Vec<Action<'_>>) {
        self.step(now, out, |step| {
            let all = std::mem::take(&mut step.state.asking);
            step.stop_asking(all);
        });
    }
}

impl GuardStep<'_, '_> {
    /// Refuses a call, with a question if the user may allow it.
    pub(super) fn refuse(&mut self, incoming: &IncomingCall<'_>, refused: WordedRefusal) -> Fate {
        let guard = self.guard;
        let WordedRefusal {
            tool,
            failure,
            text,
            event,
        } = refused;
        let call = incoming.id;
        let has_result_type = incoming.params.names_protocol();
        let form = wire::elicitation(&failure, &guard.settings.feedback);
        let Some(form) = form.filter(|_| guard.remembers && incoming.may_ask) else {
            guard.record_refused(&tool, &failure, event);
            return Fate::Reply(own_messages::refusal(call, &text, has_result_type, None));
        };
        let form = form.to_string();
        // Not guessable by accident. It need not be secret: only the client itself can send it.
        let id = format!("callwright-question-{:032x}", fastrand::u128(..));
        let question = OpenQuestion {
            id: id.clone(),
            failure: failure.clone(),
        };
        if self.state.elicits && !has_result_type && self.state.asking.len() < MOST_QUESTIONS {
            let asked = self.next_id();
            self.out.push(Action::Hold(call.0.to_owned()));
            self.out.push(Action::AskUser(HeldMessage {
                call: call.0.to_owned(),
                message: own_messages::request(&asked, "elicitation/create", &form),
            }));
            // The call counts as running, so that the time a user takes does not begin a turn.
            self.state
                .rounds
                .begin(self.now.instant, guard.settings.quiet);
            self.state.asking.push(AskedCall {
                asked: Id(&asked).key().into_owned(),
                since: self.now.instant,
                key: call.key().into_owned(),
                id: call.0.to_owned(),
                message: incoming.message.to_vec(),
                question,
                text,
                event,
            });
            return Fate::Keep;
        }
        if self.state.open_questions.len() == MOST_QUESTIONS {
            self.state.open_questions.pop_front();
        }
        self.state.open_questions.push_back(question);
        guard.record_refused(&tool, &failure, event);
        Fate::Reply(if incoming.params.elicits() {
            own_messages::input_required(call, &id, &form)
        } else {
            own_messages::refusal(call, &text, has_result_type, Some((&id, &form)))
        })
    }

    pub(super) fn user_answered(&mut self, asking: AskedCall, result: Option<&RawValue>) {
        let result = result.and_then(|result| read_value(result.get()).ok());
        let reply =
            result.and_then(|result| wire::read_elicitation(&result, &asking.question.failure));
        let (Some(reply), Some(mut call)) = (reply, IncomingCall::read(&asking.message)) else {
            return self.unanswered(asking);
        };
        call.may_ask = false;
        let fate = self.judge_answered(&call, Some(&reply));
        self.state.rounds.end(self.now.instant);
        self.out
            .extend(Action::of_held(asking.id, asking.message, fate));
    }

    /// Judges a call that comes with the user's answer, if it does.
    pub(super) fn judge_answered(
        &mut self,
        incoming: &IncomingCall<'_>,
        reply: Option<&Reply>,
    ) -> Fate {
        let Some(reply) = reply else {
            return self.judge_known(incoming);
        };
        let guard = self.guard;
        // If the ledger is away, judging the call reports it.
        let remember = || drop(guard.settings.ledger.answer(&guard.session, reply));
        if *reply != Reply::Stop {
            remember();
            return self.judge_known(incoming);
        }
        let tool = &incoming.call.tool;
        let gate = match self.state.tools.lookup(tool) {
            ToolLookup::Gate(gate) => Some(gate),
            // Does not wait for a list: a turn that begins meanwhile would forget the answer.
            ToolLookup::NotYet | ToolLookup::Undeclared => undeclared(tool, &guard.settings),
        };
        let Some(gate) = gate else {
            return self.bad_params(incoming.id);
        };
        // A turn may begin with this call and forget earlier answers, so it begins now.
        let place = self.place();
        drop(gate.open(&incoming.call, place));
        self.state.rounds.end(self.now.instant);
        remember();
        self.judge(&gate, incoming)
    }

    /// No answer came: the call stays refused.
    fn unanswered(&mut self, asking: AskedCall) {
        self.state.rounds.end(self.now.instant);
        if let Some(call) = IncomingCall::read(&asking.message) {
            let failure = &asking.question.failure;
            self.guard
                .record_refused(&call.call.tool, failure, asking.event);
            let has_result_type = call.params.names_protocol();
            let refusal = own_messages::refusal(call.id, &asking.text, has_result_type, None);
            self.out
                .extend(Action::of_held(asking.id, Vec::new(), Fate::Reply(refusal)));
        }
    }

    /// Gives up on users who have not answered by now.
    pub(super) fn stop_asking_late(&mut self) {
        let now = self.now.instant;
        let is_late = |asking: &AskedCall| now >= asking.since + LONGEST_ASKED;
        let all = std::mem::take(&mut self.state.asking);
        let (late, waiting) = all.into_iter().partition(is_late);
        self.state.asking = waiting;
        self.stop_asking(late);
    }

    fn stop_asking(&mut self, calls: Vec<AskedCall>) {
        for asking in calls {
            self.answer_client(asking.withdrawn());
            self.unanswered(asking);
        }
    }
}

impl AskedCall {
    /// The message that withdraws the question.
    pub(super) fn withdrawn(&self) -> Vec<u8> {
        own_messages::cancelled(&self.asked)
    }
}

impl SessionState {
    pub(super) fn user_deadline(&self) -> Option<Instant> {
        let since = self.asking.iter().map(|asking| asking.since).min()?;
        Some(since + LONGEST_ASKED)
    }

    /// The call whose question has this id.
    pub(super) fn take_asked(&mut self, asked: &str) -> Option<AskedCall> {
        let at = self.asking.iter().position(|call| call.asked == asked)?;
        Some(self.asking.remove(at))
    }

    /// The call with this id, if it is waiting for the user.
    pub(super) fn take_asking(&mut self, key: &str) -> Option<AskedCall> {
        let at = self.asking.iter().position(|call| call.key == key)?;
        Some(self.asking.remove(at))
    }

    /// The user's answer to an open question, if the call carries one.
    pub(super) fn take_user_answer(&mut self, incoming: &IncomingCall<'_>) -> Option<UserAnswer> {
        if self.open_questions.is_empty() {
            return None;
        }
        let params = &incoming.params;
        let is_open = |id: &str| self.open_questions.iter().position(|open| open.id == id);
        let state = params.request_state.and_then(string);
        if let Some(at) = state.and_then(|state| is_open(&state)) {
            let question = self.open_questions.remove(at)?;
            let said = params.input_response();
            return Some(UserAnswer {
                reply: said.and_then(|said| wire::read_elicitation(&said, &question.failure)),
                is_in_params: true,
            });
        }
        let consent = params.consent()?;
        let [question, answer] = members(consent.get(), ["question", "answer"]).ok()?;
        let at = is_open(&string(not_null(question)?)?)?;
        let question = self.open_questions.remove(at)?;
        let answer = string(not_null(answer)?)?;
        let said = json!({"action": "accept", "content": {"answer": answer}});
        Some(UserAnswer {
            reply: wire::read_elicitation(&Value::from(&said), &question.failure),
            is_in_params: false,
        })
    }
}
