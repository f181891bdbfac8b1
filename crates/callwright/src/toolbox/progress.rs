//! How far a call has come: whether its function was started, how often, and for how long.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::check::ToolFailure;

/// What is known of a call that may not have ended.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Whether somebody wants to know when.
    timed: bool,
    attempts: AtomicU32,
    began: OnceLock<Instant>,
}

impl Progress {
    pub(super) fn new(timed: bool) -> Self {
        Progress {
            timed,
            ..Progress::default()
        }
    }

    /// The function is started now.
    pub(super) fn attempt(&self) {
        self.attempts.fetch_add(1, Ordering::Relaxed);
        if self.timed {
            self.began.get_or_init(Instant::now);
        }
    }

    /// How often it was started.
    pub(super) fn attempts(&self) -> u32 {
        self.attempts.load(Ordering::Relaxed)
    }

    /// Nobody waits for the call any more.
    pub(super) fn cancelled(&self) -> ToolFailure {
        match self.attempts() {
            0 => ToolFailure::not_started(),
            _ => ToolFailure::cancelled(),
        }
    }

    /// How long ago it was started for the first time; nothing if it was not.
    pub(super) fn latency(&self) -> Duration {
        self.began.get().map_or(Duration::ZERO, Instant::elapsed)
    }
}
