//! Converts MCP requests and results for the gate, and settled calls for the client.
//!
//! A result that passes is returned unchanged, and so is the tool's own error; further notes for the model follow in
//! another block.

use callwright::Settled;
use callwright::call::{Arguments, Call};
use callwright::feedback::{Content, Feedback};
use callwright::internal::present_mcp_result;
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

pub(crate) fn arguments(value: &Value<'_>) -> Option<JsonObject> {
    match serde_json::Value::from(value) {
        serde_json::Value::Object(members) => Some(members),
        _ => None,
    }
}

/// A result as JSON, which is what the gate reads.
pub(crate) fn as_json(result: &CallToolResult) -> Value<'static> {
    let json = serde_json::to_value(result).unwrap_or_default();
    Value::from(&json).into_owned()
}

/// The client's result for a call that returned none.
pub(crate) fn error_result(settled: &Settled<'_>, feedback: &Feedback) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(settled.text(feedback))])
}

/// The client's result for a call that returned one, which is also given as JSON. `typed` if the tool has an output schema:
/// clients then require structured content in every result that is not an error.
pub(crate) fn answer(
    settled: &Settled<'_>,
    mut result: CallToolResult,
    json: &Value<'_>,
    typed: bool,
    feedback: &Feedback,
) -> CallToolResult {
    if settled.result.is_none() {
        return result;
    }
    let presented = feedback.present(settled);
    if let Content::Kept(_) = presented.content {
        result
            .content
            .extend(presented.note.map(ContentBlock::text));
        return result;
    }
    let placed = present_mcp_result(json, &presented, typed);
    placed
        .and_then(|placed| from_json(&placed))
        .unwrap_or_else(|| error_result(settled, feedback))
}

/// A result rendered as JSON, as an `rmcp` type.
pub(crate) fn from_json(rendered: &Value<'_>) -> Option<CallToolResult> {
    let mut result: CallToolResult = serde_json::from_value(rendered.into()).ok()?;
    result.result_type = Some(ResultType::COMPLETE);
    Some(result)
}
