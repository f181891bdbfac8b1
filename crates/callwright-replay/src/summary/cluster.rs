//! Violations of one kind: the same tool, side, place, issue and shape of the value.

use serde::{Deserialize, Serialize};

use super::{Bounded, Distinct, Examples, Timeline, earliest, larger, latest, merge, smaller};

/// How many models are distinguished in a cluster.
const KEPT_MODELS: usize = 50;

/// A day.
const DAY_US: i64 = 24 * 60 * 60 * 1_000_000;

/// How many different values of a cluster are kept.
const KEPT_VALUES: usize = 64;

/// What is known about such violations.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Cluster {
    /// Calls with it.
    pub calls: u64,
    /// Of these, calls that repair makes valid.
    pub repaired: u64,
    /// The names of the rules that did, and how often.
    pub rules: std::collections::BTreeMap<String, u64>,
    /// Calls in which it is the only fault.
    pub alone: u64,
    /// The first time it was seen, in microseconds since 1970.
    pub first: Option<i64>,
    /// The last time.
    pub last: Option<i64>,
    /// Calls over time.
    pub time: Timeline<u64>,
    /// The days on which the tool ran fine anyway: a tool may learn to accept such calls.
    #[serde(default)]
    pub fine: Timeline<u64>,
    /// The conversations with it.
    pub sessions: Distinct,
    /// The models that made it.
    pub models: Bounded<String, u64, KEPT_MODELS>,
    /// Different values, as JSON of at most 200 bytes; longer ones are not here.
    pub values: Bounded<String, u64, KEPT_VALUES>,
    /// For numbers the value, for texts the characters, for lists the items: the smallest and the largest.
    pub smallest: Option<f64>,
    /// See `smallest`.
    pub largest: Option<f64>,
    /// What it led to.
    pub led_to: LedTo,
    /// Three examples.
    pub examples: Examples,
}

/// What calls led to. Each call is counted once in the first three, and once in the last three if it failed or its
/// result is unknown, and it belongs to a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LedTo {
    /// The tool ran fine anyway.
    pub ran_fine: u64,
    /// The tool, or its guard, answered with an error.
    pub tool_refused: u64,
    /// No result was recorded.
    pub unknown: u64,
    /// The next call of the tool in the conversation was without the fault.
    pub corrected: u64,
    /// The next call of the tool had it again.
    pub repeated: u64,
    /// The tool was never called again in the conversation.
    pub gave_up: u64,
}

merge!(LedTo {
    ran_fine,
    tool_refused,
    unknown,
    corrected,
    repeated,
    gave_up
});

impl Cluster {
    /// Records that the tool ran fine at a time. Days are enough, and cost little.
    pub fn add_fine(&mut self, time: i64, calls: u64) {
        self.fine.add(time.div_euclid(DAY_US) * DAY_US, calls);
    }

    /// Counts a call at a time.
    pub(crate) fn seen_at(&mut self, time: i64) {
        self.time.add(time, 1);
        self.first = earliest(self.first, Some(time));
        self.last = self.last.max(Some(time));
    }

    fn bytes(&self) -> usize {
        let times = self.time.bytes() + self.fine.bytes();
        let (hashes, models) = (4 * self.sessions.len(), 80 * self.models.len());
        // Values of 200 bytes and examples of a few hundred, plus what the maps around them take.
        1_000 + times + hashes + models + 280 * self.values.len() + 700 * self.examples.len()
    }

    /// Records how large a value was.
    pub(crate) fn measured(&mut self, measure: Option<f64>) {
        self.smallest = smaller(self.smallest, measure);
        self.largest = larger(self.largest, measure);
    }
}

merge!(Cluster {
    calls, repaired, rules, alone, time, fine, sessions, models, values, led_to, examples;
    first by earliest, last by latest, smallest by smaller, largest by larger
} => Cluster::bytes);
