//! Collects the servers' answers to their parts of a request, until the client gets a single answer.

use std::borrow::Cow;
use std::time::Instant;

use serde_json::value::RawValue;

use super::{Aggregate, AggregateKind, PartOutcome, ServerPart, own_id};
use crate::hub::router::{Routing, server_info};
use crate::members::{member, string};
use crate::message::Id;
use crate::own_messages::{self, code};

/// How many pages a list of one server may have. Real ones have a handful.
const MOST_PAGES: usize = 1_000;

impl Routing<'_, '_> {
    /// Handles a server's answer to its part. There is no message if none will come, because the server is gone.
    pub(in crate::hub::router) fn part_answered(
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
            self.take_answer(&mut aggregate, &mut part, message, outcome);
            aggregate.parts.insert(at, part);
            self.ask_next(&mut aggregate);
        }
        self.keep_or_answer(aggregate);
    }

    fn take_answer(
        &mut self,
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
                let number = aggregate.number;
                let id = own_id(number, part.server, part.pages.len());
                let meta = aggregate.meta.as_deref();
                let request = own_messages::page_request(list.method(), &id, Some(&cursor), meta);
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
            // The first server explains why there is no such resource.
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

    /// Adds a result; returns the cursor of the next page, or an error object if the result is not valid.
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
                    .map_err(|_| own_messages::error_object(code::SERVER_FAILED, invalid))?;
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

    /// A server cannot answer: warns the operator where that matters.
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

    pub(super) fn keep_or_answer(&mut self, aggregate: Aggregate) {
        if !aggregate.parts.iter().all(|part| part.is_done) {
            self.state.aggregates.insert(aggregate.number, aggregate);
        } else if !aggregate.is_answered {
            self.answer(&aggregate);
        }
    }

    /// Answers requests that have waited long enough with the parts that have arrived.
    pub(in crate::hub::router) fn tick(&mut self, now: Instant) {
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
                    "the MCP server {name:?} is slow; the client continues without it and is notified when it is ready"
                ));
            }
            self.answer(&aggregate);
            aggregate.is_answered = true;
            self.state.aggregates.insert(number, aggregate);
        }
    }

    /// Combines the parts that have arrived into one answer.
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
                    Err(own_messages::error_object(code::SERVER_FAILED, &why))
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
                // The client now falls back to `initialize`, which all of them know. Those that have answered this
                // request may no longer accept it.
                self.state.is_mixed = true;
                self.out
                    .restarts
                    .extend(good.iter().map(|(server, _)| *server));
                for server in &mut self.state.servers {
                    server.info = None;
                }
                let why = "not all of the MCP servers know `server/discover`; send `initialize`";
                Err(own_messages::error_object(code::NO_METHOD, why))
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
                Err(own_messages::error_object(code::SERVER_FAILED, why))
            }
            AggregateKind::FindResource { uri, .. } => {
                let why = format!("no MCP server has the resource {uri:?}");
                Err(own_messages::error_object(code::NO_RESOURCE, &why))
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
