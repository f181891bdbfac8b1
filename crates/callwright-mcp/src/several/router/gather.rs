//! Questions to all servers, and to one after the other.
//!
//! In come the answers, each when it comes; out goes one for the client when all are there, or when it has waited long
//! enough. What comes later is told in a notification.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::list::List;
use super::{Mail, NO_METHOD, Pending, SERVER_GONE, State, hello};
use crate::answer;
use crate::message::{Id, Message, not_null, place, with_edits};

/// How long servers may take to say who they are. Common clients give theirs ten seconds and more, and those of us that
/// take longer should not cost the client the others.
const LONGEST_HELLO: Duration = Duration::from_secs(7);

/// How long servers may take for a list. Most answer in milliseconds; a call that waits for the tools is let go after ten
/// seconds, so this is less.
const LONGEST_LIST: Duration = Duration::from_secs(5);

/// How many pages a server may have. Real ones have a handful.
const MOST_PAGES: usize = 1_000;

/// What the protocol says of a resource that nobody has.
const NO_RESOURCE: i32 = -32_002;

/// A question to several servers.
#[derive(Debug)]
pub(super) struct Gather {
    /// As the client wrote it.
    id: String,
    kind: Kind,
    parts: Vec<Part>,
    /// What the client sent with it.
    meta: Option<String>,
    pub(super) deadline: Instant,
    /// Whether the client has got its answer, and the rest is late.
    pub(super) is_answered: bool,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// Who are you? With the protocol that the client wants.
    Initialize(Option<String>),
    /// The same, since 2026-07-28.
    Discover,
    /// What do you have?
    List(List),
    /// Do this, all of you.
    Order,
}

/// What one of them answers.
#[derive(Debug)]
struct Part {
    server: usize,
    /// The results, as they are written.
    pages: Vec<String>,
    error: Option<String>,
    is_done: bool,
}

/// A resource that some server may have.
#[derive(Debug)]
pub(super) struct Search {
    id: String,
    message: Vec<u8>,
    uri: String,
    /// Who is still to be asked.
    left: VecDeque<usize>,
    /// What the first one answered.
    error: Option<Vec<u8>>,
}

#[derive(Deserialize)]
struct PageEnd<'m> {
    #[serde(borrow, rename = "nextCursor")]
    next: Option<&'m RawValue>,
}

#[derive(Deserialize)]
struct Fault {
    code: i64,
    message: String,
}

/// A request of the client's for all.
pub(super) struct Question<'m> {
    pub(super) message: &'m [u8],
    pub(super) id: Id<'m>,
    pub(super) meta: Option<&'m RawValue>,
}

impl State {
    /// Puts a question to servers.
    pub(super) fn gather(
        &mut self,
        question: &Question<'_>,
        kind: Kind,
        servers: Vec<usize>,
        now: Instant,
        mail: &mut Mail<'_>,
    ) {
        self.questions += 1;
        let number = self.questions;
        let bound = match kind {
            Kind::Initialize(_) | Kind::Discover => LONGEST_HELLO,
            Kind::List(_) | Kind::Order => LONGEST_LIST,
        };
        let mut gather = Gather {
            id: question.id.0.to_owned(),
            kind,
            parts: Vec::with_capacity(servers.len()),
            meta: question.meta.map(|meta| meta.get().to_owned()),
            deadline: now + bound,
            is_answered: false,
        };
        for server in servers {
            let late = match gather.kind {
                Kind::List(list) => self.standing[server].late.remove(&list),
                _ => None,
            };
            gather.parts.push(Part {
                server,
                is_done: late.is_some(),
                pages: late.unwrap_or_default(),
                error: None,
            });
        }
        let open = gather.parts.iter().filter(|part| !part.is_done);
        let open: Vec<usize> = open.map(|part| part.server).collect();
        self.gathers.insert(number, gather);
        mail.waits = true;
        for server in open {
            let id = ours(number, server, 0);
            let range = place(question.message, question.id.0).unwrap_or_default();
            let message = with_edits(question.message, vec![(range, id.clone())]);
            self.send(server, Id(&id), message.into(), Pending::Part(number), mail);
        }
        self.finish_if_done(number, mail);
    }

    /// Who is to be asked for a list: who may have one, and does not owe us one.
    pub(super) fn listers(&self, list: List) -> Vec<usize> {
        let owes = |server: usize| {
            let late = self
                .gathers
                .values()
                .filter(|gather| gather.is_answered && gather.kind == Kind::List(list));
            let mut parts = late.flat_map(|gather| &gather.parts);
            parts.any(|part| part.server == server && !part.is_done)
        };
        let all = self.standing.iter().enumerate();
        let may = all.filter(|(server, standing)| {
            let is_unknown = standing.hello.is_none() && !self.shakes_hands;
            standing.gone.is_none() && (standing.has(list) || is_unknown) && !owes(*server)
        });
        may.map(|(server, _)| server).collect()
    }

    /// Everybody who is there.
    pub(super) fn all_there(&self) -> Vec<usize> {
        let all = self.standing.iter().enumerate();
        let there = all.filter(|(_, standing)| standing.gone.is_none());
        there.map(|(server, _)| server).collect()
    }

    /// A server answers its part.
    pub(super) fn part_answered(
        &mut self,
        number: u64,
        server: usize,
        result: &str,
        mail: &mut Mail<'_>,
    ) {
        let Some(gather) = self.gathers.get_mut(&number) else {
            return;
        };
        let Some(part) = gather.parts.iter_mut().find(|part| part.server == server) else {
            return;
        };
        part.pages.push(result.to_owned());
        match gather.kind {
            Kind::List(list) => {
                let next = serde_json::from_str::<PageEnd<'_>>(result).ok();
                let next = next.and_then(|end| not_null(end.next)).map(RawValue::get);
                if let Some(next) = next.filter(|next| *next != "\"\"") {
                    let pages = part.pages.len();
                    if pages < MOST_PAGES {
                        let id = ours(number, server, pages);
                        let method = method_of(list);
                        let meta = gather.meta.as_deref();
                        let message = answer::page_request(method, &id, Some(next), meta);
                        let pending = Pending::Part(number);
                        return self.send(server, Id(&id), message.into(), pending, mail);
                    }
                    let name = &self.standing[server].name;
                    mail.warnings.push(format!(
                        "the MCP server {name:?} has more than {MOST_PAGES} pages of {}; the rest is left out",
                        list.member()
                    ));
                }
            }
            Kind::Initialize(_) | Kind::Discover => {
                let Ok(hello) = serde_json::from_str(result) else {
                    let error = answer::fault(SERVER_GONE, "its answer is none of the protocol");
                    return self.part_failed(number, server, &error, mail);
                };
                self.standing[server].hello = Some(hello);
                if let Some(ready) = self.ready.clone() {
                    mail.to_servers.push((server, ready.into()));
                }
            }
            Kind::Order => {}
        }
        self.part_done(number, server, mail);
    }

    /// A server does not answer its part, and says why.
    pub(super) fn part_failed(
        &mut self,
        number: u64,
        server: usize,
        error: &str,
        mail: &mut Mail<'_>,
    ) {
        let Some(gather) = self.gathers.get_mut(&number) else {
            return;
        };
        let Some(part) = gather.parts.iter_mut().find(|part| part.server == server) else {
            return;
        };
        part.error = Some(error.to_owned());
        part.pages.clear();
        let fault: Option<Fault> = serde_json::from_str(error).ok();
        let standing = &mut self.standing[server];
        let (name, is_there) = (&standing.name, standing.gone.is_none());
        let is_unknown = fault
            .as_ref()
            .is_some_and(|fault| fault.code == i64::from(NO_METHOD));
        let why = fault.as_ref().map_or(error, |fault| &fault.message);
        match gather.kind {
            Kind::Initialize(_) if is_there => {
                let why = format!("the MCP server {name:?} cannot be used: {why}");
                mail.warnings.push(why.clone());
                standing.gone = Some(why);
            }
            // Who does not know the question has nothing.
            Kind::List(list) if is_there && !is_unknown => {
                let what = list.member();
                mail.warnings.push(format!(
                    "the MCP server {name:?} does not list its {what}: {why}"
                ));
            }
            _ => {}
        }
        self.part_done(number, server, mail);
    }

    fn part_done(&mut self, number: u64, server: usize, mail: &mut Mail<'_>) {
        let Some(gather) = self.gathers.get_mut(&number) else {
            return;
        };
        let Some(part) = gather.parts.iter_mut().find(|part| part.server == server) else {
            return;
        };
        part.is_done = true;
        if gather.is_answered && part.error.is_none() {
            let pages = std::mem::take(&mut part.pages);
            match gather.kind.clone() {
                Kind::Initialize(_) => self.lists_changed(server, mail),
                Kind::List(list) => {
                    self.standing[server].late.insert(list, pages);
                    mail.to_client.push(list.changed().into());
                }
                Kind::Discover | Kind::Order => {}
            }
        }
        self.finish_if_done(number, mail);
    }

    fn finish_if_done(&mut self, number: u64, mail: &mut Mail<'_>) {
        let is_done = |gather: &Gather| gather.parts.iter().all(|part| part.is_done);
        if !self.gathers.get(&number).is_some_and(is_done) {
            return;
        }
        if let Some(gather) = self.gathers.remove(&number)
            && !gather.is_answered
        {
            self.answer(&gather, mail);
        }
    }

    /// The client gives up on a question.
    pub(super) fn drop_gather(&mut self, id: Id<'_>) {
        let key = id.key();
        self.gathers.retain(|_, gather| Id(&gather.id).key() != key);
    }

    /// Who has waited long enough gets what there is.
    pub(super) fn tick(&mut self, now: Instant, mail: &mut Mail<'_>) {
        let due = |gather: &Gather| !gather.is_answered && gather.deadline <= now;
        let numbers: Vec<u64> = self
            .gathers
            .iter()
            .filter(|(_, gather)| due(gather))
            .map(|(number, _)| *number)
            .collect();
        for number in numbers {
            let Some(mut gather) = self.gathers.remove(&number) else {
                continue;
            };
            for part in gather.parts.iter().filter(|part| !part.is_done) {
                let name = &self.standing[part.server].name;
                mail.warnings.push(format!(
                    "the MCP server {name:?} is slow; the client goes on without it, and is told when it is there"
                ));
            }
            self.answer(&gather, mail);
            gather.is_answered = true;
            self.gathers.insert(number, gather);
        }
    }

    /// One answer out of those that are there.
    fn answer(&mut self, gather: &Gather, mail: &mut Mail<'_>) {
        let is_whole = gather
            .parts
            .iter()
            .all(|part| part.is_done && part.error.is_none());
        let good: Vec<(usize, &[String])> = gather
            .parts
            .iter()
            .filter(|part| part.is_done && part.error.is_none())
            .map(|part| (part.server, part.pages.as_slice()))
            .collect();
        let error = gather.parts.iter().find_map(|part| part.error.as_deref());
        let result = match &gather.kind {
            Kind::Initialize(asked) if self.is_anybody_left() => {
                Ok(hello::initialized(&self.standing, asked.as_deref()))
            }
            Kind::Initialize(_) => Err(answer::fault(SERVER_GONE, &self.why_nobody())),
            Kind::Discover if is_whole && !good.is_empty() => Ok(hello::discovered(&self.standing)),
            Kind::Discover => {
                // Then the client shakes hands, and all of them can do that.
                for standing in &mut self.standing {
                    standing.hello = None;
                }
                let why = "not all of the MCP servers know `server/discover`; initialize them";
                Err(answer::fault(NO_METHOD, why))
            }
            Kind::List(list) => match error.filter(|_| good.is_empty()) {
                Some(error) => Err(error.to_owned()),
                None => Ok(self.merged(*list, &good, is_whole, &mut mail.warnings)),
            },
            Kind::Order => match (good.first().and_then(|(_, pages)| pages.first()), error) {
                (Some(result), _) => Ok(result.clone()),
                (None, Some(error)) => Err(error.to_owned()),
                (None, None) => Ok("{}".to_owned()),
            },
        };
        let (member, value) = match &result {
            Ok(result) => ("result", result),
            Err(error) => ("error", error),
        };
        let id = &gather.id;
        let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"{member}\":{value}}}");
        mail.to_client.push(Cow::Owned(answer.into_bytes()));
        if matches!(gather.kind, Kind::Initialize(_)) {
            self.let_go(mail);
        }
    }

    /// Whether the client waits for the answer to its `initialize`.
    pub(super) fn is_greeting(&self) -> bool {
        let mut gathers = self.gathers.values();
        gathers.any(|gather| !gather.is_answered && matches!(gather.kind, Kind::Initialize(_)))
    }

    /// What the client sent before it had the answer to its `initialize` goes on.
    fn let_go(&mut self, mail: &mut Mail<'_>) {
        for message in std::mem::take(&mut self.early) {
            let mut own = Mail::default();
            let read = Message::read(&message);
            self.client_sends(&message, read, self.latest, &mut own);
            mail.take_in(own);
        }
    }

    fn is_anybody_left(&self) -> bool {
        self.standing.iter().any(|standing| standing.gone.is_none())
    }

    fn why_nobody(&self) -> String {
        let why = self
            .standing
            .iter()
            .filter_map(|standing| standing.gone.as_deref());
        why.collect::<Vec<_>>().join("\n")
    }

    /// Asks for a resource that nobody has listed: one server after the other, until one has it.
    pub(super) fn search<'m>(
        &mut self,
        message: &'m [u8],
        id: Id<'_>,
        uri: &str,
        mail: &mut Mail<'m>,
    ) {
        let mut left: VecDeque<usize> = self.listers(List::Resources).into();
        if left.len() == 1
            && let Some(server) = left.pop_front()
        {
            let pending = Pending::passes(id);
            return self.send(server, id, message.into(), pending, mail);
        }
        self.questions += 1;
        let search = Search {
            id: id.0.to_owned(),
            message: message.to_vec(),
            uri: uri.to_owned(),
            left,
            error: None,
        };
        self.searches.insert(self.questions, search);
        self.search_on(self.questions, mail);
    }

    /// The next one is asked.
    pub(super) fn search_on(&mut self, number: u64, mail: &mut Mail<'_>) {
        let Some(search) = self.searches.get_mut(&number) else {
            return;
        };
        while let Some(server) = search.left.pop_front() {
            if self.standing[server].gone.is_none() {
                let (id, message) = (search.id.clone(), search.message.clone());
                let pending = Pending::Search(number);
                return self.send(server, Id(&id), message.into(), pending, mail);
            }
        }
        if let Some(search) = self.searches.remove(&number) {
            let nobody = || {
                let why = format!("no MCP server has the resource {:?}", search.uri);
                answer::error(&search.id, NO_RESOURCE, &why)
            };
            let error = search.error.unwrap_or_else(nobody);
            mail.to_client.push(error.into());
        }
    }

    /// One of them answers.
    pub(super) fn search_answered<'m>(
        &mut self,
        number: u64,
        server: usize,
        message: &'m [u8],
        is_error: bool,
        mail: &mut Mail<'m>,
    ) {
        let Some(search) = self.searches.get_mut(&number) else {
            return;
        };
        if is_error {
            search.error.get_or_insert_with(|| message.to_vec());
            return self.search_on(number, mail);
        }
        if let Some(search) = self.searches.remove(&number) {
            let _others = self.routes.has_resource(server, &search.uri);
        }
        mail.to_client.push(message.into());
    }
}

/// The id of a question of ours. No client counts up to it.
fn ours(number: u64, server: usize, page: usize) -> String {
    format!("\"callwright-part-{number}-{server}-{page}\"")
}

fn method_of(list: List) -> &'static str {
    match list {
        List::Tools => "tools/list",
        List::Prompts => "prompts/list",
        List::Resources => "resources/list",
        List::Templates => "resources/templates/list",
        List::Tasks => "tasks/list",
    }
}
