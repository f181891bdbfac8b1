//! Converts MCP requests and results for the gate, and settled calls for the client.
//!
//! A result that passes is returned unchanged, and so is the tool's own error; further notes for the model follow in
//! another block.

use callwright::Settled;
use callwright::call::{Arguments, Call};
use callwright::check::{Output, Ran, ToolFailure};
use callwright::feedback::{Content, Feedback};
use callwright::internal::{digest, first_bytes};
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

pub(crate) fn ran(result: &CallToolResult) -> Ran<'static> {
    let output = output(result);
    if result.is_error == Some(true) {
        Ran::failed(ToolFailure::said(output))
    } else {
        Ran::ok(output)
    }
}

/// The output that the gate judges: the data or the text. Images and sounds are represented by their digests, which
/// distinguish them.
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

/// The client's result for a call that returned none.
pub(crate) fn told(settled: &Settled<'_>, feedback: &Feedback) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(settled.text(feedback))])
}

/// The client's result for a call that returned one. `typed` if the tool has an output schema: clients then require
/// structured content in every result that is not an error.
pub(crate) fn answer(
    settled: &Settled<'_>,
    mut result: CallToolResult,
    typed: bool,
    feedback: &Feedback,
) -> CallToolResult {
    if settled.result.is_none() {
        return result;
    }
    let presented = feedback.present(settled);
    let mut is_error = presented.is_error;
    match presented.content {
        Content::Kept(_) => {}
        Content::Withheld => {
            result.content.clear();
            result.structured_content = None;
        }
        Content::Cut(_, bytes) => match result.structured_content.take() {
            Some(_) => {
                let text = presented.content_text().unwrap_or_default();
                result.content = vec![ContentBlock::text(text)];
                is_error |= typed;
            }
            None => cut_texts(&mut result.content, bytes),
        },
    }
    if is_error {
        result.is_error = Some(true);
    }
    let note = presented.note.map(ContentBlock::text);
    result.content.extend(note);
    result
}

/// Keeps this many bytes of text across all blocks. Media are left alone.
fn cut_texts(blocks: &mut [ContentBlock], bytes: usize) {
    let mut left = bytes;
    for block in blocks {
        if let ContentBlock::Text(text) = block {
            text.text.truncate(first_bytes(&text.text, left).len());
            left -= text.text.len();
        }
    }
}

/// A result rendered as JSON, as an `rmcp` type.
pub(crate) fn from_json(rendered: &Value<'_>, typed: bool) -> Option<CallToolResult> {
    let mut result: CallToolResult = serde_json::from_value(rendered.into()).ok()?;
    result.result_type = Some(ResultType::COMPLETE);
    if typed && result.structured_content.is_none() {
        result.is_error = Some(true);
    }
    Some(result)
}
