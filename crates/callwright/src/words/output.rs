//! What a tool answered, before anybody has looked at it.

use std::borrow::Cow;

use super::finding::Finding;
use super::tool_failure::ToolFailure;
use crate::json::{Path, Value};

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output<'o> {
    /// A JSON value that has already been read.
    Value(Value<'o>),
    /// Text. If the tool declares the schema of its results, the text is JSON.
    Text(Cow<'o, str>),
    /// Bytes that should be text and are not UTF-8. ([`Output::from_bytes`] makes text of all others.)
    Bytes(Cow<'o, [u8]>),
    /// A value of Rust's that JSON cannot hold, such as NaN.
    Unwritable {
        /// Where in the value.
        path: Path,
        /// What it is, for the operator.
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

    /// The output as text: a value as compact JSON, bytes with a replacement for what is not text.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Output::Value(Value::String(text)) | Output::Text(text) => Cow::Borrowed(text),
            Output::Value(value) => Cow::Owned(value.to_string()),
            Output::Bytes(bytes) => String::from_utf8_lossy(bytes),
            Output::Unwritable { .. } => Cow::Borrowed(""),
        }
    }

    /// The same output, borrowing from nothing.
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

/// How a call went, as its runner says: what the tool answered or why it failed, and what the runner's own check found.
#[derive(Debug)]
#[must_use]
pub struct Ran<'o> {
    pub(crate) result: Result<Output<'o>, ToolFailure>,
    pub(crate) finding: Option<Finding>,
    /// What the operator should know about it.
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

    /// The same with what a check of the caller's own found in the output. It counts if the schema has no objection.
    pub fn with_finding(mut self, finding: Option<Finding>) -> Self {
        self.finding = finding;
        self
    }

    /// The same with what only the operator should know.
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
