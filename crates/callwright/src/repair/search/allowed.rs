//! Which rules may be tried on a call, given the policy's grade and the stakes.

use super::super::rules::{RULES, RepairRule};
use super::super::stakes::CallStakes;
use super::super::{Edit, Grade, Stakes};

/// The rules that may be tried, grouped by grade and cost.
pub(super) fn tiers(rules: Allowed<'_>) -> impl Iterator<Item = &'static [RepairRule]> {
    let cap = rules.cap;
    RULES
        .chunk_by(|left, right| (left.row.grade, left.cost) == (right.row.grade, right.cost))
        .filter(move |tier| tier.iter().all(|rule| rule.row.grade <= cap))
}

/// Which rules may be tried on a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowed<'a> {
    pub(crate) cap: Grade,
    pub(crate) stakes: &'a CallStakes<'a>,
    /// The name of the tool.
    pub(crate) tool: &'a str,
    /// Whether a null may be meant to clear what the tool edits.
    pub(crate) null_may_clear: bool,
}

impl Allowed<'_> {
    /// Whether a rule is worth trying: its proposal may still not be allowed.
    pub(super) fn may_try(self, rule: &RepairRule) -> bool {
        rule.row.grade <= self.cap && self.stakes.may_allow(rule.row.up_to)
    }

    /// Whether a rule's proposal is allowed.
    pub(super) fn allow(self, rule: &RepairRule) -> bool {
        self.may_try(rule) && self.stakes.allow(rule.row.up_to)
    }
}

/// Whether one of these edits is only allowed up to certain stakes.
pub(crate) fn depend_on_stakes(edits: &[Edit]) -> bool {
    let rule = |edit: &Edit| RULES.iter().find(|rule| rule.row.name == edit.rule);
    edits
        .iter()
        .any(|edit| rule(edit).is_none_or(|rule| rule.row.up_to < Stakes::Destroys))
}
