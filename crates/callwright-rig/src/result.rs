//! Converts results of `rig` tools for the gate, and settled calls for `rig`.
//!
//! A result that passes is returned unchanged, including images. An error in the tool's own words keeps them; a Rust
//! error that `rig` hides from the model stays hidden.

use callwright::Settled;
use callwright::check::{Output, Ran, ToolFailure};
use callwright::failure::{Class, Code, Failure};
use callwright::feedback::{Content, Feedback, Presented};
use callwright::internal::digest;
use callwright::json::Value;
use rig_agent::core::message::ToolResultContent;
use rig_agent::core::tool::{ToolErrorKind, ToolExecutionError, ToolOutput, ToolResult};

/// What `rig` shows the model instead of a Rust error.
const HIDDEN: &str = "the tool failed";

/// The outcome of a call.
pub(crate) fn ran(result: &ToolResult) -> Ran<'static> {
    match result.error().or(result.refusal()) {
        Some(error) => Ran::failed(failure(error)),
        None => Ran::ok(judged(result.output())),
    }
}

fn failure(error: &ToolExecutionError) -> ToolFailure {
    let text = error.model_output().render();
    let disagrees = error.kind() == ToolErrorKind::InvalidArgs && error.is::<serde_json::Error>();
    let failure = if disagrees {
        // The schema accepts the arguments, so the model is not to blame.
        ToolFailure::defect(error.message())
    } else if text == HIDDEN {
        ToolFailure::internal("")
    } else if error.retryable() == Some(true) {
        ToolFailure::transient(text)
    } else {
        ToolFailure::said(judged(error.model_output()))
    };
    match error.code() {
        Some(code) => failure.with_code(code.to_owned()),
        None => failure,
    }
    .caused_by(error)
}

/// The output that the gate judges. An image is represented by its digest, which distinguishes it from others.
fn judged(output: &ToolOutput) -> Output<'static> {
    if let Some(text) = output.as_text() {
        return Output::from(text.to_owned());
    }
    if let Some(json) = output.as_json() {
        return Output::Value(Value::from(json).into_owned());
    }
    let blocks = output.as_content().iter().map(|block| match block {
        ToolResultContent::Text(text) => Value::String(text.text.clone().into()),
        ToolResultContent::Json { value } => Value::from(value).into_owned(),
        picture @ ToolResultContent::Image(_) => {
            let text = serde_json::to_string(picture).unwrap_or_default();
            digest(&text)
        }
    });
    Output::Value(Value::Array(blocks.collect()))
}

/// A settled call, for `rig`.
pub(crate) fn answer(
    settled: &Settled<'_>,
    result: Option<ToolResult>,
    feedback: &Feedback,
) -> Result<ToolOutput, ToolExecutionError> {
    let presented = feedback.present(settled);
    match (settled.failure().filter(|_| presented.is_error), result) {
        (_, Some(result)) if is_unchanged(&presented) => result.into_result(),
        (Some(failure), result) => {
            let text = presented.into_text();
            let own = result.and_then(|result| result.into_result().err());
            let error = own.unwrap_or_else(|| error(failure, &text));
            Err(error.with_model_feedback(text))
        }
        (None, Some(result)) => with_note(result.output(), presented),
        (None, None) => Ok(ToolOutput::text(presented.into_text())),
    }
}

/// Whether the model gets the tool's own result or error, and nothing else.
fn is_unchanged(presented: &Presented<'_>) -> bool {
    matches!(presented.content, Content::Kept(_)) && presented.note.is_none()
}

/// A result, followed by further notes for the model. Media are kept.
fn with_note(
    output: &ToolOutput,
    presented: Presented<'_>,
) -> Result<ToolOutput, ToolExecutionError> {
    let is_plain = output.as_text().is_some() || output.as_json().is_some();
    match presented.content {
        Content::Kept(_) if !is_plain => {
            let mut content = output.as_content().to_vec();
            content.extend(presented.note.map(ToolResultContent::text));
            ToolOutput::content(content)
        }
        _ => Ok(ToolOutput::text(presented.into_text())),
    }
}

/// A failure as a `rig` error: the text for the model, and the detail for the operator.
fn error(failure: &Failure, text: &str) -> ToolExecutionError {
    let message = failure.for_operator().unwrap_or(text);
    let error = match (failure.class(), failure.code) {
        (Class::Budget | Class::Loop, _) => ToolExecutionError::refused(message),
        (Class::Validation, _) => ToolExecutionError::invalid_args(message),
        (_, Code::Timeout) => ToolExecutionError::timeout(message),
        _ => ToolExecutionError::other(message),
    };
    error
        .with_code(failure.code_name())
        .with_retryable(failure.next().is_retry())
}

/// A call that a toolbox has settled, for `rig`.
pub(crate) fn answer_of_toolbox(
    settled: &Settled<'_>,
    feedback: &Feedback,
) -> Result<ToolOutput, ToolExecutionError> {
    let presented = feedback.present(settled);
    match presented.content {
        Content::Kept(Output::Value(value))
            if !presented.is_error
                && presented.note.is_none()
                && !matches!(value, Value::String(_)) =>
        {
            Ok(ToolOutput::json(value.into()))
        }
        _ => answer(settled, None, feedback),
    }
}
