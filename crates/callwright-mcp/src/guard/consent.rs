//! A user's yes: refusals that say "ask the user" become a question, and its answer lets the call run or stops it.
//!
//! There are three ways to ask, by what the client says that it can do:
//!
//! - before 2026-07-28 the call waits here, and the client gets an `elicitation/create`;
//! - since then the call ends with `input_required`, and the client makes it again with the answer;
//! - a client without elicitation gets the refusal, with the number of the question in its `_meta`. A program that asks
//!   its user by itself makes the call again with the answer in `_meta`, which programs write and models do not.
//!
//! An answer counts for the question that it names, once, and for the very call that was refused.

use std::time::{Duration, Instant};

use callwright::admit::Reply;
use callwright::classify::Failure;
use callwright::event::Event;
use callwright::json::Value;
use callwright::parse::read_value;
use callwright::wire;
use serde_json::json;
use serde_json::value::RawValue;

use super::calls::Sent;
use super::state::State;
use super::{Ask, Fate, Guard, Now, Outbox};
use crate::answer;
use crate::members::{members, string};
use crate::message::{Id, Message, not_null};
use crate::tools::{Known, undeclared};

/// How long a call waits for the user. Who has not answered a dialog after five minutes is not there.
const LONGEST_ASKED: Duration = Duration::from_secs(5 * 60);

/// How many questions may be open; a user answers one after the other.
const MOST_QUESTIONS: usize = 64;

/// What a user may be asked about a refused call.
#[derive(Debug)]
pub(super) struct Question {
    id: String,
    failure: Failure,
}

/// A call that waits for the user.
#[derive(Debug)]
pub(super) struct Asking {
    /// The id of our request.
    asked: String,
    since: Instant,
    /// Of the call.
    key: String,
    /// As the client wrote it.
    pub(super) id: String,
    message: Vec<u8>,
    question: Question,
    /// The words for the model if there is no answer.
    text: String,
    event: Option<Event>,
}

/// A user's answer that comes with a call.
pub(super) struct Answer {
    /// `None` if it is neither a yes nor a no.
    pub(super) reply: Option<Reply>,
    /// Whether it is among the parameters, as the protocol has it since 2026-07-28.
    pub(super) is_in_params: bool,
}

/// A refusal, and how it is told.
pub(super) struct Told {
    /// The tool as it may be shown.
    pub(super) tool: String,
    pub(super) failure: Failure,
    pub(super) text: String,
    pub(super) event: Option<Event>,
}

impl Guard {
    /// Tells a client that a call is refused: with a question if the user may allow it.
    pub(super) fn refuse(
        &self,
        state: &mut State,
        sent: &Sent<'_>,
        told: Told,
        now: Now,
        out: &mut Outbox<'_>,
    ) -> Fate {
        let says_all = sent.read.names_protocol();
        let form = wire::elicitation(&told.failure, &self.settings.feedback);
        let Some(form) = form.filter(|_| self.remembers && sent.may_ask) else {
            self.refused(&told.tool, &told.failure, told.event);
            return Fate::Answered(answer::refusal(sent.id, &told.text, says_all, None));
        };
        // Not guessed by chance. It need not be a secret: only the client itself can send it.
        let id = format!("callwright-question-{:032x}", fastrand::u128(..));
        let question = Question {
            id: id.clone(),
            failure: told.failure.clone(),
        };
        if state.elicits && !says_all && state.asking.len() < MOST_QUESTIONS {
            state.questions += 1;
            let name = format!("callwright-{}-{}", self.session, state.questions);
            let asked = json!(name).to_string();
            out.asks.push(Ask {
                call: sent.id.0.to_owned(),
                message: answer::request(&asked, "elicitation/create", &form.to_string()),
            });
            // The call counts as one that runs, so that the time that a user takes does not begin a turn.
            state.rounds.begin(now.instant, self.settings.quiet);
            state.asking.push(Asking {
                asked: Id(&asked).key().into_owned(),
                since: now.instant,
                key: sent.id.key().into_owned(),
                id: sent.id.0.to_owned(),
                message: sent.message.to_vec(),
                question,
                text: told.text,
                event: told.event,
            });
            return Fate::Stays;
        }
        if state.open_questions.len() == MOST_QUESTIONS {
            state.open_questions.pop_front();
        }
        state.open_questions.push_back(question);
        self.refused(&told.tool, &told.failure, told.event);
        Fate::Answered(if sent.read.elicits() {
            answer::input_required(sent.id, &id, &form.to_string())
        } else {
            answer::refusal(
                sent.id,
                &told.text,
                says_all,
                Some((&id, &form.to_string())),
            )
        })
    }

    /// Counts and records a call that is refused.
    pub(super) fn refused(&self, tool: &str, failure: &Failure, event: Option<Event>) {
        self.settings.status.refused(tool, failure);
        if let Some(event) = event {
            self.settings.sinks.send(event);
        }
    }

    /// The client answers a request of ours.
    pub(super) fn user_answered(
        &self,
        state: &mut State,
        asking: Asking,
        result: Option<&RawValue>,
        now: Now,
        out: &mut Outbox<'_>,
    ) {
        let result = result.and_then(|result| read_value(result.get()).ok());
        let reply =
            result.and_then(|result| wire::read_elicitation(&result, &asking.question.failure));
        let Message::Request { id, params, .. } = Message::read(&asking.message) else {
            return;
        };
        let sent = Sent::read(&asking.message, id, params);
        let (Some(reply), Some(mut sent)) = (reply, sent) else {
            return self.unanswered(state, asking, now, out);
        };
        sent.may_ask = false;
        let fate = self.user_said(state, &sent, &reply, now, out);
        state.rounds.end(now.instant);
        match fate {
            Fate::Passes => out.to_server.push(asking.message.into()),
            Fate::Becomes(message) => out.to_server.push(message.into()),
            Fate::Answered(answer) => out.to_client.push(answer.into()),
            Fate::Stays => {}
        }
    }

    /// The user has decided: the call is judged again.
    pub(super) fn user_said(
        &self,
        state: &mut State,
        sent: &Sent<'_>,
        reply: &Reply,
        now: Now,
        out: &mut Outbox<'_>,
    ) -> Fate {
        // A memory that is away says so when the call is judged.
        let answer = || drop(self.settings.ledger.answer(&self.session, reply));
        if *reply != Reply::Stop {
            answer();
            return self.judge_known(state, sent, now, out);
        }
        let gate = match state.tools.known(&sent.call.tool) {
            Known::Gate(gate) => Some(gate),
            // No list is waited for: a turn that begins meanwhile would forget the answer.
            Known::NotYet | Known::Undeclared => undeclared(&sent.call.tool, &self.settings),
        };
        let Some(gate) = gate else {
            return self.bad_params(state, sent.id, out);
        };
        // A turn may begin with this call, and forgets what was said before it; so it begins now.
        let place = self.place(state, now);
        drop(gate.open(&sent.call, place));
        state.rounds.end(now.instant);
        answer();
        self.judge(state, &gate, sent, now, out)
    }

    /// No answer came: the refusal stands.
    fn unanswered(&self, state: &mut State, asking: Asking, now: Now, out: &mut Outbox<'_>) {
        state.rounds.end(now.instant);
        let Message::Request { id, params, .. } = Message::read(&asking.message) else {
            return;
        };
        if let Some(sent) = Sent::read(&asking.message, id, params) {
            self.refused(&sent.call.tool, &asking.question.failure, asking.event);
            let answer = answer::refusal(id, &asking.text, sent.read.names_protocol(), None);
            out.to_client.push(answer.into());
        }
    }

    /// Users who have not answered by now do not any more.
    pub(super) fn stop_asking(&self, state: &mut State, now: Now, out: &mut Outbox<'_>) {
        let is_late = |asking: &Asking| now.instant >= asking.since + LONGEST_ASKED;
        let (late, waiting) = std::mem::take(&mut state.asking)
            .into_iter()
            .partition(is_late);
        state.asking = waiting;
        self.stop_asking_about(state, late, now, out);
    }

    /// The client sends no more, so no user answers.
    pub fn client_ended(&self, now: Now, out: &mut Outbox<'_>) {
        let mut state = self.state();
        let all = std::mem::take(&mut state.asking);
        self.stop_asking_about(&mut state, all, now, out);
    }

    fn stop_asking_about(
        &self,
        state: &mut State,
        all: Vec<Asking>,
        now: Now,
        out: &mut Outbox<'_>,
    ) {
        for asking in all {
            out.to_client.push(asking.withdrawn().into());
            self.unanswered(state, asking, now, out);
        }
    }
}

impl Asking {
    /// Takes the question back.
    pub(super) fn withdrawn(&self) -> Vec<u8> {
        answer::cancelled(&self.asked)
    }
}

impl State {
    /// When a user has had enough time.
    pub(super) fn asks_until(&self) -> Option<Instant> {
        let since = self.asking.iter().map(|asking| asking.since).min()?;
        Some(since + LONGEST_ASKED)
    }

    /// The call whose question has this id.
    pub(super) fn take_asked(&mut self, asked: &str) -> Option<Asking> {
        let at = self
            .asking
            .iter()
            .position(|asking| asking.asked == asked)?;
        Some(self.asking.remove(at))
    }

    /// The call with this id, if it waits for the user.
    pub(super) fn take_asking(&mut self, key: &str) -> Option<Asking> {
        let at = self.asking.iter().position(|asking| asking.key == key)?;
        Some(self.asking.remove(at))
    }

    /// What a call says that the user has answered, to a question that is open.
    pub(super) fn take_answer(&mut self, sent: &Sent<'_>) -> Option<Answer> {
        if self.open_questions.is_empty() {
            return None;
        }
        let is_open = |id: &str| self.open_questions.iter().position(|open| open.id == id);
        let state = sent.read.request_state.and_then(string);
        if let Some(at) = state.and_then(|state| is_open(&state)) {
            let question = self.open_questions.remove(at)?;
            let said = sent.read.input_response();
            return Some(Answer {
                reply: said.and_then(|said| wire::read_elicitation(&said, &question.failure)),
                is_in_params: true,
            });
        }
        let consent = sent.read.consent()?;
        let [question, answer] = members(consent.get(), ["question", "answer"]).ok()?;
        let at = is_open(&string(not_null(question)?)?)?;
        let question = self.open_questions.remove(at)?;
        let answer = string(not_null(answer)?)?;
        let said = json!({"action": "accept", "content": {"answer": answer}});
        Some(Answer {
            reply: wire::read_elicitation(&Value::from(&said), &question.failure),
            is_in_params: false,
        })
    }
}
