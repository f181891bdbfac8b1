//! One of several servers as a process: watched over until it and all that it started have ended.

use std::ffi::OsString;
use std::io::{self, PipeReader};
use std::process::ExitStatus;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::sleep;

use super::door::Way;
use super::group::Member;
use super::session::Session;
use crate::config::Server;
use crate::process::{Pipes, Process, ServerCommand, Signal, Surroundings, pipes};
use crate::stdio::LAST_OUTPUT;

/// How often somebody looks whether a thread has ended.
const STEP: Duration = Duration::from_millis(10);

/// How long the last words of a server are waited for. They are in the pipe already.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// A server that was started.
pub(super) struct Started {
    process: Process,
    /// As it may be told.
    command: String,
}

/// What it writes to.
pub(super) struct Outputs {
    pub(super) stdout: PipeReader,
    pub(super) stderr: PipeReader,
}

/// The threads that hear it.
pub(super) struct Heard {
    pub(super) stdout: JoinHandle<()>,
    pub(super) stderr: JoinHandle<()>,
}

/// Starts a server; why it cannot be started, for the client, if so.
pub(super) fn start(member: &Member) -> io::Result<Result<(Started, Way, Outputs), String>> {
    let Server::Command {
        command,
        args,
        env,
        cwd,
    } = &member.server
    else {
        return Ok(Err(String::new()));
    };
    let name = &member.name;
    let command = ServerCommand {
        program: command.into(),
        arguments: args.iter().map(OsString::from).collect(),
    };
    let surroundings = Surroundings {
        variables: env.clone(),
        folder: cwd.as_ref().map(Into::into),
    };
    let (ours, theirs) = pipes()?;
    let Pipes {
        stdin,
        stdout,
        stderr,
    } = ours;
    match Process::start_in(&command, &surroundings, theirs) {
        Ok(process) => {
            let command = command.told();
            let started = Started { process, command };
            let outputs = Outputs { stdout, stderr };
            Ok(Ok((started, Way::Pipe(stdin), outputs)))
        }
        Err(error) => Ok(Err(format!(
            "the MCP server {name:?} (`{}`) cannot be started: {error}; check its command and its folder",
            command.told()
        ))),
    }
}

impl Started {
    /// Runs until the server has ended; out goes why it is not there any more, for the client.
    pub(super) async fn until_the_end(
        mut self,
        session: &Session,
        (server, name): (usize, &str),
        heard: Heard,
        mut signals: UnboundedReceiver<Signal>,
    ) -> String {
        let status = loop {
            tokio::select! {
                status = self.process.wait() => break status,
                Some(signal) = signals.recv() => self.process.signal(signal),
            }
        };
        // What it started itself ends with it.
        self.process.signal(Signal::Terminate);
        if let Some(link) = session.servers.get(server) {
            // A client may take its time, and only that of the server counts.
            let mut waited = Duration::ZERO;
            while !heard.stdout.is_finished() && waited < LAST_OUTPUT {
                sleep(STEP).await;
                let is_waited_for = link.is_waited_for.load(Ordering::Relaxed);
                waited = if is_waited_for {
                    waited + STEP
                } else {
                    Duration::ZERO
                };
            }
        }
        self.process.signal(Signal::Kill);
        drop(self.process);
        let mut waited = Duration::ZERO;
        while !heard.stderr.is_finished() && waited < LAST_WORDS {
            sleep(STEP).await;
            waited += STEP;
        }
        let said = session
            .servers
            .get(server)
            .map(|link| link.last_words.text());
        ended(name, &self.command, status, &said.unwrap_or_default())
    }
}

/// Why a server is not there any more, for the client.
fn ended(name: &str, command: &str, status: io::Result<ExitStatus>, said: &str) -> String {
    let how = match status {
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    let mut why = format!("the MCP server {name:?} (`{command}`) has ended: {how}");
    if !said.is_empty() {
        why.push_str("; its last words on stderr:\n");
        why.push_str(said);
    }
    why
}
