//! Requests that several servers answer: each answer is taken as it comes, page by page, and the client gets one.
//!
//! Most requests go to all servers at once and are answered in time without the late ones, whose answers then lead to a
//! notification. A resource that no server has listed is looked for in one server after the other. A subscription is
//! acknowledged at once and answered when the last server has ended it.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;

use super::lists::ListKind;
use super::{NO_METHOD, PendingRequest, Routing, SERVER_GONE, server_info};
use crate::answer;
use crate::members::{member, string};
use crate::message::{Id, place, with_edits};

/// How long servers may take to answer `initialize`. Common clients give us ten seconds and more, and a server that
/// takes longer should not cost the client the others.
const LONGEST_HANDSHAKE: Duration = Duration::from_secs(7);

/// How long servers may take for a list. Most answer in milliseconds; a call that waits for the list of tools is released
/// after ten seconds, so this is less.
const LONGEST_LIST: Duration = Duration::from_secs(5);

/// How many pages a list of one server may have. Real ones have a handful.
const MOST_PAGES: usize = 1_000;

/// MCP: resource not found.
const NO_RESOURCE: i32 = -32_002;

/// A request of the client.
#[derive(Clone, Copy)]
pub(super) struct ClientRequest<'m> {
    pub(super) message: &'m [u8],
    pub(super) id: Id<'m>,
    pub(super) params: Option<&'m RawValue>,
}

/// A request that several servers answer.
#[derive(Debug)]
pub(super) struct Aggregate {
    /// As the client wrote it.
    id: String,
    kind: AggregateKind,
    parts: Vec<ServerPart>,
    /// What the client sent with it.
    meta: Option<String>,
    /// When the client gets its answer at the latest.
    pub(super) deadline: Option<Instant>,
    /// Whether the client has got its answer, and the rest is late.
    pub(super) is_answered: bool,
    /// The answer of one server that goes to the client as it is.
    verbatim: Option<Vec<u8>>,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AggregateKind {
    /// With the protocol that the client wants.
    Initialize {
        version: Option<String>,
    },
    /// The same since 2026-07-28.
    Discover,
    List(ListKind),
    SetLevel,
    /// `subscriptions/listen`, with the notifications that the client wants.
    Listen {
        wanted: String,
    },
    /// A request about a resource that no server has listed, and the servers that are still to be asked.
    FindResource {
        uri: String,
        message: Vec<u8>,
        left: VecDeque<usize>,
    },
}

/// The answer of one server.
#[derive(Debug)]
struct ServerPart {
    server: usize,
    /// The results, as they are written.
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

/// What says which request a notification belongs to.
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
            AggregateKind::Initialize { .. } | AggregateKind::Discover => LONGEST_HANDSHAKE,
            _ => LONGEST_LIST,
        };
        let mut parts = Vec::with_capacity(servers.len());
        for server in servers {
            let mut part = ServerPart::new(server);
            if let AggregateKind::List(list) = kind
                && let Some(pages) = self.state.servers[server].late_lists.remove(&list)
            {
                part.pages = pages;
                part.is_done = true;
            }
            parts.push(part);
        }
        let open = parts.iter().filter(|part| !part.is_done);
        let open: Vec<usize> = open.map(|part| part.server).collect();
        let number = self.add(request, kind, parts, Some(self.state.latest + bound));
        self.out.has_new_deadline = true;
        for server in open {
            let id = own_id(number, server, 0);
            let range = place(request.message, request.id.0).unwrap_or_default();
            let message = with_edits(request.message, vec![(range, id.clone())]);
            let pending = PendingRequest::Part(number);
            self.send(server, Id(&id), message.into(), pending);
        }
        self.finish_if_done(number);
    }

    fn add(
        &mut self,
        request: &ClientRequest<'_>,
        kind: AggregateKind,
        parts: Vec<ServerPart>,
        deadline: Option<Instant>,
    ) -> u64 {
        self.state.last_number += 1;
        let aggregate = Aggregate {
            id: request.id.0.to_owned(),
            kind,
            parts,
            meta: member(request.params, "_meta").map(|meta| meta.get().to_owned()),
            deadline,
            is_answered: false,
            verbatim: None,
        };
        self.state
            .aggregates
            .insert(self.state.last_number, aggregate);
        self.state.last_number
    }

    /// The client listens to changes, as clients do since 2026-07-28: all servers get its request under its own id. The
    /// acknowledgement is ours, since everything that the servers report passes.
    pub(super) fn listen(&mut self, request: &ClientRequest<'m>) {
        let servers = self.servers_there();
        if servers.is_empty() {
            return self.error(request.id, SERVER_GONE, "no MCP server is left");
        }
        let wanted = member(request.params, "notifications").map_or("{}", RawValue::get);
        let meta = subscription_meta(request.id.0);
        let acknowledged = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{{\"notifications\":{wanted},\"_meta\":{meta}}}}}"
        );
        self.out.to_client.push(acknowledged.into_bytes().into());
        self.drop_aggregates(request.id);
        let wanted = wanted.to_owned();
        let parts = servers.iter().copied().map(ServerPart::new).collect();
        let number = self.add(request, AggregateKind::Listen { wanted }, parts, None);
        for server in servers {
            let pending = PendingRequest::Part(number);
            self.send(server, request.id, request.message.into(), pending);
        }
    }

    /// Looks for a resource that no server has listed: in one server after the other, until one has it.
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
        let number = self.add(request, kind, Vec::new(), None);
        self.ask_next(number);
    }

    /// Asks the next server for a resource; without one, the client gets its answer.
    fn ask_next(&mut self, number: u64) {
        let Some(aggregate) = self.state.aggregates.get_mut(&number) else {
            return;
        };
        if let AggregateKind::FindResource { message, left, .. } = &mut aggregate.kind {
            while let Some(server) = left.pop_front() {
                if self.state.servers[server].is_there() {
                    aggregate.parts.push(ServerPart::new(server));
                    let (id, message) = (aggregate.id.clone(), message.clone());
                    let pending = PendingRequest::Part(number);
                    return self.send(server, Id(&id), message.into(), pending);
                }
            }
        }
        self.finish_if_done(number);
    }

    /// The servers to ask for a list: those that may have one, and are not late with one already.
    pub(super) fn servers_to_list(&self, list: ListKind) -> Vec<usize> {
        let mut servers = self.servers_there();
        servers.retain(|at| {
            let server = &self.state.servers[*at];
            let is_unknown = server.info.is_none() && !self.state.has_handshake;
            (server.may_list(list) || is_unknown) && !self.is_late(*at, &AggregateKind::List(list))
        });
        servers
    }

    /// Whether the client got an answer without this server, which still owes it.
    pub(super) fn is_late(&self, server: usize, kind: &AggregateKind) -> bool {
        let aggregates = self.state.aggregates.values();
        let late = aggregates.filter(|aggregate| aggregate.is_answered && aggregate.kind == *kind);
        let mut parts = late.flat_map(|aggregate| &aggregate.parts);
        parts.any(|part| part.server == server && !part.is_done)
    }

    /// Whether the client waits for the answer to its `initialize`.
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

    /// The open part of a server.
    fn part(&mut self, number: u64, server: usize) -> Option<(&AggregateKind, &mut ServerPart)> {
        let aggregate = self.state.aggregates.get_mut(&number)?;
        let mut parts = aggregate.parts.iter_mut();
        let part = parts.find(|part| part.server == server && !part.is_done)?;
        Some((&aggregate.kind, part))
    }

    /// A server answers its part.
    pub(super) fn part_answered(
        &mut self,
        number: u64,
        server: usize,
        result: Option<&RawValue>,
        message: &[u8],
    ) {
        let Some((kind, part)) = self.part(number, server) else {
            return;
        };
        let text = result.map_or("{}", RawValue::get);
        part.pages.push(text.to_owned());
        let pages = part.pages.len();
        match kind.clone() {
            AggregateKind::List(list) => {
                let next = member(result, "nextCursor").map(RawValue::get);
                if let Some(next) = next.filter(|next| *next != "\"\"") {
                    if pages < MOST_PAGES {
                        return self.ask_page(number, server, (list, pages, next));
                    }
                    let (name, what) = (&self.state.servers[server].name, list.member());
                    self.out.warnings.push(format!(
                        "the MCP server {name:?} has more than {MOST_PAGES} pages of {what}; the rest is left out"
                    ));
                }
            }
            AggregateKind::Initialize { .. } | AggregateKind::Discover => {
                let Ok(info) = serde_json::from_str(text) else {
                    let error = answer::error_object(SERVER_GONE, "its response is not valid MCP");
                    return self.part_failed(number, server, &error, None);
                };
                self.state.servers[server].info = Some(info);
                if let Some(initialized) = self.state.initialized.clone() {
                    self.out.to_servers.push((server, initialized.into()));
                }
            }
            AggregateKind::SetLevel => {}
            AggregateKind::Listen { .. } => self.keep_verbatim(number, message),
            AggregateKind::FindResource { uri, .. } => {
                let _of_another = self.state.routes.has_resource(server, &uri);
                self.keep_verbatim(number, message);
            }
        }
        self.part_done(number, server);
    }

    fn ask_page(
        &mut self,
        number: u64,
        server: usize,
        (list, page, cursor): (ListKind, usize, &str),
    ) {
        let meta = self
            .state
            .aggregates
            .get(&number)
            .and_then(|it| it.meta.as_deref());
        let id = own_id(number, server, page);
        let message = answer::page_request(list.method(), &id, Some(cursor), meta);
        let pending = PendingRequest::Part(number);
        self.send(server, Id(&id), message.into(), pending);
    }

    fn keep_verbatim(&mut self, number: u64, message: &[u8]) {
        if let Some(aggregate) = self.state.aggregates.get_mut(&number) {
            aggregate.verbatim = Some(message.to_vec());
        }
    }

    /// A server answers its part with an error, or not at all: then there is no message.
    pub(super) fn part_failed(
        &mut self,
        number: u64,
        server: usize,
        error: &str,
        message: Option<&[u8]>,
    ) {
        let Some((kind, part)) = self.part(number, server) else {
            return;
        };
        part.error = Some(error.to_owned());
        part.pages.clear();
        let kind = kind.clone();
        let object: Option<&RawValue> = serde_json::from_str(error).ok();
        let text = member(object, "message").and_then(string);
        let why = text.as_deref().unwrap_or(error);
        let failed = &mut self.state.servers[server];
        let (name, is_there) = (&failed.name, failed.is_there());
        match kind {
            AggregateKind::Initialize { .. } if is_there => {
                let why = format!("the MCP server {name:?} cannot be used: {why}");
                self.out.warnings.push(why.clone());
                failed.gone = Some(why);
            }
            // A server that does not know the method has nothing to list.
            AggregateKind::List(list) if is_there && !is_unknown_method(object) => {
                let what = list.member();
                self.out.warnings.push(format!(
                    "the MCP server {name:?} does not list its {what}: {why}"
                ));
            }
            AggregateKind::Listen { .. } => {
                if let Some(message) = message {
                    self.keep_verbatim(number, message);
                }
            }
            AggregateKind::FindResource { .. } => {
                if let (Some(message), Some(aggregate)) =
                    (message, self.state.aggregates.get_mut(&number))
                {
                    // The first server says why.
                    aggregate.verbatim.get_or_insert_with(|| message.to_vec());
                }
                if let Some((_, part)) = self.part(number, server) {
                    part.is_done = true;
                }
                return self.ask_next(number);
            }
            _ => {}
        }
        self.part_done(number, server);
    }

    fn part_done(&mut self, number: u64, server: usize) {
        let Some(aggregate) = self.state.aggregates.get_mut(&number) else {
            return;
        };
        let mut parts = aggregate.parts.iter_mut();
        let Some(part) = parts.find(|part| part.server == server) else {
            return;
        };
        part.is_done = true;
        if aggregate.is_answered && part.error.is_none() {
            let pages = std::mem::take(&mut part.pages);
            match aggregate.kind {
                AggregateKind::Initialize { .. } => self.all_lists_changed(server),
                AggregateKind::List(list) => {
                    self.state.servers[server].late_lists.insert(list, pages);
                    self.list_changed(list);
                }
                _ => {}
            }
        }
        self.finish_if_done(number);
    }

    fn finish_if_done(&mut self, number: u64) {
        let is_done = |it: &Aggregate| it.parts.iter().all(|part| part.is_done);
        if self.state.aggregates.get(&number).is_some_and(is_done)
            && let Some(aggregate) = self.state.aggregates.remove(&number)
            && !aggregate.is_answered
        {
            self.answer(&aggregate);
        }
    }

    /// Requests that have waited long enough are answered with what there is.
    pub(super) fn tick(&mut self, now: Instant) {
        let is_due =
            |it: &Aggregate| !it.is_answered && it.deadline.is_some_and(|deadline| deadline <= now);
        let due = self
            .state
            .aggregates
            .iter()
            .filter(|(_, aggregate)| is_due(aggregate));
        let due: Vec<u64> = due.map(|(number, _)| *number).collect();
        for number in due {
            let Some(mut aggregate) = self.state.aggregates.remove(&number) else {
                continue;
            };
            for part in aggregate.parts.iter().filter(|part| !part.is_done) {
                let name = &self.state.servers[part.server].name;
                self.out.warnings.push(format!(
                    "the MCP server {name:?} is slow; the client goes on without it and is notified when it is there"
                ));
            }
            self.answer(&aggregate);
            aggregate.is_answered = true;
            self.state.aggregates.insert(number, aggregate);
        }
    }

    /// One answer made of those that are there.
    fn answer(&mut self, aggregate: &Aggregate) {
        let Aggregate {
            id, kind, parts, ..
        } = aggregate;
        let is_whole = parts.iter().all(ServerPart::is_good);
        let good = parts.iter().filter(|part| part.is_good());
        let good: Vec<(usize, &[String])> = good
            .map(|part| (part.server, part.pages.as_slice()))
            .collect();
        let error = parts.iter().find_map(|part| part.error.clone());
        let result = match kind {
            AggregateKind::Initialize { version } => {
                if self.servers_there().is_empty() {
                    let why = self
                        .state
                        .servers
                        .iter()
                        .filter_map(|it| it.gone.as_deref());
                    let why = why.collect::<Vec<_>>().join("\n");
                    Err(answer::error_object(SERVER_GONE, &why))
                } else {
                    Ok(server_info::initialized(
                        &self.state.servers,
                        version.as_deref(),
                    ))
                }
            }
            AggregateKind::Discover if is_whole && !good.is_empty() => {
                Ok(server_info::discovered(&self.state.servers))
            }
            AggregateKind::Discover => {
                // Now the client falls back to `initialize`, which all of them know. Those that have answered this
                // request may not accept it any more.
                self.state.is_mixed = true;
                self.out
                    .restarts
                    .extend(good.iter().map(|(server, _)| *server));
                for server in &mut self.state.servers {
                    server.info = None;
                }
                let why = "not all of the MCP servers know `server/discover`; send `initialize`";
                Err(answer::error_object(NO_METHOD, why))
            }
            AggregateKind::List(list) => match error.filter(|_| good.is_empty()) {
                Some(error) => Err(error),
                None => Ok(self.merged(*list, &good, is_whole)),
            },
            AggregateKind::SetLevel => match (good.first(), error) {
                (Some((_, pages)), _) => Ok(pages.first().cloned().unwrap_or_default()),
                (None, Some(error)) => Err(error),
                (None, None) => Ok("{}".to_owned()),
            },
            AggregateKind::Listen { .. } => {
                let why = "no MCP server reports changes any more";
                Err(answer::error_object(SERVER_GONE, why))
            }
            AggregateKind::FindResource { uri, .. } => {
                let why = format!("no MCP server has the resource {uri:?}");
                Err(answer::error_object(NO_RESOURCE, &why))
            }
        };
        let (member, value) = match &result {
            Ok(result) => ("result", result),
            Err(error) => ("error", error),
        };
        let answer = match &aggregate.verbatim {
            Some(message) => message.clone(),
            None => {
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"{member}\":{value}}}").into_bytes()
            }
        };
        self.out.to_client.push(Cow::Owned(answer));
        if matches!(kind, AggregateKind::Initialize { .. }) {
            self.release_early();
        }
    }
}

/// The id of a request of ours. No client counts up to it.
fn own_id(number: u64, server: usize, page: usize) -> String {
    format!("\"callwright-part-{number}-{server}-{page}\"")
}

/// Whether an error says that the server does not know the method.
fn is_unknown_method(error: Option<&RawValue>) -> bool {
    member(error, "code").is_some_and(|code| code.get() == NO_METHOD.to_string())
}
