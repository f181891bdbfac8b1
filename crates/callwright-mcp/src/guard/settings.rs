//! What all sessions share, the time, and what goes out.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use callwright::admit::{Ledger, MemoryLedger};
use callwright::event::Sinks;
use callwright::feedback::Feedback;
use callwright::policy::Validation;
use callwright::tool::ToolSpec;
use callwright::{Error, Gate, Policy};

use crate::status::Status;

/// Settings that all sessions share.
#[derive(Debug)]
#[non_exhaustive]
pub struct Settings {
    /// What is asked of tools.
    pub policy: Policy,
    /// What an objection leads to, whatever the policy says of single tools: with `Warn` and `Off` nothing is changed.
    pub mode: Validation,
    /// Whether a server's own hints about its tools may make the guard bolder. Without it `readOnlyHint` and
    /// `idempotentHint` count as not said, and hints that a tool writes or destroys make repair careful. What the policy
    /// says of a tool counts in any case.
    pub trust_annotations: bool,
    /// Whether schemas that clients choke on are corrected in the lists that pass by. Otherwise there is only a warning.
    pub fix_schemas: bool,
    /// How the model is told what is wrong.
    pub feedback: Feedback,
    /// How long a client is silent before its next call begins a turn.
    pub quiet: Duration,
    /// Remembers what calls brought.
    pub ledger: Arc<dyn Ledger>,
    /// Gets a record of every call.
    pub sinks: Sinks,
    /// Whether records hold what tools answered.
    pub keep_output: bool,
    /// Counts.
    pub status: Arc<Status>,
}

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
            status: Arc::default(),
        }
    }
}

impl Settings {
    /// A gate for some tools.
    pub(crate) fn gate(&self, tools: Vec<ToolSpec>) -> Result<Gate, Error> {
        Gate::builder()
            .tools(tools)
            .policy(self.policy.clone())
            .ledger(Arc::clone(&self.ledger))
            .build()
    }

    /// Whether nothing may be changed.
    pub(super) fn only_warns(&self) -> bool {
        self.mode == Validation::Warn
    }
}

/// The time, from whoever has a clock.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// To measure by.
    pub instant: Instant,
    /// To write down.
    pub time: SystemTime,
}

impl Now {
    /// This very moment, by the clock of this machine.
    pub fn by_clock() -> Self {
        Now {
            instant: Instant::now(),
            time: SystemTime::now(),
        }
    }
}

/// What is to be sent, in order, and what the operator should know.
#[derive(Debug, Default)]
pub struct Outbox<'m> {
    /// To the server.
    pub to_server: Vec<Cow<'m, [u8]>>,
    /// To the client.
    pub to_client: Vec<Cow<'m, [u8]>>,
    /// Questions to the user, for the client.
    pub asks: Vec<Ask>,
    /// To the operator, a sentence each.
    pub warnings: Vec<String>,
}

/// A question to the user about a call that waits for the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ask {
    /// The id of the call, as the client wrote it.
    pub call: String,
    /// The request to the client, which goes where the answer to the call would go.
    pub message: Vec<u8>,
}
