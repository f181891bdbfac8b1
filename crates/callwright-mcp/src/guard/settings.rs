//! The settings that all sessions share, and the time.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use callwright::admit::{Ledger, MemoryLedger};
use callwright::event::Sinks;
use callwright::feedback::Feedback;
use callwright::parse::ParseLimits;
use callwright::policy::Validation;
use callwright::tool::ToolSpec;
use callwright::{Error, Gate, Policy};

use crate::status::Status;

/// Settings that all sessions share.
#[non_exhaustive]
pub struct Settings {
    /// The rules for tools.
    pub policy: Policy,
    /// What to do about objections, whatever the policy says about individual tools: with `Warn` and `Off` nothing is
    /// changed.
    pub mode: Validation,
    /// Whether a server's own hints about its tools may make the guard less strict. If not, `readOnlyHint` and
    /// `idempotentHint` are ignored, and hints that a tool writes or destroys still make repair more careful. What
    /// the policy says about a tool always counts.
    pub trust_annotations: bool,
    /// Whether to correct schemas in tool lists that clients reject. Otherwise there is only a warning.
    pub fix_schemas: bool,
    /// How problems are worded for the model.
    pub feedback: Feedback,
    /// How long the client must be silent before its next call begins a turn.
    pub quiet: Duration,
    /// Remembers calls and their outcomes.
    pub ledger: Arc<dyn Ledger>,
    /// Receives a record of every call.
    pub sinks: Sinks,
    /// Whether records contain the results of tools.
    pub keep_output: bool,
    /// Receives each tool list that calls are judged by, as a JSON array of MCP declarations.
    pub tools_listed: Option<ToolsListed>,
    /// Limits for the arguments of a call.
    pub limits: ParseLimits,
    /// The largest message, in bytes. A client that sends a longer one gets an error; a server that does is stopped.
    pub most_bytes: usize,
    /// Counts calls.
    pub status: Arc<Status>,
}

/// Receives a tool list as JSON.
pub type ToolsListed = Box<dyn Fn(&str) + Send + Sync>;

impl Default for Settings {
    fn default() -> Self {
        Settings {
            policy: Policy::default(),
            mode: Validation::Strict,
            trust_annotations: false,
            fix_schemas: false,
            feedback: Feedback::default(),
            quiet: Duration::from_secs(120),
            ledger: Arc::new(MemoryLedger::default()),
            sinks: Sinks::default(),
            keep_output: false,
            tools_listed: None,
            limits: ParseLimits::default(),
            // Files are sent in messages as base64; a message is in memory twice.
            most_bytes: 64 * 1024 * 1024,
            status: Arc::default(),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("mode", &self.mode)
            .field("trust_annotations", &self.trust_annotations)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// Compiles a gate for some tools.
    pub(crate) fn gate(&self, tools: Vec<ToolSpec>) -> Result<Gate, Error> {
        Gate::builder()
            .tools(tools)
            .limits(self.limits)
            .policy(self.policy.clone())
            .ledger(Arc::clone(&self.ledger))
            .build()
    }

    pub(super) fn only_warns(&self) -> bool {
        self.mode == Validation::Warn
    }
}

/// The time, from a caller that has a clock.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// For measuring durations.
    pub instant: Instant,
    /// For records.
    pub time: SystemTime,
}

impl Now {
    /// The current time of this machine.
    pub fn by_clock() -> Self {
        Now {
            instant: Instant::now(),
            time: SystemTime::now(),
        }
    }
}
