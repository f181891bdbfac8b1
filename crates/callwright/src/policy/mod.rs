//! Settings: first those for all tools, then those for tools by name.
//!
//! Takes a policy file (with the feature `policy`) or settings made in code, and returns the settings of each tool. Anything
//! not set keeps its default. It never searches for a file and never reads an environment variable.

mod advice;
#[cfg(feature = "policy")]
mod file;
mod run_plan;

use std::collections::BTreeMap;
use std::time::Duration;

use ahash::AHashSet;
use serde::{Serialize, Serializer};

pub use self::advice::Advice;
#[cfg(feature = "policy")]
pub use self::file::known_keys;
pub use self::run_plan::RunPlan;
pub use crate::vocabulary::Validation;

use crate::admit::{AdmissionPolicy, Names, Steps, matches_name};
use crate::json::Path;
use crate::nearest::nearest;
use crate::repair::RepairPolicy;
use crate::text::quoted;
use crate::vocabulary::{Detector, Effect, Grade, OutputCheck, OutputPolicy, ToolSpec};

/// All settings of a gate, see [`crate::GateBuilder::policy`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Policy {
    /// Whether arguments are held to the schema, for tools without a setting of their own.
    pub validation: Validation,
    /// Which repairs are applied without asking.
    pub repair: RepairPolicy,
    /// The thresholds for repeated calls, for all tools and for individual ones.
    pub admission: AdmissionPolicy,
    /// How results are judged.
    pub output: OutputSettings,
    /// What to advise when a call fails.
    pub advice: Advice,
    /// How tools are run. The gate runs none; a runtime that does reads these.
    pub run: RunSettings,
    /// Settings of individual tools, in order; the last one that matches and has a value wins. A policy file is put into this
    /// order: patterns as they are in the file, then exact names.
    pub tools: Vec<ToolPolicy>,
    /// Where a policy file names tools.
    patterns: Vec<Pattern>,
}

/// Settings for the tools whose names match. (Budgets and pollers are in [`crate::admit::ToolAdmission`].)
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ToolPolicy {
    /// A tool's name; `*` matches any text.
    pub name: String,
    /// What a call does to the world, whatever the tool declares.
    pub effect: Option<Effect>,
    /// Whether a second call with the same arguments has no further effect, whatever the tool declares.
    pub idempotent: Option<bool>,
    /// Which repairs are applied without asking.
    pub repair: Option<RepairPolicy>,
    /// Whether arguments are held to the schema.
    pub validation: Option<Validation>,
    /// How results are judged.
    pub output: OutputSettings,
    /// What to advise when a call fails.
    pub advice: Advice,
    /// How it is run.
    pub run: RunSettings,
}

impl ToolPolicy {
    /// Settings for the tools of this name; `*` matches any text.
    pub fn new(name: impl Into<String>) -> Self {
        ToolPolicy {
            name: name.into(),
            ..ToolPolicy::default()
        }
    }

    /// The tool's declaration with the operator's overrides.
    pub(crate) fn declare(&self, mut tool: ToolSpec) -> ToolSpec {
        if let Some(effect) = self.effect {
            tool = tool.with_effect(effect);
        }
        tool.idempotent = self.idempotent.unwrap_or(tool.idempotent);
        tool
    }
}

/// How results are judged; unset fields keep the defaults of [`OutputPolicy`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct OutputSettings {
    /// What an objection leads to.
    pub mode: Option<Validation>,
    /// What to look for beyond the schema.
    pub detect: Option<Vec<Detector>>,
    /// How many bytes of a result the model gets.
    pub max_bytes: Option<usize>,
    /// Words that mark an error as transient.
    pub transient: Vec<String>,
    /// The operator's checks. All that match a tool are run.
    pub checks: Vec<OutputCheck>,
}

impl OutputSettings {
    /// These settings, overridden by another's. Checks and words are combined.
    fn merged(mut self, other: &OutputSettings) -> Self {
        self.mode = other.mode.or(self.mode);
        self.detect = other.detect.clone().or(self.detect);
        self.max_bytes = other.max_bytes.or(self.max_bytes);
        self.transient.extend(other.transient.iter().cloned());
        self.checks.extend(other.checks.iter().cloned());
        self
    }

    /// These settings, with defaults for everything unset.
    pub(crate) fn policy(self) -> OutputPolicy {
        let usual = OutputPolicy::default();
        let mut detect = self.detect.unwrap_or(usual.detect);
        detect.sort_unstable();
        detect.dedup();
        OutputPolicy {
            mode: self.mode.unwrap_or(usual.mode),
            detect,
            checks: self.checks,
            transient: self.transient,
            max_bytes: self.max_bytes.unwrap_or(usual.max_bytes),
        }
    }
}

/// How tools are run, where it is set. The gate runs none; a runtime that does reads these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct RunSettings {
    /// How long a call may take; written in seconds.
    #[serde(serialize_with = "seconds")]
    pub timeout: Option<Duration>,
    /// How often a call is run again after a transient failure, if running it twice is safe.
    pub retries: Option<u32>,
    /// How many calls may run at once.
    pub concurrency: Option<usize>,
}

impl RunSettings {
    /// These settings, overridden by another's.
    #[must_use]
    pub fn merged(self, other: RunSettings) -> Self {
        RunSettings {
            timeout: other.timeout.or(self.timeout),
            retries: other.retries.or(self.retries),
            concurrency: other.concurrency.or(self.concurrency),
        }
    }
}

/// The effective settings of one tool: see [`Policy::settings`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolSettings {
    /// What a call does to the world.
    pub effect: Effect,
    /// Whether a second identical call has no further effect.
    pub idempotent: bool,
    /// The highest grade of repair; `None` for none at all.
    pub repair: Option<Grade>,
    /// Whether arguments are held to the schema.
    pub validate: Validation,
    /// Calls of one fingerprint in a turn.
    pub budget: u32,
    /// Whether the tool is meant to be polled.
    pub poller: bool,
    /// Calls in a turn.
    pub calls: Steps,
    /// Arguments that are left out of the fingerprint.
    pub volatile: Vec<Path>,
    /// What an objection to a result leads to.
    pub output: Validation,
    /// What to look for in results beyond the schema.
    pub detect: Vec<Detector>,
    /// The names of the checks that are run on results, in order.
    pub checks: Vec<String>,
    /// How many bytes of a result the model gets.
    pub max_bytes: usize,
    /// Words that mark an error as transient.
    pub transient: Vec<String>,
    /// The advice, by class or code.
    pub advice: BTreeMap<&'static str, Vec<String>>,
    /// How it is run. The runtime chooses where nothing is set.
    #[serde(flatten)]
    pub run: RunSettings,
}

#[expect(clippy::ref_option, reason = "serde gives a reference to the field")]
fn seconds<S: Serializer>(timeout: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    timeout.map(|timeout| timeout.as_secs_f64()).serialize(to)
}

/// A name or pattern in a file, and its line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    text: String,
    line: usize,
}

impl Policy {
    /// The same policy with one repair setting for all tools, replacing any others.
    #[must_use]
    pub fn with_repair(mut self, repair: RepairPolicy) -> Self {
        self.repair = repair;
        for tool in &mut self.tools {
            tool.repair = None;
        }
        self
    }

    /// The effective settings of a tool.
    pub fn settings(&self, tool: &ToolSpec) -> ToolSettings {
        let own = self.own(&tool.name, &self.names());
        let tool = own.declare(tool.clone());
        let effect = tool.effect;
        let limits = self.admission.for_tool(&tool, &self.admission.names());
        let advice = self.advice.clone().merged(&own.advice);
        let output = own.output.policy();
        ToolSettings {
            effect,
            idempotent: tool.idempotent,
            repair: own.repair.unwrap_or(self.repair).cap_for(effect),
            validate: own.validation.unwrap_or_default(),
            budget: limits.limits.budget,
            poller: limits.limits.poller,
            calls: limits.calls,
            volatile: limits.volatile,
            output: output.mode,
            detect: output.detect,
            checks: output
                .checks
                .iter()
                .map(|it| it.name().to_owned())
                .collect(),
            max_bytes: output.max_bytes,
            transient: output.transient,
            advice: advice.by_name(),
            run: own.run,
        }
    }

    /// The names and patterns that have settings.
    pub(crate) fn names(&self) -> Names<'_> {
        Names::new(self.tools.iter().map(|tool| tool.name.as_str()))
    }

    /// The settings of a tool by name; later ones override earlier ones. `names` are those of [`Self::tools`].
    pub(crate) fn own(&self, name: &str, names: &Names<'_>) -> ToolPolicy {
        let mut own = ToolPolicy {
            validation: Some(self.validation),
            output: self.output.clone(),
            run: self.run,
            ..ToolPolicy::new(name)
        };
        for tool in names
            .matching(name)
            .iter()
            .filter_map(|at| self.tools.get(*at))
        {
            own.effect = tool.effect.or(own.effect);
            own.idempotent = tool.idempotent.or(own.idempotent);
            own.repair = tool.repair.or(own.repair);
            own.validation = tool.validation.or(own.validation);
            own.output = own.output.merged(&tool.output);
            own.advice = own.advice.merged(&tool.advice);
            own.run = own.run.merged(tool.run);
        }
        own
    }

    /// Warnings about tools that a policy file names and that do not exist, one sentence each. Not errors, since tools may come
    /// and go.
    pub fn warnings<'n>(&self, tools: impl IntoIterator<Item = &'n str>) -> Vec<String> {
        // Fits a name on a terminal.
        const LONGEST: usize = 60;
        // Searching for similar names takes milliseconds where there are thousands of tools.
        const MOST_PROPOSALS: usize = 20;
        let names: AHashSet<&str> = tools.into_iter().collect();
        let exists = |pattern: &Pattern| {
            if pattern.text.contains('*') {
                names.iter().any(|name| matches_name(&pattern.text, name))
            } else {
                names.contains(pattern.text.as_str())
            }
        };
        let unmatched = self.patterns.iter().filter(|pattern| !exists(pattern));
        unmatched
            .enumerate()
            .map(|(at, Pattern { text, line })| {
                let looked_at = names.iter().copied().filter(|_| at < MOST_PROPOSALS);
                let near = nearest(text, looked_at, 1);
                let advice = match near.first() {
                    Some(near) => format!(", did you mean {}?", quoted(near, LONGEST)),
                    None => "; its settings do nothing".to_owned(),
                };
                format!(
                    "line {line}: {} matches no tool{advice}",
                    quoted(text, LONGEST)
                )
            })
            .collect()
    }
}
