//! Asking the model again for refused calls: what is sent, what is accepted, and when it is never done.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod accepted;
mod limits;
mod never;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/upstream.rs"]
mod upstream;

use std::time::Duration;

use callwright::policy::{Policy, ToolPolicy};
use callwright::tool::Effect;
use callwright_gateway::{GatewayOptions, Mode};
use serde_json::{Value, json};
use support::{Api, Heard, Said, TestApi};
use upstream::{Reply, World};

const GOOD: &str = r#"{"city":"Paris","days":3}"#;
const BAD: &str = r#"{"days":3}"#;

fn path(api: Api, is_stream: bool) -> &'static str {
    match (api, is_stream) {
        (Api::Chat, _) => "/v1/chat/completions",
        (Api::Messages, _) => "/v1/messages",
        (Api::Responses, _) => "/v1/responses",
        (Api::Gemini, false) => "/v1beta/models/m:generateContent?key=k",
        (Api::Gemini, true) => "/v1beta/models/m:streamGenerateContent?alt=sse&key=k",
    }
}

/// A client's request with three tools.
fn request(api: Api) -> String {
    let schema = r#"{"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}"#;
    let names = ["get_weather", "search_city", "delete_city"];
    let tools = |before: &str, key: &str, after: &str| {
        let tools =
            names.map(|name| format!(r#"{before}"name": "{name}", "{key}": {schema}}}{after}"#));
        tools.join(", ")
    };
    match api {
        Api::Chat => format!(
            r#"{{"model": "m", "stream": true, "stream_options": {{"include_usage": true}},  "messages": [ {{"role": "user", "content": "?"}} ], "tools": [{}]}}"#,
            tools(r#"{"type": "function", "function": {"#, "parameters", "}"),
        ),
        Api::Messages => format!(
            r#"{{"model": "m", "messages": [ {{"role": "user", "content": "?"}} ], "tools": [{}]}}"#,
            tools("{", "input_schema", ""),
        ),
        Api::Responses => format!(
            r#"{{"model": "m", "input": "?", "tools": [{}]}}"#,
            tools(r#"{"type": "function", "#, "parameters", ""),
        ),
        Api::Gemini => format!(
            r#"{{"contents": [ {{"role": "user", "parts": [{{"text": "?"}}]}} ], "tools": [{{"functionDeclarations": [{}]}}]}}"#,
            tools("{", "parameters", ""),
        ),
    }
}

fn asks(options: &mut GatewayOptions) {
    options.reask = 1;
    let reads = |name: &str| {
        let mut tool = ToolPolicy::new(name);
        tool.effect = Some(Effect::Read);
        tool
    };
    options.policy.tools = ["get_weather", "search_city"].map(reads).into();
}

fn said(calls: &[(&str, &str)]) -> Said {
    let call = |(at, (tool, arguments)): (usize, &(&str, &str))| {
        (
            format!("call_{at}"),
            (*tool).to_owned(),
            (*arguments).to_owned(),
        )
    };
    Said {
        text: "Let me look.".to_owned(),
        calls: calls.iter().enumerate().map(call).collect(),
        is_cut: false,
        ..Said::default()
    }
}

fn reply(api: Api, is_stream: bool, said: &Said) -> Reply {
    if is_stream {
        Reply::events(api.streamed(said, 5))
    } else {
        Reply::json(api.whole(said))
    }
}

/// Sends a request, and checks that the client gets only the first answer, byte for byte.
async fn kept(
    api: Api,
    is_stream: bool,
    body: &str,
    replies: (&Said, Reply),
    change: impl FnOnce(&mut GatewayOptions),
) -> World {
    let first = reply(api, is_stream, replies.0);
    let world = World::new(vec![first.clone(), replies.1], |options| {
        asks(options);
        change(options);
    })
    .await;
    let response = world.post(path(api, is_stream), body).await;
    assert_eq!(response.body, first.body, "{api:?} {body}");
    world
}

/// Sends the request, and returns what the client gets when the model answers with `first` and, asked again, with
/// `second`.
async fn asked(
    api: Api,
    is_stream: bool,
    first: &Said,
    second: Reply,
    change: impl FnOnce(&mut GatewayOptions),
) -> (World, Heard, String) {
    let world = World::new(vec![reply(api, is_stream, first), second], |options| {
        asks(options);
        change(options);
    })
    .await;
    let response = world
        .post_with(
            path(api, is_stream),
            &request(api),
            "idempotency-key: i\r\nauthorization: Bearer k\r\n",
        )
        .await;
    assert_eq!(response.about, "200");
    let heard = if is_stream {
        api.hear_stream(&response.body)
    } else {
        api.hear_whole(&response.body)
    };
    (
        world,
        heard,
        response
            .header("x-callwright")
            .unwrap_or_default()
            .to_owned(),
    )
}

#[tokio::test]
async fn the_new_arguments_are_put_into_the_first_call() {
    for api in Api::ALL {
        for is_stream in [false, true] {
            let first = said(&[("get_weather", BAD)]);
            let mut second = said(&[("get_weather", GOOD)]);
            "The second one.".clone_into(&mut second.text);
            second.calls[0].0 = "another_id".to_owned();
            let (world, heard, header) = asked(
                api,
                is_stream,
                &first,
                Reply::json(api.whole(&second)),
                |_| {},
            )
            .await;
            let mut expected = first.clone();
            expected.calls[0].2 = GOOD.to_owned();
            assert_eq!(
                heard,
                api.hear_whole(&api.whole(&expected)),
                "{api:?} {is_stream}"
            );
            if !is_stream {
                assert_eq!(header, "calls=1 refused=1 reasked=1");
            }
            let events = world.events();
            assert_eq!(
                events.len(),
                2,
                "the refused call, and the one that went out under its id"
            );
            assert_eq!(events[0]["verdict"], "refused");
            assert_eq!(events[0]["reask"]["outcome"], "accepted");
            assert_eq!(events[0]["reask"]["tries"], 1);
            assert_eq!(events[1]["verdict"], "valid");
            assert_eq!(
                (&events[1]["id"], &events[1]["arguments"]),
                (&events[0]["id"], &value(GOOD))
            );
            assert!(
                world
                    .metrics()
                    .await
                    .contains("callwright_reasks_total{outcome=\"accepted\"} 1\n")
            );
        }
    }
}

#[tokio::test]
async fn the_side_request_is_the_clients_with_the_first_answer_and_the_results() {
    for api in Api::ALL {
        for is_stream in [false, true] {
            let first = said(&[("search_city", GOOD), ("get_weather", BAD)]);
            let second = Reply::json(api.whole(&said(&[("get_weather", GOOD)])));
            let (world, ..) = asked(api, is_stream, &first, second, |_| {}).await;
            let requests = world.requests();
            assert_eq!(requests.len(), 2, "{api:?} {is_stream}");
            let side = &requests[1];
            assert_eq!(side.header("x-callwright-reask"), Some("1"));
            assert_eq!(side.header("authorization"), Some("Bearer k"));
            assert_eq!(side.header("idempotency-key"), None);
            assert_eq!(side.about, path(api, false));
            let sent = side.json();
            let key = match api {
                Api::Responses => "input",
                Api::Gemini => "contents",
                _ => "messages",
            };
            let messages = sent[key].as_array().expect("messages").clone();
            // The unchanged answer.
            let answer: Value = serde_json::from_str(&api.whole(&first)).expect("JSON");
            let (answer, texts): (Vec<Value>, Vec<String>) = match api {
                Api::Chat => (
                    vec![answer["choices"][0]["message"].clone()],
                    messages[2..].iter().map(|m| text(&m["content"])).collect(),
                ),
                Api::Messages => (
                    vec![json!({"role": "assistant", "content": answer["content"]})],
                    messages[2]["content"]
                        .as_array()
                        .expect("results")
                        .iter()
                        .map(|block| text(&block["content"]))
                        .collect(),
                ),
                Api::Responses => (
                    answer["output"].as_array().expect("items").clone(),
                    messages[4..]
                        .iter()
                        .map(|item| text(&item["output"]))
                        .collect(),
                ),
                Api::Gemini => (
                    vec![answer["candidates"][0]["content"].clone()],
                    messages[2]["parts"]
                        .as_array()
                        .expect("results")
                        .iter()
                        .map(|part| {
                            let response = &part["functionResponse"]["response"];
                            text(response.get("error").unwrap_or(&response["output"]))
                        })
                        .collect(),
                ),
            };
            if api == Api::Gemini && is_stream {
                // In a stream, Gemini's text comes in pieces.
                let pieces: String = messages[1]["parts"]
                    .as_array()
                    .expect("parts")
                    .iter()
                    .map(|part| text(&part["text"]))
                    .collect();
                assert_eq!(pieces, "Let me look.");
            } else {
                assert_eq!(messages[1..=answer.len()], answer, "{api:?} {is_stream}");
            }
            assert_eq!(
                texts,
                [
                    "Not run yet. Do not send it again.",
                    "Please rewrite the input with valid arguments. Errors: city: Required",
                ]
            );
            // Everything else is unchanged from the client's request.
            let original: Value = serde_json::from_str(&request(api)).expect("JSON");
            assert_eq!(sent["tools"], original["tools"]);
            assert_eq!(sent["model"], original["model"]);
            match api {
                Api::Chat => {
                    assert_eq!(
                        (&sent["stream"], &sent["stream_options"]),
                        (&json!(false), &Value::Null)
                    );
                    let begin = r#"{"model": "m", "stream": false,  "messages": [ {"role": "user", "content": "?"} ,{"#;
                    assert!(side.body.starts_with(begin), "{}", side.body);
                }
                Api::Responses => assert_eq!(sent["store"], json!(false)),
                _ => {}
            }
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Checks that the model is not asked again.
async fn is_never_asked(api: Api, body: &str, first: &Said, change: impl Fn(&mut GatewayOptions)) {
    for is_stream in [false, true] {
        let second = Reply::json(api.whole(&said(&[("get_weather", GOOD)])));
        let world = kept(api, is_stream, body, (first, second), &change).await;
        assert_eq!(world.requests().len(), 1, "{api:?} {body}");
        let events = world.events();
        assert!(
            events
                .iter()
                .any(|event| event["verdict"] == "refused" && event["reask"].is_null()),
            "{events:?}"
        );
    }
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}
