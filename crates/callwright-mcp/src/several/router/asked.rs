//! What the client sends: to the server that it is for, or to all.

use std::borrow::Cow;
use std::ops::Range;
use std::time::Instant;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::gather::{Kind, Question};
use super::list::List;
use super::{BAD_PARAMS, MOST_REQUESTS, Mail, NO_METHOD, Pending, SERVER_GONE, State};
use crate::answer;
use crate::message::{Id, Message, not_null, place, with_edits};
use crate::several::ids::unmarked;

/// The parameters that say whom a request is for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Address<'m> {
    #[serde(borrow)]
    name: Option<&'m RawValue>,
    #[serde(borrow)]
    uri: Option<&'m RawValue>,
    #[serde(borrow, rename = "taskId")]
    task: Option<&'m RawValue>,
    #[serde(borrow, rename = "ref")]
    reference: Option<&'m RawValue>,
    #[serde(borrow)]
    cursor: Option<&'m RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'m RawValue>,
    #[serde(borrow, rename = "requestId")]
    request: Option<&'m RawValue>,
    #[serde(borrow, rename = "progressToken")]
    token: Option<&'m RawValue>,
    #[serde(borrow, rename = "protocolVersion")]
    version: Option<&'m RawValue>,
}

impl<'m> Address<'m> {
    fn read(params: Option<&'m RawValue>) -> Self {
        let read = params.and_then(|params| serde_json::from_str(params.get()).ok());
        read.unwrap_or_default()
    }
}

/// A server, and where its own name for something goes.
type Found = (usize, Option<(Range<usize>, String)>);

fn text(value: Option<&RawValue>) -> Option<Cow<'_, str>> {
    let text = value?.get();
    match text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
    {
        Some(plain) if !plain.contains('\\') => Some(plain.into()),
        _ => serde_json::from_str::<String>(text).ok().map(Cow::Owned),
    }
}

impl Pending {
    pub(super) fn passes(id: Id<'_>) -> Self {
        let id = id.0.to_owned();
        Pending::Passes { id }
    }
}

impl State {
    pub(super) fn client_sends<'m>(
        &mut self,
        message: &'m [u8],
        read: Message<'m>,
        now: Instant,
        mail: &mut Mail<'m>,
    ) {
        match read {
            // A client should wait, and servers that have not said who they are cannot be asked.
            Message::Request { .. } | Message::Notification { .. }
                if self.is_greeting() && self.early.len() < MOST_REQUESTS =>
            {
                self.early.push(message.to_vec());
            }
            Message::Request { id, method, params } => {
                let question = Question {
                    message,
                    id,
                    meta: None,
                };
                self.client_asks(&question, &method, params, now, mail);
            }
            Message::Notification { method, params } => {
                self.client_notes(message, &method, params, mail);
            }
            Message::Response { id, .. } => self.client_answers(message, id, mail),
            Message::Batch(_) | Message::Other => mail.warnings.push(
                "the client sends a line that is no message of the protocol; no server gets it"
                    .to_owned(),
            ),
        }
    }

    fn client_asks<'m>(
        &mut self,
        question: &Question<'m>,
        method: &str,
        params: Option<&'m RawValue>,
        now: Instant,
        mail: &mut Mail<'m>,
    ) {
        let Question { message, id, .. } = *question;
        let address = Address::read(params);
        let question = Question {
            message,
            id,
            meta: address.meta,
        };
        if let Some(list) = List::of(method) {
            if not_null(address.cursor).is_some() {
                let why = "there is no such page; our lists have one";
                let error = answer::error(id.0, BAD_PARAMS, why);
                return mail.to_client.push(error.into());
            }
            let servers = self.listers(list);
            return self.gather(&question, Kind::List(list), servers, now, mail);
        }
        match method {
            "ping" => {
                let pong = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{}}}}", id.0);
                mail.to_client.push(pong.into_bytes().into());
            }
            "initialize" => {
                self.shakes_hands = true;
                self.ready = None;
                for standing in &mut self.standing {
                    standing.hello = None;
                }
                let version = text(address.version).map(Cow::into_owned);
                let servers = self.all_there();
                self.gather(&question, Kind::Initialize(version), servers, now, mail);
            }
            "server/discover" => {
                let mut servers = self.all_there();
                if self.is_mixed {
                    servers.clear();
                }
                self.gather(&question, Kind::Discover, servers, now, mail);
            }
            "logging/setLevel" => {
                let mut servers = self.all_there();
                servers.retain(|server| {
                    self.standing[*server].can("logging") && !self.owes(*server, &Kind::Order)
                });
                self.gather(&question, Kind::Order, servers, now, mail);
            }
            "subscriptions/listen" => self.listen(message, id, params, mail),
            "tools/call" | "prompts/get" => {
                let found = self.by_name(method, message, address.name);
                self.send_to(found, id, message, || unknown("name", address.name), mail);
            }
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                self.for_resource(message, id, address.uri, mail);
            }
            "completion/complete" => {
                let reference = Address::read(address.reference);
                if reference.uri.is_some() {
                    return self.for_resource(message, id, reference.uri, mail);
                }
                let found = self.by_name("prompts/get", message, reference.name);
                self.send_to(found, id, message, || unknown("name", reference.name), mail);
            }
            _ => {
                let by_task = text(address.task).and_then(|task| self.routes.of_task(&task));
                let only = (self.standing.len() == 1).then_some(0);
                let found = by_task.or(only).map(|server| (server, None));
                let why = || {
                    (
                        NO_METHOD,
                        format!("no one of the MCP servers can be asked for {method:?}"),
                    )
                };
                self.send_to(found, id, message, why, mail);
            }
        }
    }

    /// The server of a name, and where its own name for it goes.
    fn by_name(&self, method: &str, message: &[u8], written: Option<&RawValue>) -> Option<Found> {
        let name = text(written)?;
        let range = place(message, written?.get())?;
        self.standing
            .iter()
            .enumerate()
            .find_map(|(server, standing)| {
                let names = match method {
                    "tools/call" => &standing.tools,
                    _ => &standing.prompts,
                };
                let original = names.original(&name)?;
                Some((server, Some((range.clone(), json!(original).to_string()))))
            })
    }

    fn send_to<'m>(
        &mut self,
        found: Option<Found>,
        id: Id<'_>,
        message: &'m [u8],
        why_not: impl FnOnce() -> (i32, String),
        mail: &mut Mail<'m>,
    ) {
        let Some((server, edit)) = found else {
            let (code, why) = why_not();
            let error = answer::error(id.0, code, &why);
            return mail.to_client.push(error.into());
        };
        let message = match edit {
            Some(edit) => Cow::Owned(with_edits(message, vec![edit])),
            None => Cow::Borrowed(message),
        };
        self.send(server, id, message, Pending::passes(id), mail);
    }

    fn for_resource<'m>(
        &mut self,
        message: &'m [u8],
        id: Id<'_>,
        uri: Option<&RawValue>,
        mail: &mut Mail<'m>,
    ) {
        let Some(uri) = text(uri) else {
            let error = answer::error(id.0, BAD_PARAMS, "`uri` is missing");
            return mail.to_client.push(error.into());
        };
        match self.routes.of_uri(&uri) {
            Some(server) => self.send(server, id, message.into(), Pending::passes(id), mail),
            None => self.search(message, id, &uri, mail),
        }
    }

    /// The answer if a request is for a server that is gone.
    pub(super) fn in_vain(
        &self,
        id: Id<'_>,
        method: &str,
        params: Option<&RawValue>,
    ) -> Option<Vec<u8>> {
        if !matches!(method, "tools/call" | "prompts/get") {
            return None;
        }
        let name = text(Address::read(params).name)?;
        let is_of = |prefix: &str| name.starts_with(prefix);
        let standing = self.standing.iter();
        let mut of = standing.filter(|standing| is_of(&standing.prefix));
        let why = of.find_map(|standing| standing.gone.as_deref())?;
        Some(answer::error(id.0, SERVER_GONE, why))
    }

    fn client_notes<'m>(
        &mut self,
        message: &'m [u8],
        method: &str,
        params: Option<&'m RawValue>,
        mail: &mut Mail<'m>,
    ) {
        match method {
            "notifications/initialized" => {
                self.ready = Some(message.to_vec());
                for server in self.all_there() {
                    // Others get it when they have said who they are.
                    if self.standing[server].hello.is_some() {
                        mail.to_servers.push((server, message.into()));
                    }
                }
            }
            "notifications/cancelled" => {
                let request = Address::read(params).request;
                let Some(id) = request.map(|request| Id(request.get())) else {
                    return;
                };
                let key = id.key();
                for (server, standing) in self.standing.iter_mut().enumerate() {
                    let pending = standing.pending.remove(key.as_ref());
                    if let Some(Pending::Search(number)) = pending {
                        self.searches.remove(&number);
                    }
                    if pending.is_some() {
                        mail.to_servers.push((server, message.into()));
                    }
                }
                self.listeners.remove(key.as_ref());
                self.drop_gather(id);
            }
            "notifications/progress" => {
                let token = Address::read(params).token;
                let found = token.and_then(|token| {
                    let (server, original) = unmarked(token.get())?;
                    Some((server, place(message, token.get())?, original))
                });
                if let Some((server, range, original)) = found
                    && server < self.standing.len()
                {
                    let message = with_edits(message, vec![(range, original)]);
                    mail.to_servers.push((server, message.into()));
                }
            }
            _ => {
                for server in self.all_there() {
                    mail.to_servers.push((server, message.into()));
                }
            }
        }
    }

    /// The answer to a request that a server made.
    fn client_answers(&mut self, message: &[u8], id: Id<'_>, mail: &mut Mail<'_>) {
        let found = unmarked(id.0).filter(|(server, _)| *server < self.standing.len());
        if let (Some((server, original)), Some(range)) = (found, place(message, id.0))
            && self.standing[server].gone.is_none()
        {
            let message = with_edits(message, vec![(range, original)]);
            mail.to_servers.push((server, message.into()));
        }
    }
}

fn unknown(what: &str, written: Option<&RawValue>) -> (i32, String) {
    let why = match text(written) {
        Some(name) => {
            format!("no MCP server has {name:?}; its name begins with that of its server")
        }
        None => format!("`{what}` is missing"),
    };
    (BAD_PARAMS, why)
}
