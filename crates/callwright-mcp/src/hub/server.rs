//! One server, from its start to its end.
//!
//! Takes orders: signals to pass on, and the order to end. A server that is to end gets the end of its input first, then
//! a signal to terminate, then it is killed; whatever it started ends with it. Returns how it ended, once its last
//! output has been read.

use std::io::{self, PipeReader};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, sleep_until, timeout};

use super::group::{Endpoint, GroupMember};
use super::hub::{Hub, ServerLink, Warn};
#[cfg(feature = "http")]
use super::remote::{self, MemoryPipe, RemoteServer};
use crate::line_writer::LineSink;
use crate::process::{ServerProcess, ServerSignal};

/// How long a server may take to end by itself once its input has ended. Together with the next one it is less than the
/// four seconds after which the official clients kill us, which would leave the server running.
const TO_END: Duration = Duration::from_secs(2);

/// How long it may take to end after a signal to terminate.
const TO_TERMINATE: Duration = Duration::from_millis(1_500);

/// How long to wait for the output of a server that has ended: it is in a pipe already, unless a process that the server
/// left behind still holds the pipe.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// How long to wait for its last lines on stderr, which are in a pipe too.
const LAST_STDERR: Duration = Duration::from_millis(200);

/// How often to check whether all output is read.
const STEP: Duration = Duration::from_millis(10);

#[derive(Debug, Clone, Copy)]
pub(super) enum ServerOrder {
    /// Its input ends, and it should too.
    End,
    Signal(ServerSignal),
}

/// A server that was just started, or could not be.
pub(super) enum StartedServer {
    Process {
        process: Box<ServerProcess>,
        stdout: PipeReader,
        stderr: PipeReader,
    },
    #[cfg(feature = "http")]
    Remote(Box<RemoteServer>, MemoryPipe),
    /// Why there is none, for the client.
    Failed(String),
}

/// Starts a server, or connects to it; also returns where its messages go.
#[cfg_attr(
    not(feature = "http"),
    allow(unused_variables, reason = "only HTTP has warnings")
)]
pub(super) fn start(
    member: &GroupMember,
    warn: &Warn,
) -> io::Result<(StartedServer, Option<LineSink>)> {
    let description = member.description();
    match &member.endpoint {
        Endpoint::Command(command) => match ServerProcess::start(command) {
            Ok((process, pipes)) => {
                let server = StartedServer::Process {
                    process: Box::new(process),
                    stdout: pipes.stdout,
                    stderr: pipes.stderr,
                };
                Ok((server, Some(LineSink::pipe(pipes.stdin)?)))
            }
            Err(error) => {
                let hint = match member.name.as_str() {
                    "" => "check the command after `--`",
                    _ => "check its command and its folder",
                };
                let why =
                    format!("the MCP server {description} cannot be started: {error}; {hint}");
                Ok((StartedServer::Failed(why), None))
            }
        },
        #[cfg(feature = "http")]
        Endpoint::Url { url, headers } => {
            let (warn, name) = (Warn::clone(warn), member.name.clone());
            let warn: Warn = Arc::new(move |warning: &str| warn(&format!("{name}: {warning}")));
            let (server, sink, output) = remote::connect(url, headers, warn);
            Ok((StartedServer::Remote(Box::new(server), output), Some(sink)))
        }
        #[cfg(not(feature = "http"))]
        Endpoint::Url { .. } => {
            let why = format!(
                "the MCP server {description} speaks HTTP, which this build does not support"
            );
            Ok((StartedServer::Failed(why), None))
        }
    }
}

#[derive(Debug)]
pub(super) struct ServerExit {
    pub(super) server: usize,
    /// Which start of the server it was, counted from 0.
    pub(super) generation: usize,
    /// Why it is gone, for the client.
    pub(super) why: String,
    /// `None` if it was never started, or is not a process.
    pub(super) status: Option<ExitStatus>,
}

impl StartedServer {
    /// Reads a server and passes orders on to it until it has ended. `description` is for messages.
    pub(super) async fn run(
        self,
        hub: Arc<Hub>,
        server: usize,
        orders: UnboundedReceiver<ServerOrder>,
        description: String,
    ) -> ServerExit {
        let link = &hub.servers[server];
        let generation = link.generation.load(Ordering::Acquire);
        let reader = Arc::clone(&hub);
        let (why, status) = match self {
            StartedServer::Process {
                process,
                stdout,
                stderr,
            } => {
                let stdout = spawn_blocking(move || reader.read_server(server, generation, stdout));
                let reader = Arc::clone(&hub);
                let stderr = spawn_blocking(move || reader.copy_stderr(server, stderr));
                let status = supervise(*process, link, &stdout, orders).await;
                let _ = timeout(LAST_STDERR, stderr).await;
                let why = match &status {
                    Ok(status) => status.to_string(),
                    Err(error) => error.to_string(),
                };
                let mut why = format!("the MCP server {description} has ended: {why}");
                let tail = link.stderr_tail.text();
                if !tail.is_empty() {
                    why.push_str("; its last lines on stderr:\n");
                    why.push_str(&tail);
                }
                (why, status.ok())
            }
            #[cfg(feature = "http")]
            StartedServer::Remote(remote, output) => {
                spawn_blocking(move || reader.read_server(server, generation, output));
                let (mut orders, mut next) = (orders, None);
                let why = tokio::select! {
                    why = remote.run(&description) => why,
                    _ = next_signal(&mut orders, link, &mut next) => {
                        format!("the MCP server {description} is no longer connected")
                    }
                };
                (why, None)
            }
            StartedServer::Failed(why) => (why, None),
        };
        ServerExit {
            server,
            generation,
            why,
            status,
        }
    }
}

/// Waits until a process and everything that it started have ended, and its output is read.
async fn supervise(
    mut process: ServerProcess,
    link: &ServerLink,
    stdout: &tokio::task::JoinHandle<()>,
    mut orders: UnboundedReceiver<ServerOrder>,
) -> io::Result<ExitStatus> {
    let mut next = None;
    let status = loop {
        tokio::select! {
            status = process.wait() => break status,
            signal = next_signal(&mut orders, link, &mut next) => process.signal(signal),
        }
    };
    // What it started itself ends with it.
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
    status
}

/// Waits for the next signal that a server should get: by order, or because it did not end in time. `next` is the one
/// that is due then.
async fn next_signal(
    orders: &mut UnboundedReceiver<ServerOrder>,
    link: &ServerLink,
    next: &mut Option<(Instant, ServerSignal)>,
) -> ServerSignal {
    let kill = || Some((Instant::now() + TO_TERMINATE, ServerSignal::Kill));
    loop {
        tokio::select! {
            Some(order) = orders.recv() => match order {
                ServerOrder::End => {
                    link.writer.close();
                    next.get_or_insert((Instant::now() + TO_END, ServerSignal::Terminate));
                }
                ServerOrder::Signal(signal) => {
                    if signal == ServerSignal::Terminate {
                        *next = kill();
                    }
                    return signal;
                }
            },
            () = until(next.map(|(at, _)| at)) => {
                if let Some((_, signal)) = std::mem::replace(next, kill()) {
                    return signal;
                }
            }
        }
    }
}

/// Never, if there is no such moment.
pub(super) async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}
