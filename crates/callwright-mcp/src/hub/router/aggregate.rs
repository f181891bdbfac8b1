//! Requests that several servers answer: answers are collected as they arrive, page by page, and the client gets one.
//!
//! Most requests go to all servers at once and are answered in time without the late ones, whose answers then lead to
//! a notification. A resource that no server has listed is looked for in one server after another. A subscription is
//! acknowledged immediately and answered when the last server has ended it. This module sends the requests; `answers`
//! handles what comes back.

mod answers;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use callwright::internal::{Replacements, span_in};
use serde_json::value::RawValue;

use super::lists::ListKind;
use super::{PendingRequest, Routing};
use crate::members::member;
use crate::message::Id;
use crate::own_messages::{self, code};

/// How long servers may take for a list. Most answer in milliseconds; a call that waits for the tool list is released
/// after ten seconds, so this is less.
const LONGEST_LIST: Duration = Duration::from_secs(5);

#[derive(Clone, Copy)]
pub(super) struct ClientRequest<'m> {
    pub(super) message: &'m [u8],
    pub(super) id: Id<'m>,
    pub(super) params: Option<&'m RawValue>,
}

/// A request that several servers answer.
#[derive(Debug)]
pub(super) struct Aggregate {
    number: u64,
    /// The id as the client wrote it.
    id: String,
    kind: AggregateKind,
    parts: Vec<ServerPart>,
    /// What the client sent with it.
    meta: Option<String>,
    /// When the client gets its answer at the latest.
    pub(super) deadline: Option<Instant>,
    /// Whether the client already has its answer, and the rest is late.
    pub(super) is_answered: bool,
    /// One server's answer that is passed to the client unchanged.
    verbatim: Option<Vec<u8>>,
}

/// The kind of request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AggregateKind {
    /// With the protocol that the client wants.
    Initialize {
        version: Option<String>,
    },
    /// Its successor since 2026-07-28.
    Discover,
    List(ListKind),
    SetLevel,
    /// `subscriptions/listen`, with the notifications that the client wants.
    Listen {
        wanted: String,
    },
    /// A request about a resource that no server has listed, and the servers still to be asked.
    FindResource {
        uri: String,
        message: Vec<u8>,
        left: VecDeque<usize>,
    },
}

#[derive(Debug)]
struct ServerPart {
    server: usize,
    /// The results, as written.
    pages: Vec<String>,
    error: Option<String>,
    is_done: bool,
}

impl ServerPart {
    fn new(server: usize) -> Self {
        ServerPart {
            server,
            pages: Vec::new(),
            error: None,
            is_done: false,
        }
    }

    fn is_good(&self) -> bool {
        self.is_done && self.error.is_none()
    }
}

/// A server's answer: a result or an error object.
pub(super) type PartOutcome<'m> = Result<Option<&'m RawValue>, &'m str>;

impl Aggregate {
    /// The `_meta` of notifications for a client that listens to changes of a list.
    pub(super) fn listens_to(&self, list: ListKind) -> Option<String> {
        let AggregateKind::Listen { wanted } = &self.kind else {
            return None;
        };
        let wanted: &RawValue = serde_json::from_str(wanted).ok()?;
        let change = format!("{}ListChanged", list.capability());
        let is_wanted = member(Some(wanted), &change)?.get() == "true";
        is_wanted.then(|| subscription_meta(&self.id))
    }
}

/// Identifies the request that a notification belongs to.
fn subscription_meta(id: &str) -> String {
    format!("{{\"io.modelcontextprotocol/subscriptionId\":{id}}}")
}

impl<'m> Routing<'_, 'm> {
    /// Asks servers, each with an id of ours.
    pub(super) fn ask(
        &mut self,
        request: &ClientRequest<'_>,
        kind: AggregateKind,
        servers: Vec<usize>,
    ) {
        let bound = match kind {
            AggregateKind::Initialize { .. } | AggregateKind::Discover => self.state.start_limit,
            _ => LONGEST_LIST,
        };
        let mut aggregate = self.new_aggregate(request, kind);
        aggregate.deadline = Some(self.state.latest + bound);
        self.out.has_new_deadline = true;
        for server in servers {
            let mut part = ServerPart::new(server);
            if let AggregateKind::List(list) = aggregate.kind
                && let Some(pages) = self.state.servers[server].late_lists.remove(&list)
            {
                part.pages = pages;
                part.is_done = true;
            } else {
                let id = own_id(aggregate.number, server, 0);
                let change = (span_in(request.message, request.id.0), id.clone());
                let message = Replacements::from_iter([change]).in_bytes(request.message);
                self.send_part(aggregate.number, Id(&id), message.into(), &mut part);
            }
            aggregate.parts.push(part);
        }
        self.keep_or_answer(aggregate);
    }

    fn new_aggregate(&mut self, request: &ClientRequest<'_>, kind: AggregateKind) -> Aggregate {
        self.state.last_number += 1;
        Aggregate {
            number: self.state.last_number,
            id: request.id.0.to_owned(),
            kind,
            parts: Vec::new(),
            meta: member(request.params, "_meta").map(|meta| meta.get().to_owned()),
            deadline: None,
            is_answered: false,
            verbatim: None,
        }
    }

    /// Sends a part of a request to its server; if that is not possible, the part has failed.
    fn send_part(
        &mut self,
        number: u64,
        id: Id<'_>,
        message: Cow<'m, [u8]>,
        part: &mut ServerPart,
    ) {
        let pending = PendingRequest::Part(number);
        if let Err(why) = self.send(part.server, id, message, pending) {
            part.error = Some(own_messages::error_object(code::SERVER_FAILED, &why));
            part.is_done = true;
        }
    }

    /// The client listens to changes, as clients do since 2026-07-28: all servers get its request under its own id.
    /// We acknowledge it, since everything that the servers report passes.
    pub(super) fn listen(&mut self, request: &ClientRequest<'m>) {
        let servers = self.servers_there();
        if servers.is_empty() {
            return self.error(request.id, code::SERVER_FAILED, "no MCP server is left");
        }
        let wanted = member(request.params, "notifications").map_or("{}", RawValue::get);
        let meta = subscription_meta(request.id.0);
        let acknowledged = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{{\"notifications\":{wanted},\"_meta\":{meta}}}}}"
        );
        self.out.to_client.push(acknowledged.into_bytes().into());
        self.drop_aggregates(request.id);
        let wanted = wanted.to_owned();
        let mut aggregate = self.new_aggregate(request, AggregateKind::Listen { wanted });
        for server in servers {
            let mut part = ServerPart::new(server);
            let message = request.message.into();
            self.send_part(aggregate.number, request.id, message, &mut part);
            aggregate.parts.push(part);
        }
        self.keep_or_answer(aggregate);
    }

    /// Looks for a resource that no server has listed: in one server after another, until one has it.
    pub(super) fn find_resource(&mut self, request: &ClientRequest<'m>, uri: &str) {
        let left = self.servers_to_list(ListKind::Resources);
        if let [only] = left[..] {
            return self.send_to((only, None), request);
        }
        self.drop_aggregates(request.id);
        let kind = AggregateKind::FindResource {
            uri: uri.to_owned(),
            message: request.message.to_vec(),
            left: left.into(),
        };
        let mut aggregate = self.new_aggregate(request, kind);
        self.ask_next(&mut aggregate);
        self.keep_or_answer(aggregate);
    }

    /// Asks the next server for a resource, if all before it have failed.
    fn ask_next(&mut self, aggregate: &mut Aggregate) {
        let Aggregate {
            number,
            id,
            kind,
            parts,
            ..
        } = aggregate;
        if let AggregateKind::FindResource { message, left, .. } = kind {
            while parts.iter().all(|part| part.error.is_some())
                && let Some(server) = left.pop_front()
            {
                let mut part = ServerPart::new(server);
                self.send_part(*number, Id(id), message.clone().into(), &mut part);
                parts.push(part);
            }
        }
    }

    /// The servers to ask for a list: those that may have one, and are not already late with one.
    pub(super) fn servers_to_list(&self, list: ListKind) -> Vec<usize> {
        let mut servers = self.servers_there();
        servers.retain(|at| {
            let server = &self.state.servers[*at];
            let is_unknown = server.info.is_none() && !self.state.has_handshake;
            (server.may_list(list) || is_unknown) && !self.is_late(*at, &AggregateKind::List(list))
        });
        servers
    }

    /// Whether the client got an answer without this server, which still owes its part.
    pub(super) fn is_late(&self, server: usize, kind: &AggregateKind) -> bool {
        let aggregates = self.state.aggregates.values();
        let late = aggregates.filter(|aggregate| aggregate.is_answered && aggregate.kind == *kind);
        let mut parts = late.flat_map(|aggregate| &aggregate.parts);
        parts.any(|part| part.server == server && !part.is_done)
    }

    /// Whether the client is waiting for the answer to its `initialize`.
    pub(super) fn is_initializing(&self) -> bool {
        self.state.aggregates.values().any(|aggregate| {
            !aggregate.is_answered && matches!(aggregate.kind, AggregateKind::Initialize { .. })
        })
    }

    /// The client no longer waits for a request.
    pub(super) fn drop_aggregates(&mut self, id: Id<'_>) {
        let key = id.key();
        self.state
            .aggregates
            .retain(|_, aggregate| Id(&aggregate.id).key() != key);
    }
}

/// The id of a request of ours, which no client counts up to.
fn own_id(number: u64, server: usize, page: usize) -> String {
    format!("\"callwright-part-{number}-{server}-{page}\"")
}
