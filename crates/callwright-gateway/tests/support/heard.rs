//! What a client reads from an answer that it assembles without any checks.

use callwright_gateway::Api;
use serde_json::Value;

/// What a client has read.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Heard {
    pub(crate) text: String,
    /// Id, tool, and arguments as text.
    pub(crate) calls: Vec<(String, String, String)>,
    pub(crate) finish: String,
    /// The types of its blocks or items, if the API has them.
    pub(crate) parts: Vec<String>,
}

pub(crate) fn whole(api: Api, body: &str) -> Heard {
    let body: Value = serde_json::from_str(body).expect("JSON");
    let mut heard = Heard::default();
    match api {
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

pub(crate) fn stream(api: Api, stream: &str) -> Heard {
    let events = stream.split("\n\n").filter_map(|event| {
        let data = event.lines().find_map(|line| line.strip_prefix("data: "))?;
        let is_done = data == "[DONE]";
        let read = || serde_json::from_str(data).unwrap_or_else(|_| panic!("not JSON: {data}"));
        (!is_done).then(read)
    });
    let events: Vec<Value> = events.collect();
    let mut heard = Heard::default();
    match api {
        Api::Chat => events
            .iter()
            .for_each(|event| hear_chunk(event, &mut heard)),
        Api::Messages => events
            .iter()
            .for_each(|event| hear_block(event, &mut heard)),
        Api::Responses => heard = heard_response_events(&events),
        Api::Gemini => events
            .iter()
            .for_each(|event| hear_candidate(&event["candidates"][0], &mut heard)),
    }
    heard
}

fn hear_chunk(event: &Value, heard: &mut Heard) {
    for choice in list(&event["choices"]) {
        heard.text.push_str(&string(&choice["delta"]["content"]));
        for entry in list(&choice["delta"]["tool_calls"]) {
            let at = entry["index"].as_u64().expect("an index");
            let at = usize::try_from(at).expect("small");
            if heard.calls.len() <= at {
                assert_eq!(heard.calls.len(), at, "indices are dense");
                heard.calls.push(Default::default());
            }
            let (id, tool, arguments) = &mut heard.calls[at];
            id.push_str(&string(&entry["id"]));
            tool.push_str(&string(&entry["function"]["name"]));
            arguments.push_str(&string(&entry["function"]["arguments"]));
        }
        if let Some(finish) = choice["finish_reason"].as_str() {
            finish.clone_into(&mut heard.finish);
        }
    }
}

fn hear_block(event: &Value, heard: &mut Heard) {
    match event["type"].as_str().expect("a type") {
        "content_block_start" => {
            assert_eq!(event["index"], heard.parts.len(), "indices are dense");
            let block = &event["content_block"];
            heard.parts.push(string(&block["type"]));
            if block["type"] == "tool_use" {
                let call = (string(&block["id"]), string(&block["name"]), String::new());
                heard.calls.push(call);
            }
        }
        "content_block_delta" => {
            let open = heard.parts.len() - 1;
            assert_eq!(event["index"], open, "the block that is open");
            heard.text.push_str(&string(&event["delta"]["text"]));
            if let Some(call) = heard.calls.last_mut() {
                call.2.push_str(&string(&event["delta"]["partial_json"]));
            }
        }
        "message_delta" => heard.finish = string(&event["delta"]["stop_reason"]),
        _ => {}
    }
}

/// The pieces, the events that repeat them, and the final response must agree.
fn heard_response_events(events: &[Value]) -> Heard {
    let (mut heard, mut finals, mut number) = (Heard::default(), None, None);
    for event in events {
        let own = event["sequence_number"].as_u64();
        assert!(own.is_none() || own > number, "numbers grow");
        number = own;
        let item = &event["item"];
        let call = heard.calls.last_mut();
        match event["type"].as_str().expect("a type") {
            "response.output_text.delta" => heard.text.push_str(&string(&event["delta"])),
            "response.output_text.done" => {
                assert!(heard.text.ends_with(&string(&event["text"])));
            }
            "response.content_part.done" => {
                assert!(heard.text.ends_with(&string(&event["part"]["text"])));
            }
            "response.output_item.added" => {
                let index = &event["output_index"];
                assert!(index.is_null() || *index == heard.parts.len());
                heard.parts.push(string(&item["type"]));
                if item["type"] == "function_call" {
                    let call = (
                        string(&item["call_id"]),
                        string(&item["name"]),
                        String::new(),
                    );
                    heard.calls.push(call);
                }
            }
            "response.function_call_arguments.delta" => {
                call.expect("a call").2.push_str(&string(&event["delta"]));
            }
            "response.function_call_arguments.done" => {
                assert_eq!(call.expect("a call").2, string(&event["arguments"]));
            }
            "response.output_item.done" => match item["type"].as_str() {
                Some("message") => {
                    let text = string(&item["content"][0]["text"]);
                    assert!(heard.text.ends_with(&text));
                }
                Some("reasoning") => {}
                _ => {
                    let (_, tool, arguments) = call.expect("a call");
                    assert_eq!(*arguments, string(&item["arguments"]));
                    assert_eq!(*tool, string(&item["name"]));
                }
            },
            "response.completed" | "response.incomplete" => {
                finals = Some(heard_response(&event["response"]));
            }
            _ => {}
        }
    }
    if let Some(finals) = finals {
        heard.finish.clone_from(&finals.finish);
        assert_eq!(heard, finals, "the pieces and the response agree");
    }
    heard
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

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
