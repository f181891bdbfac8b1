//! Settings shared by the guards of other frameworks' tools (`callwright-rig`, `callwright-rmcp`, your own).

use std::sync::Arc;

use super::{Toolbox, ToolboxBuilder};
use crate::admit::{Ledger, MemoryLedger};
use crate::error::Error;
use crate::event::Sinks;
use crate::feedback::Feedback;
use crate::policy::Policy;
use crate::repair::RepairPolicy;
use crate::words::ParseLimits;
use crate::words::ToolSpec;

/// Settings of a guard for tools that run elsewhere. Clones share the ledger and the sinks, so that one guard can judge
/// through several toolboxes.
///
/// Such tools have no time limit unless the policy sets one, and run at most once per call.
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
    /// The defaults.
    pub fn new() -> Self {
        GuardSettings::default()
    }

    /// Sets everything that a policy file can say: effects, repairs, budgets, checks of results, time limits.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets how large a call may be.
    pub fn limits(mut self, limits: ParseLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Keeps sessions in this ledger instead of the guard's own memory.
    pub fn ledger(mut self, ledger: Arc<dyn Ledger>) -> Self {
        self.ledger = ledger;
        self
    }

    /// Sets how failures are worded for the model.
    pub fn feedback(mut self, feedback: Feedback) -> Self {
        self.feedback = feedback;
        self
    }

    /// Sends the event of every call to these sinks.
    pub fn sinks(mut self, sinks: Sinks) -> Self {
        self.sinks = sinks;
        self
    }

    /// Adds the tools' results to the events, for a replay. They may be large.
    pub fn keep_output(mut self) -> Self {
        self.keeps_output = true;
        self
    }

    /// Switches all repairs off.
    pub fn without_repairs(mut self) -> Self {
        self.policy = self.policy.with_repair(RepairPolicy::Never);
        self
    }

    /// A toolbox that judges calls of these tools, which run elsewhere: see [`ToolboxBuilder::external_tool`].
    ///
    /// # Errors
    /// Fails if two tools have the same name.
    pub fn toolbox(&self, specs: impl IntoIterator<Item = ToolSpec>) -> Result<Toolbox, Error> {
        let mut builder = Toolbox::builder()
            .policy(self.policy.clone())
            .limits(self.limits)
            .ledger(Arc::clone(&self.ledger))
            .feedback(self.feedback.clone())
            .sinks(self.sinks.clone());
        if self.keeps_output {
            builder = builder.keep_output();
        }
        specs
            .into_iter()
            .fold(builder, ToolboxBuilder::external_tool)
            .build()
    }
}
