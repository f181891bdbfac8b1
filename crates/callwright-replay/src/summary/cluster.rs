//! Violations of one kind: the same tool, side, place, issue and shape of the value.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::input::earliest;
use super::{Bounded, Distinct, Examples, Merge, Timeline};

/// How many models are told apart in a cluster.
const KEPT_MODELS: usize = 50;

/// A day.
const DAY_US: i64 = 24 * 60 * 60 * 1_000_000;

/// How many different values of a cluster are kept.
const KEPT_VALUES: usize = 64;

/// What a violation is grouped by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ClusterKey {
    /// The tool.
    pub tool: String,
    /// Arguments or result.
    pub side: Side,
    /// Where: a JSON Pointer in which `*` stands for any index, and for any key that the schema does not name.
    pub path: String,
    /// What is wrong: the name of an [`IssueCode`](callwright::validate::IssueCode), or the code of a failure that is no
    /// matter of the schema (`invalid_json`, `unknown_tool`, `empty_result`).
    pub issue: String,
    /// What the value looks like; see [`crate::judge`]. Empty for a key that is missing.
    pub shape: String,
}

/// Which of the two schemas is violated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The model's arguments.
    Input,
    /// The tool's result.
    Output,
}

impl ClusterKey {
    /// A hash by which combinations of clusters name this one.
    pub fn hash(&self) -> u64 {
        let side = match self.side {
            Side::Input => "input",
            Side::Output => "output",
        };
        let text = [&self.tool, side, &self.path, &self.issue, &self.shape].join("\u{0}");
        xxh3_64(text.as_bytes())
    }
}

/// What is known of such violations.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Cluster {
    /// Calls with it.
    pub calls: u64,
    /// Of these, calls that repair makes valid.
    pub repaired: u64,
    /// The name of the rules that did, and how often.
    pub rules: std::collections::BTreeMap<String, u64>,
    /// Calls of which it is the only fault.
    pub alone: u64,
    /// The first time it was seen, in microseconds since 1970.
    pub first: Option<i64>,
    /// The last time.
    pub last: Option<i64>,
    /// When.
    pub time: Timeline<u64>,
    /// On which days the tool ran fine anyway: a tool may learn to take such calls.
    #[serde(default)]
    pub fine: Timeline<u64>,
    /// In which conversations.
    pub sessions: Distinct,
    /// From which models.
    pub models: Bounded<String, u64, KEPT_MODELS>,
    /// Different values, as JSON of at most 200 bytes; longer ones are not here.
    pub values: Bounded<String, u64, KEPT_VALUES>,
    /// For numbers the value, for texts the characters, for lists the items: the smallest and the largest.
    pub smallest: Option<f64>,
    /// See `smallest`.
    pub largest: Option<f64>,
    /// What it led to.
    pub led_to: LedTo,
    /// Three of them.
    pub examples: Examples,
}

/// What calls led to. Each call is counted once in the first three, and once in the last three if it failed or nothing is
/// known of its result, and it belongs to a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LedTo {
    /// The tool ran fine anyway.
    pub ran_fine: u64,
    /// The tool, or whatever stood before it, answered with an error.
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

impl Merge for LedTo {
    fn absorb(&mut self, other: Self) {
        self.ran_fine.absorb(other.ran_fine);
        self.tool_refused.absorb(other.tool_refused);
        self.unknown.absorb(other.unknown);
        self.corrected.absorb(other.corrected);
        self.repeated.absorb(other.repeated);
        self.gave_up.absorb(other.gave_up);
    }
}

impl Cluster {
    /// Notes that the tool ran fine at a time. Days are enough, and cost little.
    pub fn add_fine(&mut self, time: i64, calls: u64) {
        self.fine.add(time.div_euclid(DAY_US) * DAY_US, calls);
    }
}

impl Cluster {
    /// Counts a call at a time.
    pub(crate) fn seen_at(&mut self, time: i64) {
        self.time.add(time, 1);
        self.first = earliest(self.first, Some(time));
        self.last = self.last.max(Some(time));
    }

    /// Notes how large a value was.
    pub(crate) fn measured(&mut self, measure: Option<f64>) {
        self.smallest = by(f64::min, self.smallest, measure);
        self.largest = by(f64::max, self.largest, measure);
    }
}

impl Merge for Cluster {
    fn absorb(&mut self, other: Self) {
        self.calls.absorb(other.calls);
        self.repaired.absorb(other.repaired);
        self.rules.absorb(other.rules);
        self.alone.absorb(other.alone);
        self.first = earliest(self.first, other.first);
        self.last = self.last.max(other.last);
        self.time.absorb(other.time);
        self.fine.absorb(other.fine);
        self.sessions.absorb(other.sessions);
        self.models.absorb(other.models);
        self.values.absorb(other.values);
        self.smallest = by(f64::min, self.smallest, other.smallest);
        self.largest = by(f64::max, self.largest, other.largest);
        self.led_to.absorb(other.led_to);
        self.examples.absorb(other.examples);
    }
}

/// One of two numbers, where either may be unknown.
pub(super) fn by(
    choose: impl Fn(f64, f64) -> f64,
    one: Option<f64>,
    other: Option<f64>,
) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(choose(one, other)),
        (one, other) => one.or(other),
    }
}
