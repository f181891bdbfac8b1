//! What all sessions share, and the time.

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
    /// What an objection leads to, whatever the policy says about single tools: with `Warn` and `Off` nothing is changed.
    pub mode: Validation,
    /// Whether a server's own hints about its tools may make the guard bolder. Otherwise `readOnlyHint` and
    /// `idempotentHint` are ignored, and hints that a tool writes or destroys make repair careful. What the policy says
    /// about a tool always counts.
    pub trust_annotations: bool,
    /// Whether schemas that clients choke on are corrected in lists of tools. Otherwise there is only a warning.
    pub fix_schemas: bool,
    /// How problems are worded for the model.
    pub feedback: Feedback,
    /// After how long a silence of the client its next call begins a turn.
    pub quiet: Duration,
    /// Remembers calls and their outcomes.
    pub ledger: Arc<dyn Ledger>,
    /// Gets a record of every call.
    pub sinks: Sinks,
    /// Whether records contain the results of tools.
    pub keep_output: bool,
    /// Gets each list of tools that calls are judged by, as a JSON array of MCP declarations.
    pub tools_listed: Option<ToolsListed>,
    /// How much the arguments of a call may hold.
    pub limits: ParseLimits,
    /// How many bytes a message may have. A client whose message is longer gets an error; a server is ended.
    pub most_bytes: usize,
    /// Counts calls.
    pub status: Arc<Status>,
}

/// Gets a list of tools as JSON.
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
            // Files travel in messages as base64; a message is in memory twice.
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
    /// A gate for some tools.
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
    /// For measuring.
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
