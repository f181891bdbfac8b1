//! The session from beginning to end: all servers are started at once and supervised until they have ended.
//!
//! Signals are passed on. When the client has ended, all servers get the order to end. A server that ends earlier is reported
//! to the client, and the others go on. Returns the exit code and what went wrong.

use std::io::{self, Read};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::timeout;

use super::group::{GroupMember, ServerGroup};
use super::hub::{Hub, HubEvent, ServerLink, Warn};
use super::router::Router;
use super::server::{ServerExit, ServerOrder, StartedServer, start, until};
use crate::guard::{Guard, Settings};
use crate::line_writer::{LineSink, LineWriter};
use crate::process::{OwnSignals, ServerSignal, exit_code};
use crate::stderr_tail::StderrTail;

/// Threads that each server may need: for its input, its output and its stderr, and the same once more while it is
/// started again.
const SERVER_THREADS: usize = 6;

/// Threads besides: for the client, for deadlines, and some to spare.
const OTHER_THREADS: usize = 8;

/// How long a client may take for its first request if there is no server to answer it. Clients send it at once.
const FIRST_REQUEST: Duration = Duration::from_secs(10);

/// How long a request may be on its way in a pipe: on a busy machine, the thread that reads it waits for its turn.
const IN_TRANSIT: Duration = Duration::from_millis(50);

const NO_SERVER: u8 = 3;

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionEnd {
    /// The exit code of a direct server; 0 for a group whose client has ended; 3 if no server is left or was started.
    pub code: u8,
    /// What went wrong, if servers ended before the client.
    pub error: Option<String>,
}

/// Guards the servers of a group for the client on our own stdin and stdout, until the client ends or no server is left.
/// `warn` gets what the operator should know.
///
/// A thread that waits for our stdin is left running, so the process should end afterwards.
///
/// # Errors
/// Fails if the system has no pipes, threads or signals for us.
pub fn run(
    settings: Arc<Settings>,
    group: &ServerGroup,
    warn: impl Fn(&str) + Send + Sync + 'static,
) -> io::Result<SessionEnd> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(SERVER_THREADS * group.members.len() + OTHER_THREADS)
        .build()?;
    let end = runtime.block_on(serve(settings, group, Arc::new(warn)));
    runtime.shutdown_background();
    end
}

async fn serve(settings: Arc<Settings>, group: &ServerGroup, warn: Warn) -> io::Result<SessionEnd> {
    let signals = OwnSignals::new()?;
    let (stdin, stdout) = own_pipes()?;
    let (events_in, events) = unbounded_channel();
    let mut servers = Vec::with_capacity(group.members.len());
    let mut started = Vec::with_capacity(group.members.len());
    for member in &group.members {
        let (server, sink) = start(member, &warn)?;
        servers.push(ServerLink {
            label: member.name.clone(),
            writer: LineWriter::new(sink),
            is_process: matches!(server, StartedServer::Process { .. }),
            generation: AtomicUsize::new(0),
            is_awaited: AtomicBool::new(false),
            stderr_tail: StderrTail::default(),
        });
        started.push(server);
    }
    // A name that no other session has, in ledgers and records that are shared.
    let name = format!("{:012x}", fastrand::u64(..) >> 16);
    let hub = Arc::new(Hub {
        guard: Guard::new(settings, name),
        router: (!group.is_direct).then(|| Router::new(group, Instant::now())),
        to_client: LineWriter::new(Some(stdout)),
        servers,
        events: events_in,
        warn,
        lost: AtomicUsize::new(0),
        is_ending: AtomicBool::new(false),
        client_ended: AtomicBool::new(false),
        has_spoken: AtomicBool::new(false),
        busy: AtomicUsize::new(0),
    });
    let mut lifecycle = Lifecycle {
        hub: Arc::clone(&hub),
        events,
        signals,
        tasks: JoinSet::new(),
        members: group.members.clone(),
        orders: Vec::new(),
        running: 0,
        exited: 0,
        is_ticking: false,
        is_signalled: false,
        last_exit: None,
    };
    for (server, started) in started.into_iter().enumerate() {
        let writing = Arc::clone(&hub);
        spawn_blocking(move || writing.servers[server].writer.write_queued());
        lifecycle.begin(server, started);
    }
    spawn_blocking(move || hub.read_client(stdin));
    lifecycle.until_the_end().await
}

struct Lifecycle {
    hub: Arc<Hub>,
    events: UnboundedReceiver<HubEvent>,
    signals: OwnSignals,
    tasks: JoinSet<Finished>,
    members: Vec<GroupMember>,
    /// Orders for each server that was started, and which it is.
    orders: Vec<(usize, UnboundedSender<ServerOrder>)>,
    /// How many servers there are, those that have ended but are not settled yet included.
    running: usize,
    exited: usize,
    is_ticking: bool,
    is_signalled: bool,
    last_exit: Option<LastExit>,
}

enum Finished {
    /// Deadlines that had passed are handled.
    Tick,
    Exited(ServerExit),
    /// Everything that waited for an ended server is answered; whether anything did.
    Settled {
        was_awaited: bool,
    },
}

/// The end of the server that ended last.
struct LastExit {
    why: String,
    status: Option<ExitStatus>,
    client_was_first: bool,
    was_awaited: bool,
}

impl Lifecycle {
    /// Puts a server to work.
    fn begin(&mut self, server: usize, started: StartedServer) {
        self.running += 1;
        let (orders_in, orders) = unbounded_channel();
        self.orders.push((server, orders_in));
        let description = self.members[server].description();
        let run = started.run(Arc::clone(&self.hub), server, orders, description);
        self.tasks.spawn(async { Finished::Exited(run.await) });
    }

    /// Starts a server again and ends the process it had.
    fn restart(&mut self, server: usize) -> io::Result<()> {
        self.order(Some(server), ServerOrder::Signal(ServerSignal::Terminate));
        let (started, sink) = start(&self.members[server], &self.hub.warn)?;
        self.hub.servers[server].writer.attach(sink);
        self.begin(server, started);
        Ok(())
    }

    async fn until_the_end(mut self) -> io::Result<SessionEnd> {
        let mut is_closing = false;
        while self.running > 0 {
            // Requests that wait for several servers, or for the list of tools, are answered before servers end.
            if self.client_ended() && !is_closing && self.is_idle() {
                is_closing = true;
                self.hub.is_ending.store(true, Ordering::Relaxed);
                self.order(None, ServerOrder::End);
            }
            let deadline = self.deadline().filter(|_| !self.is_ticking);
            tokio::select! {
                Some(event) = self.events.recv() => self.note(event)?,
                Some(Ok(finished)) = self.tasks.join_next() => self.finished(finished),
                signal = self.signals.next() => {
                    if self.exited == self.running {
                        // Only a client that does not read keeps us.
                        break;
                    }
                    self.is_signalled = true;
                    if signal == ServerSignal::Terminate {
                        self.hub.is_ending.store(true, Ordering::Relaxed);
                    }
                    self.order(None, ServerOrder::Signal(signal));
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
        let all_lost = self.hub.lost.load(Ordering::Relaxed) >= self.members.len();
        let (code, error) = match (&self.hub.router, self.last_exit) {
            (Some(_), _) if all_lost && !self.is_signalled => {
                (NO_SERVER, Some("no MCP server is left".to_owned()))
            }
            (Some(_), _) | (None, None) => (0, None),
            (None, Some(exit)) => {
                let has_failed = exit.was_awaited || !exit.status.is_some_and(|it| it.success());
                let is_error = has_failed && !exit.client_was_first;
                let code = exit.status.map_or(NO_SERVER, exit_code);
                (code, is_error.then_some(exit.why))
            }
        };
        SessionEnd { code, error }
    }

    fn client_ended(&self) -> bool {
        self.hub.client_ended.load(Ordering::Acquire)
    }

    /// Whether nothing is left that servers have to be asked. In this order: whatever removes a deadline is busy until
    /// everything is sent.
    fn is_idle(&self) -> bool {
        self.deadline().is_none() && self.hub.busy.load(Ordering::Acquire) == 0
    }

    fn deadline(&self) -> Option<Instant> {
        let of_router = self.hub.router.as_ref().and_then(Router::deadline);
        let deadlines = [self.hub.guard.deadline(), of_router];
        deadlines.into_iter().flatten().min()
    }

    fn order(&self, server: Option<usize>, order: ServerOrder) {
        for (of, orders) in &self.orders {
            if server.is_none_or(|server| server == *of) {
                // A server that has ended takes no orders.
                let _ = orders.send(order);
            }
        }
    }

    fn note(&mut self, event: HubEvent) -> io::Result<()> {
        match event {
            HubEvent::Restart(server) => self.restart(server)?,
            HubEvent::OutputEnded(server) => self.order(Some(server), ServerOrder::End),
            HubEvent::Compile(compilation) => {
                let hub = Arc::clone(&self.hub);
                spawn_blocking(move || hub.compile(compilation));
            }
            HubEvent::Changed => {}
        }
        Ok(())
    }

    fn finished(&mut self, finished: Finished) {
        match finished {
            Finished::Tick => self.is_ticking = false,
            Finished::Exited(exit) => self.server_exited(exit),
            Finished::Settled { was_awaited } => {
                self.running -= 1;
                self.exited -= 1;
                if let Some(exit) = &mut self.last_exit {
                    exit.was_awaited = was_awaited;
                }
            }
        }
    }

    fn server_exited(&mut self, exit: ServerExit) {
        let ServerExit {
            server,
            generation,
            why,
            status,
        } = exit;
        if self.hub.servers[server].generation.load(Ordering::Acquire) != generation {
            // It was started again meanwhile.
            self.running -= 1;
            return;
        }
        self.exited += 1;
        let client_was_first = self.client_ended();
        // A server that ended as it should left requests unanswered on purpose; they are only recorded.
        let is_done = client_was_first
            && self.hub.router.is_none()
            && status.is_some_and(|status| status.success());
        let (hub, cause) = (Arc::clone(&self.hub), why.clone());
        self.tasks.spawn_blocking(move || Finished::Settled {
            was_awaited: hub.server_gone(server, &cause, !is_done),
        });
        self.last_exit = Some(LastExit {
            why,
            status,
            client_was_first,
            was_awaited: false,
        });
    }
}

/// Waits until requests that were on their way when the last server ended are answered. A client that has not got any
/// message yet gets the time to send its first request, so that it learns what is wrong.
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

/// Our stdin and stdout without the buffers of the standard library, which would copy everything once more.
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
