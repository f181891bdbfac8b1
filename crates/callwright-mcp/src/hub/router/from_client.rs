//! Routes client messages: to the server they are for, or to all.

use std::borrow::Cow;

use callwright::internal::{Replacement, Replacements, span_in};
use serde_json::json;
use serde_json::value::RawValue;

use super::aggregate::{AggregateKind, ClientRequest};
use super::lists::ListKind;
use super::server_state::ServerState;
use super::{Dispatch, MOST_REQUESTS, PendingRequest, RouterState, Routing};
use crate::hub::request_ids::unmarked;
use crate::members::{member, string};
use crate::message::{Id, Message, cancelled_id};
use crate::own_messages::code;

/// A server, and where the name that it knows goes.
type ServerRoute = (usize, Option<Replacement>);

fn text_member<'m>(of: Option<&'m RawValue>, name: &str) -> Option<Cow<'m, str>> {
    member(of, name).and_then(string)
}

impl RouterState {
    /// Why the server that a request is for is gone.
    pub(super) fn why_lost(&self, method: &str, params: Option<&RawValue>) -> Option<&str> {
        if !matches!(method, "tools/call" | "prompts/get") {
            return None;
        }
        let name = text_member(params, "name")?;
        let servers = self.servers.iter();
        let mut of_name = servers.filter(|server| name.starts_with(&server.prefix));
        of_name.find_map(|server| server.gone.as_deref())
    }
}

impl<'m> Routing<'_, 'm> {
    pub(super) fn route_client_message(&mut self, message: &'m [u8], read: Message<'m>) {
        match read {
            // A client should wait, and servers that have not answered `initialize` cannot be asked anything.
            Message::Request { .. } | Message::Notification { .. }
                if self.is_initializing() && self.state.early.len() < MOST_REQUESTS =>
            {
                self.state.early.push(message.to_vec());
            }
            Message::Request { id, method, params } => {
                let request = ClientRequest {
                    message,
                    id,
                    params,
                };
                self.client_request(&request, &method);
            }
            Message::Notification { method, params } => {
                self.client_notification(message, &method, params);
            }
            Message::Response { id, .. } => self.send_back(message, id.0),
            Message::Batch(_) | Message::Other => self
                .out
                .warnings
                .push("the client sent a line that is not a message; it is dropped".to_owned()),
        }
    }

    /// Routes what the client sent before it had the answer to its `initialize`.
    pub(super) fn release_early(&mut self) {
        for message in std::mem::take(&mut self.state.early) {
            let mut out = Dispatch::default();
            let mut routing = Routing {
                state: self.state,
                out: &mut out,
            };
            routing.route_client_message(&message, Message::read(&message));
            self.out.append(out);
        }
    }

    fn client_request(&mut self, request: &ClientRequest<'m>, method: &str) {
        let (id, params) = (request.id, request.params);
        if let Some(list) = ListKind::of_method(method) {
            if member(params, "cursor").is_some() {
                let why = "unknown cursor: lists are returned in a single page";
                return self.error(id, code::BAD_PARAMS, why);
            }
            let servers = self.servers_to_list(list);
            return self.ask(request, AggregateKind::List(list), servers);
        }
        match method {
            "ping" => {
                let pong = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{}}}}", id.0);
                self.out.to_client.push(pong.into_bytes().into());
            }
            "initialize" => {
                self.state.has_handshake = true;
                self.state.initialized = None;
                for server in &mut self.state.servers {
                    server.info = None;
                }
                let version = text_member(params, "protocolVersion").map(Cow::into_owned);
                let servers = self.servers_there();
                self.ask(request, AggregateKind::Initialize { version }, servers);
            }
            "server/discover" => {
                let mut servers = self.servers_there();
                if self.state.is_mixed {
                    servers.clear();
                }
                self.ask(request, AggregateKind::Discover, servers);
            }
            "logging/setLevel" => {
                let mut servers = self.servers_there();
                servers.retain(|server| {
                    let is_late = self.is_late(*server, &AggregateKind::SetLevel);
                    self.state.servers[*server].has_capability("logging") && !is_late
                });
                self.ask(request, AggregateKind::SetLevel, servers);
            }
            "subscriptions/listen" => self.listen(request),
            "tools/call" | "prompts/get" => {
                self.send_by_name(request, params, method == "tools/call");
            }
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                self.send_by_uri(request, params);
            }
            "completion/complete" => {
                let reference = member(params, "ref");
                if member(reference, "uri").is_some() {
                    self.send_by_uri(request, reference);
                } else {
                    self.send_by_name(request, reference, false);
                }
            }
            _ => {
                let task = text_member(params, "taskId");
                let by_task = task.and_then(|task| self.state.routes.of_task(&task));
                let only = (self.state.servers.len() == 1).then_some(0);
                if let Some(server) = by_task.or(only) {
                    return self.send_to((server, None), request);
                }
                let why = format!("no MCP server supports {method:?}");
                self.error(id, code::NO_METHOD, &why);
            }
        }
    }

    /// Sends a request to the server whose tool or prompt it names, under the server's own name for it.
    fn send_by_name(
        &mut self,
        request: &ClientRequest<'m>,
        named_in: Option<&RawValue>,
        is_tool: bool,
    ) {
        let written = member(named_in, "name");
        let Some((written, name)) = written.and_then(|it| Some((it, string(it)?))) else {
            return self.error(request.id, code::BAD_PARAMS, "`name` is missing");
        };
        let route = self
            .state
            .servers
            .iter()
            .enumerate()
            .find_map(|(at, server)| {
                let names = if is_tool {
                    &server.tools
                } else {
                    &server.prompts
                };
                let original = names.original(&name)?;
                let span = span_in(request.message, written.get());
                Some((at, Some((span, json!(original).to_string()))))
            });
        if let Some(route) = route {
            return self.send_to(route, request);
        }
        let why = format!("no MCP server has {name:?}; names start with the name of their server");
        self.error(request.id, code::BAD_PARAMS, &why);
    }

    fn send_by_uri(&mut self, request: &ClientRequest<'m>, named_in: Option<&RawValue>) {
        let Some(uri) = text_member(named_in, "uri") else {
            return self.error(request.id, code::BAD_PARAMS, "`uri` is missing");
        };
        match self.state.routes.of_uri(&uri) {
            Some(server) => self.send_to((server, None), request),
            None => self.find_resource(request, &uri),
        }
    }

    pub(super) fn send_to(&mut self, (server, rename): ServerRoute, request: &ClientRequest<'m>) {
        let message = match rename {
            Some(rename) => Replacements::from_iter([rename])
                .in_bytes(request.message)
                .into(),
            None => Cow::Borrowed(request.message),
        };
        let pending = PendingRequest::passes(request.id);
        if let Err(why) = self.send(server, request.id, message, pending) {
            self.error(request.id, code::SERVER_FAILED, &why);
        }
    }

    fn client_notification(
        &mut self,
        message: &'m [u8],
        method: &str,
        params: Option<&'m RawValue>,
    ) {
        match method {
            "notifications/cancelled" => {
                if let Some(id) = cancelled_id(params) {
                    self.cancel(message, id);
                }
            }
            "notifications/progress" => {
                if let Some(token) = member(params, "progressToken") {
                    self.send_back(message, token.get());
                }
            }
            _ => {
                let is_initialized = method == "notifications/initialized";
                if is_initialized {
                    self.state.initialized = Some(message.to_vec());
                }
                for server in self.servers_there() {
                    // The others get it once they have answered `initialize`.
                    if !is_initialized || self.state.servers[server].info.is_some() {
                        self.out.to_servers.push((server, message.into()));
                    }
                }
            }
        }
    }

    /// The client cancels a request: tells the servers that have it under the client's id.
    fn cancel(&mut self, message: &'m [u8], id: Id<'_>) {
        let key = id.key();
        for (at, server) in self.state.servers.iter_mut().enumerate() {
            if server.pending.remove(key.as_ref()).is_some() {
                self.out.to_servers.push((at, message.into()));
            }
        }
        self.drop_aggregates(id);
    }

    /// Sends a message to the server whose id or token it carries, in the form that the server wrote.
    fn send_back(&mut self, message: &[u8], marked: &str) {
        let Some((server, original)) = unmarked(marked) else {
            return;
        };
        let to = self.state.servers.get(server);
        if to.is_some_and(ServerState::is_there) {
            let change = (span_in(message, marked), original);
            let message = Replacements::from_iter([change]).in_bytes(message);
            self.out.to_servers.push((server, message.into()));
        }
    }
}
