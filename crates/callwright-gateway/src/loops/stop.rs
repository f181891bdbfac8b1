//! Replaces the calls of an answer with a text.
//!
//! Takes the data of its events, or its whole body as a single event; returns them without calls. The text goes where
//! the first call was; the other calls are dropped, and the finish reason becomes that of a plain answer. Never
//! changes events without calls.

use serde_json::{Map, Value, json};

use crate::api::Api;

/// Takes the calls out of one answer.
#[derive(Debug)]
pub(crate) struct StoppedAnswer {
    api: Api,
    text: String,
    /// Whether the text has already been written.
    has_text: bool,
    /// How many blocks were dropped so far; later ones are renumbered.
    left_out: u64,
    /// How many extra events were written; later ones are renumbered.
    added: u64,
    /// The blocks and items that were calls, by the keys that later events use for them.
    calls: Vec<Value>,
}

/// The replacement of an event.
#[derive(Debug, PartialEq)]
pub(crate) enum StoppedEvent {
    /// It stays unchanged.
    Same,
    /// The data of the events that replace it; empty if it is dropped. Each is named by its own `type`, if it has
    /// one.
    Instead(Vec<Value>),
}

impl StoppedAnswer {
    /// `text` replaces the calls. `follows_text` says whether the model said something before them.
    pub(crate) fn new(api: Api, text: &str, follows_text: bool) -> Self {
        let is_joined = match api {
            Api::Chat | Api::Gemini => true,
            // In these APIs it is a separate part.
            Api::Responses | Api::Messages => false,
        };
        let gap = if follows_text && is_joined {
            "\n\n"
        } else {
            ""
        };
        StoppedAnswer {
            api,
            text: format!("{gap}{text}"),
            has_text: false,
            left_out: 0,
            added: 0,
            calls: Vec::new(),
        }
    }

    /// Processes a whole body.
    pub(crate) fn body(&mut self, body: &str) -> Option<String> {
        match self.event(body) {
            StoppedEvent::Instead(events) => events.first().map(Value::to_string),
            StoppedEvent::Same => None,
        }
    }

    /// Processes one event.
    pub(crate) fn event(&mut self, data: &str) -> StoppedEvent {
        let Ok(mut event) = serde_json::from_str::<Value>(data) else {
            return StoppedEvent::Same;
        };
        let before = event.clone();
        let events = match self.api {
            Api::Chat => self.chat(&mut event).then(Vec::new),
            Api::Gemini => {
                self.gemini(&mut event);
                None
            }
            Api::Messages => self.anthropic(&mut event),
            Api::Responses => self.responses(&mut event),
        };
        match events {
            Some(events) => StoppedEvent::Instead(events),
            None if event == before => StoppedEvent::Same,
            None => StoppedEvent::Instead(vec![event]),
        }
    }

    /// The text, the first time.
    fn text_once(&mut self) -> Option<&str> {
        (!std::mem::replace(&mut self.has_text, true)).then_some(self.text.as_str())
    }

    /// Takes the calls out of a list. The first one becomes the text, if that has not been written yet.
    fn without_calls(
        &mut self,
        list: &mut Vec<Value>,
        is_call: impl Fn(&Value) -> bool,
        with_text: impl Fn(&Value, &str) -> Value,
    ) {
        list.retain_mut(|entry| {
            if !is_call(entry) {
                return true;
            }
            let text = self.text_once().map(|text| with_text(entry, text));
            let is_text = text.is_some();
            *entry = text.unwrap_or_default();
            is_text
        });
    }

    /// Returns whether nothing is left of the event.
    fn chat(&mut self, event: &mut Value) -> bool {
        let mut is_empty = event.get("usage").is_none_or(Value::is_null);
        let choices = event.get_mut("choices").and_then(Value::as_array_mut);
        let Some(choices) = choices.filter(|choices| !choices.is_empty()) else {
            return false;
        };
        for choice in choices {
            let Some(choice) = choice.as_object_mut() else {
                continue;
            };
            let key = if choice.contains_key("message") {
                "message"
            } else {
                "delta"
            };
            let mut had_calls = false;
            if let Some(message) = choice.get_mut(key).and_then(Value::as_object_mut) {
                for calls in ["tool_calls", "function_call"] {
                    had_calls |= message
                        .shift_remove(calls)
                        .is_some_and(|calls| !calls.is_null());
                }
                if had_calls && let Some(text) = self.text_once() {
                    let said = message
                        .get("content")
                        .and_then(Value::as_str)
                        .unwrap_or_default();
                    message.insert("content".to_owned(), format!("{said}{text}").into());
                }
                is_empty &= had_calls && message.values().all(Value::is_null);
            }
            match choice.get_mut("finish_reason") {
                Some(reason) if reason == "tool_calls" || reason == "function_call" => {
                    *reason = "stop".into();
                }
                _ => {}
            }
            is_empty &= choice.get("finish_reason").is_none_or(Value::is_null);
        }
        is_empty
    }

    fn gemini(&mut self, event: &mut Value) {
        let candidates = event.get_mut("candidates").and_then(Value::as_array_mut);
        for candidate in candidates.into_iter().flatten() {
            let parts = candidate
                .pointer_mut("/content/parts")
                .and_then(Value::as_array_mut);
            let is_call = |part: &Value| part.get("functionCall").is_some();
            let text_part = |_: &Value, text: &str| json!({"text": text});
            if let Some(parts) = parts {
                self.without_calls(parts, is_call, text_part);
            }
        }
    }

    fn anthropic(&mut self, event: &mut Value) -> Option<Vec<Value>> {
        let is_call = |block: &Value| block.get("type").is_some_and(|kind| kind == "tool_use");
        let index = event.get("index").cloned().unwrap_or_default();
        let kind = event
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        match kind.as_str() {
            "message" => {
                if let Some(blocks) = event.get_mut("content").and_then(Value::as_array_mut) {
                    let text_block = |_: &Value, text: &str| json!({"type": "text", "text": text});
                    self.without_calls(blocks, is_call, text_block);
                }
                plain_stop_reason(event);
            }
            "message_delta" => plain_stop_reason(event.get_mut("delta")?),
            "content_block_start" if event.get("content_block").is_some_and(is_call) => {
                self.calls.push(index.clone());
                let Some(text) = self.text_once().map(str::to_owned) else {
                    self.left_out += 1;
                    return Some(Vec::new());
                };
                let index = self.renumbered(&index);
                return Some(vec![
                    json!({"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}),
                    json!({"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}}),
                    json!({"type": "content_block_stop", "index": index}),
                ]);
            }
            "content_block_delta" | "content_block_stop" if self.calls.contains(&index) => {
                return Some(Vec::new());
            }
            "content_block_start" | "content_block_delta" | "content_block_stop" => {
                let index = self.renumbered(&index);
                *event.get_mut("index")? = index;
            }
            _ => {}
        }
        None
    }

    /// The index of a block, not counting those dropped before it.
    fn renumbered(&self, index: &Value) -> Value {
        let number = index
            .as_u64()
            .map(|index| index.saturating_sub(self.left_out));
        number.map_or_else(|| index.clone(), Value::from)
    }

    fn responses(&mut self, event: &mut Value) -> Option<Vec<Value>> {
        if event
            .get("object")
            .is_some_and(|object| object == "response")
        {
            self.response(event);
            return None;
        }
        if let Some(number) = event.get_mut("sequence_number")
            && let Some(own) = number.as_u64()
        {
            *number = own.saturating_add(self.added).into();
        }
        let kind = event
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let is_call = |item: &Value| item.get("type").is_some_and(|kind| kind == "function_call");
        match kind.as_str() {
            "response.output_item.added" if event.get("item").is_some_and(is_call) => {
                let item = event.get("item")?;
                let id = message_id(item);
                if let Some(call) = item.get("id") {
                    self.calls.push(call.clone());
                }
                let Some(text) = self.text_once().map(str::to_owned) else {
                    return Some(Vec::new());
                };
                let events = message_events(event.as_object()?, &id, &text);
                self.added += u64::try_from(events.len())
                    .unwrap_or_default()
                    .saturating_sub(1);
                Some(events)
            }
            "response.output_item.done" if event.get("item").is_some_and(is_call) => {
                Some(Vec::new())
            }
            kind if kind.starts_with("response.function_call_arguments.") => Some(Vec::new()),
            "response.completed" | "response.incomplete" => {
                // The response repeats what came before.
                self.has_text = false;
                self.response(event.get_mut("response")?);
                None
            }
            _ => None,
        }
    }

    fn response(&mut self, response: &mut Value) {
        let items = response.get_mut("output").and_then(Value::as_array_mut);
        let is_call = |item: &Value| item.get("type").is_some_and(|kind| kind == "function_call");
        if let Some(items) = items {
            self.without_calls(items, is_call, |item, text| {
                message(&message_id(item), text)
            });
        }
    }
}

fn plain_stop_reason(event: &mut Value) {
    match event.get_mut("stop_reason") {
        Some(reason) if reason == "tool_use" => *reason = "end_turn".into(),
        _ => {}
    }
}

/// The id of a message that replaces a call.
fn message_id(item: &Value) -> String {
    let id = item
        .get("id")
        .or_else(|| item.get("call_id"))
        .and_then(Value::as_str)
        .unwrap_or("0");
    format!("msg_{}", id.trim_start_matches("fc_"))
}

fn message(id: &str, text: &str) -> Value {
    let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
    json!({"type": "message", "id": id, "status": "completed", "role": "assistant", "content": content})
}

/// The events of a complete message, where a call was announced.
fn message_events(announced: &Map<String, Value>, id: &str, text: &str) -> Vec<Value> {
    let first = announced.get("sequence_number").and_then(Value::as_u64);
    let place = |(at, mut event): (u64, Value)| {
        if let Some(members) = event.as_object_mut() {
            let index = announced.get("output_index").cloned();
            let number = first.map(|first| Value::from(first.saturating_add(at)));
            for (key, value) in [("output_index", index), ("sequence_number", number)] {
                if let Some(value) = value {
                    members.insert(key.to_owned(), value);
                }
            }
        }
        event
    };
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let mut begun = message(id, "");
    begun["status"] = "in_progress".into();
    begun["content"] = json!([]);
    let events = [
        json!({"type": "response.output_item.added", "item": begun}),
        json!({"type": "response.content_part.added", "item_id": id, "content_index": 0, "part": part("")}),
        json!({"type": "response.output_text.delta", "item_id": id, "content_index": 0, "delta": text}),
        json!({"type": "response.output_text.done", "item_id": id, "content_index": 0, "text": text}),
        json!({"type": "response.content_part.done", "item_id": id, "content_index": 0, "part": part(text)}),
        json!({"type": "response.output_item.done", "item": message(id, text)}),
    ];
    (0..).zip(events).map(place).collect()
}
