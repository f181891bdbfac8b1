//! Guards for tools that other crates run.
//!
//! In comes somebody else's tool or server, out goes the same one behind a gate: its arguments judged and repaired, its
//! calls counted, its results checked, with the words of [`crate::feedback`] for the model. What is not about calls of
//! tools passes untouched. Each adapter is behind a feature of its own, and is the only place that knows the other
//! crate's types.
//!
//! | feature | guards |
//! |---|---|
//! | `rig` | the tools of a `rig` agent; a [`Toolbox`] as tools of one |
//! | `rmcp` | any `rmcp` server; a [`Toolbox`] as one |

#[cfg(feature = "rig")]
pub mod rig;
#[cfg(feature = "rmcp")]
pub mod rmcp;

use std::sync::Arc;

use crate::admit::{Ledger, MemoryLedger};
use crate::error::Error;
use crate::event::Sinks;
use crate::feedback::Feedback;
use crate::parse::ParseLimits;
use crate::policy::Policy;
#[cfg(feature = "rig")]
use crate::repair::RepairPolicy;
use crate::tool::ToolSpec;
use crate::toolbox::Toolbox;

/// Settings of a guard.
///
/// A tool that somebody else runs has no time limit unless the policy gives it one, and is never run twice for one
/// call.
#[derive(Debug, Clone)]
#[must_use]
pub struct GuardSettings {
    policy: Policy,
    limits: ParseLimits,
    ledger: Arc<dyn Ledger>,
    feedback: Feedback,
    sinks: Sinks,
    keeps_output: bool,
}

impl Default for GuardSettings {
    fn default() -> Self {
        GuardSettings {
            policy: Policy::default(),
            limits: ParseLimits::default(),
            ledger: Arc::new(MemoryLedger::default()),
            feedback: Feedback::default(),
            sinks: Sinks::default(),
            keeps_output: false,
        }
    }
}

impl GuardSettings {
    /// What is usual.
    pub fn new() -> Self {
        GuardSettings::default()
    }

    /// Sets everything that a policy file can say: effects, repairs, budgets, checks of results, time limits.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets how much a call may hold.
    pub fn limits(mut self, limits: ParseLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Remembers sessions here instead of in the guard's own memory.
    pub fn ledger(mut self, ledger: Arc<dyn Ledger>) -> Self {
        self.ledger = ledger;
        self
    }

    /// Sets how the model is told what went wrong.
    pub fn feedback(mut self, feedback: Feedback) -> Self {
        self.feedback = feedback;
        self
    }

    /// Sends the event of every call to these sinks.
    pub fn sinks(mut self, sinks: Sinks) -> Self {
        self.sinks = sinks;
        self
    }

    /// Puts what tools answer into the events, for a replay. It may be large.
    pub fn keep_output(mut self) -> Self {
        self.keeps_output = true;
        self
    }

    /// The same without repairs.
    #[cfg(feature = "rig")]
    pub(crate) fn strict(&self) -> Self {
        GuardSettings {
            policy: self.policy.clone().with_repair(RepairPolicy::Never),
            ..self.clone()
        }
    }

    /// A toolbox of tools that somebody else runs.
    pub(crate) fn guests(
        &self,
        specs: impl IntoIterator<Item = ToolSpec>,
    ) -> Result<Toolbox, Error> {
        let mut builder = Toolbox::builder()
            .policy(self.policy.clone())
            .limits(self.limits)
            .ledger(Arc::clone(&self.ledger))
            .feedback(self.feedback.clone())
            .running_sinks(self.sinks.clone());
        if self.keeps_output {
            builder = builder.keep_output();
        }
        specs
            .into_iter()
            .fold(builder, crate::toolbox::ToolboxBuilder::guest)
            .build()
    }
}

/// The programs of the manual are compiled with the tests.
#[cfg(all(doctest, feature = "rig", feature = "rmcp"))]
#[doc = include_str!("../../../../docs/adapters.md")]
struct Manual;
