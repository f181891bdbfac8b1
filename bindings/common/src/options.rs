//! The options of a guard as plain data, which any language can write as a JSON object.

use std::collections::BTreeMap;
use std::sync::Arc;

use callwright::admit::{self, AdmissionPolicy, Ledger, MemoryLedger};
use callwright::call::ParseLimits;
use callwright::feedback::{Feedback, Receipts};
use callwright::{Gate, Policy, wire};
use serde::Deserialize;

use crate::guard::Guard;
use crate::{Fault, names};

/// How a guard behaves. The defaults are those of the core.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The text of a policy file.
    pub policy: Option<String>,
    /// The highest repair grade, overriding the policy.
    pub repair: Option<String>,
    /// How failures are worded for the model.
    pub style: Option<String>,
    /// Whether the model is told about every correction, or about none; by default, about those that are not lossless.
    pub receipts: Option<bool>,
    /// The longest arguments that are read, in bytes.
    pub max_bytes: Option<usize>,
    /// How deeply arguments may be nested.
    pub max_depth: Option<usize>,
    /// The effect of each tool, as declared by the operator.
    pub effects: BTreeMap<String, String>,
    /// Some of the thresholds for repeated calls, overriding the policy.
    pub admission: Option<AdmissionPolicy>,
    /// How many sessions are kept in this process.
    pub sessions: Option<usize>,
    /// The address of a Redis or Valkey server that stores sessions instead.
    pub ledger: Option<String>,
    /// Whether events include the answers of tools.
    pub keep_output: bool,
}

/// The user's answer to a question that a refusal asked.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The call with this fingerprint may run once more.
    AllowOnce(String),
    /// Calls of this tool may run.
    AllowTool(String),
    /// Nothing runs until the next turn.
    Stop,
}

impl Reply {
    /// The same, for the ledger.
    ///
    /// # Errors
    /// Fails if the fingerprint is invalid.
    pub fn into_core(self) -> Result<admit::Reply, Fault> {
        Ok(match self {
            Reply::AllowOnce(fingerprint) => {
                let parsed = fingerprint.parse();
                let parsed = parsed.map_err(|_| format!("not a fingerprint: `{fingerprint}`"))?;
                admit::Reply::AllowOnce(parsed)
            }
            Reply::AllowTool(name) => admit::Reply::AllowTool(name),
            Reply::Stop => admit::Reply::Stop,
        })
    }
}

impl Options {
    /// Compiles tools, given as the text of a tool file, under these options. The sessions of `previous` continue: its
    /// ledger is shared, and the options for a ledger are ignored.
    ///
    /// # Errors
    /// Fails if the tools or the policy cannot be read, two tools have the same name, or an option is unknown.
    pub fn guard(&self, tools: &str, previous: Option<&Guard>) -> Result<Guard, Fault> {
        let told = |error: callwright::Error| error.to_string();
        let mut policy = match &self.policy {
            Some(text) => Policy::from_toml(text).map_err(|error| format!("policy: {error}"))?,
            None => Policy::default(),
        };
        if let Some(repair) = &self.repair {
            policy = policy.with_repair(names::repair(repair)?);
        }
        if let Some(admission) = &self.admission {
            policy.admission = admission.clone();
        }
        let mut specs = wire::read_tools(tools).map_err(told)?;
        for (name, effect) in &self.effects {
            let effect = names::effect(effect)?;
            let declared = specs.iter_mut().find(|spec| spec.name == *name);
            let spec = declared.ok_or_else(|| format!("effects: unknown tool `{name}`"))?;
            *spec = spec.clone().with_effect(effect);
        }
        let names = specs.iter().map(|spec| spec.name.clone()).collect();
        let mut limits = ParseLimits::default();
        limits.max_bytes = self.max_bytes.unwrap_or(limits.max_bytes);
        limits = limits.with_max_depth(self.max_depth.unwrap_or(limits.max_depth));
        let ledger = match previous {
            Some(previous) => Arc::clone(previous.ledger()),
            None => self.ledger()?,
        };
        let gate = Gate::builder()
            .tools(specs)
            .policy(policy.clone())
            .limits(limits)
            .ledger(Arc::clone(&ledger))
            .build()
            .map_err(told)?;
        let mut feedback = match &self.style {
            Some(style) => Feedback::new(names::style(style)?),
            None => Feedback::default(),
        };
        feedback.receipts = match self.receipts {
            None => Receipts::default(),
            Some(false) => Receipts::Never,
            Some(true) => Receipts::Always,
        };
        Ok(Guard::new(
            gate,
            ledger,
            names,
            policy,
            feedback,
            self.keep_output,
        ))
    }

    fn ledger(&self) -> Result<Arc<dyn Ledger>, Fault> {
        match &self.ledger {
            None => Ok(Arc::new(match self.sessions {
                Some(sessions) => MemoryLedger::new(sessions),
                None => MemoryLedger::default(),
            })),
            #[cfg(feature = "redis")]
            Some(address) => {
                let settings = callwright_redis::RedisSettings::default();
                let ledger = callwright_redis::RedisLedger::new(address, settings);
                // The address may contain a password, so it is not repeated.
                Ok(Arc::new(
                    ledger.map_err(|away| format!("ledger: {}", away.0))?,
                ))
            }
            #[cfg(not(feature = "redis"))]
            Some(_) => Err("ledger: this build has no Redis client".to_owned()),
        }
    }
}
