//! Questions to all servers, and their answers, page by page, each when it comes. What comes after the client has got its
//! answer is told in a notification.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::list::List;
use super::{Mail, NO_METHOD, Pending, SERVER_GONE, State};
use crate::answer;
use crate::message::{Id, not_null, place, with_edits};

/// How long servers may take to say who they are. Common clients give theirs ten seconds and more, and those of us that
/// take longer should not cost the client the others.
const LONGEST_HELLO: Duration = Duration::from_secs(7);

/// How long servers may take for a list. Most answer in milliseconds; a call that waits for the tools is let go after ten
/// seconds, so this is less.
const LONGEST_LIST: Duration = Duration::from_secs(5);

/// How many pages a server may have. Real ones have a handful.
const MOST_PAGES: usize = 1_000;

/// A question to several servers.
#[derive(Debug)]
pub(super) struct Gather {
    /// As the client wrote it.
    pub(super) id: String,
    pub(super) kind: Kind,
    pub(super) parts: Vec<Part>,
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
pub(super) struct Part {
    pub(super) server: usize,
    /// The results, as they are written.
    pub(super) pages: Vec<String>,
    pub(super) error: Option<String>,
    pub(super) is_done: bool,
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
        let owes = |server| self.owes(server, &Kind::List(list));
        let all = self.standing.iter().enumerate();
        let may = all.filter(|(server, standing)| {
            let is_unknown = standing.hello.is_none() && !self.shakes_hands;
            standing.gone.is_none() && (standing.has(list) || is_unknown) && !owes(*server)
        });
        may.map(|(server, _)| server).collect()
    }

    /// Whether a server has not answered a question for so long that the client got its answer without it.
    pub(super) fn owes(&self, server: usize, kind: &Kind) -> bool {
        let gathers = self.gathers.values();
        let late = gathers.filter(|gather| gather.is_answered && gather.kind == *kind);
        let mut parts = late.flat_map(|gather| &gather.parts);
        parts.any(|part| part.server == server && !part.is_done)
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
                    self.list_changed(list, mail);
                }
                Kind::Discover | Kind::Order => {}
            }
        }
        self.finish_if_done(number, mail);
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
