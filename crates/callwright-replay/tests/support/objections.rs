//! What the real gate objects to in a recorded call and its result, with repair off.
#![allow(
    dead_code,
    clippy::expect_used,
    reason = "tests and the bench each use a part of it"
)]

use callwright::call::Arguments;
use callwright::failure::Failure;
use callwright::json::Value;
use callwright::repair::RepairPolicy;
use callwright::wire::{self, Recorded};
use callwright::{Gate, ToolSpec, Verdict};

/// The path and the name of an objection.
pub(crate) type Objection = (String, String);

pub(crate) fn gate(tools: impl IntoIterator<Item = ToolSpec>) -> Gate {
    let builder = Gate::builder().tools(tools).repair(RepairPolicy::Never);
    builder.build().expect("no tool is listed twice")
}

/// A line of the log.
pub(crate) fn read(line: &str) -> Recorded<'_> {
    wire::read_recorded(line).expect("a call line")
}

/// The id of a call.
pub(crate) fn id<'r>(recorded: &'r Recorded<'_>) -> &'r str {
    let id = recorded.call.id.as_ref();
    id.and_then(Value::as_str).expect("every call has an id")
}

/// Objections to the arguments.
pub(crate) fn to_arguments(gate: &Gate, recorded: &Recorded<'_>) -> Vec<Objection> {
    match gate.judge(&recorded.call) {
        Verdict::Refused(refused) => objections(&refused.failure),
        _ => Vec::new(),
    }
}

/// Objections to the result, unless the tool itself marks it as an error.
pub(crate) fn to_result(gate: &Gate, recorded: &Recorded<'_>) -> Vec<Objection> {
    let (Some(tool), Some(ran)) = (gate.tool(&recorded.call.tool), recorded.ran()) else {
        return Vec::new();
    };
    if recorded.is_error {
        return Vec::new();
    }
    let none = Value::Null;
    let arguments = match &recorded.call.arguments {
        Arguments::Value(value) => value,
        _ => &none,
    };
    let checked = gate.check(tool, arguments, ran);
    checked.failure.as_deref().map_or_else(Vec::new, objections)
}

fn objections(failure: &Failure) -> Vec<Objection> {
    let issues = failure.issues();
    if issues.is_empty() {
        return vec![(String::new(), failure.code_name().to_owned())];
    }
    let pair = |issue: &callwright::validate::Issue| {
        (
            issue.path.as_pointer().to_owned(),
            issue.code.name().to_owned(),
        )
    };
    issues.iter().map(pair).collect()
}
