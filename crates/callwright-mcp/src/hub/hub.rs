//! The threads between the client and its servers.
//!
//! One thread reads the client, one each server. Each passes what it reads to the guard, and to the router if there
//! are several servers, and sends the outcome itself, so that a message costs one read and one write. A thread may
//! wait for the client, but only the client's own thread ever waits for a server (see [`LineWriter`]); otherwise two
//! sides waiting for each other could deadlock. Passed deadlines and exited servers are handled on separate threads.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::mpsc::UnboundedSender;

use super::group::{Endpoint, GroupMember, ServerGroup, describe};
use super::handshake::Handshake;
use super::router::{Dispatch, Router};
use super::server::Gone;
use super::stderr::copy_labelled;
use crate::guard::{Action, Guard, Now, Settings, ToolCompilation};
use crate::line_reader::{LineReader, has_inner_line_break};
use crate::line_writer::{LineEnd, LineSink, LineWriter, Unsent};
use crate::message::Message;
use crate::own_messages::{self, code};

/// Receives warnings for the operator, one sentence each.
pub(super) type Warn = Arc<dyn Fn(&str) + Send + Sync>;

/// Reported to the lifecycle of the session.
#[derive(Debug)]
pub(super) enum HubEvent {
    /// The client has disconnected or received its first message, or there may be a new deadline.
    Changed,
    /// A server has closed its output; the second number says which start of it, counted from 0.
    OutputEnded(usize, usize),
    /// A server has to be restarted. Its writer is already detached.
    Restart(usize),
    /// A list of tools is to be compiled.
    Compile(ToolCompilation),
}

pub(super) struct Hub {
    pub(super) guard: Guard,
    /// `None` if there is a single server whose messages pass unchanged.
    pub(super) router: Option<Router>,
    to_client: LineWriter,
    pub(super) servers: Vec<ServerLink>,
    events: UnboundedSender<HubEvent>,
    pub(super) warn: Warn,
    /// The largest message, in bytes.
    pub(super) most_bytes: usize,
    /// How long a server may take for the handshake.
    pub(super) start_limit: Duration,
    pub(super) handshake: Handshake,
    /// How many servers exited unexpectedly.
    pub(super) lost: AtomicUsize,
    /// How many servers have exited while their pending requests are being answered.
    pub(super) settling: AtomicUsize,
    /// Whether servers are being stopped, so that their exit is not an error.
    pub(super) is_ending: AtomicBool,
    /// Whether the client has stopped sending, or reading.
    pub(super) client_ended: AtomicBool,
    pub(super) has_spoken: AtomicBool,
    /// How many messages are being handled that may lead to messages for servers.
    pub(super) busy: AtomicUsize,
}

/// Our side of the connection to one server.
pub(super) struct ServerLink {
    /// Printed before its lines on stderr; empty for none.
    label: String,
    writer: Mutex<Arc<LineWriter>>,
    /// Whether its thread waits for output.
    pub(super) is_awaited: AtomicBool,
    is_process: bool,
    /// How many times it was restarted: output of earlier processes does not count.
    pub(super) generation: AtomicUsize,
}

impl ServerLink {
    fn description(&self) -> String {
        describe(&self.label)
    }

    pub(super) fn writer(&self) -> Arc<LineWriter> {
        Arc::clone(&self.writer.lock())
    }

    /// Switches to a new process; the old one sees the end of its input.
    pub(super) fn replace_writer(&self, writer: Arc<LineWriter>) {
        std::mem::replace(&mut *self.writer.lock(), writer).close();
    }
}

impl Hub {
    pub(super) fn new(
        settings: Arc<Settings>,
        group: &ServerGroup,
        stdout: LineSink,
        events: UnboundedSender<HubEvent>,
        warn: Warn,
    ) -> Self {
        let link = |member: &GroupMember| ServerLink {
            label: member.name.clone(),
            writer: Mutex::new(Arc::new(LineWriter::new(None))),
            is_process: matches!(member.endpoint, Endpoint::Command(_)),
            generation: AtomicUsize::new(0),
            is_awaited: AtomicBool::new(false),
        };
        // A name that no other session has in shared ledgers and records.
        let name = format!("{:012x}", fastrand::u64(..) >> 16);
        Hub {
            most_bytes: settings.most_bytes,
            start_limit: group.start_limit,
            guard: Guard::new(settings, name),
            router: (!group.is_direct).then(|| Router::new(group, Instant::now())),
            to_client: LineWriter::new(Some(stdout)),
            servers: group.members.iter().map(link).collect(),
            events,
            warn,
            handshake: Handshake::default(),
            lost: AtomicUsize::new(0),
            settling: AtomicUsize::new(0),
            is_ending: AtomicBool::new(false),
            client_ended: AtomicBool::new(false),
            has_spoken: AtomicBool::new(false),
            busy: AtomicUsize::new(0),
        }
    }

    pub(super) fn read_client(&self, client: impl Read) {
        let mut lines = LineReader::new(client, self.most_bytes);
        loop {
            match lines.advance() {
                Ok(true) => {}
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    (self.warn)(&format!("the client: {error}; the message is dropped"));
                    let error = own_messages::error("null", code::NOT_JSON, &error.to_string());
                    self.send_to_client(&error, LineEnd::Add);
                    self.flush();
                    if lines.skip_line().unwrap_or(false) {
                        continue;
                    }
                    break;
                }
                _ => break,
            }
            let line = lines.line();
            self.handshake.note(line);
            if self.lost.load(Ordering::Relaxed) > 0
                && let Some(router) = &self.router
                && let Some(error) = router.error_of_lost_server(line)
            {
                self.send_to_client(&error, LineEnd::Add);
                self.flush();
                continue;
            }
            let mut actions = Vec::new();
            if has_inner_line_break(line) {
                self.guard.broken_line(line, &mut actions);
            } else {
                self.guard.from_client(line, Now::by_clock(), &mut actions);
            }
            self.perform(actions);
            // Messages for a single server are collected while more are available.
            if self.router.is_some() || !lines.has_next() {
                self.flush();
            }
            if let (None, [only]) = (&self.router, &self.servers[..]) {
                // This only holds up the client, which must not fill our memory.
                only.writer().wait_until_drained();
            }
        }
        let mut actions = Vec::new();
        self.guard.client_ended(Now::by_clock(), &mut actions);
        self.perform(actions);
        self.flush();
        self.end_of_client();
    }

    /// Reads a server until it closes its output, or is restarted.
    pub(super) fn read_server(
        &self,
        server: usize,
        generation: usize,
        mut lines: LineReader<impl Read>,
    ) {
        let link = &self.servers[server];
        let is_current = || link.generation.load(Ordering::Acquire) == generation;
        loop {
            link.is_awaited.store(true, Ordering::Relaxed);
            let has_line = lines.advance().unwrap_or_else(|error| {
                // Pending requests are answered once the server has exited.
                if error.kind() == io::ErrorKind::InvalidData {
                    (self.warn)(&format!("{}: {error}; stopping it", link.description()));
                }
                false
            });
            link.is_awaited.store(false, Ordering::Relaxed);
            if !has_line || !is_current() {
                break;
            }
            let is_sent = self.busily(|| {
                self.handle_server_message(server, lines.line());
                lines.has_next() || self.flush()
            });
            if !is_sent {
                break;
            }
        }
        self.flush();
        if is_current() {
            self.report(HubEvent::OutputEnded(server, generation));
        }
    }

    fn handle_server_message(&self, server: usize, message: &[u8]) {
        match &self.router {
            None => self.through_guard(message),
            Some(router) => {
                let mut dispatch = Dispatch::default();
                router.from_server(server, message, &mut dispatch);
                self.deliver(dispatch);
            }
        }
    }

    /// Whether a server that exits now exits unexpectedly.
    pub(super) fn is_in_session(&self) -> bool {
        let is_over = [&self.client_ended, &self.is_ending];
        !is_over.iter().any(|it| it.load(Ordering::Acquire)) && self.handshake.is_done()
    }

    /// A server was restarted; notifies the client that its lists may have changed.
    pub(super) fn server_back(&self, server: usize) {
        self.lost.fetch_sub(1, Ordering::Relaxed);
        let description = self.servers[server].description();
        (self.warn)(&format!("{description} was restarted"));
        self.at_once(|| match &self.router {
            None => self.guard.server_back(),
            Some(router) => {
                let mut dispatch = Dispatch::default();
                router.server_back(server, &mut dispatch);
                self.deliver(dispatch);
            }
        });
    }

    fn through_guard(&self, message: &[u8]) {
        let mut actions = Vec::new();
        self.guard
            .from_server(message, Now::by_clock(), &mut actions);
        self.perform(actions);
    }

    /// Does work that may lead to messages for servers, which are not closed meanwhile.
    fn busily<T>(&self, work: impl FnOnce() -> T) -> T {
        self.busy.fetch_add(1, Ordering::AcqRel);
        let done = work();
        self.busy.fetch_sub(1, Ordering::AcqRel);
        if self.client_ended.load(Ordering::Acquire) {
            self.report(HubEvent::Changed);
        }
        done
    }

    /// Does the same, and sends the messages.
    fn at_once<T>(&self, work: impl FnOnce() -> T) -> T {
        self.busily(|| {
            let done = work();
            self.flush();
            done
        })
    }

    pub(super) fn tick(&self) {
        self.at_once(|| {
            let now = Now::by_clock();
            if let Some(router) = &self.router {
                let mut dispatch = Dispatch::default();
                router.tick(now.instant, &mut dispatch);
                self.deliver(dispatch);
            }
            let mut actions = Vec::new();
            self.guard.tick(now, &mut actions);
            self.perform(actions);
        });
    }

    pub(super) fn compile(&self, compilation: ToolCompilation) {
        let compiled = compilation.run();
        self.at_once(|| {
            let mut actions = Vec::new();
            self.guard
                .tools_compiled(compiled, Now::by_clock(), &mut actions);
            self.perform(actions);
        });
    }

    /// Settles everything that waits for a server that has exited, and answers it if the client should know; returns
    /// whether there was anything to answer.
    pub(super) fn server_gone(&self, server: usize, gone: &Gone, is_reported: bool) -> bool {
        self.at_once(|| self.settle(server, gone, is_reported))
    }

    fn settle(&self, server: usize, gone: &Gone, is_reported: bool) -> bool {
        let why = &gone.why;
        let is_ending = self.is_ending.load(Ordering::Relaxed);
        if !is_ending {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        let Some(router) = &self.router else {
            let mut actions = Vec::new();
            self.guard.server_gone(why, &mut actions);
            actions.retain(|_| is_reported);
            let was_awaited = !actions.is_empty();
            self.perform(actions);
            return was_awaited;
        };
        let mut dispatch = Dispatch::default();
        router.server_gone(server, why, &mut dispatch);
        if is_ending {
            // Pending requests are still answered; change notifications are dropped.
            let is_response =
                |message: &[u8]| matches!(Message::read(message), Message::Response { .. });
            dispatch.to_client.retain(|message| is_response(message));
        } else {
            (self.warn)(&gone.for_operator());
        }
        let was_awaited = !dispatch.to_client.is_empty();
        self.deliver(dispatch);
        was_awaited
    }

    /// Copies a server's stderr to ours. With several servers, lines get the server's name.
    pub(super) fn copy_stderr(&self, server: usize, stderr: impl Read) {
        copy_labelled(stderr, &self.servers[server].label);
    }

    /// Carries out the guard's decisions; what is to be sent is collected until [`Hub::flush`].
    fn perform(&self, actions: Vec<Action<'_>>) {
        // With a single server, even a missing line break is kept.
        let end = match self.router {
            None => LineEnd::AsItIs,
            Some(_) => LineEnd::Add,
        };
        for action in actions {
            match action {
                Action::PassToServer(message) => self.send_on(message, end),
                Action::ToServer(message) => self.send_on(&message, LineEnd::Add),
                Action::Release(held) => self.send_on(&held.message, LineEnd::Add),
                Action::ListTools(request) => {
                    self.send_on(&request, LineEnd::Add);
                    self.report(HubEvent::Changed);
                }
                Action::PassToClient(message) => self.send_to_client(message, end),
                Action::ToClient(message) => self.send_to_client(&message, LineEnd::Add),
                Action::Answer(held) | Action::AskUser(held) => {
                    self.send_to_client(&held.message, LineEnd::Add);
                }
                Action::Hold(_) => self.report(HubEvent::Changed),
                Action::Drop(_) => {}
                Action::CompileTools(compilation) => self.report(HubEvent::Compile(compilation)),
                Action::Warn(warning) => (self.warn)(&warning),
            }
        }
    }

    /// Sends a client message to the server it is for.
    fn send_on(&self, message: &[u8], end: LineEnd) {
        match &self.router {
            None => self.send_to_server(0, message, end),
            Some(router) => {
                let mut dispatch = Dispatch::default();
                router.from_client(message, Now::by_clock().instant, &mut dispatch);
                self.deliver(dispatch);
            }
        }
    }

    /// Carries out the router's decisions. The guard sees everything before the client does.
    fn deliver(&self, dispatch: Dispatch<'_>) {
        if dispatch.has_new_deadline {
            self.report(HubEvent::Changed);
        }
        for warning in &dispatch.warnings {
            (self.warn)(warning);
        }
        for server in dispatch.restarts {
            let link = &self.servers[server];
            if link.is_process {
                link.generation.fetch_add(1, Ordering::AcqRel);
                link.replace_writer(Arc::new(LineWriter::new(None)));
                self.report(HubEvent::Restart(server));
            }
        }
        for (server, message) in dispatch.to_servers {
            self.send_to_server(server, &message, LineEnd::Add);
        }
        for message in &dispatch.to_client {
            self.through_guard(message);
        }
    }

    fn send_to_server(&self, server: usize, message: &[u8], end: LineEnd) {
        let link = &self.servers[server];
        let writer = link.writer();
        let sent = match self.router {
            None => writer.collect(message, end),
            Some(_) => writer.send(message, end),
        };
        // A message for a server that has closed its input is lost, as it would be in the pipe: once the server has
        // exited, every request is answered.
        if sent == Err(Unsent::Full)
            && let Message::Request { id, .. } = Message::read(message)
        {
            let why = format!("{} does not read its input", link.description());
            let error = own_messages::error(id.0, code::SERVER_FAILED, &why);
            self.handle_server_message(server, &error);
        }
    }

    fn send_to_client(&self, message: &[u8], end: LineEnd) {
        if self.to_client.collect(message, end).is_err() {
            self.end_of_client();
        }
        if !self.has_spoken.load(Ordering::Relaxed) {
            self.has_spoken.store(true, Ordering::Relaxed);
            self.report(HubEvent::Changed);
        }
    }

    /// Sends what was collected; `false` if the client has stopped reading.
    fn flush(&self) -> bool {
        if let (None, [only]) = (&self.router, &self.servers[..]) {
            // A server that has stopped reading answers nothing; once it has exited, every request is answered.
            let _ = only.writer().flush();
        }
        let is_open = self.to_client.flush().is_ok();
        if !is_open {
            self.end_of_client();
        }
        is_open
    }

    fn end_of_client(&self) {
        if !self.client_ended.swap(true, Ordering::AcqRel) {
            self.report(HubEvent::Changed);
        }
    }

    /// Once the session is over, events are dropped.
    pub(super) fn report(&self, event: HubEvent) {
        let _ = self.events.send(event);
    }
}
