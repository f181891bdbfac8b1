//! The counts of a replay.
//!
//! A [`Summary`] does not grow with the log: everything that could grow is bounded, and a bound keeps the same things
//! in whatever order they came. So summaries merge: `a.merge(b)` is what one run over both logs would have counted,
//! in any order and any grouping. Only a conversation that is spread over several parts counts as several.
//!
//! It never contains a value that a schema marks as secret.

mod bounded;
mod change;
mod cluster;
mod cluster_key;
mod distinct;
mod example;
mod input;
mod packed;
mod parts;
mod sorted_map;
mod tally;
mod timeline;
mod tool;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use bounded::Bounded;
pub use change::{Change, ChangeKey};
pub use cluster::{Cluster, LedTo};
pub use cluster_key::{ClusterKey, HeldInText, Side, ValueShape, ViolationCode};
pub use distinct::Distinct;
pub use example::{Example, Examples};
pub use input::{Input, Trouble};
pub use packed::SummaryError;
pub use parts::{MergeError, Merged, Parts};
pub use tally::Tally;
pub use timeline::Timeline;
pub use tool::{FewValues, FieldUse, Parameter, ToolSummary, Version};

/// The version of the serialised form.
pub const VERSION: u32 = 2;

/// How many clusters are kept. Real tools have a few dozen each.
pub const CLUSTERS: usize = 20_000;

/// How many bytes they may take: one has two or three kilobytes, and fifty if it is frequent and has many values.
pub const CLUSTER_BYTES: usize = 24 * 1024 * 1024;

/// How many tools are distinguished, each with its declarations. The largest gateways offer a few thousand.
pub const TOOLS: usize = 5_000;

/// How many bytes they may take: one has a few kilobytes, mostly its declaration and when it was called.
pub const TOOL_BYTES: usize = 24 * 1024 * 1024;

/// How many parameters are examined, over all tools.
pub const PARAMETERS: usize = 20_000;

/// How many models are distinguished.
pub const MODELS: usize = 1_000;

/// How many combinations of clusters are kept: most calls have one or two faults.
pub const COMBINATIONS: usize = 50_000;

/// How many kinds of changed verdicts are kept.
pub const CHANGES: usize = 10_000;

/// Everything that a replay counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// [`VERSION`].
    pub v: u32,
    /// What was read.
    pub input: Input,
    /// All calls.
    pub calls: Tally,
    /// Per tool, by its name.
    pub tools: Bounded<String, ToolSummary, TOOLS, TOOL_BYTES>,
    /// The values that valid calls gave for tool parameters.
    pub parameters: Bounded<Parameter, FieldUse, PARAMETERS>,
    /// Per model.
    pub models: Bounded<String, Tally, MODELS>,
    /// Over time.
    pub time: Timeline<Tally>,
    /// The conversations.
    pub sessions: Distinct,
    /// Violations, grouped.
    pub clusters: Bounded<ClusterKey, Cluster, CLUSTERS, CLUSTER_BYTES>,
    /// Calls by the set of their faults: what must be allowed together to make them valid.
    pub combinations: Bounded<Combination, u64, COMBINATIONS>,
    /// How often each rule of repair was applied.
    pub repairs: BTreeMap<String, u64>,
    /// What admission would have stopped, by code.
    pub loops: BTreeMap<String, Stopped>,
    /// Verdicts that change with another judge.
    #[serde(default)]
    pub changes: Bounded<ChangeKey, Change, CHANGES>,
    /// Whether another judge was compared.
    #[serde(default)]
    pub compared: bool,
    /// The parts of a log that these counts cover.
    #[serde(default, skip_serializing_if = "is_default")]
    pub parts: Parts,
}

/// The faults of a call: a tool and the [`ClusterKey::hash`] of each, sorted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Combination {
    /// The tool.
    pub tool: String,
    /// The clusters.
    pub clusters: Vec<u64>,
}

/// Calls that admission would have stopped.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Stopped {
    /// How many.
    pub calls: u64,
    /// In how many conversations.
    pub sessions: Distinct,
    /// How long their tools ran, in microseconds.
    pub latency_us: u64,
    /// How many bytes of results they returned to the model.
    pub result_bytes: u64,
    /// Their tools, and how often.
    pub tools: Bounded<String, u64, 100>,
    /// Some of them.
    pub examples: Examples,
}

impl Default for Summary {
    fn default() -> Self {
        Summary {
            v: VERSION,
            input: Input::default(),
            calls: Tally::default(),
            tools: Bounded::default(),
            parameters: Bounded::default(),
            models: Bounded::default(),
            time: Timeline::default(),
            sessions: Distinct::default(),
            clusters: Bounded::default(),
            combinations: Bounded::default(),
            repairs: BTreeMap::new(),
            loops: BTreeMap::new(),
            changes: Bounded::default(),
            compared: false,
            parts: Parts::default(),
        }
    }
}

impl Summary {
    /// Calls that were not judged because their tools are not declared.
    pub fn undeclared_calls(&self) -> u64 {
        self.tools.iter().fold(0, |sum, (_, tool)| {
            tool.undeclared_calls().saturating_add(sum)
        })
    }

    /// Adds the counts of another part of the log: in any order and any grouping, the sum is what one run over all
    /// parts would count. A part with an id counts once, however often it is merged.
    ///
    /// # Errors
    /// Fails if a part would count twice and cannot be left out.
    pub fn merge(&mut self, other: Summary) -> Result<Merged, MergeError> {
        let merged = self.parts.compare(&other.parts)?;
        match merged {
            Merged::Added => self.absorb(other),
            Merged::Known => {}
            Merged::Replaced => *self = other,
        }
        Ok(merged)
    }

    /// Adds other counts, whatever parts they cover.
    pub(crate) fn absorb(&mut self, other: Summary) {
        self.input.absorb(other.input);
        self.calls.absorb(other.calls);
        self.tools.absorb(other.tools);
        self.parameters.absorb(other.parameters);
        self.models.absorb(other.models);
        self.time.absorb(other.time);
        self.sessions.absorb(other.sessions);
        self.clusters.absorb(other.clusters);
        self.combinations.absorb(other.combinations);
        self.repairs.absorb(other.repairs);
        self.loops.absorb(other.loops);
        self.changes.absorb(other.changes);
        self.compared.absorb(other.compared);
        self.parts.absorb(other.parts);
    }
}

/// Whether there is nothing to serialise.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Something that is counted in parts.
pub trait Merge {
    /// Adds the counts of another part. Associative and commutative.
    fn absorb(&mut self, other: Self);

    /// About how many bytes it takes, if that can be many. More counts never make it smaller.
    fn bytes(&self) -> usize {
        0
    }
}

impl Merge for u64 {
    fn absorb(&mut self, other: Self) {
        *self = self.saturating_add(other);
    }
}

impl Merge for bool {
    fn absorb(&mut self, other: Self) {
        *self |= other;
    }
}

impl<K: Ord, V: Merge + Default> Merge for BTreeMap<K, V> {
    fn absorb(&mut self, other: Self) {
        for (key, value) in other {
            self.entry(key).or_default().absorb(value);
        }
    }
}

/// Merges a struct field by field. A field of which one of two values wins names the function that chooses.
macro_rules! merge {
    ($type:ty { $($sum:ident),* $(; $($chosen:ident by $choose:expr),*)? } $(=> $bytes:expr)?) => {
        impl $crate::summary::Merge for $type {
            fn absorb(&mut self, other: Self) {
                $(self.$sum.absorb(other.$sum);)*
                $($(self.$chosen = $choose(self.$chosen, other.$chosen);)*)?
            }

            $(fn bytes(&self) -> usize {
                $bytes(self)
            })?
        }
    };
}
use merge;

merge!(Stopped {
    calls,
    sessions,
    latency_us,
    result_bytes,
    tools,
    examples
});

/// The earlier of two times, either of which may be unknown.
pub(crate) fn earliest(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    one.into_iter().chain(other).min()
}

/// The later of two times.
fn latest(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    one.max(other)
}

/// The smaller of two numbers, either of which may be unknown.
fn smaller(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::min)
}

/// The larger of two numbers.
pub(crate) fn larger(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::max)
}
