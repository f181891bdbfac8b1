//! One server, from its start to its exit, and from its exit to its next start.
//!
//! Takes orders: signals to pass on, and the orders to exit or to restart. A server that is to exit first sees the
//! end of its input, then gets a signal to terminate, then is killed; whatever it started ends with it. If a process
//! exits by itself in the middle of a session, its pending requests are answered, and it is restarted, a few times
//! and after a pause, with the client's own handshake. Returns how it ended for good, once its last output has been
//! read.

use std::io::{self, PipeReader};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{sleep, sleep_until, timeout};

use super::group::{Endpoint, GroupMember};
use super::hub::{Hub, ServerLink};
#[cfg(feature = "http")]
use super::remote::{self, MemoryPipe, RemoteServer};
use crate::line_reader::LineReader;
use crate::line_writer::{LineSink, LineWriter};
use crate::process::{ServerProcess, ServerSignal};

/// How long a server may take to exit by itself after its input is closed. Together with the next limit it is less
/// than the four seconds after which the official clients kill us, which would leave the server running.
const TO_END: Duration = Duration::from_secs(2);

/// How long it may take to exit after a signal to terminate.
const TO_TERMINATE: Duration = Duration::from_millis(1_500);

/// How long to wait for the output of a server that has exited: it is already in a pipe, unless a process that the
/// server left behind still holds the pipe.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// How long to wait for its last lines on stderr, which are also in a pipe.
const LAST_STDERR: Duration = Duration::from_millis(200);

/// How often to check whether all output is read.
const STEP: Duration = Duration::from_millis(10);

/// How many times in a row a server is restarted. One that crashes on every call would otherwise do so forever.
const MOST_RESTARTS: u32 = 5;

/// The pause before the first restart; each further one is twice as long, up to three seconds.
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// A server that has run for this long does not crash on startup.
const STEADY: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy)]
pub(super) enum ServerOrder {
    /// Its input is closed, and it should exit.
    End,
    /// Another process takes its place.
    Restart,
    Signal(ServerSignal),
}

/// A server that was just started, or could not be.
pub(super) enum StartedServer {
    Process {
        process: Box<ServerProcess>,
        stdout: LineReader<PipeReader>,
        /// Copies its stderr.
        stderr: JoinHandle<()>,
    },
    #[cfg(feature = "http")]
    Remote(Box<RemoteServer>, MemoryPipe),
    /// Why there is none.
    Failed(Gone),
}

/// Why a server is gone.
#[derive(Debug, Clone)]
pub(super) struct Gone {
    /// For the client. Commands may contain secrets, and so may a server's stderr.
    pub(super) why: String,
    /// Further details, only for the operator.
    pub(super) detail: String,
}

impl Gone {
    fn new(why: String) -> Self {
        let detail = String::new();
        Gone { why, detail }
    }

    pub(super) fn for_operator(&self) -> String {
        format!("{}{}", self.why, self.detail)
    }
}

/// How a server exited.
#[derive(Debug)]
pub(super) struct ServerExit {
    pub(super) gone: Gone,
    /// `None` if it was never started, or is not a process.
    pub(super) status: Option<ExitStatus>,
    /// Whether the client had disconnected before it.
    pub(super) client_was_first: bool,
    /// Whether any request was waiting for it.
    pub(super) was_awaited: bool,
}

/// Starts a server, or connects to it; also returns where its messages go.
pub(super) fn start(
    hub: &Arc<Hub>,
    server: usize,
    member: &GroupMember,
) -> io::Result<(StartedServer, Option<LineSink>)> {
    let description = member.description();
    match &member.endpoint {
        Endpoint::Command(command) => match ServerProcess::start(command) {
            Ok((process, stdin, stdout, stderr)) => {
                let copying = Arc::clone(hub);
                let started = StartedServer::Process {
                    process: Box::new(process),
                    stdout: LineReader::new(stdout, hub.most_bytes),
                    stderr: spawn_blocking(move || copying.copy_stderr(server, stderr)),
                };
                Ok((started, Some(LineSink::pipe(stdin)?)))
            }
            Err(error) => {
                let program = command.program.to_string_lossy();
                let gone = Gone {
                    why: format!("{description} cannot be started"),
                    detail: format!(
                        ": `{program}`: {error}; check its command and working directory"
                    ),
                };
                Ok((StartedServer::Failed(gone), None))
            }
        },
        #[cfg(feature = "http")]
        Endpoint::Url { url, headers } => {
            let (warn, name) = (Arc::clone(&hub.warn), member.name.clone());
            let warn = Arc::new(move |warning: &str| warn(&format!("{name}: {warning}")));
            let (remote, sink, output) = remote::connect(url, headers, hub.most_bytes, warn);
            Ok((StartedServer::Remote(Box::new(remote), output), Some(sink)))
        }
        #[cfg(not(feature = "http"))]
        Endpoint::Url { .. } => {
            let gone = Gone::new(format!(
                "{description} speaks HTTP, which this build does not support"
            ));
            Ok((StartedServer::Failed(gone), None))
        }
    }
}

/// A server of the session, whichever process it is.
pub(super) struct ServerTask {
    pub(super) hub: Arc<Hub>,
    pub(super) server: usize,
    pub(super) member: GroupMember,
    pub(super) orders: UnboundedReceiver<ServerOrder>,
}

/// Why a process ended.
enum Ended {
    ByItself(Gone, Option<ExitStatus>),
    /// Another one is to take its place.
    ToRestart,
}

impl ServerTask {
    /// Runs the server until it has exited for good.
    pub(super) async fn run(mut self, mut started: StartedServer) -> io::Result<ServerExit> {
        let mut restarts = 0;
        loop {
            let began = Instant::now();
            let ended = self.run_once(started).await;
            if began.elapsed() > STEADY {
                restarts = 0;
            }
            let Ended::ByItself(gone, status) = ended else {
                let (next, sink) = start(&self.hub, self.server, &self.member)?;
                self.link().writer().attach(sink);
                started = next;
                continue;
            };
            let exit = self.settle(gone, status).await;
            let may_restart = exit.status.is_some() && restarts < MOST_RESTARTS;
            if !may_restart || !self.hub.is_in_session() {
                return Ok(exit);
            }
            if self.hub.router.is_none() {
                (self.hub.warn)(&exit.gone.for_operator());
            }
            let again = self.start_again(FIRST_PAUSE * 2_u32.pow(restarts)).await?;
            let Some(next) = again else {
                return Ok(exit);
            };
            restarts += 1;
            started = next;
        }
    }

    fn link(&self) -> &ServerLink {
        &self.hub.servers[self.server]
    }

    /// Answers everything that waits for a server that has exited. A server that exited as it should left requests
    /// unanswered on purpose; they are only recorded.
    async fn settle(&self, gone: Gone, status: Option<ExitStatus>) -> ServerExit {
        let hub = Arc::clone(&self.hub);
        let client_was_first = hub.client_ended.load(Ordering::Acquire);
        let is_done = client_was_first
            && hub.router.is_none()
            && status.is_some_and(|status| status.success());
        hub.settling.fetch_add(1, Ordering::AcqRel);
        let (server, cause) = (self.server, gone.clone());
        let settled = spawn_blocking(move || hub.server_gone(server, &cause, !is_done)).await;
        self.hub.settling.fetch_sub(1, Ordering::AcqRel);
        ServerExit {
            gone,
            status,
            client_was_first,
            was_awaited: settled.unwrap_or_default(),
        }
    }

    /// Restarts a process that has exited, after a pause; `None` if the session ends meanwhile, or if the server does
    /// not answer the handshake.
    async fn start_again(&mut self, pause: Duration) -> io::Result<Option<StartedServer>> {
        self.link().generation.fetch_add(1, Ordering::AcqRel);
        tokio::select! {
            () = self.ordered_to_end() => return Ok(None),
            () = sleep(pause) => {}
        }
        let (started, sink) = start(&self.hub, self.server, &self.member)?;
        let (process, stdout, stderr) = match started {
            StartedServer::Process {
                process,
                stdout,
                stderr,
            } => (process, stdout, stderr),
            StartedServer::Failed(gone) => {
                (self.hub.warn)(&gone.for_operator());
                return Ok(None);
            }
            #[cfg(feature = "http")]
            StartedServer::Remote(..) => return Ok(None),
        };
        let writer = Arc::new(LineWriter::new(sink));
        let (hub, stdin) = (Arc::clone(&self.hub), Arc::clone(&writer));
        let greeting = spawn_blocking(move || hub.handshake.repeat(&stdin, stdout));
        // This ends a process that says nothing, and with it the thread that reads it.
        let limit = self.hub.start_limit;
        let greeted = tokio::select! {
            greeted = timeout(limit, greeting) => greeted.ok().and_then(Result::ok),
            () = self.ordered_to_end() => None,
        };
        let Some(stdout) = greeted.flatten() else {
            let server = self.member.description();
            (self.hub.warn)(&format!("{server} could not be restarted"));
            return Ok(None);
        };
        self.link().replace_writer(writer);
        let (hub, server) = (Arc::clone(&self.hub), self.server);
        drop(spawn_blocking(move || hub.server_back(server)).await);
        Ok(Some(StartedServer::Process {
            process,
            stdout,
            stderr,
        }))
    }

    /// Waits until the session ends. An order to exit that was caused by the exit of the last process does not count.
    async fn ordered_to_end(&mut self) {
        while let Some(order) = self.orders.recv().await {
            if matches!(order, ServerOrder::Signal(_)) || !self.hub.is_in_session() {
                return;
            }
        }
    }

    /// Reads a server and passes orders on to it until it has exited.
    async fn run_once(&mut self, started: StartedServer) -> Ended {
        let (hub, server, name) = (&self.hub, self.server, self.member.description());
        let link = &hub.servers[server];
        let generation = link.generation.load(Ordering::Acquire);
        let writer = link.writer();
        spawn_blocking(move || writer.write_queued());
        let reader = Arc::clone(hub);
        match started {
            StartedServer::Process {
                process,
                stdout,
                stderr,
            } => {
                let stdout = spawn_blocking(move || reader.read_server(server, generation, stdout));
                let Some(status) = supervise(*process, link, &stdout, &mut self.orders).await
                else {
                    return Ended::ToRestart;
                };
                let _ = timeout(LAST_STDERR, stderr).await;
                let how = match &status {
                    Ok(status) => status.to_string(),
                    Err(error) => error.to_string(),
                };
                let gone = Gone::new(format!("{name} has exited: {how}"));
                Ended::ByItself(gone, status.ok())
            }
            #[cfg(feature = "http")]
            StartedServer::Remote(remote, output) => {
                let output = LineReader::new(output, hub.most_bytes);
                spawn_blocking(move || reader.read_server(server, generation, output));
                let mut next = None;
                let why = tokio::select! {
                    why = remote.run(&name) => why,
                    _ = next_signal(&mut self.orders, link, &mut next) => {
                        format!("{name} is no longer connected")
                    }
                };
                Ended::ByItself(Gone::new(why), None)
            }
            StartedServer::Failed(gone) => Ended::ByItself(gone, None),
        }
    }
}

/// Waits until a process and everything it started have exited, and its output is read. `None` if another one is to
/// take its place; this one then exits by itself.
async fn supervise(
    mut process: ServerProcess,
    link: &ServerLink,
    stdout: &JoinHandle<()>,
    orders: &mut UnboundedReceiver<ServerOrder>,
) -> Option<io::Result<ExitStatus>> {
    let mut next = None;
    let status = loop {
        tokio::select! {
            status = process.wait() => break status,
            signal = next_signal(orders, link, &mut next) => {
                process.signal(signal.unwrap_or(ServerSignal::Terminate));
                if signal.is_none() {
                    tokio::spawn(async move { drop(timeout(TO_TERMINATE, process.wait()).await) });
                    return None;
                }
            }
        }
    };
    // Its child processes end with it.
    process.signal(ServerSignal::Terminate);
    // A client may take its time; only waiting for the server counts.
    let mut waited = Duration::ZERO;
    while !stdout.is_finished() && waited < LAST_OUTPUT {
        tokio::select! {
            Some(ServerOrder::Signal(_)) = orders.recv() => break,
            () = sleep(STEP) => waited += STEP,
        }
        if !link.is_awaited.load(Ordering::Relaxed) {
            waited = Duration::ZERO;
        }
    }
    Some(status)
}

/// Waits for the next signal that a server should get: by order, or because it did not exit in time. `next` is the
/// one that is then due. `None` if it is to be restarted.
async fn next_signal(
    orders: &mut UnboundedReceiver<ServerOrder>,
    link: &ServerLink,
    next: &mut Option<(Instant, ServerSignal)>,
) -> Option<ServerSignal> {
    let kill = || Some((Instant::now() + TO_TERMINATE, ServerSignal::Kill));
    loop {
        tokio::select! {
            Some(order) = orders.recv() => match order {
                ServerOrder::End => {
                    link.writer().close();
                    next.get_or_insert((Instant::now() + TO_END, ServerSignal::Terminate));
                }
                ServerOrder::Restart => return None,
                ServerOrder::Signal(signal) => {
                    if signal == ServerSignal::Terminate {
                        *next = kill();
                    }
                    return Some(signal);
                }
            },
            () = until(next.map(|(at, _)| at)) => {
                if let Some((_, signal)) = std::mem::replace(next, kill()) {
                    return Some(signal);
                }
            }
        }
    }
}

/// Never resolves if there is no such moment.
pub(super) async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}
