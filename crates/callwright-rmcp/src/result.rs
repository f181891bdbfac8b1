//! Requests and results of MCP on their way to the gate, and settled calls on their way back to the client.
//!
//! A result that passes goes on as it is, and so does the tool's own error; what else the model should know follows in
//! another block.

use callwright::Settled;
use callwright::call::{Arguments, Call};
use callwright::check::{Output, OutputVerdict, Ran, ToolFailure};
use callwright::feedback::Feedback;
use callwright::internal::digest;
use callwright::json::Value;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ContentBlock, JsonObject, RequestId, ResultType,
};

/// A `tools/call` request as a call.
pub(crate) fn call<'a>(request: &'a CallToolRequestParams, id: &'a RequestId) -> Call<'a> {
    let arguments = match &request.arguments {
        Some(members) => {
            let members = members.iter();
            let values = members.map(|(key, value)| (key.as_str().into(), Value::from(value)));
            Arguments::Value(Value::Object(values.collect()))
        }
        None => Arguments::Absent,
    };
    let mut call = Call::new(request.name.as_ref(), arguments);
    call.id = Some(match id {
        RequestId::Number(number) => Value::Number((*number).into()),
        RequestId::String(text) => Value::String(text.as_ref().into()),
    });
    call
}

/// Arguments for the handler.
pub(crate) fn arguments(value: &Value<'_>) -> Option<JsonObject> {
    match serde_json::Value::from(value) {
        serde_json::Value::Object(members) => Some(members),
        _ => None,
    }
}

/// The outcome of a call.
pub(crate) fn ran(result: &CallToolResult) -> Ran<'static> {
    let output = output(result);
    if result.is_error == Some(true) {
        Ran::failed(ToolFailure::said(output))
    } else {
        Ran::ok(output)
    }
}

/// What the gate looks at: the data or the text. Images and sounds are represented by their digests, which tell them
/// apart.
fn output(result: &CallToolResult) -> Output<'static> {
    match (&result.structured_content, &result.content[..]) {
        (Some(data), _) => Output::Value(Value::from(data).into_owned()),
        (None, [ContentBlock::Text(text)]) => Output::from(text.text.clone()),
        (None, blocks) => {
            let judged = blocks.iter().map(|block| match block {
                ContentBlock::Text(text) => Value::String(text.text.clone().into()),
                other => {
                    let text = serde_json::to_string(other).unwrap_or_default();
                    digest(&text)
                }
            });
            Output::Value(Value::Array(judged.collect()))
        }
    }
}

/// What the client gets for a call without a result.
pub(crate) fn told(settled: &Settled<'_>, feedback: &Feedback) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(settled.text(feedback))])
}

/// What the client gets for a result. `typed` if the tool has an output schema: clients then require structured content
/// in every result that is not an error.
pub(crate) fn answer(
    settled: &Settled<'_>,
    mut result: CallToolResult,
    typed: bool,
    feedback: &Feedback,
) -> CallToolResult {
    let Some(checked) = &settled.result else {
        return result;
    };
    if checked.verdict == OutputVerdict::Refused {
        let mut refused = told(settled, feedback);
        refused.meta = result.meta;
        return refused;
    }
    if checked.shown.is_some() {
        result.content = vec![ContentBlock::text(settled.text(feedback))];
        if result.structured_content.take().is_some() && typed {
            result.is_error = Some(true);
        }
        return result;
    }
    let partial = match (checked.verdict, &checked.failure) {
        (OutputVerdict::Partial, Some(failure)) => {
            let (detail, hint) = (feedback.detail(failure), feedback.hint(failure));
            Some(format!("{detail} {hint}"))
        }
        _ => None,
    };
    let receipt = feedback
        .receipts
        .then(|| feedback.receipt(settled.verdict.edits()))
        .flatten();
    let notice = settled
        .notice
        .as_ref()
        .map(|notice| feedback.notice(notice));
    let words = [partial, receipt, notice].into_iter().flatten();
    result.content.extend(words.map(ContentBlock::text));
    result
}

/// A result that was rendered as JSON, as `rmcp` has it.
pub(crate) fn from_json(rendered: &Value<'_>, typed: bool) -> Option<CallToolResult> {
    let mut result: CallToolResult = serde_json::from_value(rendered.into()).ok()?;
    result.result_type = Some(ResultType::COMPLETE);
    if typed && result.structured_content.is_none() {
        result.is_error = Some(true);
    }
    Some(result)
}
