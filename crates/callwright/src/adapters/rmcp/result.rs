//! Results of MCP tools to be judged, and judged ones for the client.
//!
//! A result that passes goes on as it is, an error of the tool's own too; what the model should be told beside it stands
//! in a block behind it.

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ContentBlock, JsonObject, RequestId, ResultType,
};

use crate::admit::Digest;
use crate::call::{Arguments, Call};
use crate::check::{Output, OutputVerdict, Ran, ToolFailure};
use crate::feedback::Feedback;
use crate::json::{Number, Value};
use crate::verdict::Settled;

/// A `tools/call` request as a call.
pub(super) fn call<'a>(request: &'a CallToolRequestParams, id: &'a RequestId) -> Call<'a> {
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
        RequestId::Number(number) => Value::Number(Number::from_literal(number.to_string())),
        RequestId::String(text) => Value::String(text.as_ref().into()),
    });
    call
}

/// Arguments for the handler.
pub(super) fn arguments(value: &Value<'_>) -> Option<JsonObject> {
    match serde_json::Value::from(value) {
        serde_json::Value::Object(members) => Some(members),
        _ => None,
    }
}

/// How a call went.
pub(super) fn ran(result: &CallToolResult) -> Ran<'static> {
    let output = output(result);
    if result.is_error == Some(true) {
        Ran::failed(ToolFailure::said(output))
    } else {
        Ran::ok(output)
    }
}

/// What is looked at: the data, or the text. Of pictures and sounds that is their digest, which tells them apart.
fn output(result: &CallToolResult) -> Output<'static> {
    match (&result.structured_content, &result.content[..]) {
        (Some(data), _) => Output::Value(Value::from(data).into_owned()),
        (None, [ContentBlock::Text(text)]) => Output::from(text.text.clone()),
        (None, blocks) => {
            let judged = blocks.iter().map(|block| match block {
                ContentBlock::Text(text) => Value::String(text.text.clone().into()),
                other => {
                    let text = serde_json::to_string(other).unwrap_or_default();
                    Value::String(Digest::of(&text).to_string().into())
                }
            });
            Output::Value(Value::Array(judged.collect()))
        }
    }
}

/// What the client gets of a call that has no result of its own to show.
pub(super) fn told(settled: &Settled<'_>, feedback: &Feedback) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(settled.text(feedback))])
}

/// What the client gets of a result. `typed` if the tool declares what it returns: clients then insist on data in every
/// result that is no error.
pub(super) fn answer(
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

/// A result that was rendered as JSON, as `rmcp` wants it.
pub(super) fn from_json(rendered: &Value<'_>, typed: bool) -> Option<CallToolResult> {
    let mut result: CallToolResult = serde_json::from_value(rendered.into()).ok()?;
    result.result_type = Some(ResultType::COMPLETE);
    if typed && result.structured_content.is_none() {
        result.is_error = Some(true);
    }
    Some(result)
}
