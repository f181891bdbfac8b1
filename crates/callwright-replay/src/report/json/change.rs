//! Verdicts that another judge changes, for programs.

use serde::Serialize;

use crate::summary::Side;

use super::super::{Report, comparison};
use super::cluster::ExampleObject;

#[derive(Serialize)]
pub(super) struct ChangeObject {
    stricter: bool,
    tool: String,
    side: Side,
    /// `valid`, `repaired` or `refused`; of a result `ok` or `refused`.
    from: String,
    to: String,
    /// What the stricter one objects to: where,
    path: String,
    /// and what.
    issue: String,
    calls: u64,
    examples: Vec<ExampleObject>,
}

pub(super) fn changes(report: &Report) -> Vec<ChangeObject> {
    comparison::ranked(report)
        .into_iter()
        .map(|(key, change)| ChangeObject {
            stricter: key.stricter,
            tool: key.tool.clone(),
            side: key.side,
            from: key.from.clone(),
            to: key.to.clone(),
            path: key.path.clone(),
            issue: key.issue.clone(),
            calls: change.calls,
            examples: change.examples.iter().map(ExampleObject::from).collect(),
        })
        .collect()
}
