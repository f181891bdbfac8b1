//! The session from start to end: starts all servers at once and supervises them until they have exited.
//!
//! Signals are passed on. When the client has disconnected, all servers are told to exit. A server that exits earlier
//! is reported to the client, and the others continue. Returns the exit code and what went wrong.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::timeout;

use super::group::ServerGroup;
use super::hub::{Hub, HubEvent};
use super::router::Router;
use super::server::{ServerExit, ServerOrder, ServerTask, start, until};
use crate::guard::Settings;
use crate::line_writer::LineSink;
use crate::process::{OwnSignals, ServerSignal, exit_code};

/// Threads that each server may need: for its input, its output and its stderr, and the same again while it is being
/// restarted.
const SERVER_THREADS: usize = 6;

/// Other threads: for the client, for deadlines, for tool lists, and some to spare.
const OTHER_THREADS: usize = 8;

/// How long a client may take for its first request if there is no server to answer it. Clients send it immediately.
const FIRST_REQUEST: Duration = Duration::from_secs(10);

/// How long a request may be in transit in a pipe: on a busy machine, the thread that reads it has to wait its turn.
const IN_TRANSIT: Duration = Duration::from_millis(50);

const NO_SERVER: u8 = 3;

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionEnd {
    /// The exit code of a direct server; 0 for a group whose client has disconnected; 3 if no server is left or was
    /// started.
    pub code: u8,
    /// What went wrong, if servers exited before the client disconnected.
    pub error: Option<String>,
}

/// Guards the servers of a group for the client on our own stdin and stdout, until the client disconnects or no
/// server is left. `warn` receives messages for the operator.
///
/// A thread that is blocked on our stdin is left running, so the process should exit afterwards.
///
/// # Errors
/// Fails if the system cannot provide pipes, threads or signals.
pub fn run(
    settings: Arc<Settings>,
    group: &ServerGroup,
    warn: impl Fn(&str) + Send + Sync + 'static,
) -> io::Result<SessionEnd> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(SERVER_THREADS * group.members.len() + OTHER_THREADS)
        .build()?;
    let session = async {
        let signals = OwnSignals::new()?;
        let (stdin, stdout) = own_pipes()?;
        let (events_in, events) = unbounded_channel();
        let hub = Arc::new(Hub::new(settings, group, stdout, events_in, Arc::new(warn)));
        let mut lifecycle = Lifecycle {
            hub: Arc::clone(&hub),
            events,
            signals,
            tasks: JoinSet::new(),
            orders: Vec::new(),
            running: group.members.len(),
            is_ticking: false,
            is_signalled: false,
            last_exit: None,
        };
        for (server, member) in group.members.iter().enumerate() {
            let (started, sink) = start(&hub, server, member)?;
            hub.servers[server].writer().attach(sink);
            let (orders_in, orders) = unbounded_channel();
            lifecycle.orders.push(orders_in);
            let task = ServerTask {
                hub: Arc::clone(&hub),
                server,
                member: member.clone(),
                orders,
            };
            let exited = async { Finished::Exited(task.run(started).await) };
            lifecycle.tasks.spawn(exited);
        }
        spawn_blocking(move || hub.read_client(stdin));
        lifecycle.until_the_end().await
    };
    let end = runtime.block_on(session);
    runtime.shutdown_background();
    end
}

struct Lifecycle {
    hub: Arc<Hub>,
    events: UnboundedReceiver<HubEvent>,
    signals: OwnSignals,
    tasks: JoinSet<Finished>,
    /// The order channel of each server.
    orders: Vec<UnboundedSender<ServerOrder>>,
    /// How many servers there are, including those that have exited but are not settled yet.
    running: usize,
    is_ticking: bool,
    is_signalled: bool,
    last_exit: Option<ServerExit>,
}

enum Finished {
    /// Passed deadlines have been handled.
    Tick,
    Exited(io::Result<ServerExit>),
}

impl Lifecycle {
    async fn until_the_end(mut self) -> io::Result<SessionEnd> {
        let mut is_closing = false;
        while self.running > 0 {
            // Requests that wait for several servers, or for the tool list, are answered before servers are stopped.
            if self.client_ended() && !is_closing && self.is_idle() {
                is_closing = true;
                self.hub.is_ending.store(true, Ordering::Relaxed);
                self.order_all(ServerOrder::End);
            }
            let deadline = self.deadline().filter(|_| !self.is_ticking);
            tokio::select! {
                Some(event) = self.events.recv() => self.note(event),
                Some(Ok(finished)) = self.tasks.join_next() => match finished {
                    Finished::Tick => self.is_ticking = false,
                    Finished::Exited(exit) => {
                        self.running -= 1;
                        self.last_exit = Some(exit?);
                    }
                },
                signal = self.signals.next() => {
                    if self.hub.settling.load(Ordering::Acquire) == self.running {
                        // The only thing left is a client that does not read.
                        break;
                    }
                    self.is_signalled = true;
                    if signal == ServerSignal::Terminate {
                        self.hub.is_ending.store(true, Ordering::Relaxed);
                    }
                    self.order_all(ServerOrder::Signal(signal));
                }
                () = until(deadline) => {
                    self.is_ticking = true;
                    let hub = Arc::clone(&self.hub);
                    self.tasks.spawn_blocking(move || {
                        hub.tick();
                        Finished::Tick
                    });
                }
            }
        }
        if !self.client_ended() && !self.is_signalled {
            tokio::select! {
                () = last_requests(&self.hub, &mut self.events) => {}
                _ = self.signals.next() => {}
            }
        }
        Ok(self.end())
    }

    fn end(self) -> SessionEnd {
        let all_lost = self.hub.lost.load(Ordering::Relaxed) >= self.orders.len();
        let (code, error) = match (&self.hub.router, self.last_exit) {
            (Some(_), _) if all_lost && !self.is_signalled => {
                (NO_SERVER, Some("no MCP server is left".to_owned()))
            }
            (Some(_), _) | (None, None) => (0, None),
            (None, Some(exit)) => {
                let has_failed = exit.was_awaited || !exit.status.is_some_and(|it| it.success());
                let is_error = has_failed && !exit.client_was_first;
                let code = exit.status.map_or(NO_SERVER, exit_code);
                (code, is_error.then(|| exit.gone.for_operator()))
            }
        };
        SessionEnd { code, error }
    }

    fn client_ended(&self) -> bool {
        self.hub.client_ended.load(Ordering::Acquire)
    }

    /// Whether nothing is left to ask servers. Checked in this order: whatever removes a deadline is busy until
    /// everything is sent.
    fn is_idle(&self) -> bool {
        self.deadline().is_none() && self.hub.busy.load(Ordering::Acquire) == 0
    }

    fn deadline(&self) -> Option<Instant> {
        let of_router = self.hub.router.as_ref().and_then(Router::deadline);
        let deadlines = [self.hub.guard.deadline(), of_router];
        deadlines.into_iter().flatten().min()
    }

    fn order_all(&self, order: ServerOrder) {
        for server in 0..self.orders.len() {
            self.order(server, order);
        }
    }

    /// A server that has exited takes no orders.
    fn order(&self, server: usize, order: ServerOrder) {
        let _ = self.orders.get(server).map(|orders| orders.send(order));
    }

    fn note(&self, event: HubEvent) {
        match event {
            HubEvent::Restart(server) => self.order(server, ServerOrder::Restart),
            HubEvent::OutputEnded(server, generation) => {
                // It may have been restarted meanwhile.
                let now = self.hub.servers[server].generation.load(Ordering::Acquire);
                if now == generation {
                    self.order(server, ServerOrder::End);
                }
            }
            HubEvent::Compile(compilation) => {
                let hub = Arc::clone(&self.hub);
                spawn_blocking(move || hub.compile(compilation));
            }
            HubEvent::Changed => {}
        }
    }
}

/// Waits until requests that were in transit when the last server exited are answered. A client that has not received
/// any message yet gets time to send its first request, so that it learns what is wrong.
async fn last_requests(hub: &Hub, events: &mut UnboundedReceiver<HubEvent>) {
    let first = async {
        while !hub.has_spoken.load(Ordering::Relaxed) && !hub.client_ended.load(Ordering::Relaxed) {
            events.recv().await;
        }
    };
    let _ = timeout(FIRST_REQUEST, first).await;
    while !hub.client_ended.load(Ordering::Relaxed) {
        if timeout(IN_TRANSIT, events.recv()).await.is_err() {
            return;
        }
    }
}

/// Our stdin and stdout without the standard library's buffers, which would copy everything once more.
#[cfg(unix)]
fn own_pipes() -> io::Result<(impl Read + Send + 'static, LineSink)> {
    use std::os::fd::AsFd as _;
    let stdin = std::fs::File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let stdout = std::fs::File::from(io::stdout().as_fd().try_clone_to_owned()?);
    Ok((stdin, LineSink::Blocking(Box::new(stdout))))
}

#[cfg(not(unix))]
fn own_pipes() -> io::Result<(impl Read + Send + 'static, LineSink)> {
    Ok((io::stdin(), LineSink::Blocking(Box::new(io::stdout()))))
}
