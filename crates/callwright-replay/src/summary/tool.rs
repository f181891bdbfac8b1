//! What is known about one tool.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Bounded, Distinct, Merge, Tally, Timeline, earliest, is_default, larger, latest, merge,
};

/// How many versions of a tool are kept: one per deployment.
const KEPT_VERSIONS: usize = 10;

/// At most this many different values of a parameter look like a list of values.
const FEW_VALUES: usize = 8;

/// How many models are distinguished.
const KEPT_MODELS: usize = 50;

/// What is known about one tool.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolSummary {
    /// Its calls.
    pub tally: Tally,
    /// Its declarations, by hash. More than one if it changed.
    pub versions: Bounded<String, Version, KEPT_VERSIONS>,
    /// When it was called.
    pub time: Timeline<u64>,
    /// In which conversations.
    pub sessions: Distinct,
    /// By which models, and how often.
    pub models: Bounded<String, u64, KEPT_MODELS>,
    /// How long it took, in microseconds, for all calls together.
    pub latency_us: u64,
    /// How many valid calls [`FieldUse`] covers.
    pub sampled: u64,
}

/// One declaration of a tool.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Version {
    /// The declaration in MCP's format (`name`, `description`, `inputSchema`, `outputSchema`, `annotations`), as JSON
    /// text.
    pub declared: String,
    /// Calls that were judged by it.
    pub calls: u64,
    /// When it was first used, in microseconds since 1970.
    pub first: Option<i64>,
    /// When it was last used.
    pub last: Option<i64>,
    /// Why its schema does not compile, if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantined: Option<String>,
}

/// A top-level parameter of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Parameter {
    /// The tool.
    pub tool: String,
    /// The name of the parameter.
    pub name: String,
}

/// The values that valid calls give for a parameter.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FieldUse {
    /// Calls that give it.
    pub present: u64,
    /// Different values.
    pub values: FewValues,
    /// For numbers the value, for texts the characters, for lists the items: the largest.
    pub largest: Option<f64>,
}

/// The different values of a parameter, as JSON, with their counts, as long as they are few.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FewValues {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    kept: BTreeMap<String, u64>,
    /// There were more, so none is kept.
    #[serde(default, skip_serializing_if = "is_default")]
    are_many: bool,
}

impl FewValues {
    /// Adds a value; `None` is one that is not kept.
    pub fn add(&mut self, value: Option<String>) {
        match value {
            Some(value) if !self.are_many => *self.kept.entry(value).or_default() += 1,
            _ => self.are_many = true,
        }
        self.fit();
    }

    fn fit(&mut self) {
        self.are_many |= self.kept.len() > FEW_VALUES;
        if self.are_many {
            self.kept = BTreeMap::new();
        }
    }

    /// The values, if they are few.
    pub fn get(&self) -> Option<&BTreeMap<String, u64>> {
        Some(&self.kept).filter(|_| !self.are_many)
    }
}

impl Merge for FewValues {
    fn absorb(&mut self, other: Self) {
        self.kept.absorb(other.kept);
        self.are_many |= other.are_many;
        self.fit();
    }
}

impl ToolSummary {
    /// The declaration that was used last or, if no times are known, the one with the most calls.
    pub fn newest(&self) -> Option<&Version> {
        let versions = self.versions.iter();
        versions
            .max_by_key(|(hash, version)| (version.last, version.calls, *hash))
            .map(|(_, version)| version)
    }

    fn bytes(&self) -> usize {
        let declared = self.versions.iter().map(|(_, it)| it.declared.len() + 200);
        let (hashes, models) = (4 * self.sessions.len(), 80 * self.models.len());
        400 + self.time.bytes() + hashes + models + declared.sum::<usize>()
    }

    /// Calls that were not judged because the tool was not declared.
    pub fn undeclared_calls(&self) -> u64 {
        if self.versions.dropped() > 0 {
            // So many declarations that some were not kept; then it was declared.
            return 0;
        }
        let judged = self.versions.iter();
        let judged = judged.fold(0u64, |sum, (_, version)| sum.saturating_add(version.calls));
        self.tally.calls.saturating_sub(judged)
    }
}

impl Merge for Version {
    fn absorb(&mut self, other: Self) {
        if self.declared.is_empty() {
            self.declared = other.declared;
            self.quarantined = other.quarantined;
        }
        self.calls.absorb(other.calls);
        self.first = earliest(self.first, other.first);
        self.last = latest(self.last, other.last);
    }
}

merge!(FieldUse {
    present, values;
    largest by larger
});

merge!(ToolSummary {
    tally,
    versions,
    time,
    sessions,
    models,
    latency_us,
    sampled
} => ToolSummary::bytes);
