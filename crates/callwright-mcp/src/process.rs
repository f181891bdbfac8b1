//! The process of a server: started in its own process group, signalled as a group, never left behind.
//!
//! The group matters if the command is a wrapper such as `npx` or a shell: whatever it starts ends with it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter};
use std::path::PathBuf;
use std::process::ExitStatus;

use tokio::process::{Child, Command};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerCommand {
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    /// Added to our own environment.
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerSignal {
    #[cfg(unix)]
    HangUp,
    #[cfg(unix)]
    Interrupt,
    Terminate,
    Kill,
}

/// A running server. Dropping it kills the whole group.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Child,
    /// The group's id, which is that of the process it was created for.
    #[cfg(unix)]
    group: Option<rustix::process::Pid>,
}

impl ServerProcess {
    /// Also returns our ends of its stdin, stdout and stderr. They block, so that a message costs one read and one
    /// write.
    pub(crate) fn start(
        command: &ServerCommand,
    ) -> io::Result<(Self, PipeWriter, PipeReader, PipeReader)> {
        let (their_stdin, stdin) = io::pipe()?;
        let (stdout, their_stdout) = io::pipe()?;
        let (stderr, their_stderr) = io::pipe()?;
        let mut starts = Command::new(&command.program);
        if let Some(folder) = &command.folder {
            starts.current_dir(folder);
        }
        starts
            .args(&command.arguments)
            .envs(&command.variables)
            .stdin(their_stdin)
            .stdout(their_stdout)
            .stderr(their_stderr)
            .kill_on_drop(true);
        #[cfg(unix)]
        starts.process_group(0);
        let child = starts.spawn()?;
        let process = ServerProcess {
            #[cfg(unix)]
            group: child
                .id()
                .and_then(|id| rustix::process::Pid::from_raw(i32::try_from(id).ok()?)),
            child,
        };
        Ok((process, stdin, stdout, stderr))
    }

    /// Waits until the server has exited. Cancel-safe.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Signals the whole group. A group that is gone needs no signal.
    #[cfg(unix)]
    pub(crate) fn signal(&mut self, signal: ServerSignal) {
        use rustix::process::{Signal, kill_process_group};
        let signal = match signal {
            ServerSignal::HangUp => Signal::HUP,
            ServerSignal::Interrupt => Signal::INT,
            ServerSignal::Terminate => Signal::TERM,
            ServerSignal::Kill => Signal::KILL,
        };
        if let Some(group) = self.group {
            let _ = kill_process_group(group, signal);
        }
    }

    /// Without signals, a server can only be killed.
    #[cfg(not(unix))]
    pub(crate) fn signal(&mut self, _: ServerSignal) {
        let _ = self.child.start_kill();
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.signal(ServerSignal::Kill);
    }
}

/// The signals sent to us, which no longer end this process once this exists.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct OwnSignals {
    hang_up: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl OwnSignals {
    pub(crate) fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(OwnSignals {
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// The next one. Cancel-safe.
    pub(crate) async fn next(&mut self) -> ServerSignal {
        tokio::select! {
            Some(()) = self.hang_up.recv() => ServerSignal::HangUp,
            Some(()) = self.interrupt.recv() => ServerSignal::Interrupt,
            Some(()) = self.terminate.recv() => ServerSignal::Terminate,
            else => std::future::pending().await,
        }
    }
}

/// Ctrl-C, the only one available.
#[cfg(not(unix))]
#[derive(Debug)]
pub(crate) struct OwnSignals;

#[cfg(not(unix))]
impl OwnSignals {
    #[allow(clippy::unnecessary_wraps, reason = "it can fail on Unix")]
    pub(crate) fn new() -> io::Result<Self> {
        Ok(OwnSignals)
    }

    pub(crate) async fn next(&mut self) -> ServerSignal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => ServerSignal::Terminate,
            Err(_) => std::future::pending().await,
        }
    }
}

/// The exit code of a server, to pass on as our own: 128 plus the signal if one killed it, as in shells.
pub(crate) fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| 128 + signal);
    #[cfg(not(unix))]
    let signal = None;
    let code = status.code().or(signal).unwrap_or(1);
    // Windows has larger codes; an error stays an error.
    u8::try_from(code).unwrap_or(1)
}
