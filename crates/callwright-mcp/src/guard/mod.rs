//! One session between a client and a server: what passes, what is answered, what is changed.
//!
//! In comes a message of either side, out goes what is to be sent to whom, in order. Everything that is not about tools
//! passes byte for byte. Calls are judged before they reach the server, results before they reach the client. Nothing here
//! does IO or asks a clock what to do, so that stdio and HTTP have the same guard.

mod calls;
mod consent;
mod lists;
mod results;
mod settings;
mod state;
mod unreadable;

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use callwright::policy::Validation;
use serde_json::value::RawValue;

pub use self::settings::{Ask, Now, Outbox, Settings};
use self::state::State;
use crate::answer;
use crate::call::can_elicit;
use crate::message::{Id, Message};

/// The guard of one session.
#[derive(Debug)]
pub struct Guard {
    settings: Arc<Settings>,
    session: String,
    /// Whether calls are counted, and their results remembered.
    remembers: bool,
    state: Mutex<State>,
}

/// What becomes of a message.
#[derive(Debug)]
enum Fate {
    /// It goes on as it is.
    Passes,
    /// This goes on in its stead.
    Becomes(Vec<u8>),
    /// It does not go on; whoever sent it gets this.
    Answered(Vec<u8>),
    /// It does not go on, or not now.
    Stays,
}

/// What JSON-RPC leaves to servers: the server is not there.
const SERVER_GONE: i32 = -32_000;

impl Guard {
    /// The guard of a new session. The name tells it from others in the ledger and in events.
    pub fn new(settings: Arc<Settings>, session: impl Into<String>) -> Self {
        Guard {
            settings,
            session: session.into(),
            remembers: true,
            state: Mutex::default(),
        }
    }

    /// A guard for requests that may be anybody's: it judges each call by itself and remembers none. It knows the tools,
    /// for a while.
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

    /// A message of the client.
    pub fn from_client<'m>(&self, message: &'m [u8], now: Now, out: &mut Outbox<'m>) {
        let read = Message::read(message);
        for (part, fate) in each(message, read, |part, read| {
            self.fate_of_client(part, &read, now, out)
        }) {
            match fate {
                Fate::Passes => out.to_server.push(Cow::Borrowed(part)),
                Fate::Becomes(other) => out.to_server.push(Cow::Owned(other)),
                Fate::Answered(answer) => out.to_client.push(Cow::Owned(answer)),
                Fate::Stays => {}
            }
        }
    }

    /// A message of the server.
    pub fn from_server<'m>(&self, message: &'m [u8], now: Now, out: &mut Outbox<'m>) {
        let read = Message::read(message);
        for (part, fate) in each(message, read, |part, read| {
            self.fate_of_server(part, &read, now, out)
        }) {
            match fate {
                Fate::Passes => out.to_client.push(Cow::Borrowed(part)),
                Fate::Becomes(other) => out.to_client.push(Cow::Owned(other)),
                Fate::Answered(answer) => out.to_server.push(Cow::Owned(answer)),
                Fate::Stays => {}
            }
        }
    }

    fn fate_of_client(
        &self,
        message: &[u8],
        read: &Message<'_>,
        now: Now,
        out: &mut Outbox<'_>,
    ) -> Fate {
        let is_off = self.settings.mode == Validation::Off;
        match read {
            // A batch within a batch, or nothing that is a message.
            Message::Batch(_) | Message::Other if !is_off => {
                self.unreadable(&mut self.state(), message, out)
            }
            Message::Notification { method, .. } if method == "tools/call" && !is_off => {
                self.call_without_id(&mut self.state(), message, out)
            }
            Message::Request { id, method, params } => {
                let mut state = self.state();
                if let Some(why) = &state.gone {
                    return Fate::Answered(answer::error(id.0, SERVER_GONE, why));
                }
                match method.as_ref() {
                    "tools/call" if !is_off => {
                        self.call(&mut state, message, *id, *params, now, out)
                    }
                    "tools/list" if !is_off => state.client_lists(*id, *params),
                    "initialize" => {
                        state.elicits = can_elicit(*params);
                        state.passes(*id)
                    }
                    _ => state.passes(*id),
                }
            }
            Message::Notification { method, params } if method == "notifications/cancelled" => {
                self.cancelled(&mut self.state(), *params, now, out)
            }
            Message::Response { id, result, .. } if !is_off => {
                let mut state = self.state();
                match state.take_asked(&id.key()) {
                    Some(asking) => self.user_answered(&mut state, asking, *result, now, out),
                    // Too late; the server never asked.
                    None if self.is_ours(*id) => {}
                    None => return Fate::Passes,
                }
                Fate::Stays
            }
            _ => Fate::Passes,
        }
    }

    fn fate_of_server(
        &self,
        message: &[u8],
        read: &Message<'_>,
        now: Now,
        out: &mut Outbox<'_>,
    ) -> Fate {
        match read {
            Message::Response { id, result, error } => {
                let key = id.key();
                let mut state = self.state();
                if state.asked.as_ref().is_some_and(|asked| asked.key == key) {
                    self.listed(&mut state, *result, now, out);
                    return Fate::Stays;
                }
                if let Some(listing) = state.lists.remove(key.as_ref()) {
                    let is_first = listing.is_first;
                    return self.client_listed(&mut state, message, *result, is_first, now, out);
                }
                if let Some(running) = state.calls.remove(key.as_ref()) {
                    state.rounds.end(now.instant);
                    drop(state);
                    return self.result(running, message, *id, *result, *error, now, out);
                }
                state.passed.remove(key.as_ref());
                state.answered_early(&key, message);
                Fate::Passes
            }
            Message::Notification { method, .. }
                if method == "notifications/tools/list_changed" =>
            {
                self.state().tools_changed();
                Fate::Passes
            }
            _ => Fate::Passes,
        }
    }

    /// When [`Guard::tick`] has something to do.
    pub fn deadline(&self) -> Option<Instant> {
        let state = self.state();
        [state.waits_until(), state.asks_until()]
            .into_iter()
            .flatten()
            .min()
    }

    /// The same for the list of tools alone.
    #[cfg(feature = "http")]
    pub(crate) fn list_deadline(&self) -> Option<Instant> {
        self.state().waits_until()
    }

    /// Time has passed: calls that have waited too long for the list of tools go on without it, and those that have waited
    /// too long for the user are refused.
    pub fn tick(&self, now: Now, out: &mut Outbox<'_>) {
        let mut state = self.state();
        self.stop_asking(&mut state, now, out);
        if !state.gives_up(now.instant) {
            return;
        }
        out.warnings.push(
            "the server does not answer `tools/list`; calls pass unjudged until it does".to_owned(),
        );
        for held in std::mem::take(&mut state.held) {
            let passed = self.release(&mut state, held, now, out);
            out.to_server.extend(passed.map(Cow::Owned));
        }
    }

    /// The server is gone: answers for everybody who still waits for one, and from now on for every request.
    pub fn server_gone(&self, why: &str, out: &mut Outbox<'_>) {
        let mut state = self.state();
        state.asked = None;
        state.gone = Some(why.to_owned());
        let passed = std::mem::take(&mut state.passed);
        let held = std::mem::take(&mut state.held);
        let lists = std::mem::take(&mut state.lists);
        let calls = std::mem::take(&mut state.calls);
        let asking = std::mem::take(&mut state.asking);
        state.rounds.nothing_runs();
        drop(state);
        let mut ids: Vec<String> = held.into_iter().map(|held| held.id).collect();
        ids.extend(passed.into_values());
        for asking in asking {
            out.to_client.push(Cow::Owned(asking.withdrawn()));
            ids.push(asking.id);
        }
        ids.extend(lists.into_values().map(|listing| listing.id));
        for running in calls.into_values() {
            ids.push(running.id.clone());
            running.forget(&self.settings.sinks);
        }
        ids.sort();
        for id in ids {
            out.to_client
                .push(Cow::Owned(answer::error(&id, SERVER_GONE, why)));
        }
    }

    /// No answer comes to a request any more: nobody waits for it, or it never arrived. What came of it nobody knows.
    pub fn abandoned(&self, id: Id<'_>, now: Now) {
        let key = id.key();
        let mut state = self.state();
        state.passed.remove(key.as_ref());
        state.lists.remove(key.as_ref());
        state.held.retain(|held| held.key != key);
        if state.take_asking(&key).is_some() {
            state.rounds.end(now.instant);
        }
        if let Some(running) = state.calls.remove(key.as_ref()) {
            state.rounds.end(now.instant);
            running.forget(&self.settings.sinks);
        }
    }

    /// Whether a request has an id of ours. A text that no client counts up to, and that other guards on the way do not use.
    fn is_ours(&self, id: Id<'_>) -> bool {
        let rest = id.0.strip_prefix("\"callwright-");
        let rest = rest.and_then(|rest| rest.strip_prefix(self.session.as_str()));
        rest.is_some_and(|rest| rest.starts_with('-'))
    }

    /// Whether a message to the server is our own question for the tools.
    #[cfg(feature = "http")]
    pub(crate) fn has_asked(&self, message: &[u8]) -> bool {
        matches!(Message::read(message), Message::Request { id, method, .. }
            if method == "tools/list" && self.is_ours(id))
    }

    /// How a tool declares its arguments, if it is known.
    #[cfg(feature = "http")]
    pub(crate) fn input_schema(&self, tool: &str) -> Option<Arc<serde_json::Value>> {
        self.state().tools.input_schema(tool)
    }

    /// Nothing here panics while it holds the lock.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The fate of a message, or of each message of a batch. A batch to which nothing happens stays whole.
fn each<'m>(
    message: &'m [u8],
    read: Message<'m>,
    mut fate: impl FnMut(&'m [u8], Message<'m>) -> Fate,
) -> Vec<(&'m [u8], Fate)> {
    let Message::Batch(parts) = read else {
        let fate = fate(message, read);
        return vec![(message, fate)];
    };
    let fates: Vec<(&[u8], Fate)> = parts
        .into_iter()
        .map(RawValue::get)
        .map(str::as_bytes)
        .map(|part| (part, fate(part, Message::read(part))))
        .collect();
    if fates.iter().all(|(_, fate)| matches!(fate, Fate::Passes)) {
        return vec![(message, Fate::Passes)];
    }
    fates
}
