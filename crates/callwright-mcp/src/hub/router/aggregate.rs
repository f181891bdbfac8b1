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
use super::{PendingRequest, Routing, server_info};
use crate::answer::{self, code};
use crate::members::{member, string};
use crate::message::{Id, place, with_edits};

/// How long servers may take for a list. Most answer in milliseconds; a call that waits for the list of tools is released
/// after ten seconds, so this is less.
const LONGEST_LIST: Duration = Duration::from_secs(5);

/// How many pages a list of one server may have. Real ones have a handful.
const MOST_PAGES: usize = 1_000;

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

/// What a server answers: a result or an error object.
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
            AggregateKind::Initialize { .. } | AggregateKind::Discover => self.state.start_limit,
            _ => LONGEST_LIST,
        };
        let (number, mut aggregate) = self.new_aggregate(request, kind);
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
                let id = own_id(number, server, 0);
                let range = place(request.message, request.id.0).unwrap_or_default();
                let message = with_edits(request.message, vec![(range, id.clone())]);
                self.send_part(number, Id(&id), message.into(), &mut part);
            }
            aggregate.parts.push(part);
        }
        self.keep_or_answer(number, aggregate);
    }

    fn new_aggregate(
        &mut self,
        request: &ClientRequest<'_>,
        kind: AggregateKind,
    ) -> (u64, Aggregate) {
        self.state.last_number += 1;
        let aggregate = Aggregate {
            id: request.id.0.to_owned(),
            kind,
            parts: Vec::new(),
            meta: member(request.params, "_meta").map(|meta| meta.get().to_owned()),
            deadline: None,
            is_answered: false,
            verbatim: None,
        };
        (self.state.last_number, aggregate)
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
            part.error = Some(answer::error_object(code::SERVER_FAILED, &why));
            part.is_done = true;
        }
    }

    /// The client listens to changes, as clients do since 2026-07-28: all servers get its request under its own id. The
    /// acknowledgement is ours, since everything that the servers report passes.
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
        let (number, mut aggregate) = self.new_aggregate(request, AggregateKind::Listen { wanted });
        for server in servers {
            let mut part = ServerPart::new(server);
            self.send_part(number, request.id, request.message.into(), &mut part);
            aggregate.parts.push(part);
        }
        self.keep_or_answer(number, aggregate);
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
        let (number, mut aggregate) = self.new_aggregate(request, kind);
        self.ask_next(number, &mut aggregate);
        self.keep_or_answer(number, aggregate);
    }

    /// Asks the next server for a resource, if all before it have failed.
    fn ask_next(&mut self, number: u64, aggregate: &mut Aggregate) {
        let Aggregate {
            id, kind, parts, ..
        } = aggregate;
        if let AggregateKind::FindResource { message, left, .. } = kind {
            while parts.iter().all(|part| part.error.is_some())
                && let Some(server) = left.pop_front()
            {
                let mut part = ServerPart::new(server);
                self.send_part(number, Id(id), message.clone().into(), &mut part);
                parts.push(part);
            }
        }
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

    /// A server answers its part. There is no message if it never will, because it is gone.
    pub(super) fn part_answered(
        &mut self,
        number: u64,
        server: usize,
        message: Option<&[u8]>,
        outcome: PartOutcome<'_>,
    ) {
        let Some(mut aggregate) = self.state.aggregates.remove(&number) else {
            return;
        };
        let is_open = |part: &ServerPart| part.server == server && !part.is_done;
        if let Some(at) = aggregate.parts.iter().position(is_open) {
            let mut part = aggregate.parts.remove(at);
            self.take_answer(number, &mut aggregate, &mut part, message, outcome);
            aggregate.parts.insert(at, part);
            self.ask_next(number, &mut aggregate);
        }
        self.keep_or_answer(number, aggregate);
    }

    fn take_answer(
        &mut self,
        number: u64,
        aggregate: &mut Aggregate,
        part: &mut ServerPart,
        message: Option<&[u8]>,
        outcome: PartOutcome<'_>,
    ) {
        let copied = || message.map(<[u8]>::to_vec);
        let taken = match outcome {
            Ok(result) => self.take_result(&aggregate.kind, part, result),
            Err(error) => Err(error.to_owned()),
        };
        match (taken, &aggregate.kind) {
            (Ok(Some(cursor)), AggregateKind::List(list)) => {
                let id = own_id(number, part.server, part.pages.len());
                let meta = aggregate.meta.as_deref();
                let request = answer::page_request(list.method(), &id, Some(&cursor), meta);
                return self.send_part(number, Id(&id), request.into(), part);
            }
            (Ok(_), _) => {}
            (Err(error), kind) => {
                self.part_failed(kind, part.server, &error);
                part.error = Some(error);
                part.pages.clear();
            }
        }
        part.is_done = true;
        match aggregate.kind {
            // The first server says why there is no such resource.
            AggregateKind::FindResource { .. } if part.error.is_some() => {
                aggregate.verbatim = aggregate.verbatim.take().or_else(copied);
            }
            AggregateKind::FindResource { .. } | AggregateKind::Listen { .. } => {
                aggregate.verbatim = copied().or(aggregate.verbatim.take());
            }
            AggregateKind::Initialize { .. } if aggregate.is_answered && part.is_good() => {
                self.all_lists_changed(part.server);
            }
            AggregateKind::List(list) if aggregate.is_answered && part.is_good() => {
                let pages = std::mem::take(&mut part.pages);
                self.state.servers[part.server]
                    .late_lists
                    .insert(list, pages);
                self.list_changed(list);
            }
            _ => {}
        }
    }

    /// Takes in a result; returns the cursor of the next page, or an error object if the result is not valid.
    fn take_result(
        &mut self,
        kind: &AggregateKind,
        part: &mut ServerPart,
        result: Option<&RawValue>,
    ) -> Result<Option<String>, String> {
        let server = part.server;
        let text = result.map_or("{}", RawValue::get);
        part.pages.push(text.to_owned());
        match kind {
            AggregateKind::List(list) => {
                let next = member(result, "nextCursor").map(RawValue::get);
                if let Some(cursor) = next.filter(|next| *next != "\"\"") {
                    if part.pages.len() < MOST_PAGES {
                        return Ok(Some(cursor.to_owned()));
                    }
                    let (name, what) = (&self.state.servers[server].name, list.member());
                    self.out.warnings.push(format!(
                        "the MCP server {name:?} has more than {MOST_PAGES} pages of {what}; the rest is left out"
                    ));
                }
            }
            AggregateKind::Initialize { .. } | AggregateKind::Discover => {
                let invalid = "its response is not valid MCP";
                let info = serde_json::from_str(text)
                    .map_err(|_| answer::error_object(code::SERVER_FAILED, invalid))?;
                self.state.servers[server].info = Some(info);
                if let Some(initialized) = self.state.initialized.clone() {
                    self.out.to_servers.push((server, initialized.into()));
                }
            }
            AggregateKind::FindResource { uri, .. } => {
                let _of_another = self.state.routes.has_resource(server, uri);
            }
            AggregateKind::SetLevel | AggregateKind::Listen { .. } => {}
        }
        Ok(None)
    }

    /// A server cannot answer: the operator hears of it where that matters.
    fn part_failed(&mut self, kind: &AggregateKind, server: usize, error: &str) {
        let failed = &mut self.state.servers[server];
        if !failed.is_there() {
            return;
        }
        let object: Option<&RawValue> = serde_json::from_str(error).ok();
        let text = member(object, "message").and_then(string);
        let why = text.as_deref().unwrap_or(error);
        let code = member(object, "code").map(RawValue::get);
        let name = &failed.name;
        match kind {
            AggregateKind::Initialize { .. } => {
                let why = format!("the MCP server {name:?} cannot be used: {why}");
                self.out.warnings.push(why.clone());
                failed.gone = Some(why);
            }
            // A server that does not know the method has nothing to list.
            AggregateKind::List(list) if code != Some(&code::NO_METHOD.to_string()) => {
                let what = list.member();
                self.out.warnings.push(format!(
                    "the MCP server {name:?} does not list its {what}: {why}"
                ));
            }
            _ => {}
        }
    }

    fn keep_or_answer(&mut self, number: u64, aggregate: Aggregate) {
        if !aggregate.parts.iter().all(|part| part.is_done) {
            self.state.aggregates.insert(number, aggregate);
        } else if !aggregate.is_answered {
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
                    Err(answer::error_object(code::SERVER_FAILED, &why))
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
                Err(answer::error_object(code::NO_METHOD, why))
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
                Err(answer::error_object(code::SERVER_FAILED, why))
            }
            AggregateKind::FindResource { uri, .. } => {
                let why = format!("no MCP server has the resource {uri:?}");
                Err(answer::error_object(code::NO_RESOURCE, &why))
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
