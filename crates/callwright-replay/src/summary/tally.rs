//! Counts of verdicts.

use serde::{Deserialize, Serialize};

use super::Merge;

/// How many calls, and what the gate says of them and of their results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    /// Calls.
    pub calls: u64,
    /// That are valid as they stand.
    pub valid: u64,
    /// That repair makes valid.
    pub repaired: u64,
    /// That are refused.
    pub refused: u64,
    /// That admission would have stopped, valid or not.
    pub stopped: u64,
    /// Calls whose result is known.
    pub results: u64,
    /// Results that the output check objects to.
    pub results_refused: u64,
    /// Results in which the tool itself reports an error.
    pub tool_errors: u64,
}

impl Tally {
    /// Calls that break their schema, repaired or not.
    pub fn violations(&self) -> u64 {
        self.repaired + self.refused
    }
}

impl Merge for Tally {
    fn absorb(&mut self, other: Self) {
        self.calls.absorb(other.calls);
        self.valid.absorb(other.valid);
        self.repaired.absorb(other.repaired);
        self.refused.absorb(other.refused);
        self.stopped.absorb(other.stopped);
        self.results.absorb(other.results);
        self.results_refused.absorb(other.results_refused);
        self.tool_errors.absorb(other.tool_errors);
    }
}
