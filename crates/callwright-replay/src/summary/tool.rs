//! What is known of one tool.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Bounded, Distinct, Merge, Tally, Timeline, earliest, larger, latest, merge, smaller};

/// How many versions of a tool are kept: one a deployment.
const KEPT_VERSIONS: usize = 10;

/// How many parameters of a tool are looked at.
const KEPT_FIELDS: usize = 200;

/// How many different values of a parameter are kept, to see whether they are few.
const KEPT_VALUES: usize = 32;

/// How many models are kept apart.
const KEPT_MODELS: usize = 50;

/// What is known of one tool.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolSummary {
    /// Its calls.
    pub tally: Tally,
    /// How it was declared, by a hash of the declaration. More than one if it changed.
    pub versions: Bounded<String, Version, KEPT_VERSIONS>,
    /// When it was called.
    pub time: Timeline<u64>,
    /// In which conversations.
    pub sessions: Distinct,
    /// By which models, and how often.
    pub models: Bounded<String, u64, KEPT_MODELS>,
    /// How long it took, in microseconds, all calls together.
    pub latency_us: u64,
    /// How many valid calls `fields` is about.
    pub sampled: u64,
    /// What valid calls gave for each top-level parameter, by its name.
    pub fields: Bounded<String, FieldUse, KEPT_FIELDS>,
}

/// One declaration of a tool.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Version {
    /// The declaration in MCP's shape (`name`, `description`, `inputSchema`, `outputSchema`, `annotations`), as text: JSON.
    pub declared: String,
    /// Calls that were judged by it.
    pub calls: u64,
    /// When it was first in use, in microseconds since 1970.
    pub first: Option<i64>,
    /// When last.
    pub last: Option<i64>,
    /// Why its schema does not compile, if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantined: Option<String>,
}

/// What valid calls give for a parameter.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FieldUse {
    /// Calls that give it.
    pub present: u64,
    /// The types of the values.
    pub types: BTreeMap<String, u64>,
    /// Different values, as JSON of at most 100 bytes.
    pub values: Bounded<String, u64, KEPT_VALUES>,
    /// For numbers the value, for texts the characters, for lists the items: the smallest and the largest.
    pub smallest: Option<f64>,
    /// See `smallest`.
    pub largest: Option<f64>,
}

impl FieldUse {
    /// A number, or a length.
    pub(crate) fn measured(&mut self, measure: Option<f64>) {
        self.smallest = smaller(self.smallest, measure);
        self.largest = larger(self.largest, measure);
    }
}

impl ToolSummary {
    /// The declaration that was in use last; where no times are known, the one with the most calls.
    pub fn newest(&self) -> Option<&Version> {
        let versions = self.versions.iter();
        versions
            .max_by_key(|(hash, version)| (version.last, version.calls, *hash))
            .map(|(_, version)| version)
    }

    /// Calls that were not judged, because nothing declared the tool.
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
    present, types, values;
    smallest by smaller, largest by larger
});

merge!(ToolSummary {
    tally,
    versions,
    time,
    sessions,
    models,
    latency_us,
    sampled,
    fields
});
