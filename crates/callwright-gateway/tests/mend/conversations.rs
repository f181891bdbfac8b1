//! Conversations in the formats of all APIs, and whether a provider would accept them.

use std::collections::HashSet;

use callwright_gateway::Api;
use serde_json::{Value, json};

/// One step of a conversation.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    User(&'static str),
    /// Calls in one answer: ids and arguments.
    Answer(Vec<(&'static str, &'static str)>),
    Say(&'static str),
    Result(&'static str, &'static str),
    /// A text and then a result in one message, if the provider has such messages.
    TextThenResult(&'static str),
}

use Step::{Answer, Result, Say, TextThenResult, User};

/// The conversation as a request to a provider.
pub(crate) fn request(api: Api, steps: &[Step]) -> String {
    let mut messages: Vec<Value> = Vec::new();
    for step in steps {
        match api {
            Api::Chat => match step {
                User(text) => messages.push(json!({"role": "user", "content": text})),
                Say(text) => messages.push(json!({"role": "assistant", "content": text, "reasoning_content": "…"})),
                Answer(calls) => {
                    let calls: Vec<Value> = calls.iter().map(|(id, arguments)| {
                        json!({"id": id, "type": "function", "function": {"name": tool(id), "arguments": arguments}})
                    }).collect();
                    messages.push(json!({"role": "assistant", "content": null, "tool_calls": calls}));
                }
                Result(id, text) => messages.push(json!({"role": "tool", "tool_call_id": id, "content": text})),
                TextThenResult(id) => {
                    messages.push(json!({"role": "user", "content": "Well?"}));
                    messages.push(json!({"role": "tool", "tool_call_id": id, "content": "late"}));
                }
            },
            Api::Responses => match step {
                User(text) => messages.push(json!({"role": "user", "content": text})),
                Say(text) => messages.push(json!({"type": "message", "role": "assistant", "content": [
                    {"type": "output_text", "text": text}]})),
                Answer(calls) => {
                    messages.push(json!({"type": "reasoning", "id": "rs_1", "summary": []}));
                    messages.extend(calls.iter().map(|(id, arguments)| {
                        json!({"type": "function_call", "id": "fc_1", "call_id": id, "name": tool(id), "arguments": arguments})
                    }));
                }
                Result(id, text) => messages.push(json!({"type": "function_call_output", "call_id": id, "output": text})),
                TextThenResult(id) => {
                    messages.push(json!({"role": "user", "content": "Well?"}));
                    messages.push(json!({"type": "function_call_output", "call_id": id, "output": "late"}));
                }
            },
            Api::Messages => match step {
                User(text) => messages.push(json!({"role": "user", "content": text})),
                Say(text) => messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": text}]})),
                Answer(calls) => {
                    let mut content = vec![json!({"type": "thinking", "thinking": "…", "signature": "s"})];
                    content.extend(calls.iter().map(|(id, arguments)| {
                        json!({"type": "tool_use", "id": id, "name": tool(id), "input": value(arguments)})
                    }));
                    messages.push(json!({"role": "assistant", "content": content}));
                }
                Result(id, text) => messages.push(json!({"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": id, "content": text}]})),
                TextThenResult(id) => messages.push(json!({"role": "user", "content": [
                    {"type": "text", "text": "Well?"},
                    {"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": "late"}]}]})),
            },
            Api::Gemini => match step {
                User(text) => messages.push(json!({"role": "user", "parts": [{"text": text}]})),
                Say(text) => messages.push(json!({"role": "model", "parts": [{"text": text}]})),
                Answer(calls) => {
                    let parts: Vec<Value> = calls.iter().map(|(id, arguments)| {
                        json!({"functionCall": {"id": id, "name": tool(id), "args": value(arguments)}, "thoughtSignature": "s"})
                    }).collect();
                    messages.push(json!({"role": "model", "parts": parts}));
                }
                Result(id, text) => messages.push(json!({"role": "user", "parts": [
                    {"functionResponse": {"id": id, "name": tool(id), "response": {"output": text}}}]})),
                TextThenResult(id) => messages.push(json!({"role": "user", "parts": [
                    {"text": "Well?"},
                    {"functionResponse": {"id": id, "name": tool(id), "response": {"output": "late"}}}]})),
            },
        }
    }
    let key = match api {
        Api::Responses => "input",
        Api::Gemini => "contents",
        Api::Chat | Api::Messages => "messages",
    };
    json!({"model": "m", key: messages, "tools": [{"name": "x"}]}).to_string()
}

fn tool(id: &str) -> String {
    format!("tool_{}", &id[..1])
}

/// Arguments as a JSON value; anything that is not JSON becomes a string.
fn value(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments))
}

/// Whether the provider would accept it, by the rules in its documentation: every call has an object as arguments, a
/// unique id, and one result in the right place.
pub(crate) fn is_sound(api: Api, body: &str) -> bool {
    let body: Value = serde_json::from_str(body).expect("JSON");
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut ids: HashSet<String> = HashSet::new();
    let mut is_new = |id: String| ids.insert(id);
    let is_object = |value: &Value| {
        serde_json::from_str::<Value>(&text(value)).is_ok_and(|value| value.is_object())
    };
    let mut open: Vec<String> = Vec::new();
    let close =
        |open: &mut Vec<String>, id: String| match open.iter().position(|other| *other == id) {
            Some(at) => {
                open.remove(at);
                true
            }
            None => false,
        };
    match api {
        Api::Chat => {
            for message in list(&body["messages"]) {
                if message["role"] == "tool" {
                    if !close(&mut open, text(&message["tool_call_id"])) {
                        return false;
                    }
                    continue;
                }
                if !open.is_empty() {
                    return false;
                }
                for call in list(&message["tool_calls"]) {
                    if !is_new(text(&call["id"])) || !is_object(&call["function"]["arguments"]) {
                        return false;
                    }
                    open.push(text(&call["id"]));
                }
            }
        }
        Api::Responses => {
            for item in list(&body["input"]) {
                match item["type"].as_str() {
                    Some("function_call") => {
                        if !is_new(text(&item["call_id"])) || !is_object(&item["arguments"]) {
                            return false;
                        }
                        open.push(text(&item["call_id"]));
                    }
                    Some("function_call_output") if !close(&mut open, text(&item["call_id"])) => {
                        return false;
                    }
                    None if !open.is_empty() => return false,
                    _ => {}
                }
            }
        }
        Api::Messages | Api::Gemini => {
            let is_gemini = api == Api::Gemini;
            let (key, parts) = if is_gemini {
                ("contents", "parts")
            } else {
                ("messages", "content")
            };
            for message in list(&body[key]) {
                let is_user = message["role"] == "user";
                if is_user && message[parts].is_string() && !open.is_empty() {
                    return false;
                }
                for part in list(&message[parts]) {
                    let is_a = |kind: &str| (part["type"] == kind).then_some(&part);
                    let (call, result) = if is_gemini {
                        (part.get("functionCall"), part.get("functionResponse"))
                    } else {
                        (is_a("tool_use"), is_a("tool_result"))
                    };
                    if let Some(call) = call {
                        let input = &call[if is_gemini { "args" } else { "input" }];
                        if is_user || !is_new(text(&call["id"])) || !input.is_object() {
                            return false;
                        }
                        open.push(text(&call["id"]));
                    } else if let Some(result) = result {
                        let id = &result[if is_gemini { "id" } else { "tool_use_id" }];
                        if !is_user || !close(&mut open, text(id)) {
                            return false;
                        }
                    } else if is_user && !open.is_empty() {
                        return false;
                    }
                }
            }
        }
    }
    open.is_empty()
}
