//! Answers in the formats of all APIs, streamed and whole.

use callwright_gateway::Api;
use serde_json::{Value, json};

/// What a model says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said {
    pub(crate) reasoning: String,
    pub(crate) text: String,
    /// Id, tool, and arguments as the model wrote them.
    pub(crate) calls: Vec<(String, String, String)>,
    pub(crate) is_cut: bool,
}

/// The API's finish reason.
fn finish(api: Api, said: &Said) -> &'static str {
    match (api, said.is_cut, said.calls.is_empty()) {
        (Api::Chat, true, _) => "length",
        (Api::Chat, _, true) => "stop",
        (Api::Chat, ..) => "tool_calls",
        (Api::Messages, true, _) => "max_tokens",
        (Api::Messages, _, true) => "end_turn",
        (Api::Messages, ..) => "tool_use",
        (Api::Responses, true, _) => "incomplete",
        (Api::Responses, ..) => "completed",
        (Api::Gemini, true, _) => "MAX_TOKENS",
        (Api::Gemini, ..) => "STOP",
    }
}

pub(crate) fn whole(api: Api, said: &Said) -> String {
    let finish = finish(api, said);
    let read =
        |arguments: &str| serde_json::from_str::<Value>(arguments).unwrap_or(json!(arguments));
    match api {
        Api::Chat => {
            let calls: Vec<Value> = said.calls.iter().map(|(id, tool, arguments)| {
                json!({"id": id, "type": "function", "function": {"name": tool, "arguments": arguments}})
            }).collect();
            let mut message = json!({"role": "assistant", "content": said.text});
            if !calls.is_empty() {
                message["tool_calls"] = calls.into();
            }
            if !said.reasoning.is_empty() {
                message["reasoning_content"] = said.reasoning.as_str().into();
            }
            json!({"id": "c1", "object": "chat.completion", "model": "m", "choices": [
                {"index": 0, "message": message, "finish_reason": finish}], "usage": {"total_tokens": 3}})
        }
        Api::Messages => {
            let thinking = json!({"type": "thinking", "thinking": said.reasoning, "signature": "s"});
            let mut content: Vec<Value> = (!said.reasoning.is_empty()).then_some(thinking).into_iter().collect();
            content.push(json!({"type": "text", "text": said.text}));
            content.extend(said.calls.iter().map(|(id, tool, arguments)| {
                json!({"type": "tool_use", "id": id, "name": tool, "input": read(arguments)})
            }));
            json!({"id": "m1", "type": "message", "role": "assistant", "content": content, "stop_reason": finish})
        }
        Api::Responses => response(said),
        Api::Gemini => {
            let thought = json!({"text": said.reasoning, "thought": true});
            let mut parts: Vec<Value> = (!said.reasoning.is_empty()).then_some(thought).into_iter().collect();
            parts.push(json!({"text": said.text}));
            parts.extend(said.calls.iter().map(|(id, tool, arguments)| {
                json!({"functionCall": {"id": id, "name": tool, "args": read(arguments)}, "thoughtSignature": "s"})
            }));
            json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish}], "responseId": "g1"})
        }
    }
    .to_string()
}

/// An answer as a stream, with text in pieces of `piece` characters.
pub(crate) fn streamed(api: Api, said: &Said, piece: usize) -> String {
    let (events, is_named) = match api {
        Api::Chat => (chat_events(said, piece), false),
        Api::Messages => (message_events(said, piece), true),
        Api::Responses => (response_events(said, piece), true),
        Api::Gemini => (gemini_events(said, piece), false),
    };
    let mut stream: String = events
        .iter()
        .map(|event| match event["type"].as_str().filter(|_| is_named) {
            Some(kind) => format!("event: {kind}\ndata: {event}\n\n"),
            None => format!("data: {event}\n\n"),
        })
        .collect();
    if api == Api::Chat {
        stream.push_str("data: [DONE]\n\n");
    }
    stream
}

fn chat_events(said: &Said, piece: usize) -> Vec<Value> {
    let mut events = Vec::new();
    let chunk = |delta: Value, finish: Value| {
        json!({"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [
            {"index": 0, "delta": delta, "finish_reason": finish}]})
    };
    events.push(chunk(
        json!({"role": "assistant", "content": ""}),
        Value::Null,
    ));
    events.extend(
        pieces(&said.reasoning, piece)
            .map(|text| chunk(json!({"reasoning_content": text}), Value::Null)),
    );
    events
        .extend(pieces(&said.text, piece).map(|text| chunk(json!({"content": text}), Value::Null)));
    for (at, (id, tool, arguments)) in said.calls.iter().enumerate() {
        let entry = |function: Value, id: Option<&str>| {
            let mut entry = json!({"index": at, "function": function});
            if let Some(id) = id {
                entry["id"] = id.into();
                entry["type"] = "function".into();
            }
            chunk(json!({"tool_calls": [entry]}), Value::Null)
        };
        events.push(entry(json!({"name": tool, "arguments": ""}), Some(id)));
        events.extend(pieces(arguments, piece).map(|text| entry(json!({"arguments": text}), None)));
    }
    events.push(chunk(json!({}), finish(Api::Chat, said).into()));
    events.push(json!({"id": "c1", "choices": [], "usage": {"total_tokens": 3}}));
    events
}

fn message_events(said: &Said, piece: usize) -> Vec<Value> {
    let mut events = Vec::new();
    events.push(json!({"type": "message_start", "message": {"id": "m1", "role": "assistant", "content": []}}));
    let first = usize::from(!said.reasoning.is_empty());
    if first > 0 {
        let thinking = json!({"type": "thinking", "thinking": "", "signature": ""});
        events.push(json!({"type": "content_block_start", "index": 0, "content_block": thinking}));
        events.extend(pieces(&said.reasoning, piece).map(|text| {
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": text}})
        }));
        events.push(json!({"type": "content_block_stop", "index": 0}));
    }
    events.push(json!({"type": "content_block_start", "index": first, "content_block": {"type": "text", "text": ""}}));
    events.push(json!({"type": "ping"}));
    events.extend(pieces(&said.text, piece).map(|text| {
        json!({"type": "content_block_delta", "index": first, "delta": {"type": "text_delta", "text": text}})
    }));
    events.push(json!({"type": "content_block_stop", "index": first}));
    for (at, (id, tool, arguments)) in said.calls.iter().enumerate() {
        let index = first + at + 1;
        events.push(json!({"type": "content_block_start", "index": index,
            "content_block": {"type": "tool_use", "id": id, "name": tool, "input": {}}}));
        events.push(partial(index, ""));
        events.extend(pieces(arguments, piece).map(|text| partial(index, text)));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": finish(Api::Messages, said)}, "usage": {"output_tokens": 3}}));
    events.push(json!({"type": "message_stop"}));
    events
}

fn response_events(said: &Said, piece: usize) -> Vec<Value> {
    let mut events = Vec::new();
    events.push(json!({"type": "response.created", "response": {"id": "r1", "status": "in_progress", "output": []}}));
    let first = usize::from(!said.reasoning.is_empty());
    if first > 0 {
        let item = reasoning_item(said);
        events.push(json!({"type": "response.output_item.added", "output_index": 0, "item": item}));
        let of_summary = |kind: &str, key: &str, value: Value| json!({"type": kind, "item_id": "rs_1", "output_index": 0, "summary_index": 0, key: value});
        let part = json!({"type": "summary_text", "text": ""});
        events.push(of_summary(
            "response.reasoning_summary_part.added",
            "part",
            part,
        ));
        let delta = said.reasoning.as_str().into();
        events.push(of_summary(
            "response.reasoning_summary_text.delta",
            "delta",
            delta,
        ));
        events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": item}));
    }
    let message = json!({"type": "message", "id": "msg_1", "status": "in_progress", "content": []});
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let of_text = |kind: &str, key: &str, value: Value| json!({"type": kind, "item_id": "msg_1", "output_index": first, "content_index": 0, key: value});
    events.push(
        json!({"type": "response.output_item.added", "output_index": first, "item": message}),
    );
    events.push(of_text("response.content_part.added", "part", part("")));
    events.extend(
        pieces(&said.text, piece)
            .map(|text| of_text("response.output_text.delta", "delta", text.into())),
    );
    events.push(of_text(
        "response.output_text.done",
        "text",
        said.text.as_str().into(),
    ));
    events.push(of_text(
        "response.content_part.done",
        "part",
        part(&said.text),
    ));
    events.push(json!({"type": "response.output_item.done", "output_index": first, "item": message_item(said)}));
    for (at, item) in said.calls.iter().enumerate() {
        let index = first + at + 1;
        let (id, _, arguments) = item;
        let mut added = call_item(item);
        added["arguments"] = "".into();
        added["status"] = "in_progress".into();
        let item_id = format!("fc_{id}");
        events.push(
            json!({"type": "response.output_item.added", "output_index": index, "item": added}),
        );
        events.extend(pieces(arguments, piece).map(|text| {
            json!({"type": "response.function_call_arguments.delta", "item_id": item_id, "output_index": index, "delta": text})
        }));
        events.push(json!({"type": "response.function_call_arguments.done", "item_id": item_id, "output_index": index, "arguments": arguments}));
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": call_item(item)}));
    }
    let kind = if said.is_cut {
        "response.incomplete"
    } else {
        "response.completed"
    };
    events.push(json!({"type": kind, "response": response(said)}));
    for (at, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = at.into();
    }
    events
}

fn gemini_events(said: &Said, piece: usize) -> Vec<Value> {
    let mut events = Vec::new();
    let chunk = |part: Option<Value>, finish: Option<&str>| {
        let mut candidate =
            json!({"content": {"role": "model", "parts": part.into_iter().collect::<Vec<_>>()}});
        if let Some(finish) = finish {
            candidate["finishReason"] = finish.into();
        }
        json!({"candidates": [candidate], "responseId": "g1"})
    };
    events.extend(
        pieces(&said.reasoning, piece)
            .map(|text| chunk(Some(json!({"text": text, "thought": true})), None)),
    );
    events.extend(pieces(&said.text, piece).map(|text| chunk(Some(json!({"text": text})), None)));
    for (id, tool, arguments) in &said.calls {
        let args = serde_json::from_str::<Value>(arguments).unwrap_or(json!(arguments));
        events.push(chunk(Some(json!({"functionCall": {"id": id, "name": tool, "args": args}, "thoughtSignature": "s"})), None));
    }
    events.push(chunk(None, Some(finish(Api::Gemini, said))));
    events
}

fn response(said: &Said) -> Value {
    let mut output: Vec<Value> = (!said.reasoning.is_empty())
        .then(|| reasoning_item(said))
        .into_iter()
        .collect();
    output.push(message_item(said));
    output.extend(said.calls.iter().map(call_item));
    json!({"id": "r1", "object": "response", "status": finish(Api::Responses, said), "output": output})
}

fn message_item(said: &Said) -> Value {
    let content = json!([{"type": "output_text", "text": said.text, "annotations": []}]);
    json!({"type": "message", "id": "msg_1", "status": "completed", "content": content})
}

fn reasoning_item(said: &Said) -> Value {
    json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": said.reasoning}]})
}

fn call_item((id, tool, arguments): &(String, String, String)) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": tool,
        "arguments": arguments, "status": "completed"})
}

fn partial(index: usize, text: &str) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": text}})
}

/// A text in pieces of `piece` characters.
fn pieces(text: &str, piece: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest
            .char_indices()
            .nth(piece.max(1))
            .map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}
