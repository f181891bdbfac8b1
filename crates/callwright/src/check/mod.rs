//! Stage 7: is the result good?
//!
//! In comes what a tool answered, or why it failed; out goes [`Checked`]: the result as it is, the result with what
//! keeps it from being all, or a failure in its stead. The same reader and the same judge as on the way in look at it,
//! then detectors that a tool's policy switches on, then the operator's own checks. A result is never repaired and
//! never completed, and an error that the tool itself reports is never hidden behind an objection of ours.

pub(crate) mod detect;
#[cfg(feature = "cel")]
pub(crate) mod expression;
mod fault;
mod finding;
mod output;
mod policy;
mod read;
mod tool_failure;

use std::borrow::Cow;
use std::sync::OnceLock;

pub use fault::{ErrorSign, MorePages, OutputFault};
pub use finding::{Finding, FindingKind};
pub use output::{Output, Ran};
pub use policy::{Detector, OutputCheck, OutputPolicy};
pub use tool_failure::{FailureKind, ToolFailure};

use crate::admit::Outcome;
use crate::classify::{self, Cause, Class, Failure};
use crate::json::Value;
use crate::parse;
use crate::policy::Validation;
use crate::text::first_bytes;
use crate::tool::Tool;
use crate::validate::{CompiledSchema, Issue};

/// A result that was judged.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Checked<'o> {
    /// What became of it.
    pub verdict: OutputVerdict,
    /// What the tool answered, whatever became of it; `None` if it failed without an answer.
    pub output: Option<Output<'o>>,
    /// What is wrong with it, or why the tool failed.
    pub failure: Option<Box<Failure>>,
    /// How many bytes of it the model gets, if not all.
    pub shown: Option<usize>,
    /// What the operator should know and the model should not: checks that came to no answer.
    pub notes: Vec<String>,
    /// What admission remembers of it, worked out when somebody asks.
    outcome: OnceLock<Outcome>,
}

/// What became of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutputVerdict {
    /// The model gets it as it is.
    Passed,
    /// The model gets it as it is; there is an objection, and the policy only wants to hear of it.
    Warned,
    /// The model gets it, and how to go on.
    Partial,
    /// The model does not get it, and is told why.
    Refused,
    /// The tool failed.
    Failed,
}

impl OutputVerdict {
    /// The word in verdict lines and events: `ok` if the model gets the result as it is.
    pub fn name(self) -> &'static str {
        match self {
            OutputVerdict::Passed | OutputVerdict::Warned => "ok",
            _ => "refused",
        }
    }

    /// Whether this goes to the model as an error.
    pub fn is_error(self) -> bool {
        matches!(self, OutputVerdict::Refused | OutputVerdict::Failed)
    }
}

impl<'o> Checked<'o> {
    /// A result that nobody has anything to say about.
    pub(crate) fn unjudged(ran: Ran<'o>) -> Self {
        let (verdict, output) = match ran.result {
            Ok(output) => (OutputVerdict::Passed, Some(output)),
            Err(mut failure) => (OutputVerdict::Failed, failure.take_output()),
        };
        Checked {
            verdict,
            output,
            failure: None,
            shown: None,
            notes: ran.notes,
            outcome: OnceLock::new(),
        }
    }
}

impl Checked<'_> {
    /// What admission remembers of it. Long answers take a while to read; who has time asks before it matters.
    pub fn outcome(&self) -> &Outcome {
        self.outcome_of(None)
    }

    /// The same, next to the arguments of the call.
    pub(crate) fn outcome_of(&self, arguments: Option<&Value<'_>>) -> &Outcome {
        self.outcome.get_or_init(|| Outcome::of(self, arguments))
    }

    /// Whether this goes to the model as an error.
    pub fn is_error(&self) -> bool {
        self.verdict.is_error()
    }

    /// How many bytes the output has, if the model gets only a part of it and the failure is about something else.
    pub(crate) fn cut_unsaid(&self) -> Option<usize> {
        self.shown?;
        let cause = self.failure.as_deref().map(|failure| &failure.cause);
        let is_said = matches!(cause, Some(Cause::Output(fault)) if matches!(**fault, OutputFault::TooLong { .. }));
        let output = self.output.as_ref().filter(|_| !is_said)?;
        Some(output.text().len())
    }

    /// The part of the output that the model gets; `None` if it gets none.
    pub fn shown_text(&self) -> Option<Cow<'_, str>> {
        if self.verdict == OutputVerdict::Refused {
            return None;
        }
        let text = self.output.as_ref()?.text();
        let Some(shown) = self.shown else {
            return Some(text);
        };
        Some(match text {
            Cow::Borrowed(text) => Cow::Borrowed(first_bytes(text, shown)),
            Cow::Owned(text) => Cow::Owned(first_bytes(&text, shown).to_owned()),
        })
    }
}

/// Judges how a call went.
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
    let Some(fault) = fault else {
        return Checked {
            verdict: OutputVerdict::Passed,
            output: Some(output),
            failure: None,
            shown,
            notes,
            outcome: OnceLock::new(),
        };
    };
    let is_cut = matches!(fault, OutputFault::TooLong { .. });
    let is_unwritable = matches!(output, Output::Unwritable { .. });
    let failure = classify::bad_output(fault);
    let verdict = match failure.class() {
        Class::PartialData if is_cut || policy.mode == Validation::Strict => OutputVerdict::Partial,
        _ if policy.mode == Validation::Warn && !is_unwritable => OutputVerdict::Warned,
        _ => OutputVerdict::Refused,
    };
    Checked {
        verdict,
        output: Some(output),
        failure: Some(Box::new(failure)),
        shown,
        notes,
        outcome: OnceLock::new(),
    }
}

/// Whether an output is nested deeper than anything that is read of a text: whoever looks at it might run out of stack.
fn is_too_deep(output: &Output<'_>) -> bool {
    matches!(output, Output::Value(value) if parse::is_deeper(value, parse::LINE_DEPTH))
}

/// Nobody looks at the result.
#[cold]
fn too_deep<'o>(notes: Vec<String>) -> Checked<'o> {
    Checked {
        verdict: OutputVerdict::Refused,
        output: None,
        failure: Some(Box::new(classify::bad_output(OutputFault::TooDeep))),
        shown: None,
        notes,
        outcome: OnceLock::new(),
    }
}

/// The tool failed: its own words go on, if it has any.
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
        failure: Some(Box::new(classify::tool_failed(
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

/// The first thing that is wrong with a result: what makes it unusable comes before what makes it a part.
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
            // That it is an error says more than which fields it lacks.
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
    // Sorting is stable: of two equally bad ones the first asked counts.
    found.sort_by_key(|fault| classify::output_class(fault) == Class::PartialData);
    found.into_iter().next()
}

/// What the schema objects to in a result. What might have been meant is left out: the model did not write it, and cannot
/// correct it.
fn issues(schema: &CompiledSchema, output: &Value<'_>) -> Vec<Issue> {
    let mut issues = schema.issues(output);
    for issue in &mut issues {
        issue.suggestion = None;
    }
    issues
}

/// The error that a result is which does not fit its schema, if that is looked for.
fn disguised(tool: &Tool, output: &Value<'_>) -> Option<OutputFault> {
    let detector = Detector::ErrorInDisguise;
    let asked = tool.output_policy().detect.contains(&detector);
    asked.then(|| detect::error_in_disguise(tool, output))?
}

/// How many bytes of an output are shown: a few less than `max` where a character would be cut.
fn shown_bytes(output: &Output<'_>, max: usize) -> usize {
    first_bytes(&output.text(), max).len()
}

fn text_value(text: &str) -> Value<'_> {
    Value::String(Cow::Borrowed(text))
}

/// How many bytes an output has as text, exactly if they are more than `max` and at most that if not: nobody needs to
/// know more of a short one.
fn text_length(output: &Output<'_>, max: usize) -> usize {
    match output {
        // An escaped character has six bytes instead of one at most.
        Output::Value(Value::String(text)) | Output::Text(text) => text.len(),
        Output::Value(value) if parse::size(value) <= max / 6 => 0,
        Output::Value(value) => value.to_string().len(),
        Output::Bytes(bytes) => bytes.len(),
        Output::Unwritable { .. } => 0,
    }
}
