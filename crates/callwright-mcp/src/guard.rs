//! One session between a client and a server: what passes, what is answered, what is changed.
//!
//! In comes a message of either side, out goes what is to be sent to whom, in order. Everything that is not about tools
//! passes byte for byte. Calls are judged before they reach the server, results before they reach the client. Nothing here
//! does IO or asks a clock, so that stdio and HTTP have the same guard.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use callwright::admit::{Ledger, MemoryLedger, OpenCall, Place};
use callwright::check::{Checked, OutputVerdict, Ran, ToolFailure};
use callwright::classify::Notice;
use callwright::event::{Event, Sinks};
use callwright::feedback::Feedback;
use callwright::parse::read_value;
use callwright::policy::Validation;
use callwright::tool::ToolSpec;
use callwright::{Error, Gate, Opened, Policy, Verdict, wire};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::answer;
use crate::call::Params;
use crate::message::{Id, Message};
use crate::rounds::Rounds;
use crate::status::Status;
use crate::tools::{Page, Tools};

/// How long a call waits for the list of tools that it is judged by. Servers answer this in milliseconds; one that has
/// to fetch it from elsewhere gets ten seconds, and then the call passes unjudged.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// How many calls may be under way. A client that never reads answers does not take our memory.
const MOST_CALLS: usize = 100_000;

/// How many pages a list of tools may have. Real ones have a handful.
const MOST_PAGES: usize = 1_000;

/// Settings that all sessions share.
#[derive(Debug)]
#[non_exhaustive]
pub struct Settings {
    /// What is asked of tools.
    pub policy: Policy,
    /// What an objection leads to, whatever the policy says of single tools: with `Warn` and `Off` nothing is changed.
    pub mode: Validation,
    /// How the model is told what is wrong.
    pub feedback: Feedback,
    /// How long a client is silent before its next call begins a turn.
    pub quiet: Duration,
    /// Remembers what calls brought.
    pub ledger: Arc<dyn Ledger>,
    /// Gets a record of every call.
    pub sinks: Sinks,
    /// Whether records hold what tools answered.
    pub keep_output: bool,
    /// Counts.
    pub status: Arc<Status>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            policy: Policy::default(),
            mode: Validation::Strict,
            feedback: Feedback::default(),
            quiet: Duration::from_secs(120),
            ledger: Arc::new(MemoryLedger::default()),
            sinks: Sinks::default(),
            keep_output: false,
            status: Arc::default(),
        }
    }
}

impl Settings {
    /// A gate for some tools.
    pub(crate) fn gate(&self, tools: Vec<ToolSpec>) -> Result<Gate, Error> {
        Gate::builder()
            .tools(tools)
            .policy(self.policy.clone())
            .ledger(Arc::clone(&self.ledger))
            .build()
    }
}

/// The time, from whoever has a clock.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// To measure by.
    pub instant: Instant,
    /// To write down.
    pub time: SystemTime,
}

impl Now {
    /// This very moment, by the clock of this machine.
    pub fn by_clock() -> Self {
        Now {
            instant: Instant::now(),
            time: SystemTime::now(),
        }
    }
}

/// What is to be sent, in order, and what the operator should know.
#[derive(Debug, Default)]
pub struct Outbox<'m> {
    /// To the server.
    pub to_server: Vec<Cow<'m, [u8]>>,
    /// To the client.
    pub to_client: Vec<Cow<'m, [u8]>>,
    /// To the operator, a sentence each.
    pub warnings: Vec<String>,
}

/// The guard of one session.
#[derive(Debug)]
pub struct Guard {
    settings: Arc<Settings>,
    session: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    tools: Tools,
    /// Lists that the client asked for, by id; whether for the first page.
    lists: HashMap<String, bool>,
    /// Calls that the server works on, by id.
    calls: HashMap<String, Running>,
    /// Calls that wait for the tools to be known.
    held: VecDeque<Held>,
    /// The list that we asked for.
    asked: Option<Asked>,
    questions: u64,
    rounds: Rounds,
}

/// A call that the server works on.
#[derive(Debug)]
struct Running {
    gate: Arc<Gate>,
    open: OpenCall,
    began: Instant,
    gate_time: Duration,
    event: Option<Event>,
}

#[derive(Debug)]
struct Held {
    id: String,
    message: Vec<u8>,
}

#[derive(Debug)]
struct Asked {
    id: String,
    since: Instant,
    pages: usize,
    /// What the client sends with its requests.
    meta: Option<String>,
    /// Whether somebody still waits for it.
    gave_up: bool,
}

impl Guard {
    /// The guard of a new session. The name tells it from others in the ledger and in events.
    pub fn new(settings: Arc<Settings>, session: impl Into<String>) -> Self {
        Guard {
            settings,
            session: session.into(),
            state: Mutex::default(),
        }
    }

    /// A message of the client.
    pub fn from_client<'m>(&self, message: &'m [u8], now: Now, out: &mut Outbox<'m>) {
        if self.settings.mode == Validation::Off {
            out.to_server.push(Cow::Borrowed(message));
            return;
        }
        let mut state = self.state();
        match Message::read(message) {
            Message::Request { id, method, params } => match method.as_ref() {
                "tools/call" => self.call(&mut state, message, id, params, now, out),
                "tools/list" => {
                    let is_first = !params.is_some_and(has_cursor);
                    state.lists.insert(id.0.to_owned(), is_first);
                    out.to_server.push(Cow::Borrowed(message));
                }
                _ => out.to_server.push(Cow::Borrowed(message)),
            },
            Message::Notification { method, params } if method == "notifications/cancelled" => {
                self.cancelled(&mut state, message, params, now, out);
            }
            Message::Batch(parts) => {
                let mut each = Outbox::default();
                drop(state);
                for part in &parts {
                    self.from_client(part.get().as_bytes(), now, &mut each);
                }
                let unchanged = each.to_client.is_empty() && same(&each.to_server, &parts);
                out.warnings.append(&mut each.warnings);
                if unchanged {
                    out.to_server.push(Cow::Borrowed(message));
                } else {
                    out.to_server.append(&mut each.to_server);
                    out.to_client.append(&mut each.to_client);
                }
            }
            _ => out.to_server.push(Cow::Borrowed(message)),
        }
    }

    /// A message of the server.
    pub fn from_server<'m>(&self, message: &'m [u8], now: Now, out: &mut Outbox<'m>) {
        let mut state = self.state();
        match Message::read(message) {
            Message::Response { id, result, error } => {
                if state.asked.as_ref().is_some_and(|asked| asked.id == id.0) {
                    self.listed(&mut state, result, now, out);
                } else if let Some(is_first) = state.lists.remove(id.0) {
                    if let Some(page) = result.and_then(|result| Page::read(result.get())) {
                        let warnings = state.tools.learn(page, is_first, &self.settings);
                        out.warnings.extend(warnings);
                    }
                    out.to_client.push(Cow::Borrowed(message));
                } else if let Some(running) = state.calls.remove(id.0) {
                    state.rounds.end(now.instant);
                    drop(state);
                    out.to_client
                        .push(self.result(running, message, id, result, error, now));
                } else {
                    out.to_client.push(Cow::Borrowed(message));
                }
            }
            Message::Notification { method, .. }
                if method == "notifications/tools/list_changed" =>
            {
                state.tools.changed();
                out.to_client.push(Cow::Borrowed(message));
            }
            Message::Batch(parts) => {
                drop(state);
                let mut each = Outbox::default();
                for part in &parts {
                    self.from_server(part.get().as_bytes(), now, &mut each);
                }
                let unchanged = same(&each.to_client, &parts);
                out.warnings.append(&mut each.warnings);
                out.to_server.append(&mut each.to_server);
                if unchanged {
                    out.to_client.push(Cow::Borrowed(message));
                } else {
                    out.to_client.append(&mut each.to_client);
                }
            }
            _ => out.to_client.push(Cow::Borrowed(message)),
        }
    }

    /// When [`Guard::tick`] has something to do.
    pub fn deadline(&self) -> Option<Instant> {
        let state = self.state();
        let asked = state.asked.as_ref().filter(|asked| !asked.gave_up)?;
        (!state.held.is_empty()).then_some(asked.since + LONGEST_WAIT)
    }

    /// Time has passed: calls that have waited too long for the list of tools pass unjudged.
    pub fn tick(&self, now: Now, out: &mut Outbox<'_>) {
        let mut state = self.state();
        let waits = state.asked.as_mut().is_some_and(|asked| {
            asked.gave_up |= now.instant.saturating_duration_since(asked.since) >= LONGEST_WAIT;
            !asked.gave_up
        });
        if waits || state.held.is_empty() {
            return;
        }
        out.warnings.push(
            "the server does not answer `tools/list`; calls pass unjudged until it does".to_owned(),
        );
        let held = state.held.drain(..);
        out.to_server
            .extend(held.map(|held| Cow::Owned(held.message)));
    }

    /// The server is gone: answers for everybody who still waits for one.
    pub fn server_gone(&self, why: &str, out: &mut Outbox<'_>) {
        let mut state = self.state();
        let running = std::mem::take(&mut state.calls);
        let held = std::mem::take(&mut state.held);
        let lists = std::mem::take(&mut state.lists);
        // Nobody knows what came of these, so their tickets are dropped.
        let ids = running
            .into_keys()
            .chain(held.into_iter().map(|held| held.id));
        for id in ids.chain(lists.into_keys()) {
            out.to_client
                .push(Cow::Owned(answer::error(&id, SERVER_GONE, why)));
        }
    }

    /// No answer comes to a request any more: nobody waits for it, or it never arrived. What came of it nobody knows, so
    /// its ticket is dropped.
    pub fn abandoned(&self, id: Id<'_>, now: Now) {
        let mut state = self.state();
        state.lists.remove(id.0);
        state.held.retain(|held| held.id != id.0);
        if state.calls.remove(id.0).is_some() {
            state.rounds.end(now.instant);
        }
    }

    /// A call: judged if the tools are known, held until they are.
    fn call<'m>(
        &self,
        state: &mut State,
        message: &'m [u8],
        id: Id<'m>,
        params: Option<&'m RawValue>,
        now: Now,
        out: &mut Outbox<'m>,
    ) {
        let read = Params::read(params).and_then(|read| Some((read.call(id.0)?, read)));
        let (Some((call, read)), Some(params)) = (read, params) else {
            // No call that anybody could run; the server says so.
            out.to_server.push(Cow::Borrowed(message));
            return;
        };
        if state.tools.are_unlisted() || state.calls.len() >= MOST_CALLS {
            out.to_server.push(Cow::Borrowed(message));
            return;
        }
        let Some(gate) = state.tools.gate_for(&call.tool).map(Arc::clone) else {
            let meta = read.meta.map(|meta| meta.get().to_owned());
            state.held.push_back(Held {
                id: id.0.to_owned(),
                message: message.to_vec(),
            });
            self.ask(state, meta, now, out);
            return;
        };
        let began = Instant::now();
        let at = state.rounds.begin(now.instant, self.settings.quiet);
        let place = Place {
            session: &self.session,
            at,
        };
        let verdict = gate.judge(&call);
        let recorded = !self.settings.sinks.is_empty();
        let event = |verdict: &Verdict<'_>| Event::of(&gate, &call, verdict, now.time).at(place);
        let judged = recorded.then(|| event(&verdict));
        let only_warns = self.settings.mode == Validation::Warn;
        match gate.admit(&call, verdict, (!read.goes_on()).then_some(place)) {
            Opened::Admitted(ticket) => {
                self.settings
                    .status
                    .admitted(ticket.tool().name(), ticket.edits());
                let rewritten = (!ticket.edits().is_empty() && !only_warns).then(|| {
                    read.rewritten(message, params, ticket.tool().name(), ticket.arguments())
                });
                out.to_server.push(match rewritten.flatten() {
                    Some(rewritten) => Cow::Owned(rewritten),
                    None => Cow::Borrowed(message),
                });
                let running = Running {
                    open: ticket.detach(),
                    gate: Arc::clone(&gate),
                    began: now.instant,
                    gate_time: began.elapsed(),
                    event: judged,
                };
                state.calls.insert(id.0.to_owned(), running);
            }
            Opened::Refused(refused) => {
                state.rounds.end(now.instant);
                self.settings.status.refused(&call.tool, &refused.failure);
                let text = self
                    .settings
                    .feedback
                    .render_with(&refused.failure, refused.notice.as_ref());
                if recorded {
                    let event = event(&Verdict::Refused(refused));
                    self.settings
                        .sinks
                        .send(event.with_gate_time(began.elapsed()));
                }
                if only_warns {
                    out.warnings.push(format!("would be refused: {text}"));
                    out.to_server.push(Cow::Borrowed(message));
                } else {
                    let refusal = answer::refusal(id, &text, read.names_protocol());
                    out.to_client.push(Cow::Owned(refusal));
                }
            }
        }
    }

    /// What came of a call: as it is, or with what the model should know.
    fn result<'m>(
        &self,
        running: Running,
        message: &'m [u8],
        id: Id<'m>,
        result: Option<&'m RawValue>,
        error: Option<&'m RawValue>,
        now: Now,
    ) -> Cow<'m, [u8]> {
        let came = Instant::now();
        let Running {
            gate,
            open,
            began,
            gate_time,
            event,
        } = running;
        let latency = now.instant.saturating_duration_since(began);
        let tool = open.tool().to_owned();
        let value = result.and_then(|result| read_value(result.get()).ok());
        if value.as_ref().is_some_and(answer::is_interim) {
            // The tool asks for more, or answers later; there is nothing to judge yet.
            return Cow::Borrowed(message);
        }
        let ran = match (&value, error) {
            (Some(value), _) => wire::read_mcp_result(value),
            (None, Some(error)) => Ran::failed(ToolFailure::said(error.get().to_owned())),
            (None, None) => return Cow::Borrowed(message),
        };
        let (checked, notice) = gate.close_open(open, ran);
        self.settings
            .status
            .settled(&tool, &checked, notice.as_ref());
        let changed = value
            .as_ref()
            .filter(|_| self.settings.mode != Validation::Warn)
            .and_then(|value| {
                let (note, is_error) = self.note(&checked, notice.as_ref())?;
                Some(answer::with_note(id, value, &note, is_error))
            });
        if let Some(event) = event {
            let mut event = event
                .with_notice(notice)
                .ran(1, latency)
                .with_result(&checked)
                .with_gate_time(gate_time + came.elapsed());
            if let Some(value) = value.filter(|_| self.settings.keep_output) {
                event = event.with_output(value);
            }
            self.settings.sinks.send(event);
        }
        changed.map_or(Cow::Borrowed(message), Cow::Owned)
    }

    /// What the model should be told beside a result, and whether that makes it an error. The content is kept in any
    /// case.
    fn note(&self, checked: &Checked<'_>, notice: Option<&Notice>) -> Option<(String, bool)> {
        let feedback = &self.settings.feedback;
        let objection = match (checked.verdict, &checked.failure) {
            (OutputVerdict::Refused | OutputVerdict::Partial, Some(failure)) => {
                Some(feedback.render(failure))
            }
            _ => None,
        };
        let notice = notice.map(|notice| feedback.notice(notice));
        let texts: Vec<String> = objection.into_iter().chain(notice).collect();
        let is_error = checked.verdict == OutputVerdict::Refused;
        (!texts.is_empty()).then(|| (texts.join(" "), is_error))
    }

    /// Asks for the list of tools, unless somebody has.
    fn ask(&self, state: &mut State, meta: Option<String>, now: Now, out: &mut Outbox<'_>) {
        if state.asked.as_ref().is_some_and(|asked| !asked.gave_up) {
            return;
        }
        state.questions += 1;
        // A text that no client counts up to.
        let id = format!("\"callwright-{}-{}\"", self.session, state.questions);
        out.to_server
            .push(Cow::Owned(answer::list_request(&id, None, meta.as_deref())));
        state.asked = Some(Asked {
            id,
            since: now.instant,
            pages: 0,
            meta,
            gave_up: false,
        });
    }

    /// The answer to our own question: the next page is asked for, or calls that waited are judged.
    fn listed(&self, state: &mut State, result: Option<&RawValue>, now: Now, out: &mut Outbox<'_>) {
        let Some(mut asked) = state.asked.take() else {
            return;
        };
        if let Some(page) = result.and_then(|result| Page::read(result.get())) {
            let next = page.next.clone().filter(|_| asked.pages < MOST_PAGES);
            let is_first = asked.pages == 0;
            let warnings = state.tools.learn(page, is_first, &self.settings);
            out.warnings.extend(warnings);
            asked.pages += 1;
            if let Some(next) = next {
                state.questions += 1;
                asked.id = format!("\"callwright-{}-{}\"", self.session, state.questions);
                let question = answer::list_request(&asked.id, Some(&next), asked.meta.as_deref());
                out.to_server.push(Cow::Owned(question));
                state.asked = Some(asked);
                return;
            }
        } else {
            state.tools.not_listed();
            out.warnings
                .push("the server does not list its tools; calls pass unjudged".to_owned());
        }
        for held in std::mem::take(&mut state.held) {
            let mut each = Outbox::default();
            if let Message::Request { id, params, .. } = Message::read(&held.message) {
                self.call(state, &held.message, id, params, now, &mut each);
            }
            let owned = |message: Cow<'_, [u8]>| Cow::Owned(message.into_owned());
            out.to_server.extend(each.to_server.into_iter().map(owned));
            out.to_client.extend(each.to_client.into_iter().map(owned));
            out.warnings.append(&mut each.warnings);
        }
    }

    /// The client gives up on a request.
    fn cancelled<'m>(
        &self,
        state: &mut State,
        message: &'m [u8],
        params: Option<&RawValue>,
        now: Now,
        out: &mut Outbox<'m>,
    ) {
        let id = params.and_then(|params| {
            let cancelled: Cancelled<'_> = serde_json::from_str(params.get()).ok()?;
            Some(cancelled.id.get().to_owned())
        });
        if let Some(id) = id {
            if let Some(at) = state.held.iter().position(|held| held.id == id) {
                // The server never heard of it.
                state.held.remove(at);
                return;
            }
            if let Some(running) = state.calls.remove(&id) {
                // A server need not answer it any more, and what it answers nobody reads.
                state.rounds.end(now.instant);
                let ran = Ran::failed(ToolFailure::cancelled());
                let (checked, _) = running.gate.close_open(running.open, ran);
                if let Some(event) = running.event {
                    let latency = now.instant.saturating_duration_since(running.began);
                    let event = event.ran(1, latency).with_result(&checked);
                    self.settings.sinks.send(event);
                }
            }
        }
        out.to_server.push(Cow::Borrowed(message));
    }

    /// Nothing here panics while it holds the lock.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What JSON-RPC leaves to servers: the server is not there.
const SERVER_GONE: i32 = -32_000;

#[derive(Deserialize)]
struct Cancelled<'m> {
    #[serde(borrow, rename = "requestId")]
    id: &'m RawValue,
}

#[derive(Deserialize)]
struct ListParams<'m> {
    #[serde(borrow)]
    cursor: Option<&'m RawValue>,
}

fn has_cursor(params: &RawValue) -> bool {
    let page: Result<ListParams<'_>, _> = serde_json::from_str(params.get());
    page.is_ok_and(|page| page.cursor.is_some_and(|cursor| cursor.get() != "null"))
}

/// Whether messages are what a batch holds.
fn same(messages: &[Cow<'_, [u8]>], parts: &[&RawValue]) -> bool {
    messages.len() == parts.len()
        && messages
            .iter()
            .zip(parts)
            .all(|(message, part)| **message == *part.get().as_bytes())
}
