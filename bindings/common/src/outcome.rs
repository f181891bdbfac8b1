//! The outcome of a tool in another language, as plain data, and its conversion for the gate. The fields are those of
//! the corpus.

use std::io;
use std::time::Duration;

use callwright::check::{Finding, ToolFailure};
use callwright::json::Path;
use serde::Deserialize;

use crate::{Fault, names};

/// The timeout that is reported if none is given.
const DEFAULT_TIMEOUT_MS: u64 = 30_000;

/// The kinds of failure.
const KINDS: [&str; 8] = [
    "reported",
    "transient",
    "internal",
    "panicked",
    "defect",
    "timed_out",
    "cancelled",
    "not_started",
];

/// Why a tool did not answer.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FailedOutcome {
    /// One of [`KINDS`].
    pub kind: String,
    /// The tool's own code.
    pub code: Option<String>,
    /// What is wrong, for the model.
    pub detail: Option<String>,
    /// What to do about it, for the model.
    pub hint: Option<String>,
    /// What else the model might try.
    pub recommendations: Vec<String>,
    /// The next step.
    pub next: Option<String>,
    /// Details for the operator only.
    pub for_operator: Option<String>,
    /// The time limit that was exceeded.
    pub after_ms: Option<u64>,
    /// How long to wait before the next attempt.
    pub retry_after_ms: Option<u64>,
    /// The complaint of the caller's own types.
    pub objection: Option<Objection>,
}

/// A complaint of the caller's own types about arguments that the schema accepts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Objection {
    /// Where, as a JSON Pointer.
    pub path: String,
    /// In its own words, for the model.
    pub message: String,
}

impl FailedOutcome {
    /// The same, for the gate.
    ///
    /// # Errors
    /// Fails if the kind or the next step is unknown.
    pub fn into_core(self) -> Result<ToolFailure, Fault> {
        let for_operator = self.for_operator.clone().unwrap_or_default();
        let detail = self.detail.unwrap_or_default();
        let mut failure = match self.kind.as_str() {
            "reported" => {
                let code = self.code.clone().unwrap_or_else(|| "tool_error".to_owned());
                ToolFailure::new(code, detail)
            }
            "transient" => ToolFailure::transient(detail),
            "internal" => ToolFailure::internal(for_operator.as_str()),
            "panicked" => ToolFailure::panicked(for_operator.as_str()),
            "defect" => ToolFailure::defect(for_operator.as_str()),
            "timed_out" => {
                let after = self.after_ms.unwrap_or(DEFAULT_TIMEOUT_MS);
                ToolFailure::timed_out(Duration::from_millis(after))
            }
            "cancelled" => ToolFailure::cancelled(),
            "not_started" => ToolFailure::not_started(),
            other => {
                let known = KINDS.join(", ");
                return Err(format!(
                    "unknown kind of failure `{other}`; known are {known}"
                ));
            }
        };
        if let Some(told) = self.for_operator {
            failure = failure.caused_by(&io::Error::other(told));
        }
        if let Some(code) = self.code {
            failure = failure.with_code(code);
        }
        if let Some(hint) = self.hint {
            failure = failure.with_hint(hint);
        }
        for recommendation in self.recommendations {
            failure = failure.with_recommendation(recommendation);
        }
        if let Some(next) = self.next {
            failure = failure.with_next(names::next(&next)?);
        }
        if let Some(wait) = self.retry_after_ms {
            failure = failure.with_retry_after(Duration::from_millis(wait));
        }
        if let Some(Objection { path, message }) = self.objection {
            failure = failure.with_objection(Path::from_pointer(path), message);
        }
        Ok(failure)
    }
}

/// A finding of the caller's own check in a result.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindingOutcome {
    /// `schema_mismatch`, `partial_data` or `semantic_garbage`.
    pub class: String,
    /// A stable code.
    pub code: String,
    /// What is wrong, for the model.
    pub detail: String,
    /// What to do about it, for the model.
    pub hint: Option<String>,
    /// The next step.
    pub next: Option<String>,
}

impl FindingOutcome {
    /// The same, for the gate.
    ///
    /// # Errors
    /// Fails if the class or the next step is unknown.
    pub fn into_core(self) -> Result<Finding, Fault> {
        let kind = names::finding(&self.class)?;
        let mut finding = Finding::new(kind, self.code, self.detail);
        if let Some(hint) = self.hint {
            finding = finding.with_hint(hint);
        }
        if let Some(next) = self.next {
            finding = finding.with_next(names::next(&next)?);
        }
        Ok(finding)
    }
}
