//! Converts messages from libraries to the format of the provider they follow, which the core reads.

use callwright::json::Value;

use super::Format;
use super::dialogue::Dialogue;
use super::pick::{first_of, has, is_true, object, present, text};

/// All messages of a conversation.
pub(super) fn read<'a>(dialogue: &mut Dialogue<'a, '_>, messages: Vec<Value<'a>>) {
    let messages = messages.into_iter();
    let messages = messages.map(|message| as_of_provider(dialogue, message));
    let messages = messages.collect();
    dialogue.history(Value::Array(messages));
}

/// One message, and its finish reason, if that is recorded next to it.
pub(super) fn read_one<'a>(
    dialogue: &mut Dialogue<'a, '_>,
    mut message: Value<'a>,
    reason: Option<Value<'a>>,
) {
    if let (Value::Object(members), Some(reason)) = (&mut message, reason) {
        members.push(("finish_reason".into(), reason));
    }
    read(dialogue, vec![message]);
}

/// A message under the provider's names for its parts; null if it is from neither the user nor the model nor a tool.
fn as_of_provider<'a>(dialogue: &mut Dialogue<'a, '_>, mut message: Value<'a>) -> Value<'a> {
    // Some libraries wrap each message.
    if !has(&message, "role")
        && let Some(inner @ Value::Object(_)) = present(&mut message, "message")
    {
        message = inner;
    }
    let is_result = |block: &Value<'_>| {
        let kind = text(block, "type");
        kind.is_some_and(|kind| RESULTS.contains(&kind))
            || has(block, "toolResult")
            || has(block, "functionResponse")
    };
    let role = first_of(&mut message, &["role", "type"]);
    let mut role = match role.as_ref().and_then(Value::as_str) {
        Some("assistant" | "model" | "ai") => "assistant",
        Some("user" | "human") => "user",
        Some("tool" | "function") => "tool",
        // Gemini needs none for a single message.
        None if has(&message, "parts") => "user",
        _ => return Value::Null,
    };
    if role == "assistant" {
        dialogue.answered_as(&message);
    }
    // The remaining `type` is not that of an item.
    message.take("type");
    let id = first_of(&mut message, &["tool_call_id", "toolCallId"]);
    let mut content = first_of(&mut message, &["content", "parts"]);
    if let Some(Value::Array(blocks)) = &mut content {
        let known = blocks
            .drain(..)
            .map(|block| block_of_provider(dialogue, block));
        *blocks = known.collect();
        if role == "tool" && id.is_none() && blocks.iter().any(is_result) {
            role = "user";
        }
    }
    let calls = match message.take("tool_calls") {
        Some(Value::Array(calls)) => Some(calls.into_iter().map(tool_call).collect()),
        _ => None,
    };
    let Value::Object(members) = &mut message else {
        return Value::Null;
    };
    let known = [
        ("role", Some(Value::String(role.into()))),
        ("tool_call_id", id),
        ("content", content),
        ("tool_calls", calls.map(Value::Array)),
    ];
    let known = known.into_iter();
    members.extend(known.filter_map(|(key, value)| Some((key.into(), value?))));
    message
}

/// An element of `tool_calls`. Some exports use other names for it, or for what is in it.
fn tool_call(mut call: Value<'_>) -> Value<'_> {
    if !has(&call, "function")
        && let Some(inner @ Value::Object(_)) = present(&mut call, "tool_call")
    {
        call = inner;
    }
    if has(&call, "function") || has(&call, "custom") {
        return call;
    }
    let id = present(&mut call, "id");
    function_call(id, call)
}

/// A call as OpenAI writes it.
fn function_call<'a>(id: Option<Value<'a>>, function: Value<'a>) -> Value<'a> {
    object([("id", id), ("function", Some(function))])
}

/// The types of result blocks, as providers, OpenTelemetry and JavaScript libraries name them.
const RESULTS: [&str; 3] = ["tool_result", "tool_call_response", "tool-result"];

/// A content block: a call or a result in a provider's format. Others are text, images and thoughts.
fn block_of_provider<'a>(dialogue: &mut Dialogue<'a, '_>, mut block: Value<'a>) -> Value<'a> {
    let result = |id, content, is_error| {
        object([
            ("type", Some(Value::String("tool_result".into()))),
            ("tool_use_id", id),
            ("content", content),
            ("is_error", Some(Value::Bool(is_error))),
        ])
    };
    match text(&block, "type") {
        Some("tool_use" | "tool_result") => dialogue.format(Format::Anthropic),
        Some("tool_call" | "tool-call") => {
            let id = first_of(&mut block, &["id", "toolCallId"]);
            let name = first_of(&mut block, &["name", "toolName"]);
            let arguments = first_of(&mut block, &["arguments", "args", "input"]);
            let function = object([("name", name), ("arguments", arguments)]);
            return function_call(id, function);
        }
        Some("tool_call_response" | "tool-result") => {
            let id = first_of(&mut block, &["id", "toolCallId"]);
            let is_error = is_true(&block, "isError");
            let said = first_of(&mut block, &["response", "result", "output"]);
            return result(id, said, is_error);
        }
        _ => {}
    }
    // Bedrock's, and Gemini's in Python.
    if let Some(mut call @ Value::Object(_)) = present(&mut block, "toolUse") {
        object([
            ("type", Some(Value::String("tool_use".into()))),
            ("id", present(&mut call, "toolUseId")),
            ("name", present(&mut call, "name")),
            ("input", call.take("input")),
        ])
    } else if let Some(mut said @ Value::Object(_)) = present(&mut block, "toolResult") {
        let is_error = text(&said, "status") == Some("error");
        let id = present(&mut said, "toolUseId");
        result(id, said.take("content"), is_error)
    } else if let Some(call) = present(&mut block, "function_call") {
        object([("functionCall", Some(call))])
    } else if let Some(said) = present(&mut block, "function_response") {
        object([("functionResponse", Some(said))])
    } else {
        block
    }
}
