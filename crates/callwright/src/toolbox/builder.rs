//! Collects tools and settings for a toolbox.

use std::sync::Arc;

use super::Toolbox;
use super::definition::{Registration, ToolDef};
use super::run::{Runner, permits};
use crate::admit::Ledger;
use crate::error::{Error, ErrorKind};
use crate::event::{Event, On, Sink, Sinks, SinksBuilder};
use crate::feedback::Feedback;
use crate::gate::Gate;
use crate::parse::ParseLimits;
use crate::policy::Policy;
use crate::tool::ToolSpec;
use crate::validate::SchemaCache;

/// Collects tools and settings for a [`Toolbox`].
#[derive(Debug, Default)]
#[must_use]
pub struct ToolboxBuilder {
    tools: Vec<Registration>,
    policy: Policy,
    limits: ParseLimits,
    ledger: Option<Arc<dyn Ledger>>,
    cache: Option<SchemaCache>,
    feedback: Feedback,
    sinks: SinksBuilder,
    keeps_output: bool,
    concurrency: Option<usize>,
    /// Tools that somebody else runs.
    pub(super) guests: Vec<ToolSpec>,
    /// Sinks that run already, in the stead of those that are to be started.
    pub(super) running_sinks: Option<Sinks>,
}

impl ToolboxBuilder {
    /// Adds a tool.
    pub fn tool<A: Send + 'static, O: Send + 'static>(mut self, tool: ToolDef<A, O>) -> Self {
        self.tools.push(tool.register());
        self
    }

    /// Sets everything that a policy file can say. What it says about a tool by name counts before what the tool says
    /// about itself.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets how much a call may hold.
    pub fn limits(mut self, limits: ParseLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Remembers sessions here instead of in the toolbox's own memory.
    pub fn ledger(mut self, ledger: Arc<dyn Ledger>) -> Self {
        self.ledger = Some(ledger);
        self
    }

    /// Uses this cache of compiled schemas instead of the process's own.
    pub fn cache(mut self, cache: SchemaCache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Sets how the model is told what went wrong.
    pub fn feedback(mut self, feedback: Feedback) -> Self {
        self.feedback = feedback;
        self
    }

    /// Sets how many calls may run at once, of all tools together. The others wait for their turn. A tool that
    /// invokes another one keeps its own turn meanwhile: with one turn only, it waits until its time is up.
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.concurrency = Some(calls);
        self
    }

    /// Sends the event of every call to a sink, on a thread of its own.
    pub fn sink(mut self, name: impl Into<String>, sink: impl Sink + 'static) -> Self {
        self.sinks = self.sinks.sink(name, sink);
        self
    }

    /// Calls a function for some events, on a thread of its own.
    pub fn on(mut self, wants: On, function: impl FnMut(&Event) + Send + 'static) -> Self {
        self.sinks = self.sinks.on(wants, function);
        self
    }

    /// Puts what tools answer into the events, for a replay. It may be large.
    pub fn keep_output(mut self) -> Self {
        self.keeps_output = true;
        self
    }

    /// Compiles the tools and starts the sinks.
    ///
    /// # Errors
    /// Fails if two tools have one name, if a tool's type does not agree with its schema, or if the thread of a sink
    /// cannot be started.
    pub fn build(self) -> Result<Toolbox, Error> {
        let defects: Vec<String> = self
            .tools
            .iter()
            .filter_map(|tool| {
                Some(format!(
                    "tool `{}`: {}",
                    tool.spec.name,
                    tool.defect.as_ref()?
                ))
            })
            .collect();
        if !defects.is_empty() {
            return Err(ErrorKind::ToolDefects(defects.join("\n")).into());
        }
        let mut policy = self.policy;
        let said = std::mem::take(&mut policy.tools);
        policy.tools = self.tools.iter().map(|tool| tool.policy.clone()).collect();
        policy.tools.extend(said);
        let own = self.tools.iter().map(|tool| tool.spec.clone());
        let specs: Vec<ToolSpec> = own.chain(self.guests.iter().cloned()).collect();
        let mut builder = Gate::builder()
            .tools(specs)
            .limits(self.limits)
            .policy(policy.clone());
        if let Some(ledger) = self.ledger {
            builder = builder.ledger(ledger);
        }
        if let Some(cache) = self.cache {
            builder = builder.cache(cache);
        }
        let gate = builder.build()?;
        let warnings = policy.warnings(gate.tools().map(crate::tool::Tool::name));
        let names = policy.names();
        let runners = self.tools.into_iter().filter_map(|tool| {
            let settings = policy.own(&tool.spec.name, &names).run;
            let compiled = gate.tool(&tool.spec.name)?;
            let runner = Runner::new(tool.handler, compiled, settings);
            Some((tool.spec.name, runner))
        });
        let guests = self.guests.into_iter().map(|spec| {
            let limit = policy.own(&spec.name, &names).run.timeout;
            (spec.name, limit)
        });
        let sinks = match self.running_sinks {
            Some(sinks) => sinks,
            None => self.sinks.start().map_err(ErrorKind::NoThread)?,
        };
        Ok(Toolbox {
            runners: runners.collect(),
            guests: guests.collect(),
            gate,
            feedback: self.feedback,
            sinks,
            warnings,
            keeps_output: self.keeps_output,
            permits: self.concurrency.map(permits),
        })
    }
}
