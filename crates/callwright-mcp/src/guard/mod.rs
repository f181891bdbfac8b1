//! The guard of one session between a client and its server: decides which messages pass, are changed, answered or
//! held.
//!
//! Takes the messages of both sides; returns [`Action`]s, in order. Everything that is not about tools passes byte
//! for byte. Calls are judged before they reach the server, results before they reach the client. The guard does no
//! I/O and has no clock, so stdio and HTTP share it.
//!
//! - `calls`, `results`: a call on its way to the server, and its result on the way back
//! - `lists`: the tool lists that calls are judged by
//! - `consent`: refusals that the user may overrule
//! - `unreadable`: messages that are malformed or ambiguous
//! - `action`, `settings`, `state`: its output, what sessions share, what a session remembers

mod action;
mod calls;
mod consent;
mod lists;
mod results;
mod settings;
mod state;
mod unreadable;

use std::sync::Arc;
use std::time::Instant;

use callwright::policy::Validation;
use parking_lot::Mutex;

pub use self::action::{Action, HeldMessage};
use self::action::{Fate, Sender};
use self::results::ServerAnswer;
pub use self::settings::{Now, Settings, ToolsListed};
use self::state::{Expects, SessionState, ToolsRequest};
use crate::call::can_elicit;
use crate::members::member;
use crate::message::{Id, Message};
use crate::own_messages::{self, code};
pub use crate::tools::{CompiledTools, ToolCompilation};

/// The guard of one session.
#[derive(Debug)]
pub struct Guard {
    settings: Arc<Settings>,
    session: String,
    /// Whether calls are counted, and their results remembered.
    remembers: bool,
    state: Mutex<SessionState>,
}

struct GuardStep<'a, 'm> {
    guard: &'a Guard,
    state: &'a mut SessionState,
    now: Now,
    out: &'a mut Vec<Action<'m>>,
}

impl Guard {
    /// The guard of a new session. The name distinguishes it from other sessions in the ledger and in events.
    pub fn new(settings: Arc<Settings>, session: impl Into<String>) -> Self {
        Guard {
            settings,
            session: session.into(),
            remembers: true,
            state: Mutex::default(),
        }
    }

    /// A guard for requests of unknown callers: it judges each call by itself and remembers none, except that it
    /// keeps the tool list for a while.
    pub fn forgetful(settings: Arc<Settings>, session: impl Into<String>) -> Self {
        Guard {
            remembers: false,
            ..Guard::new(settings, session)
        }
    }

    /// Notes that the client can ask the user, as it said in another exchange.
    #[cfg(feature = "http")]
    pub(crate) fn elicits(&self) {
        self.state.lock().elicits = true;
    }

    /// Whether a step may wait for a ledger on a server.
    #[cfg(feature = "http")]
    pub(crate) fn waits(&self) -> bool {
        self.settings.ledger.waits()
    }

    /// Takes a message from the client.
    pub fn from_client<'m>(&self, message: &'m [u8], now: Now, out: &mut Vec<Action<'m>>) {
        Sender::Client.decide(message, out, |part, read, out| {
            self.step(now, out, |step| step.client_message(part, read))
        });
    }

    /// Takes a message from the server.
    pub fn from_server<'m>(&self, message: &'m [u8], now: Now, out: &mut Vec<Action<'m>>) {
        Sender::Server.decide(message, out, |part, read, out| {
            self.server_message(part, read, now, out)
        });
    }

    fn server_message(
        &self,
        message: &[u8],
        read: &Message<'_>,
        now: Now,
        out: &mut Vec<Action<'_>>,
    ) -> Fate {
        match *read {
            Message::Response { id, result, error } => {
                let mut state = self.state.lock();
                let key = state.key_of_answer(id);
                let mut step = GuardStep {
                    guard: self,
                    state: &mut state,
                    now,
                    out,
                };
                let is_for_us = |request: &ToolsRequest| request.key == key;
                if step.state.tools_request.as_ref().is_some_and(is_for_us) {
                    step.listed(result);
                    return Fate::Keep;
                }
                let request = step.state.at_server.remove(key.as_ref());
                let call = match request.map(|it| it.expects) {
                    Some(Expects::Result(call)) => call,
                    Some(Expects::Tools { is_first }) => {
                        return step.client_listed(message, result, is_first);
                    }
                    Some(Expects::Anything) | None => {
                        step.state.answered_early(key.as_ref(), message);
                        return Fate::Pass;
                    }
                };
                state.rounds.end(now.instant);
                // Other messages need not wait while the result is checked.
                drop(state);
                let answer = ServerAnswer {
                    message,
                    id,
                    result,
                    error,
                };
                let (fate, unfinished) = self.result(*call, &answer, now, out);
                if let Some(call) = unfinished {
                    self.state.lock().left_unfinished(call);
                }
                fate
            }
            Message::Notification { ref method, .. }
                if method == "notifications/tools/list_changed" =>
            {
                self.state.lock().tools_changed();
                Fate::Pass
            }
            _ => Fate::Pass,
        }
    }

    fn step<'m, T>(
        &self,
        now: Now,
        out: &mut Vec<Action<'m>>,
        work: impl FnOnce(&mut GuardStep<'_, 'm>) -> T,
    ) -> T {
        work(&mut GuardStep {
            guard: self,
            state: &mut self.state.lock(),
            now,
            out,
        })
    }

    /// When [`Guard::tick`] has something to do.
    pub fn deadline(&self) -> Option<Instant> {
        let state = self.state.lock();
        let deadlines = [state.list_deadline(), state.user_deadline()];
        deadlines.into_iter().flatten().min()
    }

    /// Same, for the tool list alone.
    #[cfg(feature = "http")]
    pub(crate) fn list_deadline(&self) -> Option<Instant> {
        self.state.lock().list_deadline()
    }

    /// Handles passed deadlines: calls that have waited too long for the tool list continue without it, and those
    /// that have waited too long for the user are refused.
    pub fn tick(&self, now: Now, out: &mut Vec<Action<'_>>) {
        self.step(now, out, |step| {
            step.stop_asking_late();
            if step.state.gives_up(now.instant) {
                step.warn(if step.state.tools.is_compiling() {
                    "the tool list takes long to compile; until then, calls pass unjudged"
                } else {
                    "the server does not answer `tools/list`; until it does, calls pass unjudged"
                });
                step.release_all();
            }
        });
    }

    /// Takes the tools compiled for an [`Action::CompileTools`].
    pub fn tools_compiled(&self, compiled: CompiledTools, now: Now, out: &mut Vec<Action<'_>>) {
        self.step(now, out, |step| step.tools_compiled(compiled));
    }

    /// The server is gone: answers everything that waits, and every later request.
    pub fn server_gone(&self, why: &str, out: &mut Vec<Action<'_>>) {
        let mut state = self.state.lock();
        state.tools_request = None;
        state.waiting_since = None;
        state.gone = Some(why.to_owned());
        state.rounds.nothing_runs();
        let mut ids: Vec<String> = state.held.drain(..).map(|held| held.id).collect();
        for asking in state.asking.drain(..) {
            out.push(Action::ToClient(asking.withdrawn().into()));
            ids.push(asking.id);
        }
        for (_, request) in state.at_server.drain() {
            ids.push(request.id);
            if let Expects::Result(call) = request.expects {
                call.forget(&self.settings.sinks);
            }
        }
        drop(state);
        ids.sort();
        let error = |id: String| own_messages::error(&id, code::SERVER_FAILED, why).into();
        out.extend(ids.into_iter().map(|id| Action::ToClient(error(id))));
    }

    /// The server was restarted. Its tools may have changed.
    pub fn server_back(&self) {
        let mut state = self.state.lock();
        state.gone = None;
        state.tools_changed();
    }

    /// No answer to a request will come: its caller went away, or it never arrived. Its outcome is unknown.
    pub fn abandoned(&self, id: Id<'_>, now: Now) {
        let key = id.key();
        let mut state = self.state.lock();
        state.held.retain(|held| held.key != key);
        if state.take_asking(&key).is_some() {
            state.rounds.end(now.instant);
        }
        if let Some(call) = state.take_call(&key, now.instant) {
            call.forget(&self.settings.sinks);
        }
    }

    /// Whether a request has one of our ids, which no client counts up to and no other guard on the way uses.
    fn is_ours(&self, id: Id<'_>) -> bool {
        let rest = id.0.strip_prefix("\"callwright-");
        let rest = rest.and_then(|rest| rest.strip_prefix(self.session.as_str()));
        rest.is_some_and(|rest| rest.starts_with('-'))
    }

    /// The input schema of a tool, if it is known.
    #[cfg(feature = "http")]
    pub(crate) fn input_schema(&self, tool: &str) -> Option<Arc<serde_json::Value>> {
        self.state.lock().tools.input_schema(tool)
    }
}

impl GuardStep<'_, '_> {
    fn client_message(&mut self, message: &[u8], read: &Message<'_>) -> Fate {
        let is_off = self.guard.settings.mode == Validation::Off;
        match *read {
            // A batch within a batch, or not a message at all.
            Message::Batch(_) | Message::Other if !is_off => self.unreadable(message),
            Message::Notification { ref method, .. } if method == "tools/call" && !is_off => {
                self.call_without_id(message)
            }
            Message::Notification { ref method, params } if method == "notifications/cancelled" => {
                self.cancelled(params)
            }
            Message::Request {
                id,
                ref method,
                params,
            } => match (&self.state.gone, method.as_ref()) {
                (Some(why), _) => Fate::Reply(own_messages::error(id.0, code::SERVER_FAILED, why)),
                (None, "tools/call") if !is_off => self.call(message, id, params),
                (None, "tools/list") if !is_off => {
                    let is_first = member(params, "cursor").is_none();
                    self.state.forward(id, Expects::Tools { is_first })
                }
                (None, method) => {
                    if method == "initialize" {
                        self.state.elicits = can_elicit(params);
                    }
                    self.state.pass(id)
                }
            },
            Message::Response { id, result, .. } if !is_off => {
                match self.state.take_asked(&id.key()) {
                    Some(asking) => self.user_answered(asking, result),
                    // Too late; the server never asked.
                    None if self.guard.is_ours(id) => {}
                    None => return Fate::Pass,
                }
                Fate::Keep
            }
            _ => Fate::Pass,
        }
    }

    fn warn(&mut self, warning: impl Into<String>) {
        self.out.push(Action::warn(warning));
    }

    fn warn_all(&mut self, warnings: Vec<String>) {
        self.out.extend(warnings.into_iter().map(Action::warn));
    }

    fn answer_client(&mut self, message: Vec<u8>) {
        self.out.push(Action::ToClient(message.into()));
    }

    /// The id of our next request, as JSON.
    fn next_id(&mut self) -> String {
        self.state.requests += 1;
        let name = format!("callwright-{}-{}", self.guard.session, self.state.requests);
        serde_json::json!(name).to_string()
    }
}
