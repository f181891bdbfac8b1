//! One server, from its start to its end.
//!
//! Takes orders: signals to pass on, and the order to end. A server that is to end gets the end of its input first, then
//! a signal to terminate, then it is killed; whatever it started ends with it. Returns how it ended, once its last
//! output has been read.

use std::io::{self, PipeReader};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{sleep, sleep_until};

use super::group::{Endpoint, GroupMember};
use super::hub::{ServerLink, Warn};
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

/// How often to check whether a thread has ended.
const STEP: Duration = Duration::from_millis(10);

/// What a server is told to do.
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

/// The steps that end a server, one after the other.
#[derive(Default)]
struct Ending {
    next: Option<(Instant, ServerSignal)>,
}

impl Ending {
    /// The signal that an order means, if any; the later steps are due in time.
    fn obey(&mut self, order: ServerOrder, link: &ServerLink) -> Option<ServerSignal> {
        match order {
            ServerOrder::End => {
                link.writer.close();
                let terminate = (Instant::now() + TO_END, ServerSignal::Terminate);
                self.next.get_or_insert(terminate);
                None
            }
            ServerOrder::Signal(signal) => {
                if signal == ServerSignal::Terminate {
                    self.next = Some((Instant::now() + TO_TERMINATE, ServerSignal::Kill));
                }
                Some(signal)
            }
        }
    }

    /// The next signal, when it is due.
    async fn due(&mut self) -> ServerSignal {
        let Some((at, signal)) = self.next else {
            return std::future::pending().await;
        };
        sleep_until(at.into()).await;
        self.next = Some((Instant::now() + TO_TERMINATE, ServerSignal::Kill));
        signal
    }

    /// Waits for the next signal that the server should get.
    async fn signal(
        &mut self,
        orders: &mut UnboundedReceiver<ServerOrder>,
        link: &ServerLink,
    ) -> ServerSignal {
        loop {
            tokio::select! {
                Some(order) = orders.recv() => {
                    if let Some(signal) = self.obey(order, link) {
                        return signal;
                    }
                }
                signal = self.due() => return signal,
            }
        }
    }
}

/// Supervises a process until it and everything that it started have ended, and its output is read. `readers` are the
/// threads for stdout and stderr.
pub(super) async fn supervise(
    mut process: ServerProcess,
    link: &ServerLink,
    readers: [JoinHandle<()>; 2],
    mut orders: UnboundedReceiver<ServerOrder>,
    description: &str,
) -> (String, Option<ExitStatus>) {
    let mut ending = Ending::default();
    let status = loop {
        tokio::select! {
            status = process.wait() => break status,
            signal = ending.signal(&mut orders, link) => process.signal(signal),
        }
    };
    // What it started itself ends with it.
    process.signal(ServerSignal::Terminate);
    let [stdout, stderr] = readers;
    // A client may take its time; only waiting for the server counts.
    let mut waited = Duration::ZERO;
    while !stdout.is_finished() && waited < LAST_OUTPUT {
        tokio::select! {
            Some(ServerOrder::Signal(_)) = orders.recv() => break,
            () = sleep(STEP) => {}
        }
        let is_awaited = link.is_awaited.load(Ordering::Relaxed);
        waited = if is_awaited {
            waited + STEP
        } else {
            Duration::ZERO
        };
    }
    process.signal(ServerSignal::Kill);
    drop(process);
    let mut waited = Duration::ZERO;
    while !stderr.is_finished() && waited < LAST_STDERR {
        sleep(STEP).await;
        waited += STEP;
    }
    let how = match &status {
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    let mut why = format!("the MCP server {description} has ended: {how}");
    let tail = link.stderr_tail.text();
    if !tail.is_empty() {
        why.push_str("; its last lines on stderr:\n");
        why.push_str(&tail);
    }
    (why, status.ok())
}

/// The same for a server over HTTP.
#[cfg(feature = "http")]
pub(super) async fn supervise_remote(
    server: RemoteServer,
    link: &ServerLink,
    mut orders: UnboundedReceiver<ServerOrder>,
    description: &str,
) -> String {
    let mut ending = Ending::default();
    tokio::select! {
        why = server.run(description) => why,
        _ = ending.signal(&mut orders, link) => {
            format!("the MCP server {description} is no longer connected")
        }
    }
}
