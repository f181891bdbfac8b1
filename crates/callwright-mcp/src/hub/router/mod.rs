//! Makes several servers look like one: decides which message goes where, and under which name.
//!
//! Takes messages from the client and the servers; returns what to send to whom. What a single server answers passes
//! byte for byte, except for the names and ids that tell servers apart; what all servers answer is merged. The router
//! does no I/O, has no clock and judges nothing: the guard sits between the client and the router.
//!
//! - `from_client`, `from_server`: where each message goes
//! - `aggregate`: requests to several servers, and the single answer made of theirs
//! - `lists`, `merge`: the methods that list something, and the merged lists of all servers
//! - `server_state`, `server_info`: what is known about each server, and how they introduce themselves as one

mod aggregate;
mod from_client;
mod from_server;
mod lists;
mod merge;
mod server_info;
mod server_state;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::value::RawValue;

use self::aggregate::Aggregate;
use self::lists::ListKind;
use self::server_state::ServerState;
use super::group::ServerGroup;
use super::routes::Routes;
use crate::message::{Id, Message};
use crate::own_messages::{self, code};

/// How many requests may be in progress at one server: a client that never reads answers must not use up our memory.
const MOST_REQUESTS: usize = 100_000;

/// Makes several servers look like one.
#[derive(Debug)]
pub struct Router {
    state: Mutex<RouterState>,
}

/// What to send, in order, and the warnings for the operator.
#[derive(Debug, Default)]
pub struct Dispatch<'m> {
    /// For the client.
    pub to_client: Vec<Cow<'m, [u8]>>,
    /// For servers, by their position in the group.
    pub to_servers: Vec<(usize, Cow<'m, [u8]>)>,
    /// For the operator, one sentence each.
    pub warnings: Vec<String>,
    /// Servers that have to be restarted before anything is sent: they have begun to speak one protocol with the
    /// client, and now get another.
    pub restarts: Vec<usize>,
    /// Whether [`Router::deadline`] may have changed.
    pub has_new_deadline: bool,
}

impl Dispatch<'_> {
    /// Adds the outcome of another message, which is not kept.
    fn append(&mut self, other: Dispatch<'_>) {
        let owned = |message: Cow<'_, [u8]>| Cow::Owned(message.into_owned());
        self.to_client
            .extend(other.to_client.into_iter().map(owned));
        let to_servers = other.to_servers.into_iter();
        self.to_servers
            .extend(to_servers.map(|(server, message)| (server, owned(message))));
        self.warnings.extend(other.warnings);
        self.restarts.extend(other.restarts);
        self.has_new_deadline |= other.has_new_deadline;
    }
}

#[derive(Debug)]
struct RouterState {
    servers: Vec<ServerState>,
    /// Requests to several servers, by number.
    aggregates: BTreeMap<u64, Aggregate>,
    last_number: u64,
    routes: Routes,
    /// Whether the client has sent `initialize`, which protocols since 2026-07-28 do not have.
    has_handshake: bool,
    /// Whether some servers know `server/discover` and others do not.
    is_mixed: bool,
    /// The client's `notifications/initialized`, for servers that answer later.
    initialized: Option<Vec<u8>>,
    /// What the client sent before it had the answer to its `initialize`.
    early: Vec<Vec<u8>>,
    /// The time of the client's last message.
    latest: Instant,
    /// How long servers may take to answer `initialize`.
    start_limit: Duration,
}

/// One message on its way through the router.
struct Routing<'s, 'm> {
    state: &'s mut RouterState,
    out: &'s mut Dispatch<'m>,
}

/// A request that a server has not answered.
#[derive(Debug)]
enum PendingRequest {
    /// Its answer passes. The id is as the client wrote it.
    Passes { id: String },
    /// Its answer is part of the answer to the request with this number.
    Part(u64),
}

impl PendingRequest {
    fn passes(id: Id<'_>) -> Self {
        let id = id.0.to_owned();
        PendingRequest::Passes { id }
    }
}

impl Router {
    /// A router for the servers of a group.
    pub fn new(group: &ServerGroup, now: Instant) -> Self {
        Router {
            state: Mutex::new(RouterState {
                servers: group.members.iter().map(ServerState::new).collect(),
                aggregates: BTreeMap::new(),
                last_number: 0,
                routes: Routes::default(),
                has_handshake: false,
                is_mixed: false,
                initialized: None,
                early: Vec::new(),
                latest: now,
                start_limit: group.start_limit,
            }),
        }
    }

    /// Takes a message from the client.
    pub fn from_client<'m>(&self, message: &'m [u8], now: Instant, out: &mut Dispatch<'m>) {
        let state = &mut *self.state.lock();
        state.latest = now;
        let mut routing = Routing { state, out };
        for (part, read) in each(message) {
            routing.route_client_message(part, read);
        }
    }

    /// Takes a message from a server.
    pub fn from_server<'m>(&self, server: usize, message: &'m [u8], out: &mut Dispatch<'m>) {
        let state = &mut *self.state.lock();
        if server < state.servers.len() {
            let mut routing = Routing { state, out };
            for (part, read) in each(message) {
                routing.route_server_message(server, part, read);
            }
        }
    }

    /// The answer to a request for a server that is gone. The guard need not see the request; it would only say that
    /// the tool does not exist.
    pub fn error_of_lost_server(&self, message: &[u8]) -> Option<Vec<u8>> {
        let state = self.state.lock();
        if state.servers.iter().all(ServerState::is_there) {
            return None;
        }
        match Message::read(message) {
            Message::Request { id, method, params } => {
                let why = state.why_lost(&method, params)?;
                Some(own_messages::error(id.0, code::SERVER_FAILED, why))
            }
            _ => None,
        }
    }

    /// A server is gone, for this reason.
    pub fn server_gone(&self, server: usize, why: &str, out: &mut Dispatch<'_>) {
        let state = &mut *self.state.lock();
        if server < state.servers.len() {
            Routing { state, out }.server_gone(server, why);
        }
    }

    /// A server that was gone was restarted.
    pub fn server_back(&self, server: usize, out: &mut Dispatch<'_>) {
        let state = &mut *self.state.lock();
        if let Some(back) = state.servers.get_mut(server) {
            back.gone = None;
            Routing { state, out }.all_lists_changed(server);
        }
    }

    /// When [`Router::tick`] has something to do.
    pub fn deadline(&self) -> Option<Instant> {
        let state = self.state.lock();
        let waiting = state.aggregates.values().filter(|it| !it.is_answered);
        waiting.filter_map(|aggregate| aggregate.deadline).min()
    }

    /// Handles passed deadlines: requests that have waited long enough for all servers are answered without the late
    /// ones.
    pub fn tick(&self, now: Instant, out: &mut Dispatch<'_>) {
        let state = &mut *self.state.lock();
        Routing { state, out }.tick(now);
    }
}

/// The message, without form feeds around it: our reader skips them, but they are not JSON.
fn without_form_feeds(message: &[u8]) -> &[u8] {
    let inner = message.trim_ascii();
    let front = message.len() - message.trim_ascii_start().len();
    let (before, after) = (&message[..front], &message[front + inner.len()..]);
    if before.contains(&b'\x0c') || after.contains(&b'\x0c') {
        inner
    } else {
        message
    }
}

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

impl<'m> Routing<'_, 'm> {
    fn error(&mut self, id: Id<'_>, code: i32, why: &str) {
        let error = own_messages::error(id.0, code, why);
        self.out.to_client.push(error.into());
    }

    /// Sends a request to a server; returns why not, if that is not possible.
    fn send(
        &mut self,
        server: usize,
        id: Id<'_>,
        message: Cow<'m, [u8]>,
        pending: PendingRequest,
    ) -> Result<(), String> {
        let to = &mut self.state.servers[server];
        if let Some(why) = &to.gone {
            return Err(why.clone());
        }
        if to.pending.len() >= MOST_REQUESTS {
            let name = &to.name;
            return Err(format!(
                "the MCP server {name:?} has {MOST_REQUESTS} unanswered requests; wait for it"
            ));
        }
        to.pending.insert(id.key().into_owned(), pending);
        self.out.to_servers.push((server, message));
        Ok(())
    }

    fn server_gone(&mut self, server: usize, why: &str) {
        let lost = &mut self.state.servers[server];
        let was_there = lost.is_there();
        lost.gone = Some(why.to_owned());
        let mut pending: Vec<_> = lost.pending.drain().collect();
        // In a deterministic order.
        pending.sort_by(|(one, _), (other, _)| one.cmp(other));
        self.state.routes.forget(server);
        for (_, pending) in pending {
            match pending {
                PendingRequest::Passes { id } => self.error(Id(&id), code::SERVER_FAILED, why),
                PendingRequest::Part(number) => {
                    let error = own_messages::error_object(code::SERVER_FAILED, why);
                    self.part_answered(number, server, None, Err(&error));
                }
            }
        }
        if was_there {
            self.all_lists_changed(server);
        }
    }

    fn all_lists_changed(&mut self, server: usize) {
        for list in [ListKind::Tools, ListKind::Prompts, ListKind::Resources] {
            if self.state.servers[server].may_list(list) {
                self.list_changed(list);
            }
        }
    }

    /// Notifies the client that a list has changed, if it is ready for that.
    fn list_changed(&mut self, list: ListKind) {
        let method = format!("notifications/{}/list_changed", list.capability());
        let mut notify = |params: &str| {
            let message = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\"{params}}}");
            self.out.to_client.push(message.into_bytes().into());
        };
        if self.state.initialized.is_some() {
            notify("");
        }
        for meta in self
            .state
            .aggregates
            .values()
            .filter_map(|it| it.listens_to(list))
        {
            notify(&format!(",\"params\":{{\"_meta\":{meta}}}"));
        }
    }

    fn servers_there(&self) -> Vec<usize> {
        let all = self.state.servers.iter().enumerate();
        let there = all.filter(|(_, server)| server.is_there());
        there.map(|(at, _)| at).collect()
    }
}
