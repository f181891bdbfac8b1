//! What a tool returned, before and after it was judged.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::failure::{Cause, Failure};
use super::identity::Outcome;
use super::output_fault::{Finding, OutputFault};
use super::tool_failure::ToolFailure;
use crate::json::{Path, Value};

/// What a tool returned.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output<'o> {
    /// A parsed JSON value.
    Value(Value<'o>),
    /// Text. If the tool declares the schema of its results, the text is JSON.
    Text(Cow<'o, str>),
    /// Bytes that should be text but are not UTF-8. ([`Output::from_bytes`] turns all others into text.)
    Bytes(Cow<'o, [u8]>),
    /// A Rust value that JSON cannot represent, such as NaN.
    Unwritable {
        /// Where in the value.
        path: Path,
        /// A description, for the operator.
        why: String,
    },
}

impl<'o> Output<'o> {
    /// Text, if the bytes are UTF-8.
    pub fn from_bytes(bytes: impl Into<Cow<'o, [u8]>>) -> Self {
        match bytes.into() {
            Cow::Borrowed(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Output::Text(Cow::Borrowed(text)),
                Err(_) => Output::Bytes(Cow::Borrowed(bytes)),
            },
            Cow::Owned(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Output::Text(Cow::Owned(text)),
                Err(error) => Output::Bytes(Cow::Owned(error.into_bytes())),
            },
        }
    }

    /// The output as text: a value as compact JSON, bytes with replacement characters for what is not text.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Output::Value(Value::String(text)) | Output::Text(text) => Cow::Borrowed(text),
            Output::Value(value) => Cow::Owned(value.to_string()),
            Output::Bytes(bytes) => String::from_utf8_lossy(bytes),
            Output::Unwritable { .. } => Cow::Borrowed(""),
        }
    }

    /// The output as a JSON value: anything else than a value as a string.
    pub fn to_value(&self) -> Value<'static> {
        match self {
            Output::Value(value) => value.clone().into_owned(),
            other => Value::String(other.text().into_owned().into()),
        }
    }

    /// The same output without borrowed data.
    pub fn into_owned(self) -> Output<'static> {
        match self {
            Output::Value(value) => Output::Value(value.into_owned()),
            Output::Text(text) => Output::Text(Cow::Owned(text.into_owned())),
            Output::Bytes(bytes) => Output::Bytes(Cow::Owned(bytes.into_owned())),
            Output::Unwritable { path, why } => Output::Unwritable { path, why },
        }
    }
}

impl<'o> From<Value<'o>> for Output<'o> {
    fn from(value: Value<'o>) -> Self {
        Output::Value(value)
    }
}

impl<'o> From<&'o str> for Output<'o> {
    fn from(text: &'o str) -> Self {
        Output::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Output<'_> {
    fn from(text: String) -> Self {
        Output::Text(Cow::Owned(text))
    }
}

/// The outcome of a call as its runner reports it: what the tool returned or why it failed, and what the runner's own check
/// found.
#[derive(Debug)]
#[must_use]
pub struct Ran<'o> {
    pub(crate) result: Result<Output<'o>, ToolFailure>,
    pub(crate) finding: Option<Finding>,
    /// Notes for the operator.
    pub(crate) notes: Vec<String>,
}

impl<'o> Ran<'o> {
    /// A call that worked.
    pub fn ok(output: impl Into<Output<'o>>) -> Self {
        Ran::from(Ok(output.into()))
    }

    /// A call that failed.
    pub fn failed(failure: impl Into<ToolFailure>) -> Self {
        Ran::from(Err(failure.into()))
    }

    /// The same, with what the caller's own check found in the output. It counts if the schema has no objection.
    pub fn with_finding(mut self, finding: Option<Finding>) -> Self {
        self.finding = finding;
        self
    }

    /// The same without borrowed data.
    pub fn into_owned(self) -> Ran<'static> {
        Ran {
            result: self.result.map(Output::into_owned),
            finding: self.finding,
            notes: self.notes,
        }
    }

    /// The same, with notes for the operator only.
    pub fn with_notes(mut self, notes: Vec<String>) -> Self {
        self.notes = notes;
        self
    }
}

impl<'o> From<Result<Output<'o>, ToolFailure>> for Ran<'o> {
    fn from(result: Result<Output<'o>, ToolFailure>) -> Self {
        Ran {
            result,
            finding: None,
            notes: Vec::new(),
        }
    }
}

/// A judged result.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Checked<'o> {
    /// The verdict on it.
    pub verdict: OutputVerdict,
    /// What the tool returned, whatever the verdict; `None` if it failed without a result.
    pub output: Option<Output<'o>>,
    /// What is wrong with it, or why the tool failed.
    pub failure: Option<Box<Failure>>,
    /// How many bytes of it the model gets, if not all.
    pub shown: Option<usize>,
    /// Notes for the operator, not for the model: checks that gave no answer.
    pub notes: Vec<String>,
    /// What admission remembers of it, computed on demand.
    pub(crate) outcome: OnceLock<Outcome>,
}

/// The verdict on a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutputVerdict {
    /// The model gets it unchanged.
    Passed,
    /// The model gets it unchanged; there is an objection that the policy only warns about.
    Warned,
    /// The model gets it, and how to continue.
    Partial,
    /// The model does not get it, and is told why.
    Refused,
    /// The tool failed.
    Failed,
}

impl OutputVerdict {
    /// The word used in verdict lines and events: `ok` if the model gets the result unchanged.
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

impl Checked<'_> {
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
}
