//! Counts of verdicts.

use serde::{Deserialize, Serialize};

use super::merge;

/// How many calls there are, and the verdicts on them and on their results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    /// Calls.
    pub calls: u64,
    /// Calls that are valid as sent.
    pub valid: u64,
    /// Calls that pass because no schema could judge them: that of their tool cannot be read or compiled.
    pub unjudged: u64,
    /// Calls that repair makes valid.
    pub repaired: u64,
    /// Calls that are only valid because the policy asks for no more than a warning.
    #[serde(skip_serializing_if = "is_zero")]
    pub warned: u64,
    /// Calls that are refused.
    pub refused: u64,
    /// Calls that admission would have stopped, valid or not.
    pub stopped: u64,
    /// Calls whose result is known.
    pub results: u64,
    /// Results that the output check objects to.
    pub results_refused: u64,
    /// Results in which the tool itself reports an error.
    pub tool_errors: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Tally {
    /// Calls that violate their schema: repaired, let through with a warning, or refused.
    pub fn violations(&self) -> u64 {
        self.repaired + self.refused + self.warned
    }
}

merge!(Tally {
    calls,
    valid,
    unjudged,
    warned,
    repaired,
    refused,
    stopped,
    results,
    results_refused,
    tool_errors
});
