//! Answers in the shapes of all APIs, streamed and whole, and clients that put them together without a thought.
#![allow(dead_code, reason = "each test uses a part")]
#![allow(clippy::too_many_lines, reason = "a list of shapes")]

pub(crate) mod judge;
pub(crate) mod scripted;

use serde_json::{Value, json};

/// What a model wants to say.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said {
    pub(crate) reasoning: String,
    pub(crate) text: String,
    /// Id, tool, and arguments as the model wrote them.
    pub(crate) calls: Vec<(String, String, String)>,
    pub(crate) is_cut: bool,
}

/// What a client understands.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Heard {
    pub(crate) text: String,
    /// Id, tool, and arguments as text.
    pub(crate) calls: Vec<(String, String, String)>,
    pub(crate) finish: String,
    /// The kinds of its blocks or items, where the API has such.
    pub(crate) parts: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Api {
    Chat,
    Messages,
    Responses,
    Gemini,
}

pub(crate) const APIS: [Api; 4] = [Api::Chat, Api::Messages, Api::Responses, Api::Gemini];

impl Api {
    pub(crate) fn provider(self) -> callwright::wire::Provider {
        use callwright::wire::Provider;
        match self {
            Api::Chat => Provider::OpenAiChat,
            Api::Messages => Provider::Anthropic,
            Api::Responses => Provider::OpenAiResponses,
            Api::Gemini => Provider::Gemini,
        }
    }

    /// Whether arguments are a value in a whole answer, so that only JSON can be written there.
    #[allow(dead_code, reason = "not every test needs it")]
    pub(crate) fn wants_json(self) -> bool {
        matches!(self, Api::Messages | Api::Gemini)
    }

    /// Where a request for a whole answer goes; the script decides whether it is streamed.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Api::Chat => "/v1/chat/completions",
            Api::Messages => "/v1/messages",
            Api::Responses => "/v1/responses",
            Api::Gemini => "/v1beta/models/m:generateContent",
        }
    }

    /// A request that declares one tool.
    pub(crate) fn request(self) -> String {
        self.request_after(&json!([]))
    }

    /// The same, after a conversation.
    pub(crate) fn request_after(self, history: &Value) -> String {
        let schema = json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"]});
        match self {
            Api::Chat => json!({"model": "m", "messages": history, "tools": [
                {"type": "function", "function": {"name": "get_weather", "parameters": schema}}]}),
            Api::Messages => json!({"model": "m", "messages": history,
                "tools": [{"name": "get_weather", "input_schema": schema}]}),
            Api::Responses => json!({"model": "m", "input": history, "tools": [
                {"type": "function", "name": "get_weather", "parameters": schema}]}),
            Api::Gemini => json!({"contents": history, "tools": [
                {"functionDeclarations": [{"name": "get_weather", "parametersJsonSchema": schema}]}]}),
        }
        .to_string()
    }

    fn finish(self, said: &Said) -> &'static str {
        match (self, said.is_cut, said.calls.is_empty()) {
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

    pub(crate) fn whole(self, said: &Said) -> String {
        let finish = self.finish(said);
        let read =
            |arguments: &str| serde_json::from_str::<Value>(arguments).unwrap_or(json!(arguments));
        match self {
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
            Api::Responses => response(said, finish),
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

    pub(crate) fn streamed(self, said: &Said, piece: usize) -> String {
        let finish = self.finish(said);
        let mut events: Vec<Value> = Vec::new();
        match self {
            Api::Chat => {
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
                events.extend(
                    pieces(&said.text, piece)
                        .map(|text| chunk(json!({"content": text}), Value::Null)),
                );
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
                    events.extend(
                        pieces(arguments, piece)
                            .map(|text| entry(json!({"arguments": text}), None)),
                    );
                }
                events.push(chunk(json!({}), finish.into()));
                events.push(json!({"id": "c1", "choices": [], "usage": {"total_tokens": 3}}));
            }
            Api::Messages => {
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
                events.push(json!({"type": "message_delta", "delta": {"stop_reason": finish}, "usage": {"output_tokens": 3}}));
                events.push(json!({"type": "message_stop"}));
            }
            Api::Responses => {
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
                let part =
                    |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
                let of_text = |kind: &str, key: &str, value: Value| json!({"type": kind, "item_id": "msg_1", "output_index": first, "content_index": 0, key: value});
                events.push(json!({"type": "response.output_item.added", "output_index": first, "item": message}));
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
                    events.push(json!({"type": "response.output_item.added", "output_index": index, "item": added}));
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
                events.push(json!({"type": kind, "response": response(said, finish)}));
                for (at, event) in events.iter_mut().enumerate() {
                    event["sequence_number"] = at.into();
                }
            }
            Api::Gemini => {
                let chunk = |part: Option<Value>, finish: Option<&str>| {
                    let mut candidate = json!({"content": {"role": "model", "parts": part.into_iter().collect::<Vec<_>>()}});
                    if let Some(finish) = finish {
                        candidate["finishReason"] = finish.into();
                    }
                    json!({"candidates": [candidate], "responseId": "g1"})
                };
                events.extend(
                    pieces(&said.reasoning, piece)
                        .map(|text| chunk(Some(json!({"text": text, "thought": true})), None)),
                );
                events.extend(
                    pieces(&said.text, piece).map(|text| chunk(Some(json!({"text": text})), None)),
                );
                for (id, tool, arguments) in &said.calls {
                    let args = serde_json::from_str::<Value>(arguments).unwrap_or(json!(arguments));
                    events.push(chunk(Some(json!({"functionCall": {"id": id, "name": tool, "args": args}, "thoughtSignature": "s"})), None));
                }
                events.push(chunk(None, Some(finish)));
            }
        }
        let mut stream: String = events
            .iter()
            .map(|event| match (self, event["type"].as_str()) {
                (Api::Messages | Api::Responses, Some(kind)) => {
                    format!("event: {kind}\ndata: {event}\n\n")
                }
                _ => format!("data: {event}\n\n"),
            })
            .collect();
        if self == Api::Chat {
            stream.push_str("data: [DONE]\n\n");
        }
        stream
    }

    pub(crate) fn hear_whole(self, body: &str) -> Heard {
        let body: Value = serde_json::from_str(body).expect("JSON");
        let mut heard = Heard::default();
        match self {
            Api::Chat => {
                let choice = &body["choices"][0];
                heard.text = string(&choice["message"]["content"]);
                for call in list(&choice["message"]["tool_calls"]) {
                    let function = &call["function"];
                    heard.calls.push((
                        string(&call["id"]),
                        string(&function["name"]),
                        string(&function["arguments"]),
                    ));
                }
                heard.finish = string(&choice["finish_reason"]);
            }
            Api::Messages => {
                for block in list(&body["content"]) {
                    heard.parts.push(string(&block["type"]));
                    heard.text.push_str(&string(&block["text"]));
                    if block["type"] == "tool_use" {
                        heard.calls.push((
                            string(&block["id"]),
                            string(&block["name"]),
                            block["input"].to_string(),
                        ));
                    }
                }
                heard.finish = string(&body["stop_reason"]);
            }
            Api::Responses => heard = heard_response(&body),
            Api::Gemini => hear_candidate(&body["candidates"][0], &mut heard),
        }
        heard
    }

    pub(crate) fn hear_stream(self, stream: &str) -> Heard {
        let mut heard = Heard::default();
        let mut finals: Option<Heard> = None;
        let mut number = None;
        for event in stream.split("\n\n") {
            let Some(data) = event.lines().find_map(|line| line.strip_prefix("data: ")) else {
                continue;
            };
            if data == "[DONE]" {
                continue;
            }
            let event: Value =
                serde_json::from_str(data).unwrap_or_else(|_| panic!("not JSON: {data}"));
            match self {
                Api::Chat => {
                    for choice in list(&event["choices"]) {
                        heard.text.push_str(&string(&choice["delta"]["content"]));
                        for entry in list(&choice["delta"]["tool_calls"]) {
                            let at = usize::try_from(entry["index"].as_u64().expect("an index"))
                                .expect("small");
                            if heard.calls.len() <= at {
                                assert_eq!(heard.calls.len(), at, "indices are dense");
                                heard.calls.push(Default::default());
                            }
                            heard.calls[at].0.push_str(&string(&entry["id"]));
                            heard.calls[at]
                                .1
                                .push_str(&string(&entry["function"]["name"]));
                            heard.calls[at]
                                .2
                                .push_str(&string(&entry["function"]["arguments"]));
                        }
                        if let Some(finish) = choice["finish_reason"].as_str() {
                            finish.clone_into(&mut heard.finish);
                        }
                    }
                }
                Api::Messages => match event["type"].as_str().expect("a type") {
                    "content_block_start" => {
                        assert_eq!(event["index"], heard.parts.len(), "indices are dense");
                        heard.parts.push(string(&event["content_block"]["type"]));
                        let block = &event["content_block"];
                        if block["type"] == "tool_use" {
                            heard.calls.push((
                                string(&block["id"]),
                                string(&block["name"]),
                                String::new(),
                            ));
                        }
                    }
                    "content_block_delta" => {
                        assert_eq!(
                            event["index"],
                            heard.parts.len() - 1,
                            "the block that is open"
                        );
                        heard.text.push_str(&string(&event["delta"]["text"]));
                        if let Some(call) = heard.calls.last_mut() {
                            call.2.push_str(&string(&event["delta"]["partial_json"]));
                        }
                    }
                    "message_delta" => heard.finish = string(&event["delta"]["stop_reason"]),
                    _ => {}
                },
                Api::Responses => {
                    let own = event["sequence_number"].as_u64();
                    assert!(own.is_none() || own > number, "numbers grow");
                    number = own;
                    match event["type"].as_str().expect("a type") {
                        "response.output_text.delta" => {
                            heard.text.push_str(&string(&event["delta"]));
                        }
                        "response.output_text.done" => {
                            assert!(heard.text.ends_with(&string(&event["text"])));
                        }
                        "response.content_part.done" => {
                            assert!(heard.text.ends_with(&string(&event["part"]["text"])));
                        }
                        "response.output_item.added" => {
                            assert!(
                                event["output_index"].is_null()
                                    || event["output_index"] == heard.parts.len()
                            );
                            heard.parts.push(string(&event["item"]["type"]));
                            if event["item"]["type"] == "function_call" {
                                heard.calls.push((
                                    string(&event["item"]["call_id"]),
                                    string(&event["item"]["name"]),
                                    String::new(),
                                ));
                            }
                        }
                        "response.output_item.done" if event["item"]["type"] == "message" => {
                            assert!(
                                heard
                                    .text
                                    .ends_with(&string(&event["item"]["content"][0]["text"]))
                            );
                        }
                        "response.output_item.done" if event["item"]["type"] == "reasoning" => {}
                        "response.function_call_arguments.delta" => {
                            heard
                                .calls
                                .last_mut()
                                .expect("a call")
                                .2
                                .push_str(&string(&event["delta"]));
                        }
                        "response.function_call_arguments.done" => {
                            assert_eq!(
                                heard.calls.last().expect("a call").2,
                                string(&event["arguments"])
                            );
                        }
                        "response.output_item.done" => {
                            assert_eq!(
                                heard.calls.last().expect("a call").2,
                                string(&event["item"]["arguments"])
                            );
                            assert_eq!(
                                heard.calls.last().expect("a call").1,
                                string(&event["item"]["name"])
                            );
                        }
                        "response.completed" | "response.incomplete" => {
                            finals = Some(heard_response(&event["response"]));
                        }
                        _ => {}
                    }
                }
                Api::Gemini => hear_candidate(&event["candidates"][0], &mut heard),
            }
        }
        if let Some(finals) = finals {
            heard.finish.clone_from(&finals.finish);
            assert_eq!(
                heard, finals,
                "the pieces and the response at the end agree"
            );
        }
        heard
    }
}

fn hear_candidate(candidate: &Value, heard: &mut Heard) {
    for part in list(&candidate["content"]["parts"]) {
        if part["thought"] == true {
            continue;
        }
        heard.text.push_str(&string(&part["text"]));
        if let Some(call) = part.get("functionCall") {
            heard.calls.push((
                string(&call["id"]),
                string(&call["name"]),
                call["args"].to_string(),
            ));
        }
    }
    heard.finish.push_str(&string(&candidate["finishReason"]));
}

fn heard_response(response: &Value) -> Heard {
    let mut heard = Heard {
        finish: string(&response["status"]),
        ..Heard::default()
    };
    for item in list(&response["output"]) {
        heard.parts.push(string(&item["type"]));
        for part in list(&item["content"]) {
            heard.text.push_str(&string(&part["text"]));
        }
        if item["type"] == "function_call" {
            heard.calls.push((
                string(&item["call_id"]),
                string(&item["name"]),
                string(&item["arguments"]),
            ));
        }
    }
    heard
}

fn response(said: &Said, status: &str) -> Value {
    let mut output: Vec<Value> = (!said.reasoning.is_empty())
        .then(|| reasoning_item(said))
        .into_iter()
        .collect();
    output.push(message_item(said));
    output.extend(said.calls.iter().map(call_item));
    json!({"id": "r1", "object": "response", "status": status, "output": output})
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

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A text in pieces of so many characters.
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
