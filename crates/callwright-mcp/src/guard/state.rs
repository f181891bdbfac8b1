//! What a session remembers between messages.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ahash::AHashMap;
use callwright::Gate;
use callwright::admit::{Fingerprint, Rounds, Ticket};
use callwright::event::{Event, Sinks};

use super::action::Fate;
use super::consent::{AskedCall, OpenQuestion};
use crate::message::Id;
use crate::tools::ListedTools;

/// How many requests may be in progress: a client that never reads answers must not use up our memory.
const MOST_REQUESTS: usize = 100_000;

/// How many calls may wait for the tool list: agents make a handful at a time, and each searches the others.
const MOST_HELD: usize = 1_000;

/// How many bytes these calls, and answers that came before they were judged, may have together. A single one may be
/// as long as a message may be.
const MOST_HELD_BYTES: usize = 64 * 1024 * 1024;

/// How many calls may be left unfinished. Beyond that, a call that continues counts as a new one.
const MOST_UNFINISHED: usize = 1_000;

/// Requests are known by [`crate::message::Id::key`].
#[derive(Debug, Default)]
pub(super) struct SessionState {
    pub(super) tools: ListedTools,
    pub(super) at_server: AHashMap<String, AtServer>,
    /// Calls that wait for the tool list.
    pub(super) held: VecDeque<HeldCall>,
    /// Our own request for the tool list.
    pub(super) tools_request: Option<ToolsRequest>,
    /// Since when calls have been waiting for the tools.
    pub(super) waiting_since: Option<Instant>,
    /// Whether they have waited long enough, and wait no longer.
    pub(super) gave_up: bool,
    /// Whether the tools have changed since they were requested.
    pub(super) is_outdated: bool,
    /// How many requests we have made.
    pub(super) requests: u64,
    pub(super) rounds: Rounds,
    /// Whether the client said in its `initialize` that it can ask the user.
    pub(super) elicits: bool,
    /// Calls that wait for the user.
    pub(super) asking: Vec<AskedCall>,
    /// Questions whose answer may come with a later call.
    pub(super) open_questions: VecDeque<OpenQuestion>,
    /// Calls that the server has answered with a question: the next such call continues them.
    pub(super) unfinished: Vec<Fingerprint>,
    pub(super) listed: Option<Instant>,
    pub(super) gone: Option<String>,
}

impl SessionState {
    /// Records a request sent to the server. A call already there under the same id is kept: its result has to be
    /// judged.
    pub(super) fn forward(&mut self, id: Id<'_>, expects: Expects) -> Fate {
        let key = id.key();
        let is_call = |it: &AtServer| matches!(it.expects, Expects::Result(_));
        if !self.is_full() && !self.at_server.get(key.as_ref()).is_some_and(is_call) {
            let id = id.0.to_owned();
            self.at_server
                .insert(key.into_owned(), AtServer { id, expects });
        }
        Fate::Pass
    }

    /// The key of the request that an answer with this id belongs to.
    pub(super) fn key_of_answer<'m>(&self, id: Id<'m>) -> Cow<'m, str> {
        let is_known = |key: &str| {
            let is_this = |held: &HeldCall| held.is_sent && held.key == key;
            self.at_server.contains_key(key) || self.held.iter().any(is_this)
        };
        let key = id.key();
        if is_known(&key) {
            return key;
        }
        let other = id.key_as_other_type().filter(|other| is_known(other));
        other.map_or(key, Cow::Owned)
    }

    /// Lets a request pass unjudged; it is only recorded as in progress.
    pub(super) fn pass(&mut self, id: Id<'_>) -> Fate {
        self.forward(id, Expects::Anything)
    }

    /// Removes a request that the server no longer has; returns the call, if it was one.
    pub(super) fn take_call(&mut self, key: &str, now: Instant) -> Option<ForwardedCall> {
        match self.at_server.remove(key)?.expects {
            Expects::Result(call) => {
                self.rounds.end(now);
                Some(*call)
            }
            _ => None,
        }
    }

    /// Records that a server answered a call with a question.
    pub(super) fn left_unfinished(&mut self, call: Fingerprint) {
        if self.unfinished.len() == MOST_UNFINISHED {
            self.unfinished.remove(0);
        }
        self.unfinished.push(call);
    }

    /// Whether a call was left unfinished, and is continued now.
    pub(super) fn take_unfinished(&mut self, call: Fingerprint) -> bool {
        let at = self.unfinished.iter().position(|left| *left == call);
        at.map(|at| self.unfinished.swap_remove(at)).is_some()
    }

    /// Whether one more call of this many bytes may wait for the tool list.
    pub(super) fn has_room_to_hold(&self, bytes: usize) -> bool {
        self.held.len() < MOST_HELD && self.has_room_for(bytes)
    }

    /// Whether this many more bytes may be kept until the tool list is known.
    pub(super) fn has_room_for(&self, bytes: usize) -> bool {
        let held: usize = self.held.iter().map(HeldCall::bytes).sum();
        held == 0 || held + bytes <= MOST_HELD_BYTES
    }

    /// Whether no more requests can be remembered.
    pub(super) fn is_full(&self) -> bool {
        self.at_server.len() + self.held.len() + self.asking.len() >= MOST_REQUESTS
    }
}

#[derive(Debug)]
pub(super) struct AtServer {
    /// As the client wrote it.
    pub(super) id: String,
    pub(super) expects: Expects,
}

/// What to do with the answer to a request.
#[derive(Debug)]
pub(super) enum Expects {
    /// It passes.
    Anything,
    /// A page of the tool list that the client requested: the first, or a later one.
    Tools {
        is_first: bool,
    },
    Result(Box<ForwardedCall>),
}

#[derive(Debug)]
pub(super) struct ForwardedCall {
    pub(super) gate: Arc<Gate>,
    pub(super) open: Ticket<'static>,
    pub(super) began: Instant,
    pub(super) gate_time: Duration,
    pub(super) event: Option<Event>,
    /// Whether results of its protocol have a `resultType`.
    pub(super) has_result_type: bool,
    /// Whether another call had the same id at the same time: their answers cannot be told apart.
    pub(super) shares_id: bool,
}

impl ForwardedCall {
    /// Records that its outcome will never be known.
    pub(super) fn forget(self, sinks: &Sinks) {
        if let Some(mut event) = self.event {
            event.gate_time = self.gate_time;
            sinks.send(event);
        }
    }
}

/// A call that waits for the tool list.
#[derive(Debug)]
pub(super) struct HeldCall {
    pub(super) key: String,
    /// As the client wrote it.
    pub(super) id: String,
    pub(super) message: Vec<u8>,
    /// Whether the user may be asked about it.
    pub(super) may_ask: bool,
    /// Whether the server already has it, and only the judgement waits.
    pub(super) is_sent: bool,
    /// The server's answer, if it has arrived; empty if there was no room for it.
    pub(super) answer: Option<Vec<u8>>,
}

impl HeldCall {
    fn bytes(&self) -> usize {
        self.message.len() + self.answer.as_ref().map_or(0, Vec::len)
    }
}

/// Our own request for the tool list.
#[derive(Debug)]
pub(super) struct ToolsRequest {
    pub(super) key: String,
    pub(super) pages: usize,
    /// What the client sends with its requests.
    pub(super) meta: Option<String>,
}
