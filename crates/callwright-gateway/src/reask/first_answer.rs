//! The model's first answer as conversation messages, for the request that asks again.
//!
//! Takes a whole body as written, or assembles a streamed answer as a client would. Thoughts and signatures are kept.
//! Returns `None` for anything that cannot be assembled with certainty; the model is then not asked again.

use std::collections::BTreeMap;

use bytes::Bytes;
use callwright::internal::RawObject;
use callwright_http::sse::EventFields;
use serde_json::{Map, Value, json};

use crate::api::Api;

/// The model's first answer.
#[derive(Debug, PartialEq)]
pub(crate) struct FirstAnswer {
    /// Its messages or items, as JSON.
    pub(crate) messages: Vec<String>,
    /// The length of the prompt, if the provider reports it.
    pub(crate) prompt_tokens: Option<u64>,
}

impl FirstAnswer {
    /// From a whole body.
    pub(crate) fn of_body(api: Api, body: &str) -> Option<Self> {
        let answer = RawObject::read(body).ok()?;
        let only = |key: &str| match answer.list(key).ok()?.as_slice() {
            [only] => RawObject::read(only).ok(),
            _ => None,
        };
        let messages = match api {
            Api::Chat => vec![only("choices")?.get("message")?.to_owned()],
            Api::Responses => answer
                .list("output")
                .ok()?
                .into_iter()
                .map(str::to_owned)
                .collect(),
            Api::Messages => {
                let content = answer.get("content")?;
                vec![format!("{{\"role\":\"assistant\",\"content\":{content}}}")]
            }
            Api::Gemini => vec![only("candidates")?.get("content")?.to_owned()],
        };
        let usage = answer.get("usage").or_else(|| answer.get("usageMetadata"));
        let usage = usage.and_then(|usage| serde_json::from_str(usage).ok());
        Some(FirstAnswer {
            messages,
            prompt_tokens: usage.as_ref().and_then(prompt_tokens),
        })
    }

    /// From the events of a stream.
    pub(crate) fn of_events(api: Api, events: &[Bytes]) -> Option<Self> {
        let mut usage = None;
        let mut parts = AnswerAssembly::default();
        for event in events {
            let Some(data) = EventFields::read(event).data else {
                continue;
            };
            if data.as_ref() == b"[DONE]" {
                continue;
            }
            let event: Value = serde_json::from_str(std::str::from_utf8(&data).ok()?).ok()?;
            let of_event = [
                "/usage",
                "/message/usage",
                "/response/usage",
                "/usageMetadata",
            ];
            let of_event = of_event
                .iter()
                .find_map(|place| event.pointer(place).and_then(prompt_tokens));
            usage = usage.max(of_event);
            match api {
                Api::Chat => parts.chat(event)?,
                Api::Responses => parts.responses(event),
                Api::Messages => parts.anthropic(event)?,
                Api::Gemini => parts.gemini(event)?,
            }
        }
        let messages = match api {
            Api::Chat => vec![parts.chat_message()?],
            Api::Responses => parts.list,
            Api::Messages => vec![json!({"role": "assistant", "content": parts.blocks()?})],
            Api::Gemini => vec![json!({"role": "model", "parts": parts.list})],
        };
        (!messages.is_empty()).then(|| FirstAnswer {
            messages: messages.iter().map(Value::to_string).collect(),
            prompt_tokens: usage,
        })
    }
}

/// The length of the prompt, including cached tokens.
fn prompt_tokens(usage: &Value) -> Option<u64> {
    let number = |key: &str| usage.get(key).and_then(Value::as_u64);
    let anthropic = || {
        let cached = ["cache_read_input_tokens", "cache_creation_input_tokens"];
        let cached = cached.into_iter().filter_map(number).sum::<u64>();
        Some(number("input_tokens")? + cached)
    };
    number("prompt_tokens")
        .or_else(|| number("promptTokenCount"))
        .or_else(anthropic)
}

/// An answer being assembled.
#[derive(Debug, Default)]
struct AnswerAssembly {
    /// The members of a chat message, and its calls by index.
    message: Map<String, Value>,
    calls: BTreeMap<u64, Map<String, Value>>,
    /// The items of a response, or Gemini's parts.
    list: Vec<Value>,
    /// The blocks of a message, each with the pieces of its input.
    blocks: BTreeMap<u64, (Value, String)>,
}

impl AnswerAssembly {
    fn chat(&mut self, mut event: Value) -> Option<()> {
        let choices = event.get_mut("choices").and_then(Value::as_array_mut);
        for choice in choices.into_iter().flatten() {
            let Some(Value::Object(delta)) = choice.get_mut("delta").map(Value::take) else {
                continue;
            };
            for (key, value) in delta {
                match value {
                    Value::Array(calls) if key == "tool_calls" => {
                        for call in calls {
                            let Value::Object(mut call) = call else {
                                return None;
                            };
                            let number = call.shift_remove("index")?.as_u64()?;
                            merge(self.calls.entry(number).or_default(), call);
                        }
                    }
                    value => merge(&mut self.message, Map::from_iter([(key, value)])),
                }
            }
        }
        Some(())
    }

    fn chat_message(&mut self) -> Option<Value> {
        let mut message = std::mem::take(&mut self.message);
        message.insert("role".to_owned(), "assistant".into());
        if !self.calls.is_empty() {
            let calls = std::mem::take(&mut self.calls)
                .into_values()
                .map(Value::Object);
            message.insert("tool_calls".to_owned(), calls.collect());
        }
        (message.len() > 1).then_some(Value::Object(message))
    }

    /// A response repeats everything at its end.
    fn responses(&mut self, mut event: Value) {
        let items = event.pointer_mut("/response/output").map(Value::take);
        if let Some(Value::Array(items)) = items {
            self.list = items;
        }
    }

    fn anthropic(&mut self, mut event: Value) -> Option<()> {
        let index = event.get("index").and_then(Value::as_u64);
        match event.get("type").and_then(Value::as_str) {
            Some("content_block_start") => {
                let block = event.get_mut("content_block")?.take();
                self.blocks.insert(index?, (block, String::new()));
            }
            Some("content_block_delta") => {
                let (block, input) = self.blocks.get_mut(&index?)?;
                let Value::Object(mut delta) = event.get_mut("delta")?.take() else {
                    return None;
                };
                let kind = delta.shift_remove("type")?;
                match kind.as_str()? {
                    "input_json_delta" => input.push_str(delta.get("partial_json")?.as_str()?),
                    "citations_delta" => {
                        let citation = delta.shift_remove("citation")?;
                        let citations = block
                            .as_object_mut()?
                            .entry("citations")
                            .or_insert_with(|| json!([]));
                        if citations.is_null() {
                            *citations = json!([]);
                        }
                        citations.as_array_mut()?.push(citation);
                    }
                    _ => merge(block.as_object_mut()?, delta),
                }
            }
            _ => {}
        }
        Some(())
    }

    fn blocks(&mut self) -> Option<Vec<Value>> {
        let blocks = std::mem::take(&mut self.blocks).into_values();
        blocks
            .map(|(mut block, input)| {
                if !input.is_empty() {
                    let read = serde_json::from_str(&input).ok().filter(Value::is_object);
                    // The API only accepts an object.
                    let read = read.unwrap_or_else(|| json!({"unreadable": input}));
                    block.as_object_mut()?.insert("input".to_owned(), read);
                }
                Some(block)
            })
            .collect()
    }

    fn gemini(&mut self, mut event: Value) -> Option<()> {
        let parts = event
            .pointer_mut("/candidates/0/content/parts")
            .map(Value::take);
        if let Some(parts) = parts {
            let Value::Array(parts) = parts else {
                return None;
            };
            self.list.extend(parts);
        }
        Some(())
    }
}

/// Merges a piece: strings and arrays are appended, objects merged member by member, anything else replaced.
fn merge(all: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (key, new) in piece {
        match (all.get_mut(&key), new) {
            // Some members are repeated in every piece rather than continued.
            (Some(Value::String(_)), Value::String(_))
                if matches!(key.as_str(), "role" | "id" | "type" | "name") => {}
            (Some(Value::String(text)), Value::String(more)) => text.push_str(&more),
            (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
            (Some(Value::Object(members)), Value::Object(more)) => merge(members, more),
            (Some(known), Value::Null) if !known.is_null() => {}
            (_, new) => {
                all.insert(key, new);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(data: &[Value]) -> Vec<Bytes> {
        data.iter()
            .map(|data| format!("data: {data}\n\n").into())
            .collect()
    }

    #[test]
    fn thoughts_and_signatures_are_kept() {
        let stream = events(&[
            json!({"type": "message_start", "message": {"usage": {"input_tokens": 5, "cache_read_input_tokens": 7}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "xyz"}}),
            json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "a", "name": "f", "input": {}}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"x\":"}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": " 1}"}}),
        ]);
        let first = FirstAnswer::of_events(Api::Messages, &stream).expect("an answer");
        let expected = json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "xyz"},
            {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}]});
        assert_eq!(
            first,
            FirstAnswer {
                messages: vec![expected.to_string()],
                prompt_tokens: Some(12)
            }
        );
    }

    #[test]
    fn chat_chunks_are_merged_by_index() {
        let chunk = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
        let call = |id: Option<&str>, arguments: &str| json!({"tool_calls": [{"index": 0, "id": id, "function": {"name": id.map(|_| "f"), "arguments": arguments}}]});
        let stream = events(&[
            chunk(json!({"role": "assistant", "content": null, "reasoning_content": "h"})),
            chunk(json!({"reasoning_content": "m"})),
            chunk(call(Some("a"), "")),
            chunk(call(None, "{}")),
            json!({"choices": [], "usage": {"prompt_tokens": 9}}),
        ]);
        let first = FirstAnswer::of_events(Api::Chat, &stream).expect("an answer");
        let expected = json!({"role": "assistant", "content": null, "reasoning_content": "hm",
            "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]});
        assert_eq!(
            first,
            FirstAnswer {
                messages: vec![expected.to_string()],
                prompt_tokens: Some(9)
            }
        );
        let without_index = events(&[chunk(json!({"tool_calls": [{"id": "a"}]}))]);
        assert_eq!(FirstAnswer::of_events(Api::Chat, &without_index), None);
    }
}
