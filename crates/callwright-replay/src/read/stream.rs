//! Assembles streamed answers: OpenAI chat chunks and Anthropic events, in one array or as the text of server-sent
//! events.

use std::collections::BTreeMap;

use callwright::json::Value;
use callwright::parse::read_value;

use super::Format;
use super::dialogue::Dialogue;
use super::pick::{has, list, object, present, text};

/// A call that arrives in pieces.
#[derive(Debug, Default)]
struct Growing<'a> {
    id: Option<Value<'a>>,
    name: String,
    arguments: String,
}

/// Whether this is a piece of a stream.
pub(super) fn is_piece(value: &Value<'_>) -> bool {
    text(value, "object") == Some("chat.completion.chunk")
        || matches!(
            text(value, "type"),
            Some("message_start" | "content_block_start" | "content_block_delta" | "message_delta")
        )
}

/// Whether this is the text of server-sent events.
pub(super) fn is_text(text: &str) -> bool {
    let text = text.trim_ascii_start();
    text.starts_with("data:") || text.starts_with("event:")
}

/// Reads an answer that arrived in pieces.
pub(super) fn read<'a>(dialogue: &mut Dialogue<'a, '_>, value: Value<'a>) {
    let pieces = match value {
        Value::Array(pieces) => pieces,
        Value::String(text) => text
            .lines()
            .filter_map(|line| line.trim_ascii().strip_prefix("data:"))
            .filter_map(|data| read_value(data).ok().map(Value::into_owned))
            .collect(),
        _ => return,
    };
    let mut calls: BTreeMap<u64, Growing<'a>> = BTreeMap::new();
    let mut reason = None;
    for mut piece in pieces {
        dialogue.context.add(&piece);
        if has(&piece, "choices") {
            dialogue.format(Format::OpenAiChat);
            openai(&mut piece, &mut calls, &mut reason);
        } else {
            dialogue.format(Format::Anthropic);
            if let Some(message) = present(&mut piece, "message") {
                dialogue.context.add(&message);
            }
            anthropic(&mut piece, &mut calls, &mut reason);
        }
    }
    let calls = calls.into_values().map(|growing| {
        let arguments = Some(growing.arguments).filter(|text| !text.is_empty());
        let function = object([
            ("name", Some(Value::String(growing.name.into()))),
            (
                "arguments",
                arguments.map(|text| Value::String(text.into())),
            ),
        ]);
        object([("id", growing.id), ("function", Some(function))])
    });
    let message = object([
        ("role", Some(Value::String("assistant".into()))),
        ("tool_calls", Some(Value::Array(calls.collect()))),
        ("finish_reason", reason),
    ]);
    dialogue.history(Value::Array(vec![message]));
}

fn openai<'a>(
    piece: &mut Value<'a>,
    calls: &mut BTreeMap<u64, Growing<'a>>,
    reason: &mut Option<Value<'a>>,
) {
    let Some(mut choice) = list(piece, "choices").into_iter().next() else {
        return;
    };
    if let Some(said) = present(&mut choice, "finish_reason") {
        *reason = Some(said);
    }
    let mut delta = present(&mut choice, "delta").unwrap_or_default();
    for mut part in list(&mut delta, "tool_calls") {
        let index = part
            .get("index")
            .and_then(Value::as_number)
            .and_then(callwright::json::Number::as_u64);
        let call = calls.entry(index.unwrap_or(0)).or_default();
        call.id = call.id.take().or_else(|| present(&mut part, "id"));
        let function = present(&mut part, "function").unwrap_or_default();
        call.name
            .push_str(text(&function, "name").unwrap_or_default());
        call.arguments
            .push_str(text(&function, "arguments").unwrap_or_default());
    }
}

fn anthropic<'a>(
    event: &mut Value<'a>,
    calls: &mut BTreeMap<u64, Growing<'a>>,
    reason: &mut Option<Value<'a>>,
) {
    let index = event
        .get("index")
        .and_then(Value::as_number)
        .and_then(callwright::json::Number::as_u64);
    if let Some(mut block) = present(event, "content_block") {
        if text(&block, "type") == Some("tool_use") {
            let call = calls.entry(index.unwrap_or(0)).or_default();
            call.id = present(&mut block, "id");
            text(&block, "name")
                .unwrap_or_default()
                .clone_into(&mut call.name);
        }
        return;
    }
    let mut delta = present(event, "delta").unwrap_or_default();
    if let (Some("input_json_delta"), Some(call)) =
        (text(&delta, "type"), calls.get_mut(&index.unwrap_or(0)))
    {
        call.arguments
            .push_str(text(&delta, "partial_json").unwrap_or_default());
    }
    if let Some(said) = present(&mut delta, "stop_reason") {
        *reason = Some(said);
    }
}
