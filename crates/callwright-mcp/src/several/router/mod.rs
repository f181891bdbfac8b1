//! One server towards the client, several behind it: which message goes where, and under which name.
//!
//! In comes a message of the client or of one of the servers, out goes what is to be sent to whom. What is answered by one
//! server passes byte for byte, but for the names and ids that have to be told apart; what all servers answer is put
//! together. Nothing here does IO, asks a clock or judges: the guard stands between the client and this.
//!
//! - `asked`: what the client sends
//! - `told`: what the servers send
//! - `gather`, `finish`: questions to all servers, and one answer out of theirs
//! - `search`: questions to one server after the other
//! - `hello`: what servers say of themselves, as if one had said it
//! - `list`, `merge`: their lists in one
//! - `listen`: who hears of changes since 2026-07-28
//! - `standing`: what is known of each server

mod asked;
mod finish;
mod gather;
mod hello;
mod list;
mod listen;
mod merge;
mod search;
mod standing;
mod told;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::value::RawValue;

use self::gather::Gather;
use self::list::List;
use self::listen::Listener;
use self::search::Search;
use self::standing::Standing;
use super::group::Group;
use super::routes::Routes;
use crate::answer;
use crate::message::{Id, Message};

/// What JSON-RPC leaves to servers: the server is not there.
const SERVER_GONE: i32 = -32_000;

/// What JSON-RPC says of a method that nobody has.
const NO_METHOD: i32 = -32_601;

/// What JSON-RPC says of parameters that nobody can follow.
const BAD_PARAMS: i32 = -32_602;

/// How many requests may be under way at one server. A client that never reads answers does not take our memory.
const MOST_REQUESTS: usize = 100_000;

/// Stands for several servers.
#[derive(Debug)]
pub struct Router {
    state: Mutex<State>,
}

/// What is to be sent, in order, and what the operator should know.
#[derive(Debug, Default)]
pub struct Mail<'m> {
    /// To the client.
    pub to_client: Vec<Cow<'m, [u8]>>,
    /// To servers, by their number in the group.
    pub to_servers: Vec<(usize, Cow<'m, [u8]>)>,
    /// To the operator, a sentence each.
    pub warnings: Vec<String>,
    /// Servers that have to be started anew before anything is sent: they have taken a client of one protocol at its
    /// word, and get one of another.
    pub restarts: Vec<usize>,
    /// Whether [`Router::deadline`] may be another one now.
    pub waits: bool,
}

impl Mail<'_> {
    /// Adds what came of another message, which nobody keeps.
    fn take_in(&mut self, other: Mail<'_>) {
        let owned = |message: Cow<'_, [u8]>| Cow::Owned(message.into_owned());
        self.to_client
            .extend(other.to_client.into_iter().map(owned));
        let to_servers = other.to_servers.into_iter();
        self.to_servers
            .extend(to_servers.map(|(server, message)| (server, owned(message))));
        self.warnings.extend(other.warnings);
        self.restarts.extend(other.restarts);
        self.waits |= other.waits;
    }
}

/// What is remembered between two messages.
#[derive(Debug)]
struct State {
    standing: Vec<Standing>,
    /// By the number of a question.
    gathers: BTreeMap<u64, Gather>,
    searches: HashMap<u64, Search>,
    /// By [`Id::key`].
    listeners: HashMap<String, Listener>,
    questions: u64,
    routes: Routes,
    /// Whether the client has sent `initialize`: protocols since 2026-07-28 have none.
    shakes_hands: bool,
    /// Whether some servers know `server/discover` and others do not.
    is_mixed: bool,
    /// What the client said when it was ready, for servers that are later than that.
    ready: Option<Vec<u8>>,
    /// What the client sent before it had the answer to its `initialize`.
    early: Vec<Vec<u8>>,
    /// When somebody last said what time it is.
    latest: Instant,
}

/// A request at a server.
#[derive(Debug)]
enum Pending {
    /// Its answer passes.
    Passes {
        /// As it is written.
        id: String,
    },
    /// Its answer is a part of one.
    Part(u64),
    /// Its answer counts if it is one.
    Search(u64),
    /// Its answer counts if it is the last one.
    Listener(String),
}

impl Router {
    /// Stands for the servers of a group.
    pub fn new(group: &Group, now: Instant) -> Self {
        let standing = group.members.iter().map(Standing::new).collect();
        Router {
            state: Mutex::new(State {
                standing,
                gathers: BTreeMap::new(),
                searches: HashMap::new(),
                listeners: HashMap::new(),
                questions: 0,
                routes: Routes::default(),
                shakes_hands: false,
                is_mixed: false,
                ready: None,
                early: Vec::new(),
                latest: now,
            }),
        }
    }

    /// A message of the client.
    pub fn from_client<'m>(&self, message: &'m [u8], now: Instant, mail: &mut Mail<'m>) {
        let mut state = self.state();
        state.latest = now;
        for (part, read) in each(message) {
            state.client_sends(part, read, now, mail);
        }
    }

    /// A message of a server.
    pub fn from_server<'m>(&self, server: usize, message: &'m [u8], mail: &mut Mail<'m>) {
        let mut state = self.state();
        if server >= state.standing.len() {
            return;
        }
        for (part, read) in each(message) {
            state.server_sends(server, part, read, mail);
        }
    }

    /// The answer to a request of the client's for a server that is gone. Whoever judges calls need not see it, and
    /// would only say that there is no such tool.
    pub fn in_vain(&self, message: &[u8]) -> Option<Vec<u8>> {
        let state = self.state();
        if state
            .standing
            .iter()
            .all(|standing| standing.gone.is_none())
        {
            return None;
        }
        match Message::read(message) {
            Message::Request { id, method, params } => state.in_vain(id, &method, params),
            _ => None,
        }
    }

    /// A server is not there any more, and why.
    pub fn server_gone(&self, server: usize, why: &str, mail: &mut Mail<'_>) {
        let mut state = self.state();
        if server < state.standing.len() {
            state.server_gone(server, why, mail);
        }
    }

    /// Whether no server is left.
    pub fn is_deserted(&self) -> bool {
        let state = self.state();
        state
            .standing
            .iter()
            .all(|standing| standing.gone.is_some())
    }

    /// When [`Router::tick`] has something to do.
    pub fn deadline(&self) -> Option<Instant> {
        let state = self.state();
        let waiting = state.gathers.values().filter(|gather| !gather.is_answered);
        waiting.map(|gather| gather.deadline).min()
    }

    /// Time has passed: who has waited long enough for all servers gets what those say that have answered.
    pub fn tick(&self, now: Instant, mail: &mut Mail<'_>) {
        self.state().tick(now, mail);
    }

    /// Nothing here panics while it holds the lock.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A message as it is; but for the one blank around it that is read over, and that JSON does not know.
fn without_form_feeds(message: &[u8]) -> &[u8] {
    let inner = message.trim_ascii();
    let front = message.len() - message.trim_ascii_start().len();
    let (before, behind) = (&message[..front], &message[front + inner.len()..]);
    if before.contains(&b'\x0c') || behind.contains(&b'\x0c') {
        inner
    } else {
        message
    }
}

/// A message, or each message of a batch.
fn each(message: &[u8]) -> Vec<(&[u8], Message<'_>)> {
    let message = without_form_feeds(message);
    match Message::read(message) {
        Message::Batch(parts) => parts
            .into_iter()
            .map(RawValue::get)
            .map(str::as_bytes)
            .map(|part| (part, Message::read(part)))
            .collect(),
        read => vec![(message, read)],
    }
}

impl State {
    /// Sends a request to a server, or answers it if that is not there.
    fn send<'m>(
        &mut self,
        server: usize,
        id: Id<'_>,
        message: Cow<'m, [u8]>,
        pending: Pending,
        mail: &mut Mail<'m>,
    ) {
        let standing = &mut self.standing[server];
        let why = match &standing.gone {
            Some(why) => why.clone(),
            None if standing.pending.len() >= MOST_REQUESTS => {
                let name = &standing.name;
                format!(
                    "the MCP server {name:?} has {MOST_REQUESTS} requests to answer; wait for it"
                )
            }
            None => {
                standing.pending.insert(id.key().into_owned(), pending);
                return mail.to_servers.push((server, message));
            }
        };
        self.unanswered(server, pending, &why, mail);
    }

    /// No answer comes to a request.
    fn unanswered(&mut self, server: usize, pending: Pending, why: &str, mail: &mut Mail<'_>) {
        match pending {
            Pending::Passes { id } => {
                let error = answer::error(&id, SERVER_GONE, why);
                mail.to_client.push(error.into());
            }
            Pending::Part(number) => {
                let error = answer::fault(SERVER_GONE, why);
                self.part_failed(number, server, &error, mail);
            }
            Pending::Search(number) => self.search_on(number, mail),
            Pending::Listener(key) => self.fell_silent(&key, None, mail),
        }
    }

    fn server_gone(&mut self, server: usize, why: &str, mail: &mut Mail<'_>) {
        let standing = &mut self.standing[server];
        let was_there = standing.gone.is_none();
        standing.gone = Some(why.to_owned());
        let mut pending: Vec<Pending> = std::mem::take(&mut standing.pending)
            .into_values()
            .collect();
        // The order in which they are remembered means nothing.
        pending.sort_by(|one, other| one.id().cmp(&other.id()));
        self.routes.forget(server);
        for pending in pending {
            self.unanswered(server, pending, why, mail);
        }
        if was_there {
            self.lists_changed(server, mail);
        }
    }

    /// Tells the client that a server has other things than it had, if the client listens by now.
    fn lists_changed(&self, server: usize, mail: &mut Mail<'_>) {
        for list in [List::Tools, List::Prompts, List::Resources] {
            if self.standing[server].has(list) {
                self.list_changed(list, mail);
            }
        }
    }

    fn list_changed(&self, list: List, mail: &mut Mail<'_>) {
        if self.ready.is_some() {
            mail.to_client.push(list.changed().into());
        }
        self.tell_listeners(list, mail);
    }
}

impl Pending {
    fn id(&self) -> Option<&str> {
        match self {
            Pending::Passes { id } => Some(id),
            Pending::Part(_) | Pending::Search(_) | Pending::Listener(_) => None,
        }
    }
}
