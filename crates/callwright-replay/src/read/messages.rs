//! Messages of a conversation as OpenAI chat and Anthropic have them, and libraries that follow them.
//!
//! Calls are in `tool_calls`, in the older `function_call`, or blocks of the content; results are messages of the role
//! `tool` or `function`, or blocks.

use callwright::json::Value;
use callwright::{Call, call::Arguments};

use super::Format;
use super::dialogue::{Dialogue, output};
use super::pick::{first_of, has, has_object, is_true, list, present, take, text};

/// All messages of a conversation.
pub(super) fn read<'a>(dialogue: &mut Dialogue<'a, '_>, messages: Vec<Value<'a>>) {
    for message in messages {
        read_one(dialogue, message, None);
    }
}

/// One message, and why it ended, if that is recorded beside it.
pub(super) fn read_one<'a>(
    dialogue: &mut Dialogue<'a, '_>,
    mut message: Value<'a>,
    reason: Option<&str>,
) {
    // Some libraries wrap each message.
    if !has(&message, "role")
        && let Some(inner @ Value::Object(_)) = present(&mut message, "message")
    {
        message = inner;
    }
    let role = first_of(&mut message, &["role", "type"]);
    match role.as_ref().and_then(Value::as_str).unwrap_or_default() {
        "assistant" | "model" | "ai" => answer(dialogue, message, reason),
        "user" | "human" => user(dialogue, message),
        "tool" | "function" => tool(dialogue, message),
        _ => {}
    }
}

fn answer<'a>(dialogue: &mut Dialogue<'a, '_>, mut message: Value<'a>, reason: Option<&str>) {
    dialogue.begin_answer();
    let own = first_of(&mut message, &["finish_reason", "stop_reason"]);
    if let Value::Array(blocks) = first_of(&mut message, &["content", "parts"]).unwrap_or_default()
    {
        for block in blocks {
            read_block(dialogue, block);
        }
    }
    for call in list(&mut message, "tool_calls") {
        tool_call(dialogue, call);
    }
    if let Some(call @ Value::Object(_)) = present(&mut message, "function_call") {
        dialogue.read_call(call);
    }
    dialogue.end_answer(reason.or(own.as_ref().and_then(Value::as_str)));
}

/// An element of `tool_calls`.
fn tool_call<'a>(dialogue: &mut Dialogue<'a, '_>, mut call: Value<'a>) {
    if has_object(&call, "custom") {
        dialogue.trouble(
            "a call of a custom tool: its input is not JSON, so there is nothing to judge",
        );
        return;
    }
    // Exports call the whole element by other names.
    if !has(&call, "function")
        && let Some(inner @ Value::Object(_)) = present(&mut call, "tool_call")
    {
        call = inner;
    }
    dialogue.read_call(call);
}

/// A block of content: a call or a result in the shape of any provider. Others are text, pictures and thoughts.
/// Returns whether it was a result.
pub(super) fn read_block<'a>(dialogue: &mut Dialogue<'a, '_>, mut block: Value<'a>) -> bool {
    match text(&block, "type") {
        Some("tool_use") => {
            dialogue.format(Format::Anthropic);
            dialogue.read_call(block);
            return false;
        }
        Some("tool_result") => {
            dialogue.format(Format::Anthropic);
            let id = present(&mut block, "tool_use_id");
            let is_error = is_true(&block, "is_error");
            let said = output(take(&mut block, "content"));
            dialogue.result(id, None, said, is_error);
            return true;
        }
        // OpenTelemetry's names, and those of JavaScript libraries.
        Some("tool_call" | "tool-call") => {
            let name = first_of(&mut block, &["name", "toolName"]);
            let id = first_of(&mut block, &["id", "toolCallId"]);
            let arguments = first_of(&mut block, &["arguments", "args", "input"]);
            dialogue.named_call(name, id, arguments);
            return false;
        }
        Some("tool_call_response" | "tool-result") => {
            let id = first_of(&mut block, &["id", "toolCallId"]);
            let is_error = is_true(&block, "isError");
            let said = first_of(&mut block, &["response", "result", "output"]);
            dialogue.result(id, None, output(said), is_error);
            return true;
        }
        _ => {}
    }
    // Bedrock's.
    if let Some(mut call @ Value::Object(_)) = present(&mut block, "toolUse") {
        let id = present(&mut call, "toolUseId");
        if let Some(Value::String(name)) = present(&mut call, "name") {
            let arguments = take(&mut call, "input");
            let mut call = Call::new(name, arguments.map_or(Arguments::Absent, Arguments::Value));
            call.id = id;
            dialogue.call(call);
        }
    } else if let Some(mut result @ Value::Object(_)) = present(&mut block, "toolResult") {
        let id = present(&mut result, "toolUseId");
        let is_error = text(&result, "status") == Some("error");
        let said = output(take(&mut result, "content"));
        dialogue.result(id, None, said, is_error);
        return true;
    }
    false
}

/// A message of the user. One that carries results is not a new turn, although it has the same role.
fn user<'a>(dialogue: &mut Dialogue<'a, '_>, mut message: Value<'a>) {
    let mut has_result = false;
    if let Value::Array(blocks) = first_of(&mut message, &["content", "parts"]).unwrap_or_default()
    {
        for block in blocks {
            has_result |= read_block(dialogue, block);
        }
    }
    if !has_result {
        dialogue.user();
    }
}

fn tool<'a>(dialogue: &mut Dialogue<'a, '_>, mut message: Value<'a>) {
    let is_error = is_true(&message, "is_error") || text(&message, "status") == Some("error");
    let id = first_of(&mut message, &["tool_call_id", "toolCallId"]);
    let name = present(&mut message, "name");
    let content = first_of(&mut message, &["content", "parts"]);
    if let (None, Some(Value::Array(blocks))) = (&id, &content)
        && blocks.iter().any(is_result)
    {
        if let Some(Value::Array(blocks)) = content {
            for block in blocks {
                read_block(dialogue, block);
            }
        }
        return;
    }
    let name = name.as_ref().and_then(Value::as_str);
    dialogue.result(id, name, output(content), is_error);
}

fn is_result(block: &Value<'_>) -> bool {
    let kind = text(block, "type");
    matches!(
        kind,
        Some("tool_result" | "tool-result" | "tool_call_response")
    ) || has(block, "toolResult")
}
