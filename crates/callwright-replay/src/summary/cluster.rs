//! Violations of one kind: the same tool, side, place, issue and shape of the value.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{Bounded, Distinct, Examples, Timeline, earliest, larger, latest, merge, smaller};

/// How many models are kept apart in a cluster.
const KEPT_MODELS: usize = 50;

/// A day.
const DAY_US: i64 = 24 * 60 * 60 * 1_000_000;

/// How many different values of a cluster are kept.
const KEPT_VALUES: usize = 64;

/// What violations are grouped by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ClusterKey {
    /// The tool.
    pub tool: String,
    /// Arguments or result.
    pub side: Side,
    /// Where: a JSON Pointer in which `*` stands for any index, and for any key that the schema does not name.
    pub path: String,
    /// What is wrong: the name of an [`IssueCode`](callwright::validate::IssueCode), or the code of a failure that the
    /// schema has nothing to do with (`invalid_json`, `unknown_tool`, `empty_result`).
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
    /// The tool, or what guards it, answered with an error.
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
    /// Notes that the tool ran fine at a time. Days are enough, and cost little.
    pub fn add_fine(&mut self, time: i64, calls: u64) {
        self.fine.add(time.div_euclid(DAY_US) * DAY_US, calls);
    }

    /// Counts a call at a time.
    pub(crate) fn seen_at(&mut self, time: i64) {
        self.time.add(time, 1);
        self.first = earliest(self.first, Some(time));
        self.last = self.last.max(Some(time));
    }

    /// Notes how large a value was.
    pub(crate) fn measured(&mut self, measure: Option<f64>) {
        self.smallest = smaller(self.smallest, measure);
        self.largest = larger(self.largest, measure);
    }
}

merge!(Cluster {
    calls, repaired, rules, alone, time, fine, sessions, models, values, led_to, examples;
    first by earliest, last by latest, smallest by smaller, largest by larger
});
