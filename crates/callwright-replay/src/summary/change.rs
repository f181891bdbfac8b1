//! Verdicts that change with other tools or another policy.

use serde::{Deserialize, Serialize};

use super::{Examples, Side, ViolationCode, merge};

/// What changed verdicts are grouped by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChangeKey {
    /// Whether the other judge is stricter: the reason to look twice.
    pub stricter: bool,
    /// The tool.
    pub tool: String,
    /// Arguments or result.
    pub side: Side,
    /// The first judge's verdict: `valid`, `repaired` or `refused`; for a result, `ok` or `refused`.
    pub from: String,
    /// The other judge's verdict.
    pub to: String,
    /// What the stricter one objects to: where,
    pub path: String,
    /// and what.
    pub issue: ViolationCode,
}

/// Calls whose verdict changes in one way.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Change {
    /// How many.
    pub calls: u64,
    /// Some of them.
    pub examples: Examples,
}

merge!(Change { calls, examples });
