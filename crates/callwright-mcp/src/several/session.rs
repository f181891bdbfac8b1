//! One client and several servers: a thread for each direction, and the guard in the middle.
//!
//! In come lines of the client and of the servers; each is shown to the guard and to the router and sent on by the thread
//! that read it. A thread may wait for the client, never for a server (see [`Door`]). What time brings is for a thread of
//! its own.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use tokio::sync::mpsc::UnboundedSender;

use super::door::Door;
use super::router::{Mail, Router};
use crate::answer;
use crate::guard::{Guard, Now, Outbox};
use crate::lane::{Lane, LineEnd};
use crate::last_words::LastWords;
use crate::lines::{Lines, is_several};
use crate::message::Message;
use crate::session::ToClient;

/// A longer line on stderr is shown in pieces.
const LONGEST_SAID: u64 = 8 * 1024;

/// What JSON-RPC leaves to servers: this one does not read.
const NOT_READ: i32 = -32_000;

/// Told to whoever watches over the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Happened {
    /// The client sends no more, or reads no more.
    ClientEnded,
    /// All that a server leaves behind is told.
    ServerGone,
    /// The client got an answer of our own.
    Answered,
    /// There may be another deadline.
    Look,
    /// What time brings is done.
    Ticked,
    /// A server has to be started anew. Its door leads nowhere already.
    Restart(usize),
}

/// What the thread for other things does.
#[derive(Debug)]
pub(super) enum Errand {
    /// Time has passed.
    Tick,
    /// A server is not there any more, and why.
    Gone { server: usize, why: String },
}

/// What the threads share.
pub(super) struct Session {
    pub(super) guard: Guard,
    pub(super) router: Router,
    pub(super) to_client: Lane<ToClient>,
    pub(super) servers: Vec<Link>,
    pub(super) happened: UnboundedSender<Happened>,
    pub(super) warn: Arc<dyn Fn(&str) + Send + Sync>,
    /// How many servers are not there any more, before their time.
    pub(super) lost: AtomicUsize,
    /// Whether everything ends, so that nobody wonders about servers that do.
    pub(super) is_ending: AtomicBool,
    /// Whether the client sends no more.
    pub(super) has_heard_all: AtomicBool,
    /// How many messages of servers are under way.
    pub(super) busy: AtomicUsize,
}

/// What leads to a server, and what is heard of it.
pub(super) struct Link {
    /// How it is called on stderr.
    pub(super) label: String,
    pub(super) door: Door,
    /// Whether its thread waits for it.
    pub(super) is_waited_for: AtomicBool,
    pub(super) last_words: LastWords,
    /// Whether it can be started anew.
    pub(super) is_process: bool,
    /// How often it was started anew: what is heard of those before does not count.
    pub(super) restarts: AtomicUsize,
}

impl Session {
    /// Runs until the client sends no more.
    pub(super) fn hear_client(&self, client: impl Read) {
        let mut lines = Lines::new(client);
        while lines.advance().unwrap_or(false) {
            let line = lines.line();
            if self.lost.load(Ordering::Relaxed) > 0
                && let Some(answer) = self.router.in_vain(line)
            {
                self.tell_client(&[answer.into()], false);
                self.tell(Happened::Answered);
                continue;
            }
            let mut out = Outbox::default();
            if is_several(line) {
                self.guard.broken_line(line, &mut out);
            } else {
                self.guard.from_client(line, Now::by_clock(), &mut out);
            }
            self.send_out(&out, false);
        }
        let mut out = Outbox::default();
        self.guard.client_ended(Now::by_clock(), &mut out);
        self.send_out(&out, false);
        self.has_heard_all.store(true, Ordering::Release);
        self.tell(Happened::ClientEnded);
    }

    /// Does something that may lead to messages for servers, which are not closed meanwhile.
    fn busily(&self, work: impl FnOnce()) {
        self.busy.fetch_add(1, Ordering::AcqRel);
        work();
        self.busy.fetch_sub(1, Ordering::AcqRel);
        if self.has_heard_all.load(Ordering::Acquire) {
            self.tell(Happened::Look);
        }
    }

    /// Runs until a server sends no more, or another one is started in its stead.
    pub(super) fn hear_server(&self, server: usize, reads: impl Read) {
        let Some(link) = self.servers.get(server) else {
            return;
        };
        let restarts = link.restarts.load(Ordering::Acquire);
        let mut lines = Lines::new(reads);
        loop {
            link.is_waited_for.store(true, Ordering::Relaxed);
            let is_there = lines.advance().unwrap_or(false);
            link.is_waited_for.store(false, Ordering::Relaxed);
            if !is_there || link.restarts.load(Ordering::Acquire) != restarts {
                break;
            }
            self.busily(|| {
                let mut mail = Mail::default();
                self.router.from_server(server, lines.line(), &mut mail);
                self.deliver(mail, lines.is_next_here());
            });
        }
        let _ = self.to_client.flush();
    }

    /// Runs as long as there is anything to do.
    pub(super) fn run_errands(&self, errands: &mpsc::Receiver<Errand>) {
        while let Ok(errand) = errands.recv() {
            match errand {
                Errand::Tick => {
                    self.busily(|| self.tick());
                    self.tell(Happened::Ticked);
                }
                Errand::Gone { server, why } => {
                    self.busily(|| self.server_gone(server, &why));
                    self.tell(Happened::ServerGone);
                }
            }
        }
    }

    fn tick(&self) {
        let now = Now::by_clock();
        let mut mail = Mail::default();
        self.router.tick(now.instant, &mut mail);
        self.deliver(mail, false);
        let mut out = Outbox::default();
        self.guard.tick(now, &mut out);
        self.send_out(&out, false);
    }

    fn server_gone(&self, server: usize, why: &str) {
        let mut mail = Mail::default();
        self.router.server_gone(server, why, &mut mail);
        if self.is_ending.load(Ordering::Relaxed) {
            // Who waits for an answer still gets one; what has changed matters to nobody.
            let is_answer =
                |message: &[u8]| matches!(Message::read(message), Message::Response { .. });
            mail.to_client.retain(|message| is_answer(message));
        } else {
            self.lost.fetch_add(1, Ordering::Relaxed);
            (self.warn)(why);
        }
        self.deliver(mail, false);
    }

    /// Copies what a server says to people, with its name before each line, and remembers the end of it.
    pub(super) fn listen(&self, server: usize, stderr: impl Read) {
        let Some(link) = self.servers.get(server) else {
            return;
        };
        let mut stderr = BufReader::new(stderr);
        let mut said = Vec::new();
        loop {
            said.clear();
            said.extend_from_slice(format!("[{}] ", link.label).as_bytes());
            let start = said.len();
            let read = (&mut stderr)
                .take(LONGEST_SAID)
                .read_until(b'\n', &mut said);
            if !matches!(read, Ok(1..)) {
                return;
            }
            link.last_words.heard(&said[start..]);
            if !said.ends_with(b"\n") {
                said.push(b'\n');
            }
            let _ = io::stderr().lock().write_all(&said);
        }
    }

    /// Sends what the router has to say.
    pub(super) fn deliver(&self, mail: Mail<'_>, more: bool) {
        if mail.waits {
            self.tell(Happened::Look);
        }
        for warning in &mail.warnings {
            (self.warn)(warning);
        }
        for server in mail.restarts {
            if let Some(link) = self.servers.get(server).filter(|link| link.is_process) {
                link.restarts.fetch_add(1, Ordering::AcqRel);
                link.door.detach();
                self.tell(Happened::Restart(server));
            }
        }
        for (server, message) in mail.to_servers {
            let link = self.servers.get(server);
            if let Some(Err(unsent)) = link.map(|link| link.door.send(message)) {
                self.refuse(server, &unsent);
            }
        }
        let mut is_sent = false;
        let count = mail.to_client.len();
        for (at, message) in mail.to_client.iter().enumerate() {
            let mut out = Outbox::default();
            self.guard.from_server(message, Now::by_clock(), &mut out);
            let more = more || at + 1 < count;
            is_sent = !out.to_client.is_empty();
            self.tell_client(&out.to_client, more);
            out.to_client.clear();
            if !out.to_server.is_empty() || !out.warnings.is_empty() || !out.asks.is_empty() {
                self.send_out(&out, more);
            }
        }
        if !more && !is_sent && self.to_client.flush().is_err() {
            self.tell(Happened::ClientEnded);
        }
    }

    /// A server does not take any more: whoever waits for its answer gets this one.
    fn refuse(&self, server: usize, unsent: &[u8]) {
        let Message::Request { id, .. } = Message::read(unsent) else {
            return;
        };
        let label = self.servers.get(server).map_or("", |link| &link.label);
        let why = format!("the MCP server {label:?} does not read what it is sent");
        let error = answer::error(id.0, NOT_READ, &why);
        let mut mail = Mail::default();
        self.router.from_server(server, &error, &mut mail);
        self.deliver(mail, false);
    }

    /// Sends what the guard has to say.
    fn send_out(&self, out: &Outbox<'_>, more: bool) {
        for warning in &out.warnings {
            (self.warn)(warning);
        }
        if matches!(out.to_server.first(), Some(Cow::Owned(_))) || out.to_server.len() != 1 {
            self.tell(Happened::Look);
        }
        for message in &out.to_server {
            let mut mail = Mail::default();
            let now = Now::by_clock().instant;
            self.router.from_client(message, now, &mut mail);
            let is_answered = !mail.to_client.is_empty();
            self.deliver(mail, more);
            if is_answered {
                self.tell(Happened::Answered);
            }
        }
        let asks = out.asks.iter().map(|ask| Cow::Borrowed(&ask.message[..]));
        let messages: Vec<Cow<'_, [u8]>> = out.to_client.iter().cloned().chain(asks).collect();
        if !messages.is_empty() {
            self.tell_client(&messages, more);
            self.tell(Happened::Answered);
        }
    }

    fn tell_client(&self, messages: &[Cow<'_, [u8]>], more: bool) {
        for (at, message) in messages.iter().enumerate() {
            let more = more || at + 1 < messages.len();
            if self.to_client.send(message, LineEnd::Add, more).is_err() {
                self.tell(Happened::ClientEnded);
            }
        }
    }

    /// Nobody watches any more once all is over.
    pub(super) fn tell(&self, happened: Happened) {
        let _ = self.happened.send(happened);
    }
}
