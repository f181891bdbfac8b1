//! The names of `OpenInference`: messages whose parts are separate attributes,
//! `llm.output_messages.0.message.tool_calls.0.tool_call.function.name`.

use std::collections::BTreeMap;

use callwright::json::Value;

use super::attributes::Attributes;
use crate::read::dialogue::Dialogue;
use crate::read::pick::inner_json;

#[derive(Debug, Default)]
struct FlatMessage<'a> {
    role: Option<Value<'a>>,
    content: Option<Value<'a>>,
    tool_call_id: Option<Value<'a>>,
    calls: BTreeMap<u32, FlatCall<'a>>,
}

#[derive(Debug, Default)]
struct FlatCall<'a> {
    id: Option<Value<'a>>,
    name: Option<Value<'a>>,
    arguments: Option<Value<'a>>,
}

/// Reads the messages that went into a model and those that came out of it.
pub(super) fn read<'a>(dialogue: &mut Dialogue<'a, '_>, attributes: Attributes<'a>) {
    let mut before: BTreeMap<u32, FlatMessage<'a>> = BTreeMap::new();
    let mut after: BTreeMap<u32, FlatMessage<'a>> = BTreeMap::new();
    let mut tools = Vec::new();
    for (key, value) in attributes.into_all() {
        if let Some(rest) = key.strip_prefix("llm.input_messages.") {
            add(&mut before, rest, value);
        } else if let Some(rest) = key.strip_prefix("llm.output_messages.") {
            add(&mut after, rest, value);
        } else if key.starts_with("llm.tools.") && key.ends_with("json_schema") {
            tools.extend(value.as_str().and_then(inner_json));
        }
    }
    if !tools.is_empty() {
        dialogue.tools(&Value::Array(tools));
    }
    for messages in [before, after] {
        for (_, message) in messages {
            read_message(dialogue, message);
        }
    }
}

/// Adds one attribute: `0.message.role`, `0.message.tool_calls.1.tool_call.id`.
fn add<'a>(messages: &mut BTreeMap<u32, FlatMessage<'a>>, key: &str, value: Value<'a>) {
    let mut parts = key.splitn(3, '.');
    let (Some(Ok(number)), Some("message"), Some(rest)) =
        (parts.next().map(str::parse), parts.next(), parts.next())
    else {
        return;
    };
    let message = messages.entry(number).or_default();
    match rest {
        "role" => message.role = Some(value),
        "content" => message.content = Some(value),
        "tool_call_id" => message.tool_call_id = Some(value),
        _ => {
            let Some((Ok(number), rest)) = rest
                .strip_prefix("tool_calls.")
                .and_then(|rest| rest.split_once('.'))
                .map(|(number, rest)| (number.parse(), rest))
            else {
                return;
            };
            let call = message.calls.entry(number).or_default();
            match rest {
                "tool_call.id" => call.id = Some(value),
                "tool_call.function.name" => call.name = Some(value),
                "tool_call.function.arguments" => call.arguments = Some(value),
                _ => {}
            }
        }
    }
}

fn read_message<'a>(dialogue: &mut Dialogue<'a, '_>, message: FlatMessage<'a>) {
    match message.role.as_ref().and_then(Value::as_str) {
        Some("user") => dialogue.user(),
        Some("tool") => {
            let content = message.content.unwrap_or_default();
            dialogue.result(message.tool_call_id, None, content, false);
        }
        _ if !message.calls.is_empty() || message.role.is_some() => {
            let by_model = message.role.as_ref().and_then(Value::as_str) == Some("assistant");
            dialogue.begin_answer();
            for (_, part) in message.calls {
                dialogue.named_call(part.name, part.id, part.arguments);
            }
            if by_model {
                dialogue.end_answer(None);
            }
        }
        _ => {}
    }
}
