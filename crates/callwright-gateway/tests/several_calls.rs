//! Calls that contain several, and duplicate ids, through a running gateway.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use std::time::Duration;

use callwright::event::{Judgement, On, Sinks};
use serde_json::{Value, json};
use support::scripted::{Running, ScriptedApi, sent, text};
use support::{Api, Heard, Said, TestApi};

const PARIS: &str = r#"{"city":"Paris"}"#;
const ROME: &str = r#"{"city":"Rome","days":2}"#;

fn said(calls: &[(&str, &str)]) -> Said {
    let call = |(id, arguments): &(&str, &str)| {
        let tool = "get_weather".to_owned();
        ((*id).to_owned(), tool, (*arguments).to_owned())
    };
    Said {
        calls: calls.iter().map(call).collect(),
        ..Said::default()
    }
}

/// Two calls in the arguments of one, in a form that the API allows.
fn two_in_one(api: Api) -> String {
    if api.wants_json() {
        format!("[{PARIS},{ROME}]")
    } else {
        format!("{PARIS}{ROME}")
    }
}

/// What a client gets from an answer, streamed and whole, and the header of the whole one.
async fn heard(api: Api, said: &Said, request: &str) -> [(Heard, Option<String>); 2] {
    let mut all = Vec::new();
    for is_streamed in [false, true] {
        let upstream = if is_streamed {
            ScriptedApi::events(sent(&api.streamed(said, 4))).await
        } else {
            ScriptedApi::json(&api.whole(said)).await
        };
        let gateway = Running::start(upstream.options()).await;
        let response = gateway.post(api.path(), request.to_owned()).await;
        let header = response.headers().get("x-callwright");
        let header = header.map(|header| header.to_str().expect("text").to_owned());
        let body = text(response).await;
        let heard = if is_streamed {
            api.hear_stream(&body)
        } else {
            api.hear_whole(&body)
        };
        all.push((heard, header));
    }
    all.try_into().expect("two")
}

fn calls(heard: &Heard) -> Vec<(String, Value)> {
    let read = |arguments: &str| serde_json::from_str(arguments).expect("JSON");
    let calls = heard.calls.iter();
    calls
        .map(|(id, _, arguments)| (id.clone(), read(arguments)))
        .collect()
}

#[tokio::test]
async fn a_call_that_holds_several_becomes_several() {
    for api in Api::ALL {
        let one = said(&[("call_1", &two_in_one(api))]);
        let two = said(&[("call_1", PARIS), ("call_1_2", ROME)]);
        let expected = api.hear_whole(&api.whole(&two));
        let [whole, streamed] = heard(api, &one, &api.request()).await;
        assert_eq!(calls(&whole.0), calls(&expected), "{api:?}");
        assert_eq!(whole.0.finish, expected.finish, "{api:?}");
        assert_eq!(whole.1.as_deref(), Some("calls=2 rescued=2"), "{api:?}");
        assert_eq!(calls(&streamed.0), calls(&expected), "{api:?}");
        assert_eq!(streamed.0.finish, expected.finish, "{api:?}");
    }
}

#[tokio::test]
async fn a_request_may_want_one_call_at_most() {
    for api in [Api::Chat, Api::Responses, Api::Messages] {
        let (key, value) = match api {
            Api::Messages => (
                "tool_choice",
                json!({"type": "auto", "disable_parallel_tool_use": true}),
            ),
            _ => ("parallel_tool_calls", json!(false)),
        };
        let mut request: Value = serde_json::from_str(&api.request()).expect("JSON");
        request[key] = value;
        let one = said(&[("call_1", &two_in_one(api))]);
        for (heard, _) in heard(api, &one, &request.to_string()).await {
            assert_eq!(heard.calls.len(), 1, "{api:?}");
        }
    }
}

/// The record has the calls as the client received them.
#[tokio::test]
async fn the_record_has_each_call_with_its_id() {
    let (send, told) = std::sync::mpsc::channel();
    let one = said(&[("call_1", &two_in_one(Api::Chat))]);
    let upstream = ScriptedApi::json(&Api::Chat.whole(&one)).await;
    let mut options = upstream.options();
    let sinks = Sinks::builder().on(On::default(), move |event| {
        let id = event.id.as_ref().map(ToString::to_string);
        let _ = send.send((id, event.verdict));
    });
    options.sinks = sinks.start().expect("a thread");
    let sinks = options.sinks.clone();
    let gateway = Running::start(options).await;
    let _ = text(gateway.post(Api::Chat.path(), Api::Chat.request()).await).await;
    assert!(sinks.flush(Duration::from_secs(20)));
    let told: Vec<_> = told.try_iter().collect();
    let valid = |id: &str| (Some(json!(id).to_string()), Judgement::Valid);
    assert_eq!(told, [valid("call_1"), valid("call_1_2")]);
}

/// A conversation in which a call has this id.
fn conversation(api: Api, id: &str) -> Value {
    match api {
        Api::Chat => json!([{"role": "user", "content": "Hi"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": id, "type": "function", "function": {"name": "get_weather", "arguments": PARIS}}]},
            {"role": "tool", "tool_call_id": id, "content": "sunny"}]),
        Api::Messages => json!([{"role": "user", "content": "Hi"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "get_weather", "input": {"city": "Paris"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "sunny"}]}]),
        Api::Responses => json!([{"role": "user", "content": "Hi"},
            {"type": "function_call", "id": "fc_0", "call_id": id, "name": "get_weather", "arguments": PARIS},
            {"type": "function_call_output", "call_id": id, "output": "sunny"}]),
        Api::Gemini => json!([{"role": "user", "parts": [{"text": "Hi"}]},
            {"role": "model", "parts": [{"functionCall": {"id": id, "name": "get_weather", "args": {"city": "Paris"}}}]},
            {"role": "user", "parts": [{"functionResponse": {"id": id, "name": "get_weather", "response": {"output": "sunny"}}}]}]),
    }
}

#[tokio::test]
async fn an_id_that_the_conversation_has_is_not_given_again() {
    for api in Api::ALL {
        let request = api.request_after(&conversation(api, "call_1"));
        for (heard, _) in heard(api, &said(&[("call_1", ROME)]), &request).await {
            assert_eq!(heard.calls[0].0, "call_1_2", "{api:?}");
        }
        for (heard, _) in heard(api, &said(&[("call_7", ROME)]), &request).await {
            assert_eq!(heard.calls[0].0, "call_7", "{api:?}");
        }
    }
}

/// There the provider matches results to the ids that it assigned.
#[tokio::test]
async fn ids_of_a_conversation_that_the_provider_keeps_stay() {
    let api = Api::Responses;
    let history = json!([{"type": "function_call_output", "call_id": "call_1", "output": "sunny"}]);
    let mut request: Value = serde_json::from_str(&api.request_after(&history)).expect("JSON");
    request["previous_response_id"] = json!("resp_1");
    for (heard, _) in heard(api, &said(&[("call_1", ROME)]), &request.to_string()).await {
        assert_eq!(heard.calls[0].0, "call_1");
    }
}

/// An unreadable stream is counted like an unreadable body, and so is an answer with missing text.
#[tokio::test]
async fn what_is_wrong_with_a_stream_is_counted() {
    let swallowed = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"It opens with \"},\"finish_reason\":\"stop\"}],\"usage\":{\"completion_tokens\":136}}\n\ndata: [DONE]\n\n";
    let broken = "data: {\"choices\": 7}\n\ndata: [DONE]\n\n";
    for (stream, reason) in [(swallowed, "lacks_text"), (broken, "answer_shape")] {
        let upstream = ScriptedApi::events(sent(stream)).await;
        let gateway = Running::start(upstream.options()).await;
        let answer = text(gateway.post(Api::Chat.path(), Api::Chat.request()).await).await;
        assert_eq!(answer, stream);
        let metrics = gateway.get("/callwright/metrics").await;
        let counted = format!("callwright_unjudged_total{{reason=\"{reason}\"}} 1\n");
        assert!(metrics.contains(&counted), "{metrics}");
    }
}
