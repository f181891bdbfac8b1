//! What a session remembers between two messages.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use callwright::Gate;
use callwright::admit::{Fingerprint, Rounds, Ticket};
use callwright::event::{Event, Sinks};

use super::Fate;
use super::consent::{Asking, Question};
use crate::message::Id;
use crate::tools::Tools;

/// How many requests may be under way. A client that never reads answers does not take our memory.
const MOST_REQUESTS: usize = 100_000;

/// How many calls may be left unfinished. A call that goes on after more is one more call.
const MOST_UNFINISHED: usize = 1_000;

/// Requests are known by [`crate::message::Id::key`].
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) tools: Tools,
    /// Lists that the client asked for.
    pub(super) lists: HashMap<String, Listing>,
    /// Calls that the server works on.
    pub(super) calls: HashMap<String, Running>,
    /// Calls that wait for the tools to be known.
    pub(super) held: VecDeque<Held>,
    /// The list that we asked for.
    pub(super) asked: Option<Asked>,
    pub(super) questions: u64,
    pub(super) rounds: Rounds,
    /// Whether the client said in its `initialize` that it can ask the user.
    pub(super) elicits: bool,
    /// Calls that wait for the user.
    pub(super) asking: Vec<Asking>,
    /// What a later call may bring the answer to.
    pub(super) open_questions: VecDeque<Question>,
    /// Calls that the server has answered with a question: the next such call goes on with it.
    pub(super) unfinished: Vec<Fingerprint>,
    /// When the tools were last listed.
    pub(super) listed: Option<Instant>,
    /// Other requests that the server has not answered, and their ids as the client wrote them.
    pub(super) passed: HashMap<String, String>,
    /// Why there is no server any more.
    pub(super) gone: Option<String>,
}

impl State {
    /// A request passes unjudged: it is only known to be under way.
    pub(super) fn passes(&mut self, id: Id<'_>) -> Fate {
        if self.passed.len() < MOST_REQUESTS {
            self.passed.insert(id.key().into_owned(), id.0.to_owned());
        }
        Fate::Passes
    }

    /// A server answers a call with a question.
    pub(super) fn left_unfinished(&mut self, call: Fingerprint) {
        if self.unfinished.len() == MOST_UNFINISHED {
            self.unfinished.remove(0);
        }
        self.unfinished.push(call);
    }

    /// Whether a call goes on with one that was left unfinished.
    pub(super) fn goes_on(&mut self, call: Fingerprint) -> bool {
        let at = self.unfinished.iter().position(|left| *left == call);
        at.map(|at| self.unfinished.swap_remove(at)).is_some()
    }

    /// Whether no more requests are remembered.
    pub(super) fn is_full(&self) -> bool {
        self.calls.len() + self.held.len() + self.lists.len() + self.asking.len() >= MOST_REQUESTS
    }
}

/// A list that the client asked for.
#[derive(Debug)]
pub(super) struct Listing {
    /// As the client wrote it.
    pub(super) id: String,
    /// Whether it is the first page.
    pub(super) is_first: bool,
}

/// A call that the server works on.
#[derive(Debug)]
pub(super) struct Running {
    /// As the client wrote it.
    pub(super) id: String,
    pub(super) gate: Arc<Gate>,
    pub(super) open: Ticket<'static>,
    pub(super) began: Instant,
    pub(super) gate_time: Duration,
    pub(super) event: Option<Event>,
    /// Whether results say that they are all.
    pub(super) says_all: bool,
    /// Whether another call had the same id at the same time: nobody can tell their answers apart.
    pub(super) shares_id: bool,
}

impl Running {
    /// Nobody will know what came of it.
    pub(super) fn forget(self, sinks: &Sinks) {
        if let Some(event) = self.event {
            sinks.send(event.with_gate_time(self.gate_time));
        }
    }
}

/// A call that waits for the tools to be known.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) key: String,
    /// As the client wrote it.
    pub(super) id: String,
    pub(super) message: Vec<u8>,
    /// Whether the server has it already, and only the judgement waits.
    pub(super) is_sent: bool,
    /// What the server has answered already, if that is short enough to be kept.
    pub(super) answer: Option<Vec<u8>>,
}

/// The list that we asked for.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) key: String,
    pub(super) since: Instant,
    pub(super) pages: usize,
    /// What the client sends with its requests.
    pub(super) meta: Option<String>,
    /// Whether nobody waits for it any more.
    pub(super) gave_up: bool,
    /// Whether the tools have changed since.
    pub(super) is_outdated: bool,
}
