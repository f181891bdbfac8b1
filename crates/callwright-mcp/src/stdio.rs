//! Guards a server that speaks over its stdin and stdout.
//!
//! In comes a command; it is started, and its messages pass between it and our own stdin and stdout. It is watched over
//! until it has ended: signals are passed on, and when the client has ended the server is asked to end, then told, then
//! made to. Out goes how it ended.

use std::fs::File;
use std::io::{self, Read};
use std::pin::pin;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{sleep, sleep_until, timeout};

use crate::guard::{Guard, Settings};
use crate::lane::Lane;
use crate::last_words::LastWords;
pub use crate::process::ServerCommand;
use crate::process::{Process, Signal, exit_code, pipes};
use crate::session::{Errand, Happened, Session, ToClient};
use crate::signals::Signals;

/// How long a server may take to end by itself once nobody talks to it. With the next one it is less than the four
/// seconds after which the official clients kill us, which would leave it alone.
pub(crate) const TO_END: Duration = Duration::from_secs(2);

/// How long it may take to end once it was told to.
pub(crate) const TO_TERMINATE: Duration = Duration::from_millis(1_500);

/// How long a client may take for its first request, if there is no server to answer it. They send it at once.
pub(crate) const FIRST_REQUEST: Duration = Duration::from_secs(10);

/// How long the output of a server that has ended is waited for: it is in a pipe already, unless something that the
/// server left behind still holds it.
pub(crate) const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// How long a request may be on its way in a pipe. A thread that is to read it waits for its turn on a busy machine.
const ON_ITS_WAY: Duration = Duration::from_millis(50);

/// The exit code if there is no server.
pub(crate) const NOT_STARTED: u8 = 3;

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// The server's exit code; 3 if it could not be started.
    pub code: u8,
    /// What went wrong, if the server ended before the client.
    pub error: Option<String>,
}

impl Ended {
    pub(crate) fn with(code: u8, error: Option<String>) -> Self {
        Ended { code, error }
    }
}

/// Stands between our own stdin and stdout and a server, until either ends. `warn` is told what the operator should
/// know.
///
/// A thread that waits for our stdin is left behind, so the process should end afterwards.
///
/// # Errors
/// Fails if the system gives no pipes, threads or signals.
pub fn run(
    settings: Arc<Settings>,
    command: &ServerCommand,
    warn: impl Fn(&str) + Send + Sync + 'static,
) -> io::Result<Ended> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(guard_server(settings, command, Box::new(warn)))
}

async fn guard_server(
    settings: Arc<Settings>,
    command: &ServerCommand,
    warn: Box<dyn Fn(&str) + Send + Sync>,
) -> io::Result<Ended> {
    let signals = Signals::new()?;
    let (client, to_client) = our_ends()?;
    let (ours, theirs) = pipes()?;
    let (happened, events) = unbounded_channel();
    let (errands, to_do) = mpsc::channel();
    let session = Arc::new(Session {
        guard: Guard::new(settings, session_name()),
        to_server: Lane::new(ours.stdin),
        to_client: Lane::new(to_client),
        happened,
        errands,
        warn,
        waits_for_server: AtomicBool::new(false),
        has_served: AtomicBool::new(false),
        last_words: LastWords::default(),
    });
    let mut watch = Watch {
        session: Arc::clone(&session),
        events,
        signals,
        client_ended: false,
        server_ended: false,
    };
    let process = match Process::start(command, theirs) {
        Ok(process) => process,
        Err(error) => {
            let why = format!(
                "the MCP server `{}` cannot be started: {error}; check the command behind `--`",
                command.told()
            );
            session.server_gone(&why);
            start("callwright-client", &session, |session| {
                session.client_to_server(client);
            })?;
            watch.first_request().await;
            return Ok(Ended {
                code: NOT_STARTED,
                error: Some(why),
            });
        }
    };
    start("callwright-client", &session, |session| {
        session.client_to_server(client);
    })?;
    start("callwright-server", &session, |session| {
        session.server_to_client(ours.stdout);
    })?;
    start("callwright-late", &session, move |session| {
        session.run_errands(&to_do);
    })?;
    let stderr = start("callwright-stderr", &session, |session| {
        session.listen(ours.stderr);
    })?;
    watch.until_the_end(process, command, &stderr).await
}

/// Watches over a session.
struct Watch {
    session: Arc<Session>,
    events: UnboundedReceiver<Happened>,
    signals: Signals,
    client_ended: bool,
    server_ended: bool,
}

impl Watch {
    async fn until_the_end(
        mut self,
        mut process: Process,
        command: &ServerCommand,
        stderr: &thread::JoinHandle<()>,
    ) -> io::Result<Ended> {
        let status = self.server_exits(&mut process).await?;
        let client_was_first = self.client_ended;
        // What it started itself ends with it.
        process.signal(Signal::Terminate);
        self.last_output().await;
        process.signal(Signal::Kill);
        drop(process);
        // Its last words are in the pipe already.
        for _ in 0..50 {
            if stderr.is_finished() {
                break;
            }
            sleep(Duration::from_millis(4)).await;
        }
        let why = ended(command, status, &self.session.last_words.text());
        let mut answers = self.session.server_gone(&why);
        if client_was_first && status.success() {
            // It did what it should; what it left unanswered it left on purpose.
            answers.clear();
        }
        let is_answered = !answers.is_empty();
        if is_answered {
            let session = Arc::clone(&self.session);
            start("callwright-answers", &session, move |session| {
                Arc::clone(session).answer_all(&answers);
            })?;
            self.told().await;
        } else if !client_was_first && !self.session.has_served.load(Ordering::Relaxed) {
            self.first_request().await;
        }
        if !client_was_first {
            self.late_requests().await;
        }
        let is_bad = is_answered || !status.success();
        Ok(Ended {
            code: exit_code(status),
            error: (!client_was_first && is_bad).then_some(why),
        })
    }

    /// Until the server has exited, by itself or not.
    async fn server_exits(&mut self, process: &mut Process) -> io::Result<ExitStatus> {
        let mut is_closed = false;
        let mut next: Option<(Instant, Signal)> = None;
        loop {
            if (self.client_ended || self.server_ended) && !is_closed {
                // Calls that wait for the list of tools still go to the server.
                if self.server_ended || self.session.guard.deadline().is_none() {
                    is_closed = true;
                    let _ = self.session.errands.send(Errand::Close);
                    next = next.or(Some((Instant::now() + TO_END, Signal::Terminate)));
                }
            }
            tokio::select! {
                status = process.wait() => return status,
                event = self.events.recv() => self.note(event),
                signal = self.signals.next() => {
                    process.signal(signal);
                    if signal == Signal::Terminate {
                        next = Some((Instant::now() + TO_TERMINATE, Signal::Kill));
                    }
                }
                () = until(next.map(|(at, _)| at)) => {
                    if let Some((_, signal)) = next {
                        process.signal(signal);
                        next = Some((Instant::now() + TO_TERMINATE, Signal::Kill));
                    }
                }
                () = until(self.session.guard.deadline()) => self.session.tick(),
            }
        }
    }

    /// Until the client has got what the server wrote before it exited. A client may take its time.
    async fn last_output(&mut self) {
        let mut waited = Duration::ZERO;
        while !self.server_ended && waited < LAST_OUTPUT {
            let step = Duration::from_millis(50);
            tokio::select! {
                event = self.events.recv() => self.note(event),
                _ = self.signals.next() => return,
                () = sleep(step) => {
                    if self.session.waits_for_server.load(Ordering::Relaxed) {
                        waited += step;
                    } else {
                        waited = Duration::ZERO;
                    }
                }
            }
        }
    }

    /// Until a client has sent its first request and got its answer, if it does.
    async fn first_request(&mut self) {
        let answered = async {
            loop {
                let happened = self.events.recv().await;
                if matches!(
                    happened,
                    None | Some(Happened::ClientEnded | Happened::Answered)
                ) {
                    return;
                }
            }
        };
        tokio::select! {
            _ = timeout(FIRST_REQUEST, answered) => {}
            _ = self.signals.next() => {}
        }
    }

    /// Until requests that were on their way when the server ended have got their answer.
    async fn late_requests(&mut self) {
        while let Ok(Some(happened)) = timeout(ON_ITS_WAY, self.events.recv()).await {
            if happened == Happened::ClientEnded {
                return;
            }
        }
    }

    /// Until the client has got the last answers.
    async fn told(&mut self) {
        let mut told = pin!(async {
            while !matches!(self.events.recv().await, None | Some(Happened::Told)) {}
        });
        tokio::select! {
            () = &mut told => {}
            _ = self.signals.next() => {}
        }
    }

    fn note(&mut self, event: Option<Happened>) {
        match event {
            Some(Happened::ClientEnded) => self.client_ended = true,
            Some(Happened::ServerEnded) => self.server_ended = true,
            _ => {}
        }
    }
}

/// Never, if there is no such moment.
pub(crate) async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}

/// Why a server is not there any more, for the client.
fn ended(command: &ServerCommand, status: ExitStatus, last_words: &str) -> String {
    let mut why = format!("the MCP server `{}` has ended: {status}", command.told());
    if !last_words.is_empty() {
        why.push_str("; its last words on stderr:\n");
        why.push_str(last_words);
    }
    why
}

fn start<T: Send + 'static>(
    name: &str,
    session: &Arc<Session>,
    work: impl FnOnce(&Arc<Session>) -> T + Send + 'static,
) -> io::Result<thread::JoinHandle<T>> {
    let session = Arc::clone(session);
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || work(&session))
}

/// A name that no other session has, in ledgers and records that are shared.
pub(crate) fn session_name() -> String {
    format!("{:012x}", fastrand::u64(..) >> 16)
}

/// Our stdin and stdout without the buffers of the standard library, which would copy everything once more.
#[cfg(unix)]
pub(crate) fn our_ends() -> io::Result<(impl Read + Send + 'static, ToClient)> {
    use std::os::fd::AsFd as _;
    let stdin = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let stdout = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    Ok((stdin, Box::new(stdout)))
}

#[cfg(not(unix))]
pub(crate) fn our_ends() -> io::Result<(impl Read + Send + 'static, ToClient)> {
    Ok((io::stdin(), Box::new(io::stdout())))
}
