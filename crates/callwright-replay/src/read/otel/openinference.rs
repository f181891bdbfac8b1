//! Reads `OpenInference` attributes: messages whose parts are separate attributes,
//! `llm.output_messages.0.message.tool_calls.0.tool_call.function.name`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use callwright::json::Value;

use super::attributes::Attributes;
use crate::read::dialogue::Dialogue;
use crate::read::pick::{inner_json, object};

/// The members of a message, and its calls by index.
type Flat<'a> = (Vec<(Cow<'a, str>, Value<'a>)>, BTreeMap<u32, Value<'a>>);

/// Reads the input and output messages of a model.
pub(super) fn read<'a>(dialogue: &mut Dialogue<'a, '_>, attributes: Attributes<'a>) {
    let mut before: BTreeMap<u32, Flat<'a>> = BTreeMap::new();
    let mut after: BTreeMap<u32, Flat<'a>> = BTreeMap::new();
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
        let messages = messages.into_values().map(|(mut members, calls)| {
            let calls = calls.into_values().collect();
            members.push(("tool_calls".into(), Value::Array(calls)));
            Value::Object(members)
        });
        dialogue.history(Value::Array(messages.collect()));
    }
}

/// Adds one attribute: `0.message.role`, `0.message.tool_calls.1.tool_call.id`.
fn add<'a>(messages: &mut BTreeMap<u32, Flat<'a>>, key: &str, value: Value<'a>) {
    let mut parts = key.splitn(3, '.');
    let (Some(Ok(number)), Some("message"), Some(rest)) =
        (parts.next().map(str::parse), parts.next(), parts.next())
    else {
        return;
    };
    let (members, calls) = messages.entry(number).or_default();
    if let "role" | "content" | "tool_call_id" = rest {
        members.push((rest.to_owned().into(), value));
        return;
    }
    let Some((Ok(number), rest)) = rest
        .strip_prefix("tool_calls.")
        .and_then(|rest| rest.split_once('.'))
        .map(|(number, rest)| (number.parse(), rest))
    else {
        return;
    };
    let empty = || object([("function", Some(Value::Object(Vec::new())))]);
    let Value::Object(call) = calls.entry(number).or_insert_with(empty) else {
        return;
    };
    match (rest.strip_prefix("tool_call.function."), &mut call[..]) {
        (Some(key @ ("name" | "arguments")), [(_, Value::Object(function)), ..]) => {
            function.push((key.to_owned().into(), value));
        }
        _ if rest == "tool_call.id" => call.push(("id".into(), value)),
        _ => {}
    }
}
