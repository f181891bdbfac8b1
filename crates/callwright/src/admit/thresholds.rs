//! The thresholds for repeated calls: every number of admission, with its reason.
//!
//! A step counts identical calls or rounds: `refuse: 3` means that the third is refused. The numbers come from reports by users
//! of other detectors (see `docs/admission.md`), and from recorded traces. What refuses a call by default:
//!
//! | setting | notice | refuse | what is counted |
//! |---|---|---|---|
//! | `budget_write` | | 1 | identical calls of a tool that changes something or pays; one more is refused |
//! | `budget` | | 3 | the same for a tool without a declared effect |
//! | `budget_read` | | 10 | the same for a tool that only reads |
//! | `repeated_refusal` | 2 | 3 | the same call, refused for the same reason |
//! | `repeated_call` | 2 | 4 | the same call, failing the same way |
//! | `repeated_result` | 2 | 4 | the same call, returning the same result |
//! | `polling` | 10 | 50 | the same for a call that waits for something |
//! | `cycle` | 2 | 3 | rounds that only repeat earlier calls with the same results |
//! | `error_streak` | 3 | 8 | rounds in which one tool fails the same way |
//! | `unknown_tools` | 2 | 3 | rounds with tools that do not exist |
//! | `transient` | | 10 | transient failures of one call |
//! | `tool_calls` | 100 | 500 | calls of one tool in a turn |
//! | `turn_calls` | 200 | 1000 | calls in a turn |
//! | `most_refusals` | | 100 | refused calls in a turn; then every call is refused |

use serde::{Deserialize, Serialize};

use super::ledger::{Limits, ToolName};
use super::names::Names;
use super::repeatable::{makes, may_step, waits_by_name};
use crate::json::Path;
use crate::vocabulary::{Digest, ToolSpec, named};

/// Two thresholds, one for a notice and one for a refusal, counted from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    /// From this one on, the result carries a notice.
    pub notice: u32,
    /// From this one on, the call is refused.
    pub refuse: u32,
}

impl Steps {
    /// Neither warns nor refuses.
    pub const NEVER: Steps = Steps::new(u32::MAX, u32::MAX);

    /// Warns at `notice` and refuses at `refuse`.
    pub const fn new(notice: u32, refuse: u32) -> Self {
        Steps { notice, refuse }
    }
}

/// What happens when refusals do not help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Escalation {
    /// A user is present: the model is told to ask.
    #[default]
    Ask,
    /// No user is present: the model is told to stop.
    Stop,
    /// Calls are only refused, up to the hard limit.
    Never,
}

named! {
    /// What to do when the ledger cannot be reached.
    #[derive(Default, Deserialize)]
    pub enum WhenAway {
        /// Calls that must not run uncounted are refused: those of tools that the operator declared to change something, and of
        /// tools whose names imply that money moves or something is destroyed. Other calls run uncounted.
        #[default]
        ByEffect = "by_effect",
        /// Calls run uncounted: a guard that is down must not take the tools down with it.
        Open = "open",
        /// Calls are refused: nothing runs uncounted.
        Closed = "closed",
    }
}

/// When calls get a notice, are refused, or are referred to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct AdmissionPolicy {
    /// Calls of one fingerprint in a turn, if the operator has not declared the tool's effect: most servers declare nothing,
    /// some declare every click destructive, and a read must not be cut short.
    pub budget: u32,
    /// The same for read-only tools. They do no harm, and the loop detectors watch them; this limit is for calls whose results
    /// are not reported.
    pub budget_read: u32,
    /// The same for tools that the operator declared to change or destroy something, and for tools with payment words in their
    /// names: a second payment is worse than a question. Idempotent tools have `budget`.
    pub budget_write: u32,
    /// The gate refuses the same call for the same reason. Only a different call can change that, so this threshold is the
    /// lowest.
    pub repeated_refusal: Steps,
    /// The same call fails the same way when it runs. What it needs may appear on its own, so it gets one more try.
    pub repeated_call: Steps,
    /// The same call returns the same result. Reading something again is sometimes intended.
    pub repeated_result: Steps,
    /// The same for calls that wait for something: pollers that are declared, recognised by their name, or recognised by
    /// results that changed on their own; and for steps, such as a key press, whose answer only acknowledges them. One user
    /// paid for 1,535 identical polls.
    pub polling: Steps,
    /// Consecutive rounds in which every call repeats an earlier one with the same result, in a cycle or in any order.
    pub cycle: Steps,
    /// Consecutive rounds in which one tool fails the same way, with different arguments.
    pub error_streak: Steps,
    /// Consecutive rounds with calls of tools that do not exist.
    pub unknown_tools: Steps,
    /// Calls of one tool in a turn: where a notice is given, and where calls are refused.
    pub tool_calls: Steps,
    /// Calls in a turn, likewise. Long tasks need hundreds; the refusal threshold cannot be switched off, only raised to
    /// [`Self::MOST_CALLS`].
    pub turn_calls: Steps,
    /// Consecutive transient failures of one call (429, 5xx, timeouts), which count nowhere else. The wait doubles each time,
    /// so the tenth comes after eight minutes.
    pub transient: u32,
    /// After how many rounds with refusals since the last news the user is asked.
    pub ask_after: u32,
    /// Refused calls in a turn after which every call is refused: a model that ignores a hundred refusals ignores the next one
    /// too. It cannot be switched off, only raised to [`Self::MOST_CALLS`].
    pub most_refusals: u32,
    /// Whether to ask or to stop.
    pub escalation: Escalation,
    /// What to do when the ledger cannot be reached.
    pub when_away: WhenAway,
    /// Whether the beginning of each result is remembered, so that a refusal can quote it.
    pub remember_results: bool,
    /// Settings for individual tools, in order; the last one that matches and has a value wins.
    pub tools: Vec<ToolAdmission>,
}

/// Admission settings for the tools whose names match.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolAdmission {
    /// A tool's name; `*` matches any text.
    pub name: String,
    /// Calls of one fingerprint in a turn.
    pub budget: Option<u32>,
    /// Whether it is meant to be polled until something changes.
    pub poller: Option<bool>,
    /// Arguments that do not affect what is asked for, such as a request id.
    pub volatile: Vec<Path>,
    /// Calls in a turn: where a notice is given, and where calls are refused.
    pub calls: Option<Steps>,
}

impl ToolAdmission {
    /// Settings for the tools of this name; `*` matches any text.
    pub fn new(name: impl Into<String>) -> Self {
        ToolAdmission {
            name: name.into(),
            ..ToolAdmission::default()
        }
    }
}

impl Default for AdmissionPolicy {
    fn default() -> Self {
        AdmissionPolicy {
            budget: 3,
            budget_read: 10,
            budget_write: 1,
            repeated_refusal: Steps::new(2, 3),
            repeated_call: Steps::new(2, 4),
            repeated_result: Steps::new(2, 4),
            polling: Steps::new(10, 50),
            cycle: Steps::new(2, 3),
            error_streak: Steps::new(3, 8),
            unknown_tools: Steps::new(2, 3),
            tool_calls: Steps::new(100, 500),
            turn_calls: Steps::new(200, 1_000),
            transient: 10,
            ask_after: 3,
            most_refusals: 100,
            escalation: Escalation::Ask,
            when_away: WhenAway::ByEffect,
            remember_results: true,
            tools: Vec::new(),
        }
    }
}

impl AdmissionPolicy {
    /// The highest value for the hard limits. A session remembers each call of its turn in about 270 bytes, so this is what
    /// bounds its memory.
    pub const MOST_CALLS: u32 = 10_000;

    /// The names that have settings.
    pub(crate) fn names(&self) -> Names<'_> {
        Names::new(self.tools.iter().map(|tool| tool.name.as_str()))
    }

    pub(crate) fn bounded(mut self) -> Self {
        self.turn_calls.refuse = self.turn_calls.refuse.clamp(1, Self::MOST_CALLS);
        self.most_refusals = self.most_refusals.clamp(1, Self::MOST_CALLS);
        self
    }

    /// The limits of an unknown tool's calls.
    pub(crate) fn for_any(&self) -> ToolLimits {
        ToolLimits {
            digest: None,
            limits: Limits::from(self),
            calls: self.tool_calls,
            steps: false,
            makes: false,
            runs_uncounted: self.when_away != WhenAway::Closed,
            volatile: Vec::new(),
        }
    }

    /// The limits of a tool's calls; `names` are those of [`Self::tools`].
    pub(crate) fn for_tool(&self, tool: &ToolSpec, names: &Names<'_>) -> ToolLimits {
        let name = tool.name.as_str();
        let matching = names.matching(name);
        let own = || matching.iter().rev().filter_map(|at| self.tools.get(*at));
        let usual = match tool.is_once() {
            true => self.budget_write,
            false if tool.only_reads() => self.budget_read,
            false => self.budget,
        };
        let must_count = tool.is_declared_to_change() || tool.spends() || tool.may_destroy();
        // `buy_watch` buys, and does not watch.
        let may_wait = !tool.is_declared_to_change() && !tool.is_once();
        let waits = || may_wait && waits_by_name(name);
        let calls = own().find_map(|own| own.calls).unwrap_or(self.tool_calls);
        ToolLimits {
            digest: Some(Digest::of(name)),
            limits: Limits {
                budget: own().find_map(|own| own.budget).unwrap_or(usual),
                once: tool.is_once(),
                spends: tool.spends(),
                poller: own().find_map(|own| own.poller).unwrap_or_else(waits),
                tool_calls: calls.refuse,
                ..Limits::from(self)
            },
            calls,
            steps: !tool.only_reads() && !tool.is_once() && may_step(tool),
            makes: !tool.only_reads() && makes(name),
            runs_uncounted: match self.when_away {
                WhenAway::ByEffect => !must_count,
                WhenAway::Open => true,
                WhenAway::Closed => false,
            },
            volatile: own().flat_map(|own| own.volatile.iter().cloned()).collect(),
        }
    }
}

/// The limits of one tool's calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolLimits {
    /// The digest of its name; `None` for tools that do not exist.
    digest: Option<Digest>,
    /// What the ledger decides by.
    pub(crate) limits: Limits,
    pub(crate) calls: Steps,
    /// Whether a call that only returns "done" may be one step of many.
    pub(crate) steps: bool,
    /// Whether every call makes something, so that a new id in the answer is only a receipt.
    pub(crate) makes: bool,
    /// Whether it runs while the ledger cannot be reached.
    pub(crate) runs_uncounted: bool,
    /// Arguments that are left out of the fingerprint.
    pub(crate) volatile: Vec<Path>,
}

impl ToolLimits {
    /// The name of the tool that has these limits.
    pub(crate) fn name<'n>(&self, name: &'n str) -> ToolName<'n> {
        ToolName::with_digest(name, self.digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_at_the_top_shows_the_defaults() {
        let defaults = serde_json::to_value(AdmissionPolicy::default()).expect("JSON");
        let rows = include_str!("thresholds.rs").lines();
        let rows: Vec<&str> = rows
            .filter_map(|line| line.strip_prefix("//! | `"))
            .collect();
        assert_eq!(rows.len(), 14);
        for row in rows {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let shown = match &defaults[cells[0].trim_end_matches('`')] {
                serde_json::Value::Object(steps) => {
                    ["notice", "refuse"].map(|step| steps[step].to_string())
                }
                limit => [String::new(), limit.to_string()],
            };
            assert_eq!(cells[1..3], shown, "{row}");
        }
    }
}
