//! Results of `rig` tools on their way to the gate, and settled calls on their way back to `rig`.
//!
//! A result that passes goes on as it is, including images. An error in the tool's own words keeps them; a Rust error
//! that `rig` hides from the model stays hidden.

use callwright::check::{Output, OutputVerdict, Ran, ToolFailure};
use callwright::classify::{Class, Code, Failure};
use callwright::feedback::Feedback;
use callwright::internal::digest;
use callwright::json::Value;
use callwright::{Settled, Verdict};
use rig_agent::core::message::ToolResultContent;
use rig_agent::core::tool::{ToolErrorKind, ToolExecutionError, ToolOutput, ToolResult};

/// What `rig` shows the model in place of a Rust error.
const HIDDEN: &str = "the tool failed";

/// The outcome of a call.
pub(crate) fn ran(result: &ToolResult) -> Ran<'static> {
    match result.error().or(result.refusal()) {
        Some(error) => Ran::failed(failure(error)),
        None => Ran::ok(judged(result.output())),
    }
}

fn failure(error: &ToolExecutionError) -> ToolFailure {
    let told = error.model_output().render();
    let disagrees = error.kind() == ToolErrorKind::InvalidArgs && error.is::<serde_json::Error>();
    let failure = if disagrees {
        // The schema accepts the arguments, so the model is not to blame.
        ToolFailure::defect(error.message())
    } else if told == HIDDEN {
        ToolFailure::internal("")
    } else if error.retryable() == Some(true) {
        ToolFailure::transient(told)
    } else {
        ToolFailure::said(judged(error.model_output()))
    };
    match error.code() {
        Some(code) => failure.with_code(code.to_owned()),
        None => failure,
    }
    .caused_by(error)
}

/// What the gate looks at. An image is represented by its digest, which tells it apart from others.
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
    let told = || settled.text(feedback).into_owned();
    let is_error = settled.is_error();
    match (settled.failure().filter(|_| is_error), result) {
        (Some(_), Some(result)) if says_so_itself(settled) => result.into_result(),
        (Some(failure), result) => {
            let own = result.and_then(|result| result.into_result().err());
            let error = own.unwrap_or_else(|| error(failure, &told()));
            Err(error.with_model_feedback(told()))
        }
        (None, Some(result)) if goes_as_it_is(settled, feedback) => result.into_result(),
        (None, Some(result)) => with_words(result.output(), settled, feedback),
        (None, None) => Ok(ToolOutput::text(told())),
    }
}

/// Whether the model gets the tool's own error and nothing else.
fn says_so_itself(settled: &Settled<'_>) -> bool {
    settled.notice.is_none()
        && settled.result.as_ref().is_some_and(|result| {
            result.verdict == OutputVerdict::Failed
                && result.output.is_some()
                && result.shown.is_none()
        })
}

/// Whether the model gets the tool's own result and nothing else.
fn goes_as_it_is(settled: &Settled<'_>, feedback: &Feedback) -> bool {
    let passed = settled.result.as_ref().is_some_and(|result| {
        matches!(
            result.verdict,
            OutputVerdict::Passed | OutputVerdict::Warned
        )
    });
    let receipt = feedback.receipts && !settled.verdict.edits().is_empty();
    passed && settled.notice.is_none() && !receipt
}

/// A result, followed by what else the model should know.
fn with_words(
    output: &ToolOutput,
    settled: &Settled<'_>,
    feedback: &Feedback,
) -> Result<ToolOutput, ToolExecutionError> {
    if output.as_text().is_some() || output.as_json().is_some() {
        return Ok(ToolOutput::text(settled.text(feedback)));
    }
    let partial = settled
        .failure()
        .map(|failure| format!("{} {}", feedback.detail(failure), feedback.hint(failure)));
    let notice = settled
        .notice
        .as_ref()
        .map(|notice| feedback.notice(notice));
    let receipt = feedback
        .receipts
        .then(|| feedback.receipt(settled.verdict.edits()))
        .flatten();
    let mut content = output.as_content().to_vec();
    let words = [partial, receipt, notice].into_iter().flatten();
    content.extend(words.map(ToolResultContent::text));
    ToolOutput::content(content)
}

/// A failure as an error of `rig`: the words for the model, and the detail for the operator.
fn error(failure: &Failure, told: &str) -> ToolExecutionError {
    let message = failure.for_operator().unwrap_or(told);
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
    let data = match (&settled.verdict, &settled.result) {
        (Verdict::Valid(_) | Verdict::Repaired(_), Some(result)) => match &result.output {
            Some(Output::Value(value)) if !matches!(value, Value::String(_)) => Some(value),
            _ => None,
        },
        _ => None,
    };
    match data.filter(|_| goes_as_it_is(settled, feedback)) {
        Some(value) => Ok(ToolOutput::json(value.into())),
        None => answer(settled, None, feedback),
    }
}
