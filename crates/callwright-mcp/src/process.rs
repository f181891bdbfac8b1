//! The process of a server: started in its own process group, signalled as a group, never left behind.
//!
//! The group matters where the command is a wrapper such as `npx` or a shell: whatever it starts ends with it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter};
use std::path::PathBuf;
use std::process::ExitStatus;

use tokio::process::{Child, Command};

const LONGEST_COMMAND: usize = 200;

/// Shorter values of variables are not secrets, and may be part of any word.
const SHORTEST_SECRET: usize = 6;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerCommand {
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    /// Added to our own environment.
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) folder: Option<PathBuf>,
}

impl ServerCommand {
    /// The command as it may be shown to a client: without anything that looks like a secret.
    pub(crate) fn redacted(&self) -> String {
        let variables = std::env::vars_os();
        let variables = variables.filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        self.redacted_without(variables)
    }

    /// The same, also without the values of those variables that are named like secrets: a shell may have put them into
    /// the arguments.
    fn redacted_without(&self, variables: impl Iterator<Item = (String, String)>) -> String {
        let mut text = self.program.to_string_lossy().into_owned();
        let mut is_secret_next = false;
        for argument in &self.arguments {
            let argument = argument.to_string_lossy();
            let argument = without_password(&argument);
            text.push(' ');
            match argument.split_once('=') {
                _ if is_secret_next && !argument.starts_with('-') => text.push('…'),
                Some((name, _)) if names_secret(name) => {
                    text.push_str(name);
                    text.push_str("=…");
                }
                _ => text.push_str(&argument),
            }
            is_secret_next = argument.starts_with('-') && names_secret(&argument);
        }
        for (name, value) in variables {
            if value.len() >= SHORTEST_SECRET && names_secret(&name) && text.contains(&value) {
                text = text.replace(&value, "…");
            }
        }
        if let Some((cut, _)) = text.char_indices().nth(LONGEST_COMMAND) {
            text.truncate(cut);
            text.push('…');
        }
        text
    }
}

/// A URL without the login: `postgres://…@host/db`. A password may contain any character, so everything up to the last
/// `@` goes.
fn without_password(argument: &str) -> Cow<'_, str> {
    let parts = argument
        .split_once("://")
        .and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?.1)));
    match parts {
        Some((scheme, host)) => Cow::Owned(format!("{scheme}://…@{host}")),
        None => Cow::Borrowed(argument),
    }
}

/// Whether an option or a variable with this name holds a secret.
fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [
        "key",
        "token",
        "secret",
        "passw",
        "auth",
        "credential",
        "header",
    ]
    .iter()
    .any(|part| name.contains(part))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerSignal {
    HangUp,
    Interrupt,
    Terminate,
    Kill,
}

/// A server that runs. Dropping it kills the whole group.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Child,
    /// The group's id, which is that of the process it was made for.
    #[cfg(unix)]
    group: Option<rustix::process::Pid>,
}

/// Our ends of the pipes to a server. They block, so that a message costs one read and one write.
#[derive(Debug)]
pub(crate) struct ServerPipes {
    pub(crate) stdin: PipeWriter,
    pub(crate) stdout: PipeReader,
    pub(crate) stderr: PipeReader,
}

impl ServerProcess {
    pub(crate) fn start(command: &ServerCommand) -> io::Result<(Self, ServerPipes)> {
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
        let pipes = ServerPipes {
            stdin,
            stdout,
            stderr,
        };
        Ok((process, pipes))
    }

    /// Waits until the server has ended. Safe to cancel and call again.
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
    pub(crate) fn signal(&mut self, signal: ServerSignal) {
        if matches!(signal, ServerSignal::Terminate | ServerSignal::Kill) {
            let _ = self.child.start_kill();
        }
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

    /// The next one. Safe to cancel and call again.
    pub(crate) async fn next(&mut self) -> ServerSignal {
        tokio::select! {
            Some(()) = self.hang_up.recv() => ServerSignal::HangUp,
            Some(()) = self.interrupt.recv() => ServerSignal::Interrupt,
            Some(()) = self.terminate.recv() => ServerSignal::Terminate,
            else => std::future::pending().await,
        }
    }
}

/// Ctrl-C, which is all there is.
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

/// The exit code of a server, to pass on as our own: 128 and the signal if one ended it, as in shells.
pub(crate) fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| 128 + signal);
    #[cfg(not(unix))]
    let signal = None;
    let code = status.code().or(signal).unwrap_or(1);
    // Windows has larger codes; an error stays an error.
    u8::try_from(code).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> ServerCommand {
        let mut words = text.split(' ').map(OsString::from);
        ServerCommand {
            program: words.next().unwrap_or_default(),
            arguments: words.collect(),
            variables: BTreeMap::new(),
            folder: None,
        }
    }

    #[test]
    fn secrets_of_the_environment_are_not_shown() {
        let variables = [("GITHUB_TOKEN", "tok-123456"), ("LANGUAGE", "en_GB")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let shown = command("server tok-123456 en_GB").redacted_without(variables.into_iter());
        assert_eq!(shown, "server … en_GB");
    }

    #[test]
    fn secrets_are_not_shown() {
        let shown = |text: &str| command(text).redacted();
        assert_eq!(
            shown("npx -y a/server --port 5"),
            "npx -y a/server --port 5"
        );
        assert_eq!(shown("s --api-key 123 x"), "s --api-key … x");
        assert_eq!(
            shown("env API_TOKEN=abc s --auth=x"),
            "env API_TOKEN=… s --auth=…"
        );
        assert_eq!(
            shown("s postgres://me:p/@ss@host/db?ssl=1 --url=http://host/x"),
            "s postgres://…@host/db?ssl=1 --url=http://host/x"
        );
        assert_eq!(shown("s http://me:pass@h/?key=1"), "s http://…@h/?key=…");
        let long = shown(&format!("s {}", "x".repeat(1_000)));
        assert_eq!(long.chars().count(), LONGEST_COMMAND + 1);
    }
}
