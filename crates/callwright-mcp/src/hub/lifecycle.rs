//! The session from beginning to end: all servers are started at once and supervised until they have ended.
//!
//! Signals are passed on. When the client has ended, all servers are told to end. A server that ends earlier is reported
//! to the client, and the others go on. Returns the exit code and what went wrong.

use std::fs::File;
use std::io::{self, Read};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{sleep_until, timeout};

use super::group::{GroupMember, ServerGroup};
use super::hub::{Errand, Hub, HubEvent, ServerExit, ServerLink, Warn};
use super::router::Router;
use super::server::{ServerOrder, StartedServer, start, supervise};
use crate::guard::{Guard, Settings};
use crate::line_writer::{LineSink, LineWriter};
use crate::process::{OwnSignals, ServerSignal, exit_code};
use crate::stderr_tail::StderrTail;

/// How long a client may take for its first request if there is no server to answer it. Clients send it at once.
const FIRST_REQUEST: Duration = Duration::from_secs(10);

/// How long a request may be on its way in a pipe: on a busy machine, the thread that reads it waits for its turn.
const IN_TRANSIT: Duration = Duration::from_millis(50);

/// The exit code if there is no server.
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
        .build()?;
    runtime.block_on(serve(settings, group, Arc::new(warn)))
}

async fn serve(settings: Arc<Settings>, group: &ServerGroup, warn: Warn) -> io::Result<SessionEnd> {
    let signals = OwnSignals::new()?;
    let (stdin, stdout) = own_pipes()?;
    let (events_in, events) = unbounded_channel();
    let (errands, errands_out) = mpsc::channel();
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
        errands,
        members: group.members.clone(),
        orders: Vec::new(),
        running: 0,
        exited: 0,
        is_ticking: false,
        is_signalled: false,
        last_exit: None,
    };
    spawn("callwright-errands", &hub, move |hub| {
        hub.run_errands(&errands_out);
    })?;
    for (server, started) in started.into_iter().enumerate() {
        if !matches!(started, StartedServer::Failed(_)) {
            spawn("callwright-queue", &hub, move |hub| {
                hub.servers[server].writer.write_queued();
            })?;
        }
        lifecycle.begin(server, started)?;
    }
    spawn("callwright-client", &hub, |hub| hub.read_client(stdin))?;
    lifecycle.until_the_end().await
}

/// Supervises the session.
struct Lifecycle {
    hub: Arc<Hub>,
    events: UnboundedReceiver<HubEvent>,
    signals: OwnSignals,
    errands: mpsc::Sender<Errand>,
    members: Vec<GroupMember>,
    /// Orders for each server that was started, and which it is.
    orders: Vec<(usize, UnboundedSender<ServerOrder>)>,
    /// How many servers there are, those that have ended but are not settled yet included.
    running: usize,
    /// How many of them have ended.
    exited: usize,
    /// Whether an errand handles a deadline.
    is_ticking: bool,
    is_signalled: bool,
    last_exit: Option<LastExit>,
}

/// The end of the server that ended last.
struct LastExit {
    why: String,
    status: Option<ExitStatus>,
    /// Whether the client had ended before it.
    client_was_first: bool,
    /// Whether any request waited for it.
    was_awaited: bool,
}

impl Lifecycle {
    /// Puts a server to work.
    fn begin(&mut self, server: usize, started: StartedServer) -> io::Result<()> {
        self.running += 1;
        let (orders_in, orders) = unbounded_channel();
        self.orders.push((server, orders_in));
        let hub = Arc::clone(&self.hub);
        let description = self.members[server].description();
        let generation = hub.servers[server].generation.load(Ordering::Acquire);
        let exited = move |hub: &Hub, (why, status): (String, Option<ExitStatus>)| {
            hub.report(HubEvent::Exited(ServerExit {
                server,
                generation,
                why,
                status,
            }));
        };
        match started {
            StartedServer::Process {
                process,
                stdout,
                stderr,
            } => {
                let readers = [
                    spawn("callwright-server", &hub, move |hub| {
                        hub.read_server(server, stdout);
                    })?,
                    spawn("callwright-stderr", &hub, move |hub| {
                        hub.copy_stderr(server, stderr);
                    })?,
                ];
                tokio::spawn(async move {
                    let link = &hub.servers[server];
                    let ended = supervise(*process, link, readers, orders, &description).await;
                    exited(&hub, ended);
                });
            }
            #[cfg(feature = "http")]
            StartedServer::Remote(remote, output) => {
                spawn("callwright-server", &hub, move |hub| {
                    hub.read_server(server, output);
                })?;
                tokio::spawn(async move {
                    let link = &hub.servers[server];
                    let ended =
                        super::server::supervise_remote(*remote, link, orders, &description);
                    exited(&hub, (ended.await, None));
                });
            }
            StartedServer::Failed(why) => exited(&hub, (why, None)),
        }
        Ok(())
    }

    /// Starts a server again and ends the process it had.
    fn restart(&mut self, server: usize) -> io::Result<()> {
        self.order(Some(server), ServerOrder::Signal(ServerSignal::Terminate));
        let (started, sink) = start(&self.members[server], &self.hub.warn)?;
        self.hub.servers[server].writer.attach(sink);
        self.begin(server, started)
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
                    self.is_ticking = self.errands.send(Errand::Tick).is_ok();
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

    /// When something is to be done.
    fn deadline(&self) -> Option<Instant> {
        let of_router = self.hub.router.as_ref().and_then(Router::deadline);
        let deadlines = [self.hub.guard.deadline(), of_router];
        deadlines.into_iter().flatten().min()
    }

    /// Gives an order to one server, or to all.
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
            HubEvent::TickDone => self.is_ticking = false,
            HubEvent::Exited(exit) => self.server_exited(exit),
            HubEvent::ServerSettled { was_awaited } => {
                self.running -= 1;
                self.exited -= 1;
                if let Some(exit) = &mut self.last_exit {
                    exit.was_awaited = was_awaited;
                }
            }
            HubEvent::ClientEnded | HubEvent::FirstMessage | HubEvent::DeadlineChanged => {}
        }
        Ok(())
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
        // A server that did what it should left unanswered what it left on purpose.
        let is_done = client_was_first
            && self.hub.router.is_none()
            && status.is_some_and(|status| status.success());
        let errand = if is_done {
            Errand::ServerDone
        } else {
            let why = why.clone();
            Errand::ServerGone { server, why }
        };
        let _ = self.errands.send(errand);
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
    while let Ok(Some(event)) = timeout(IN_TRANSIT, events.recv()).await {
        if matches!(event, HubEvent::ClientEnded) {
            return;
        }
    }
}

/// Never, if there is no such moment.
async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}

fn spawn(
    name: &str,
    hub: &Arc<Hub>,
    work: impl FnOnce(&Hub) + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let hub = Arc::clone(hub);
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || work(&hub))
}

/// Our stdin and stdout without the buffers of the standard library, which would copy everything once more.
#[cfg(unix)]
fn own_pipes() -> io::Result<(impl Read + Send + 'static, LineSink)> {
    use std::os::fd::AsFd as _;
    let stdin = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let stdout = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    Ok((stdin, LineSink::Blocking(Box::new(stdout))))
}

#[cfg(not(unix))]
fn own_pipes() -> io::Result<(impl Read + Send + 'static, LineSink)> {
    Ok((io::stdin(), LineSink::Blocking(Box::new(io::stdout()))))
}
