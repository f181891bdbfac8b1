//! Stage 7: is the result usable?
//!
//! Takes a tool's output, or why it failed; returns [`Checked`]: the result as it is, the result with a note that it is
//! incomplete, or a failure instead. Results pass the same parser and validator as calls, then the detectors that a tool's
//! policy switches on, then the operator's own checks. A result is never repaired or completed, and an error that the tool
//! itself reports is never hidden by an objection of ours.

pub(crate) mod detect;
#[cfg(feature = "cel")]
pub(crate) mod expression;
mod failure;
mod read;

use std::borrow::Cow;
use std::sync::OnceLock;

pub use crate::vocabulary::{
    Checked, Detector, ErrorSign, FailureKind, Finding, FindingKind, MorePages, Output,
    OutputCheck, OutputFault, OutputPolicy, OutputVerdict, Ran, ToolFailure,
};

use crate::json::{LINE_DEPTH, Value, is_deeper, size};
use crate::text::first_bytes;
use crate::tool::Tool;
use crate::validate::CompiledSchema;
use crate::vocabulary::{Class, Issue, Validation};

/// Judges the outcome of a call.
pub(crate) fn check<'o>(tool: &Tool, arguments: &Value<'_>, ran: Ran<'o>) -> Checked<'o> {
    let output = match ran.result {
        Ok(output) => output,
        Err(failure) => return failed(tool, failure),
    };
    let policy = tool.output_policy();
    let mut notes = ran.notes;
    let fault = match (&output, policy.mode) {
        // There is nothing to show, whatever the policy says.
        (Output::Unwritable { path, why }, _) => {
            notes.push(why.clone());
            Some(OutputFault::NoJson { path: path.clone() })
        }
        _ if is_too_deep(&output) => return too_deep(notes),
        (_, Validation::Off) => None,
        _ => look(tool, arguments, &output, ran.finding, &mut notes),
    };
    let bytes = text_length(&output, policy.max_bytes);
    let shown = (bytes > policy.max_bytes).then(|| shown_bytes(&output, policy.max_bytes));
    let fault = fault.or(shown.map(|shown| OutputFault::TooLong { shown, bytes }));
    let is_unwritable = matches!(output, Output::Unwritable { .. });
    let verdict = match &fault {
        None => OutputVerdict::Passed,
        Some(OutputFault::TooLong { .. }) => OutputVerdict::Partial,
        Some(_) if policy.mode == Validation::Warn && !is_unwritable => OutputVerdict::Warned,
        Some(fault) => match failure::output_class(fault) {
            Class::PartialData if policy.mode == Validation::Strict => OutputVerdict::Partial,
            _ => OutputVerdict::Refused,
        },
    };
    Checked {
        verdict,
        output: Some(output),
        failure: fault.map(|fault| Box::new(failure::bad_output(fault))),
        shown,
        notes,
        outcome: OnceLock::new(),
    }
}

/// Whether an output is nested deeper than any parsed text can be: walking it might exhaust the stack.
fn is_too_deep(output: &Output<'_>) -> bool {
    matches!(output, Output::Value(value) if is_deeper(value, LINE_DEPTH))
}

/// The verdict on a result that is not inspected.
#[cold]
fn too_deep<'o>(notes: Vec<String>) -> Checked<'o> {
    Checked {
        verdict: OutputVerdict::Refused,
        output: None,
        failure: Some(Box::new(failure::bad_output(OutputFault::TooDeep))),
        shown: None,
        notes,
        outcome: OnceLock::new(),
    }
}

/// The verdict on a failed tool: its own message is passed on, if it has one.
#[cold]
fn failed<'o>(tool: &Tool, mut failure: ToolFailure) -> Checked<'o> {
    let passes = failure.passes(tool.output_policy());
    let output: Option<Output<'o>> = failure.take_output().filter(|output| !is_too_deep(output));
    let max = tool.output_policy().max_bytes;
    let long = output
        .as_ref()
        .filter(|output| text_length(output, max) > max);
    let shown = long.map(|output| shown_bytes(output, max));
    let said = output.as_ref().map(Output::text);
    Checked {
        verdict: OutputVerdict::Failed,
        failure: Some(Box::new(failure::tool_failed(
            failure,
            said.as_deref(),
            passes,
            tool,
        ))),
        output,
        shown,
        notes: Vec::new(),
        outcome: OnceLock::new(),
    }
}

/// The first problem with a result: one that makes it unusable comes before one that makes it incomplete.
fn look(
    tool: &Tool,
    arguments: &Value<'_>,
    output: &Output<'_>,
    finding: Option<Finding>,
    notes: &mut Vec<String>,
) -> Option<OutputFault> {
    let policy = tool.output_policy();
    let schema = tool.output_schema();
    let asks_more = !policy.detect.is_empty() || !policy.checks.is_empty();
    let read = match output {
        Output::Bytes(bytes) => {
            let valid = std::str::from_utf8(bytes).map_err(|error| error.valid_up_to());
            let offset = valid.err().unwrap_or_default();
            return Some(OutputFault::NotText { offset });
        }
        Output::Unwritable { path, .. } => {
            return Some(OutputFault::NoJson { path: path.clone() });
        }
        Output::Value(value) => Ok(Cow::Borrowed(value)),
        Output::Text(_) if schema.is_none() && !asks_more => {
            return finding.map(OutputFault::Finding);
        }
        Output::Text(text) => read::read(text, tool.returns_secrets()).map(Cow::Owned),
    };
    let judged = match (read, schema, output) {
        (Ok(value), Some(schema), _) if !schema.accepts(&value) => {
            let violation = || OutputFault::Violation(issues(schema, &value));
            // That it is an error says more than which fields are missing.
            return Some(disguised(tool, &value).unwrap_or_else(violation));
        }
        (Ok(value), ..) => value,
        (Err(_), None, Output::Text(text)) => Cow::Owned(text_value(text)),
        (Err(fault), _, output) => {
            let text = output.text();
            return Some(disguised(tool, &text_value(&text)).unwrap_or(fault));
        }
    };
    let mut found: Vec<OutputFault> = finding.map(OutputFault::Finding).into_iter().collect();
    for check in &policy.checks {
        match check.look(arguments, &judged) {
            Ok(finding) => found.extend(finding.map(OutputFault::Finding)),
            Err(why) => notes.push(why),
        }
    }
    let detected = policy
        .detect
        .iter()
        .filter_map(|detector| detect::look(*detector, tool, arguments, &judged));
    found.extend(detected);
    // A stable sort: of two equally bad faults the first one found counts.
    found.sort_by_key(|fault| failure::output_class(fault) == Class::PartialData);
    found.into_iter().next()
}

/// The schema's objections to a result. Suggestions are left out: the model did not write the result, and cannot correct it.
fn issues(schema: &CompiledSchema, output: &Value<'_>) -> Vec<Issue> {
    let mut issues = schema.issues(output);
    for issue in &mut issues {
        issue.suggestion = None;
    }
    issues
}

/// The error hidden in a result that does not match its schema, if the policy looks for one.
fn disguised(tool: &Tool, output: &Value<'_>) -> Option<OutputFault> {
    let detector = Detector::ErrorInDisguise;
    let asked = tool.output_policy().detect.contains(&detector);
    asked.then(|| detect::error_in_disguise(tool, output))?
}

/// How many bytes of an output are shown: a few less than `max` to avoid cutting a character.
fn shown_bytes(output: &Output<'_>, max: usize) -> usize {
    first_bytes(&output.text(), max).len()
}

fn text_value(text: &str) -> Value<'_> {
    Value::String(Cow::Borrowed(text))
}

/// The length of an output as text: exact if it exceeds `max`, otherwise some number up to `max`, since the length of a short
/// one does not matter.
fn text_length(output: &Output<'_>, max: usize) -> usize {
    match output {
        // An escaped character takes at most six bytes instead of one.
        Output::Value(Value::String(text)) | Output::Text(text) => text.len(),
        Output::Value(value) if size(value) <= max / 6 => 0,
        Output::Value(value) => value.to_string().len(),
        Output::Bytes(bytes) => bytes.len(),
        Output::Unwritable { .. } => 0,
    }
}
