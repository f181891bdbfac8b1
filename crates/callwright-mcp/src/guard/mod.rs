//! The guard of one session between a client and its server: which messages pass, are changed, answered or held.
//!
//! Takes the messages of both sides; returns [`Action`]s, in order. Everything that is not about tools passes byte for
//! byte. Calls are judged before they reach the server, results before they reach the client. The guard does no IO and
//! has no clock, so that stdio and HTTP share it.
//!
//! - `calls`, `results`: a call on its way to the server, and its result on the way back
//! - `lists`: the lists of tools that calls are judged by
//! - `consent`: refusals that the user may overrule
//! - `unreadable`: messages that could be read in two ways
//! - `action`, `settings`, `state`: what goes out, what sessions share, what a session remembers

mod action;
mod calls;
mod consent;
mod lists;
mod results;
mod settings;
mod state;
mod unreadable;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use callwright::policy::Validation;

pub use self::action::{Action, UserQuestion};
use self::action::{Fate, Sender};
use self::results::ServerAnswer;
pub use self::settings::{Now, Settings};
use self::state::{SessionState, ToolsRequest};
use crate::answer::{self, code};
use crate::call::can_elicit;
use crate::message::{Id, Message};

/// The guard of one session.
#[derive(Debug)]
pub struct Guard {
    settings: Arc<Settings>,
    session: String,
    /// Whether calls are counted, and their results remembered.
    remembers: bool,
    state: Mutex<SessionState>,
}

/// One message on its way through the guard.
struct GuardStep<'a, 'm> {
    guard: &'a Guard,
    state: &'a mut SessionState,
    now: Now,
    out: &'a mut Vec<Action<'m>>,
}

impl Guard {
    /// The guard of a new session. The name tells it from other sessions in the ledger and in events.
    pub fn new(settings: Arc<Settings>, session: impl Into<String>) -> Self {
        Guard {
            settings,
            session: session.into(),
            remembers: true,
            state: Mutex::default(),
        }
    }

    /// A guard for requests of unknown callers: it judges each call by itself and remembers none. It knows the tools, for
    /// a while.
    pub fn forgetful(settings: Arc<Settings>, session: impl Into<String>) -> Self {
        Guard {
            remembers: false,
            ..Guard::new(settings, session)
        }
    }

    /// The client can ask the user, as it said in another exchange.
    #[cfg(feature = "http")]
    pub(crate) fn elicits(&self) {
        self.state().elicits = true;
    }

    /// Takes a message of the client.
    pub fn from_client<'m>(&self, message: &'m [u8], now: Now, out: &mut Vec<Action<'m>>) {
        Sender::Client.decide(message, out, |part, read, out| {
            self.client_message(part, read, now, out)
        });
    }

    /// Takes a message of the server.
    pub fn from_server<'m>(&self, message: &'m [u8], now: Now, out: &mut Vec<Action<'m>>) {
        Sender::Server.decide(message, out, |part, read, out| {
            self.server_message(part, read, now, out)
        });
    }

    fn client_message(
        &self,
        message: &[u8],
        read: &Message<'_>,
        now: Now,
        out: &mut Vec<Action<'_>>,
    ) -> Fate {
        let is_off = self.settings.mode == Validation::Off;
        let mut step = GuardStep {
            guard: self,
            state: &mut self.state(),
            now,
            out,
        };
        match *read {
            // A batch within a batch, or not a message at all.
            Message::Batch(_) | Message::Other if !is_off => step.unreadable(message),
            Message::Notification { ref method, .. } if method == "tools/call" && !is_off => {
                step.call_without_id(message)
            }
            Message::Notification { ref method, params } if method == "notifications/cancelled" => {
                step.cancelled(params)
            }
            Message::Request {
                id,
                ref method,
                params,
            } => match (&step.state.gone, method.as_ref()) {
                (Some(why), _) => Fate::Reply(answer::error(id.0, code::SERVER_FAILED, why)),
                (None, "tools/call") if !is_off => step.call(message, id, params),
                (None, "tools/list") if !is_off => step.state.client_lists(id, params),
                (None, method) => {
                    if method == "initialize" {
                        step.state.elicits = can_elicit(params);
                    }
                    step.state.pass(id)
                }
            },
            Message::Response { id, result, .. } if !is_off => {
                match step.state.take_asked(&id.key()) {
                    Some(asking) => step.user_answered(asking, result),
                    // Too late; the server never asked.
                    None if self.is_ours(id) => {}
                    None => return Fate::Pass,
                }
                Fate::Keep
            }
            _ => Fate::Pass,
        }
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
                let key = id.key();
                let mut state = self.state();
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
                if let Some(request) = step.state.lists.remove(key.as_ref()) {
                    return step.client_listed(message, result, request.is_first);
                }
                let Some(call) = state.calls.remove(key.as_ref()) else {
                    state.passed.remove(key.as_ref());
                    state.answered_early(&key, message);
                    return Fate::Pass;
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
                let (fate, unfinished) = self.result(call, &answer, now, out);
                if let Some(call) = unfinished {
                    self.state().left_unfinished(call);
                }
                fate
            }
            Message::Notification { ref method, .. }
                if method == "notifications/tools/list_changed" =>
            {
                self.state().tools_changed();
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
            state: &mut self.state(),
            now,
            out,
        })
    }

    /// When [`Guard::tick`] has something to do.
    pub fn deadline(&self) -> Option<Instant> {
        let state = self.state();
        let deadlines = [state.list_deadline(), state.user_deadline()];
        deadlines.into_iter().flatten().min()
    }

    /// The same for the list of tools alone.
    #[cfg(feature = "http")]
    pub(crate) fn list_deadline(&self) -> Option<Instant> {
        self.state().list_deadline()
    }

    /// Time has passed: calls that have waited too long for the list of tools go on without it, and those that have waited
    /// too long for the user are refused.
    pub fn tick(&self, now: Now, out: &mut Vec<Action<'_>>) {
        self.step(now, out, |step| {
            step.stop_asking_late();
            if step.state.gives_up(now.instant) {
                let warning =
                    "the server does not answer `tools/list`; calls pass unjudged until it does";
                step.warn(warning);
                step.release_all();
            }
        });
    }

    /// The server is gone: everything that waits is answered, and so is every later request.
    pub fn server_gone(&self, why: &str, out: &mut Vec<Action<'_>>) {
        let mut state = self.state();
        state.tools_request = None;
        state.gone = Some(why.to_owned());
        state.rounds.nothing_runs();
        let mut ids: Vec<String> = state.held.drain(..).map(|held| held.id).collect();
        ids.extend(state.passed.drain().map(|(_, id)| id));
        ids.extend(state.lists.drain().map(|(_, list)| list.id));
        for asking in state.asking.drain(..) {
            out.push(Action::ToClient(asking.withdrawn().into()));
            ids.push(asking.id);
        }
        let calls: Vec<_> = state.calls.drain().map(|(_, call)| call).collect();
        drop(state);
        for call in calls {
            ids.push(call.id.clone());
            call.forget(&self.settings.sinks);
        }
        ids.sort();
        let error = |id: String| answer::error(&id, code::SERVER_FAILED, why).into();
        out.extend(ids.into_iter().map(|id| Action::ToClient(error(id))));
    }

    /// No answer to a request will come: its caller went away, or it never arrived. Its outcome is unknown.
    pub fn abandoned(&self, id: Id<'_>, now: Now) {
        let key = id.key();
        let mut state = self.state();
        state.passed.remove(key.as_ref());
        state.lists.remove(key.as_ref());
        state.held.retain(|held| held.key != key);
        if state.take_asking(&key).is_some() {
            state.rounds.end(now.instant);
        }
        if let Some(call) = state.calls.remove(key.as_ref()) {
            state.rounds.end(now.instant);
            call.forget(&self.settings.sinks);
        }
    }

    /// Whether a request has an id of ours, which no client counts up to and other guards on the way do not use.
    fn is_ours(&self, id: Id<'_>) -> bool {
        let rest = id.0.strip_prefix("\"callwright-");
        let rest = rest.and_then(|rest| rest.strip_prefix(self.session.as_str()));
        rest.is_some_and(|rest| rest.starts_with('-'))
    }

    /// How a tool declares its arguments, if it is known.
    #[cfg(feature = "http")]
    pub(crate) fn input_schema(&self, tool: &str) -> Option<Arc<serde_json::Value>> {
        self.state().tools.input_schema(tool)
    }

    /// Nothing here panics while it holds the lock.
    fn state(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GuardStep<'_, '_> {
    fn warn(&mut self, warning: impl Into<String>) {
        self.out.push(Action::Warn(warning.into()));
    }

    fn warn_all(&mut self, warnings: Vec<String>) {
        self.out.extend(warnings.into_iter().map(Action::Warn));
    }

    fn answer_client(&mut self, message: Vec<u8>) {
        self.out.push(Action::ToClient(message.into()));
    }

    /// The id of the next request of ours, as JSON.
    fn next_id(&mut self) -> String {
        self.state.requests += 1;
        let name = format!("callwright-{}-{}", self.guard.session, self.state.requests);
        serde_json::json!(name).to_string()
    }
}
