//! The loop: ask the model, run what it calls, return the outcome, until it answers in words.

use std::error::Error;

use callwright::admit::{Place, Reply};
use callwright::failure::{Cause, Failure, Next, Objection};
use callwright::toolbox::Toolbox;
use callwright::wire::{self, Provider};
use callwright::{Call, Settled};
use serde_json::{Value, json};

use crate::endpoint::{Answer, Endpoint};
use crate::person::Person;
use crate::transcript;

/// The conversation. A server with many users has one for each.
const SESSION: &str = "chat-1";

/// How often the model is asked. The gate stops a looping model long before; this is for one that keeps finding
/// something new to do.
const MOST_ROUNDS: u64 = 40;

/// How it ended.
pub(crate) enum Ending {
    /// The model answered in words.
    Finished,
    /// It did not, and why.
    GaveUp(&'static str),
}

pub(crate) struct Agent<'a> {
    endpoint: &'a Endpoint,
    toolbox: &'a Toolbox,
    person: Person,
    /// The tools in the provider's format.
    tools: Vec<Value>,
    /// The history in the provider's format.
    messages: Vec<Value>,
    /// A user message begins another turn.
    turn: u64,
}

impl<'a> Agent<'a> {
    pub(crate) fn new(endpoint: &'a Endpoint, toolbox: &'a Toolbox, person: Person) -> Self {
        let declare = |spec| wire::declare(Provider::OpenAiChat, spec);
        Agent {
            endpoint,
            toolbox,
            person,
            tools: toolbox.specs().into_iter().map(declare).collect(),
            messages: Vec::new(),
            turn: 0,
        }
    }

    pub(crate) async fn run(&mut self, task: &str) -> Result<Ending, Box<dyn Error>> {
        self.user_says(task);
        for round in 0..MOST_ROUNDS {
            let answer = self.endpoint.ask(&self.messages, &self.tools).await?;
            self.messages.push(answer.message.clone());
            if let Some(words) = answer.words() {
                transcript::say("model", words);
            }
            let calls = answer.calls()?;
            if calls.is_empty() {
                return Ok(ending(&answer));
            }
            let place = Place::new(SESSION, self.turn, round);
            let settled = self.toolbox.invoke_all(&calls, place).await;
            self.tell_model(&calls, &settled);
            match settled.iter().find_map(last_rung) {
                Some(LastRung::Ask(failure, objection)) => self.ask_user(failure, objection)?,
                Some(LastRung::Stop) => return Ok(Ending::GaveUp("callwright stopped the model")),
                None => {}
            }
        }
        Ok(Ending::GaveUp("the model did not come to an end"))
    }

    /// A user message: another turn, in which repetitions are counted from zero.
    fn user_says(&mut self, words: &str) {
        self.turn += 1;
        transcript::turn(self.turn);
        transcript::say("user", words);
        self.messages
            .push(json!({"role": "user", "content": words}));
    }

    /// Every call gets one answer, including those that did not run.
    fn tell_model<'c>(&mut self, calls: &[Call<'c>], settled: &[Settled<'c>]) {
        let feedback = self.toolbox.feedback();
        for (call, settled) in calls.iter().zip(settled) {
            transcript::call(call);
            transcript::result(settled, feedback);
        }
        let round = wire::render_round(Provider::OpenAiChat, calls.iter().zip(settled), feedback);
        self.messages.extend(round.iter().map(Value::from));
    }

    /// Asks the user about a call that was not run, and passes the answer to the ledger.
    fn ask_user(&mut self, failure: &Failure, objection: &Objection) -> Result<(), Box<dyn Error>> {
        let question = self.toolbox.feedback().question(objection, failure);
        transcript::say("callwright", &format!("asks the user: {question}"));
        let (words, reply) = self.person.answer(objection)?;
        if let Some(reply) = &reply {
            self.toolbox.gate().ledger().answer(SESSION, reply)?;
        }
        if reply == Some(Reply::Stop) {
            // The same turn: no other call runs in it, and the model can say what it knows.
            transcript::say("user", &words);
            self.messages
                .push(json!({"role": "user", "content": words}));
        } else {
            self.user_says(&words);
        }
        Ok(())
    }
}

/// What happens when refusals do not help.
enum LastRung<'s> {
    Ask(&'s Failure, &'s Objection),
    Stop,
}

fn last_rung<'s>(settled: &'s Settled<'_>) -> Option<LastRung<'s>> {
    let failure = settled.failure()?;
    match (failure.next(), &failure.cause) {
        (Next::AskUser, Cause::Objection(objection)) => Some(LastRung::Ask(failure, objection)),
        (Next::Stop, Cause::Objection(_)) => Some(LastRung::Stop),
        _ => None,
    }
}

fn ending(answer: &Answer) -> Ending {
    match answer.words() {
        None => Ending::GaveUp("the model answered neither with words nor with a call"),
        Some(_) if answer.is_cut_off() => {
            Ending::GaveUp("the last answer was cut off: allow the model more tokens")
        }
        Some(_) => Ending::Finished,
    }
}
