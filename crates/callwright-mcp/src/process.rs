//! The process of a server: started in a group of its own, signalled as one, never left behind.
//!
//! The group matters where the command is a wrapper such as `npx` or a shell: what it starts ends with it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter};
use std::path::PathBuf;
use std::process::ExitStatus;

use tokio::process::{Child, Command};

/// Longer commands are cut where they are told.
const LONGEST_COMMAND: usize = 200;

/// Shorter values of variables are no secrets, and may be a part of any word.
const SHORTEST_SECRET: usize = 6;

/// How a server is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerCommand {
    /// The program.
    pub program: OsString,
    /// What it is started with.
    pub arguments: Vec<OsString>,
}

/// Where a server is started.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Surroundings {
    /// What its environment has beside ours.
    pub(crate) variables: BTreeMap<String, String>,
    /// Its folder, if it is not ours.
    pub(crate) folder: Option<PathBuf>,
}

impl ServerCommand {
    /// The command as it may be told to a client: without what looks like a secret.
    pub(crate) fn told(&self) -> String {
        let variables = std::env::vars_os();
        let variables = variables.filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        self.told_without(variables)
    }

    /// The same; these variables may have been put into the arguments by whoever wrote the command.
    fn told_without(&self, variables: impl Iterator<Item = (String, String)>) -> String {
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

/// An address without who logs in there and how: `postgres://…@host/db`. A password may have any letters, so all up to
/// the last `@` goes.
fn without_password(argument: &str) -> Cow<'_, str> {
    let parts = argument
        .split_once("://")
        .and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?.1)));
    match parts {
        Some((scheme, host)) => Cow::Owned(format!("{scheme}://…@{host}")),
        None => Cow::Borrowed(argument),
    }
}

/// Whether an option or a variable of this name holds something that is nobody's business.
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

/// What is sent to a server that should end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    HangUp,
    Interrupt,
    Terminate,
    Kill,
}

/// A server that runs.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    /// The group, which has the number of the process that it was made for.
    #[cfg(unix)]
    group: Option<rustix::process::Pid>,
}

/// Our ends of the pipes to a server.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) stdin: PipeWriter,
    pub(crate) stdout: PipeReader,
    pub(crate) stderr: PipeReader,
}

/// Theirs.
#[derive(Debug)]
pub(crate) struct ServerPipes {
    stdin: PipeReader,
    stdout: PipeWriter,
    stderr: PipeWriter,
}

/// Pipes for a server that is yet to be started. They block, so that a message costs one read and one write.
pub(crate) fn pipes() -> io::Result<(Pipes, ServerPipes)> {
    let (their_stdin, stdin) = io::pipe()?;
    let (stdout, their_stdout) = io::pipe()?;
    let (stderr, their_stderr) = io::pipe()?;
    let ours = Pipes {
        stdin,
        stdout,
        stderr,
    };
    let theirs = ServerPipes {
        stdin: their_stdin,
        stdout: their_stdout,
        stderr: their_stderr,
    };
    Ok((ours, theirs))
}

impl Process {
    /// Starts a server. Our copies of its ends of the pipes are closed in any case.
    pub(crate) fn start(command: &ServerCommand, pipes: ServerPipes) -> io::Result<Self> {
        Process::start_in(command, &Surroundings::default(), pipes)
    }

    /// The same in surroundings of its own.
    pub(crate) fn start_in(
        command: &ServerCommand,
        surroundings: &Surroundings,
        pipes: ServerPipes,
    ) -> io::Result<Self> {
        let mut starts = Command::new(&command.program);
        if let Some(folder) = &surroundings.folder {
            starts.current_dir(folder);
        }
        starts
            .args(&command.arguments)
            .envs(&surroundings.variables)
            .stdin(pipes.stdin)
            .stdout(pipes.stdout)
            .stderr(pipes.stderr)
            .kill_on_drop(true);
        #[cfg(unix)]
        starts.process_group(0);
        let child = starts.spawn()?;
        Ok(Process {
            #[cfg(unix)]
            group: child
                .id()
                .and_then(|id| rustix::process::Pid::from_raw(i32::try_from(id).ok()?)),
            child,
        })
    }

    /// Waits until the server has ended. May be dropped and called again.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Signals the whole group. One that is gone has nothing to be told.
    #[cfg(unix)]
    pub(crate) fn signal(&mut self, signal: Signal) {
        use rustix::process::{Signal as Number, kill_process_group};
        let number = match signal {
            Signal::HangUp => Number::HUP,
            Signal::Interrupt => Number::INT,
            Signal::Terminate => Number::TERM,
            Signal::Kill => Number::KILL,
        };
        if let Some(group) = self.group {
            let _ = kill_process_group(group, number);
        }
    }

    /// There are no signals here: only the end.
    #[cfg(not(unix))]
    pub(crate) fn signal(&mut self, signal: Signal) {
        if matches!(signal, Signal::Terminate | Signal::Kill) {
            let _ = self.child.start_kill();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::Kill);
    }
}

/// The code that a process ends with if it passes on how another one ended: 128 and the signal, as shells say it.
pub(crate) fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| 128 + signal);
    #[cfg(not(unix))]
    let signal = None;
    let code = status.code().or(signal).unwrap_or(1);
    // Windows has larger ones; an error stays one.
    u8::try_from(code).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_the_environment_are_not_told() {
        let command = ServerCommand {
            program: "server".into(),
            arguments: vec!["tok-123456".into(), "en_GB".into()],
        };
        let variables = [("GITHUB_TOKEN", "tok-123456"), ("LANGUAGE", "en_GB")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let told = command.told_without(variables.into_iter());
        assert_eq!(told, "server … en_GB");
    }

    #[test]
    fn secrets_are_not_told() {
        let told = |text: &str| {
            let mut words = text.split(' ').map(OsString::from);
            ServerCommand {
                program: words.next().unwrap_or_default(),
                arguments: words.collect(),
            }
            .told()
        };
        assert_eq!(told("npx -y a/server --port 5"), "npx -y a/server --port 5");
        assert_eq!(told("s --api-key 123 x"), "s --api-key … x");
        assert_eq!(
            told("env API_TOKEN=abc s --auth=x"),
            "env API_TOKEN=… s --auth=…"
        );
        assert_eq!(
            told("s postgres://me:p/@ss@host/db?ssl=1 --url=http://host/x"),
            "s postgres://…@host/db?ssl=1 --url=http://host/x"
        );
        assert_eq!(told("s http://me:pass@h/?key=1"), "s http://…@h/?key=…");
        let long = told(&format!("s {}", "x".repeat(1_000)));
        assert_eq!(long.chars().count(), LONGEST_COMMAND + 1);
    }
}
