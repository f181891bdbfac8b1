//! Collects tools and settings for a toolbox, or for the guard of another framework's tools.

use std::sync::Arc;

use super::Toolbox;
use super::definition::{RegisteredTool, ToolDef};
use super::run::{Runner, permits};
use crate::admit::{Ledger, MemoryLedger};
use crate::error::{Error, ErrorKind};
use crate::event::{Event, On, Sink, Sinks, SinksBuilder};
use crate::feedback::Feedback;
use crate::gate::Gate;
use crate::policy::Policy;
use crate::validate::SchemaCache;
use crate::vocabulary::{ParseLimits, ToolSpec};

/// Settings of a guard for tools that run elsewhere: `callwright-rig`, `callwright-rmcp`, or your own. Clones share the ledger
/// and the sinks, so that one guard can judge calls in several toolboxes.
///
/// Such tools have no time limit unless the policy sets one, and run at most once per call.
///
/// ```
/// use callwright::Policy;
/// use callwright::toolbox::GuardSettings;
///
/// # fn main() -> Result<(), callwright::Error> {
/// let policy = Policy::from_toml("[tool.pay]\neffect = \"destructive\"")?;
/// let settings = GuardSettings { policy, ..GuardSettings::default() };
/// # let _ = settings;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct GuardSettings {
    /// Everything that a policy file covers: effects, repairs, budgets, checks of results, time limits.
    pub policy: Policy,
    /// How large a call may be.
    pub limits: ParseLimits,
    /// Where sessions are kept; in memory by default.
    pub ledger: Arc<dyn Ledger>,
    /// How failures are worded for the model.
    pub feedback: Feedback,
    /// Where the event of every call goes.
    pub sinks: Sinks,
    /// Whether events include the tools' results, for a replay. They may be large.
    pub keep_output: bool,
}

impl Default for GuardSettings {
    fn default() -> Self {
        GuardSettings {
            policy: Policy::default(),
            limits: ParseLimits::default(),
            ledger: Arc::new(MemoryLedger::default()),
            feedback: Feedback::default(),
            sinks: Sinks::default(),
            keep_output: false,
        }
    }
}

impl GuardSettings {
    /// A toolbox that judges calls of these tools, which run elsewhere: see [`ToolboxBuilder::external_tool`].
    ///
    /// # Errors
    /// Fails if two tools have the same name.
    pub fn toolbox(&self, specs: impl IntoIterator<Item = ToolSpec>) -> Result<Toolbox, Error> {
        let builder = ToolboxBuilder {
            external: specs.into_iter().collect(),
            settings: self.clone(),
            ..ToolboxBuilder::default()
        };
        builder.build()
    }
}

/// Collects tools and settings for a [`Toolbox`].
#[derive(Debug, Default)]
#[must_use]
pub struct ToolboxBuilder {
    tools: Vec<RegisteredTool>,
    /// Tools that run elsewhere.
    external: Vec<ToolSpec>,
    settings: GuardSettings,
    cache: Option<SchemaCache>,
    /// Sinks to start, unless the settings contain running ones.
    sinks: SinksBuilder,
    concurrency: Option<usize>,
}

impl ToolboxBuilder {
    /// Adds a tool.
    pub fn tool<A: Send + 'static, O: Send + 'static>(mut self, tool: ToolDef<A, O>) -> Self {
        self.tools.push(tool.register());
        self
    }

    /// Declares a tool that runs elsewhere: in another framework, or on a server. Its calls are judged, counted and
    /// checked like any others, between [`Toolbox::begin`] and [`Invocation::end`](super::Invocation::end).
    ///
    /// ```
    /// use callwright::check::Ran;
    /// use callwright::toolbox::Toolbox;
    /// use callwright::{Call, ToolSpec};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), callwright::Error> {
    /// let spec = ToolSpec::new("add", json!({"properties": {"a": {"type": "integer"}}}));
    /// let toolbox = Toolbox::builder().external_tool(spec).build()?;
    ///
    /// let call = Call::from_text("add", r#"{"a": "2"}"#);
    /// let settled = match toolbox.begin(&call, None) {
    ///     Ok(invocation) => {
    ///         let arguments = invocation.ticket().arguments().to_string(); // {"a":2}
    ///         let ran = match invocation.run(async { format!("added {arguments}") }).await {
    ///             Ok(output) => Ran::ok(output),
    ///             Err(failure) => Ran::failed(failure), // it panicked or took too long
    ///         };
    ///         invocation.end(ran)
    ///     }
    ///     Err(refused) => refused,
    /// };
    /// assert_eq!(toolbox.text(&settled), r#"added {"a":2}"#);
    /// # Ok(())
    /// # }
    /// ```
    pub fn external_tool(mut self, spec: ToolSpec) -> Self {
        self.external.push(spec);
        self
    }

    /// Sets everything that a policy file covers. Its settings for a tool override the tool's own.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.settings.policy = policy;
        self
    }

    /// Sets how large a call may be.
    pub fn limits(mut self, limits: ParseLimits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Keeps sessions in this ledger instead of the toolbox's own memory.
    pub fn ledger(mut self, ledger: Arc<dyn Ledger>) -> Self {
        self.settings.ledger = ledger;
        self
    }

    /// Uses this cache of compiled schemas instead of the process-wide one.
    pub fn cache(mut self, cache: SchemaCache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Sets how failures are worded for the model.
    pub fn feedback(mut self, feedback: Feedback) -> Self {
        self.settings.feedback = feedback;
        self
    }

    /// Sets how many calls of all tools together may run at once; further calls wait. A call that waits before a retry leaves
    /// its slot to others. A tool that invokes another one keeps its own slot while it waits: with a single slot, it waits
    /// until its time is up.
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.concurrency = Some(calls);
        self
    }

    /// Sends the event of every call to a sink, which runs on its own thread.
    pub fn sink(mut self, name: impl Into<String>, sink: impl Sink + 'static) -> Self {
        self.sinks = self.sinks.sink(name, sink);
        self
    }

    /// Calls a function for matching events, on its own thread.
    pub fn on(mut self, wants: On, function: impl FnMut(&Event) + Send + 'static) -> Self {
        self.sinks = self.sinks.on(wants, function);
        self
    }

    /// Sends the event of every call to these running sinks, and to no others: [`build`](Self::build) fails if there are any.
    pub fn sinks(mut self, sinks: Sinks) -> Self {
        self.settings.sinks = sinks;
        self
    }

    /// Adds the tools' results to the events, for a replay. They may be large.
    pub fn keep_output(mut self) -> Self {
        self.settings.keep_output = true;
        self
    }

    /// Compiles the tools and starts the sinks.
    ///
    /// # Errors
    /// Fails if two tools have the same name, if a tool's type does not agree with its schema, if both
    /// [`sinks`](Self::sinks) and [`sink`](Self::sink) or [`on`](Self::on) were set, or if the thread of a sink cannot be
    /// started.
    pub fn build(self) -> Result<Toolbox, Error> {
        let defects = self.tools.iter().filter_map(|tool| {
            let defect = tool.defect.as_ref()?;
            Some(format!("tool `{}`: {defect}", tool.spec.name))
        });
        let defects: Vec<String> = defects.collect();
        if !defects.is_empty() {
            return Err(ErrorKind::ToolDefects(defects.join("\n")).into());
        }
        let settings = self.settings;
        let mut policy = settings.policy;
        let said = std::mem::take(&mut policy.tools);
        policy.tools = self.tools.iter().map(|tool| tool.policy.clone()).collect();
        policy.tools.extend(said);
        let own = self.tools.iter().map(|tool| tool.spec.clone());
        let specs: Vec<ToolSpec> = own.chain(self.external.iter().cloned()).collect();
        let mut builder = Gate::builder()
            .tools(specs)
            .limits(settings.limits)
            .ledger(settings.ledger)
            .policy(policy.clone());
        if let Some(cache) = self.cache {
            builder = builder.cache(cache);
        }
        let gate = builder.build()?;
        let warnings = policy.warnings(gate.tools().map(crate::tool::Tool::name));
        let names = policy.names();
        let of_all = self.concurrency.map(permits);
        let runners = self.tools.into_iter().filter_map(|tool| {
            let settings = policy.own(&tool.spec.name, &names).run;
            let compiled = gate.tool(&tool.spec.name)?;
            let runner = Runner::new(tool.handler, compiled, settings, of_all.clone());
            Some((tool.spec.name, runner))
        });
        let external = self.external.into_iter().map(|spec| {
            let limit = policy.own(&spec.name, &names).run.timeout;
            (spec.name, limit)
        });
        let sinks = if settings.sinks.is_empty() {
            self.sinks.start().map_err(ErrorKind::NoThread)?
        } else if self.sinks.is_empty() {
            settings.sinks
        } else {
            return Err(ErrorKind::TwoSetsOfSinks.into());
        };
        Ok(Toolbox {
            runners: runners.collect(),
            external: external.collect(),
            gate,
            feedback: settings.feedback,
            sinks,
            warnings,
            keeps_output: settings.keep_output,
        })
    }
}
