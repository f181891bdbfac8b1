//! Signals that are meant for the server as much as for us.

use std::io;

use crate::process::Signal;

/// Takes signals, which from then on no longer end this process.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct Signals {
    hang_up: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// The next one. May be dropped and called again.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            Some(()) = self.hang_up.recv() => Signal::HangUp,
            Some(()) = self.interrupt.recv() => Signal::Interrupt,
            Some(()) = self.terminate.recv() => Signal::Terminate,
            else => std::future::pending().await,
        }
    }
}

/// Takes Ctrl-C, which is all there is.
#[cfg(not(unix))]
#[derive(Debug)]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    #[allow(clippy::unnecessary_wraps, reason = "it can fail elsewhere")]
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Signals)
    }

    /// The next one.
    pub(crate) async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Terminate,
            Err(_) => std::future::pending().await,
        }
    }
}
