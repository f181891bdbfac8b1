//! Asking the model again for calls that were refused: what is sent, what is accepted, and when it is never done.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod support;
#[path = "support/upstream.rs"]
mod upstream;

use std::time::Duration;

use callwright::policy::{Policy, ToolPolicy};
use callwright::tool::Effect;
use callwright_gateway::{GatewayOptions, Mode};
use serde_json::{Value, json};
use support::{APIS, Api, Heard, Said};
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

/// A request with three tools, as a client writes it.
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

/// Sends the request, and hears what the client gets when the model answers with `first` and, asked again, with `second`.
async fn asked(
    api: Api,
    is_stream: bool,
    first: &Said,
    second: Reply,
    change: impl FnOnce(&mut GatewayOptions),
) -> (World, Heard, String) {
    let reply = if is_stream {
        Reply::events(api.streamed(first, 5))
    } else {
        Reply::json(api.whole(first))
    };
    let world = World::new(vec![reply, second], |options| {
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

/// Nothing but what the model said first reaches the client, byte for byte.
async fn is_not_accepted(api: Api, first: &Said, second: Reply, outcome: &str) {
    for is_stream in [false, true] {
        let reply = if is_stream {
            Reply::events(api.streamed(first, 5))
        } else {
            Reply::json(api.whole(first))
        };
        let world = World::new(vec![reply.clone(), second.clone()], asks).await;
        let response = world.post(path(api, is_stream), &request(api)).await;
        assert_eq!(response.body, reply.body, "{api:?} {outcome}");
        assert_eq!(world.requests().len(), 2, "{api:?} {outcome}");
        let metrics = world.metrics().await;
        assert!(
            metrics.contains(&format!(
                "callwright_reasks_total{{outcome=\"{outcome}\"}} 1\n"
            )),
            "{api:?}\n{metrics}"
        );
        let events = world.events();
        let asked = events
            .iter()
            .find(|event| event["reask"].is_object())
            .expect("it is on record");
        assert_eq!(asked["reask"]["outcome"], outcome);
        assert_eq!(asked["verdict"], "refused");
    }
}

/// The model is not asked again.
async fn is_never_asked(api: Api, body: &str, first: &Said, change: impl Fn(&mut GatewayOptions)) {
    for is_stream in [false, true] {
        let reply = if is_stream {
            Reply::events(api.streamed(first, 5))
        } else {
            Reply::json(api.whole(first))
        };
        let world = World::new(
            vec![
                reply.clone(),
                Reply::json(api.whole(&said(&[("get_weather", GOOD)]))),
            ],
            |options| {
                asks(options);
                change(options);
            },
        )
        .await;
        let response = world.post(path(api, is_stream), body).await;
        assert_eq!(response.body, reply.body, "{api:?}");
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

#[tokio::test]
async fn the_new_arguments_are_put_into_the_first_call() {
    for api in APIS {
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
    for api in APIS {
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
            // The answer, as it was.
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
                // Texts come in pieces there.
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
            // Everything else is as the client wrote it.
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

#[tokio::test]
async fn an_unknown_tool_may_become_one_that_was_proposed() {
    let first = said(&[("get_wether", BAD)]);
    let second = Reply::json(Api::Chat.whole(&said(&[("get_weather", GOOD)])));
    let (_, heard, _) = asked(Api::Chat, true, &first, second, |_| {}).await;
    assert_eq!(
        heard.calls,
        [(
            "call_0".to_owned(),
            "get_weather".to_owned(),
            GOOD.to_owned()
        )]
    );
}

#[tokio::test]
async fn a_valid_call_of_another_tool_is_not_accepted() {
    for api in APIS {
        // The model was seen to answer so: first a tool that does not exist, then anything that is valid.
        let first = said(&[("config.json", "{}")]);
        is_never_asked(api, &request(api), &first, |_| {}).await;
        let first = said(&[("get_weather", BAD)]);
        let second = Reply::json(api.whole(&said(&[("search_city", GOOD)])));
        is_not_accepted(api, &first, second, "other_tool").await;
    }
}

#[tokio::test]
async fn anything_but_one_valid_call_for_each_refused_one_is_not_accepted() {
    for api in APIS {
        let first = said(&[("get_weather", BAD)]);
        let answer = |said: Said| Reply::json(api.whole(&said));
        is_not_accepted(api, &first, answer(said(&[])), "no_call").await;
        is_not_accepted(
            api,
            &first,
            answer(said(&[("get_weather", GOOD), ("get_weather", GOOD)])),
            "other_calls",
        )
        .await;
        is_not_accepted(
            api,
            &first,
            answer(said(&[("get_weather", r#"{"days":4}"#)])),
            "refused_again",
        )
        .await;
        is_not_accepted(
            api,
            &first,
            answer(said(&[("get_weather", BAD)])),
            "same_again",
        )
        .await;
        let cut = Said {
            is_cut: true,
            ..said(&[("get_weather", GOOD)])
        };
        is_not_accepted(api, &first, answer(cut), "cut_off").await;
        is_not_accepted(api, &first, Reply::error(429, "{}"), "error").await;
        is_not_accepted(api, &first, Reply::json("[]"), "answer_shape").await;
        let two = said(&[("get_weather", BAD), ("search_city", r#"{"days":1}"#)]);
        is_not_accepted(
            api,
            &two,
            answer(said(&[("get_weather", GOOD)])),
            "other_calls",
        )
        .await;
    }
}

#[tokio::test]
async fn several_refused_calls_are_matched_by_their_tools() {
    for api in APIS {
        for is_stream in [false, true] {
            let first = said(&[
                ("get_weather", BAD),
                ("search_city", GOOD),
                ("search_city", r#"{"days":1}"#),
            ]);
            let second = said(&[("search_city", r#"{"city":"Oslo"}"#), ("get_weather", GOOD)]);
            let (_, heard, _) = asked(
                api,
                is_stream,
                &first,
                Reply::json(api.whole(&second)),
                |_| {},
            )
            .await;
            let mut expected = first.clone();
            expected.calls[0].2 = GOOD.to_owned();
            expected.calls[2].2 = r#"{"city":"Oslo"}"#.to_owned();
            assert_eq!(
                heard,
                api.hear_whole(&api.whole(&expected)),
                "{api:?} {is_stream}"
            );
        }
    }
}

#[tokio::test]
async fn a_new_call_may_be_repaired_without_loss() {
    let first = said(&[("get_weather", BAD)]);
    let second =
        Reply::json(Api::Chat.whole(&said(&[("getWeather", r#"{"city":"Paris","days":"3",}"#)])));
    let (_, heard, _) = asked(Api::Chat, false, &first, second, |_| {}).await;
    assert_eq!(
        heard.calls[0],
        (
            "call_0".to_owned(),
            "get_weather".to_owned(),
            GOOD.to_owned()
        )
    );
}

#[tokio::test]
async fn it_is_tried_as_often_as_was_asked_for() {
    let api = Api::Messages;
    let bad = Reply::json(api.whole(&said(&[("get_weather", r#"{"days":4}"#)])));
    let good = Reply::json(api.whole(&said(&[("get_weather", GOOD)])));
    for (tries, replies, outcomes) in [
        (
            2,
            vec![bad.clone(), good.clone()],
            ["refused_again", "accepted"],
        ),
        (
            9,
            vec![bad.clone(), bad.clone(), good],
            ["refused_again", "accepted"],
        ),
    ] {
        let first = Reply::json(api.whole(&said(&[("get_weather", BAD)])));
        let sent = replies.len() + 1;
        let world = World::new([vec![first], replies].concat(), |options| {
            asks(options);
            options.reask = tries;
        })
        .await;
        let heard = api.hear_whole(&world.post(path(api, false), &request(api)).await.body);
        assert_eq!(heard.calls[0].2, GOOD);
        assert_eq!(world.requests().len(), sent);
        let metrics = world.metrics().await;
        for outcome in outcomes {
            assert!(
                metrics.contains(&format!("callwright_reasks_total{{outcome=\"{outcome}\"}}")),
                "{metrics}"
            );
        }
    }
}

#[tokio::test]
async fn it_is_never_done_unless_it_is_asked_for() {
    for api in APIS {
        let first = said(&[("get_weather", BAD)]);
        is_never_asked(api, &request(api), &first, |options| options.reask = 0).await;
        is_never_asked(api, &request(api), &first, |options| {
            options.mode = Mode::Observe;
        })
        .await;
    }
}

#[tokio::test]
async fn writes_are_never_asked_for_unless_that_is_asked_for_and_destruction_never() {
    let first = said(&[("get_weather", BAD)]);
    let undeclared = |options: &mut GatewayOptions| options.policy = Policy::default();
    is_never_asked(Api::Chat, &request(Api::Chat), &first, undeclared).await;
    let destroys = said(&[("delete_city", BAD)]);
    is_never_asked(Api::Chat, &request(Api::Chat), &destroys, |options| {
        options.reask_writes = true;
    })
    .await;
    // One that may not be asked for would come again with the others.
    let both = said(&[("get_weather", BAD), ("delete_city", BAD)]);
    is_never_asked(Api::Chat, &request(Api::Chat), &both, |_| {}).await;
    let second = Reply::json(Api::Chat.whole(&said(&[("get_weather", GOOD)])));
    let (_, heard, _) = asked(Api::Chat, false, &first, second, |options| {
        options.policy = Policy::default();
        options.reask_writes = true;
    })
    .await;
    assert_eq!(heard.calls[0].2, GOOD);
}

#[tokio::test]
async fn a_call_that_was_cut_off_is_never_asked_for() {
    for api in APIS {
        let first = Said {
            is_cut: true,
            ..said(&[("get_weather", BAD)])
        };
        is_never_asked(api, &request(api), &first, |_| {}).await;
    }
}

#[tokio::test]
async fn a_conversation_with_the_provider_is_never_asked_again() {
    let first = said(&[("get_weather", BAD)]);
    for (api, member) in [
        (Api::Chat, r#""n": 2, "#),
        (Api::Responses, r#""conversation": "c", "#),
        (Api::Responses, r#""background": true, "#),
        (Api::Messages, r#""thread": {"type": "continue"}, "#),
        (
            Api::Gemini,
            r#""generationConfig": {"candidateCount": 2}, "#,
        ),
    ] {
        let body = request(api).replacen('{', &format!("{{{member}"), 1);
        is_never_asked(api, &body, &first, |_| {}).await;
    }
    // Here the second request says everything that it needs.
    let body = request(Api::Responses).replacen(
        '{',
        r#"{"previous_response_id": "r0", "store": true, "#,
        1,
    );
    let second = Reply::json(Api::Responses.whole(&said(&[("get_weather", GOOD)])));
    let world = World::new(
        vec![Reply::json(Api::Responses.whole(&first)), second],
        asks,
    )
    .await;
    let heard = Api::Responses.hear_whole(&world.post("/v1/responses", &body).await.body);
    assert_eq!(heard.calls[0].2, GOOD);
    let side = world.requests()[1].json();
    assert_eq!(
        (&side["store"], &side["previous_response_id"]),
        (&json!(false), &json!("r0"))
    );
}

#[tokio::test]
async fn a_program_that_called_is_never_asked_again() {
    let api = Api::Messages;
    let mut answer: Value =
        serde_json::from_str(&api.whole(&said(&[("get_weather", BAD), ("get_weather", BAD)])))
            .expect("JSON");
    answer["content"][2]["caller"] = json!({"type": "code_execution_20250825"});
    let world = World::new(vec![Reply::json(&answer)], asks).await;
    let response = world.post(path(api, false), &request(api)).await;
    assert_eq!(response.body, answer.to_string());
    assert_eq!(world.requests().len(), 1);
}

#[tokio::test]
async fn a_loop_is_never_asked_for() {
    let call = json!({"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": GOOD}});
    let mut body: Value = serde_json::from_str(&request(Api::Chat)).expect("JSON");
    for _ in 0..3 {
        let messages = body["messages"].as_array_mut().expect("messages");
        messages.push(json!({"role": "assistant", "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": "a", "content": "error: closed"}));
    }
    let first = said(&[("get_weather", GOOD)]);
    is_never_asked(Api::Chat, &body.to_string(), &first, |_| {}).await;
}

#[tokio::test]
async fn time_and_tokens_have_limits() {
    for is_stream in [false, true] {
        let api = Api::Chat;
        let first = said(&[("get_weather", BAD)]);
        let good = || Reply::json(api.whole(&said(&[("get_weather", GOOD)])));
        let late = good().after(Duration::from_secs(20));
        let began = std::time::Instant::now();
        let (world, heard, _) = asked(api, is_stream, &first, late, |options| {
            options.reask_within = Duration::from_millis(300);
        })
        .await;
        assert!(began.elapsed() < Duration::from_secs(10));
        assert_eq!(heard.calls[0].2, BAD);
        assert!(world.metrics().await.contains("outcome=\"too_late\"} 1\n"));

        let (world, heard, _) = asked(api, is_stream, &first, good(), |options| {
            options.reask_max_tokens = 10;
        })
        .await;
        assert_eq!(heard.calls[0].2, BAD);
        assert_eq!(world.requests().len(), 1);
        assert!(
            world
                .metrics()
                .await
                .contains("outcome=\"prompt_too_long\"} 1\n")
        );
    }
}

#[tokio::test]
async fn a_client_that_waits_hears_something() {
    for api in APIS {
        let first = said(&[("get_weather", BAD)]);
        let late = Reply::json(api.whole(&said(&[("get_weather", GOOD)])))
            .after(Duration::from_millis(400));
        let world = World::new(
            vec![Reply::events(api.streamed(&first, 5)), late],
            |options| {
                asks(options);
                options.keep_alive = Duration::from_millis(50);
            },
        )
        .await;
        let response = world.post(path(api, true), &request(api)).await;
        let before = api.streamed(&first, 5).matches("\n\n").count();
        assert!(
            response.body.matches("\n\n").count() >= before + 3,
            "{api:?}: {}",
            response.body
        );
        assert_eq!(
            value(&api.hear_stream(&response.body).calls[0].2),
            value(GOOD),
            "{api:?}"
        );
    }
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[tokio::test]
async fn what_is_valid_keeps_its_bytes_and_is_not_asked_for() {
    for api in APIS {
        let first = said(&[("get_weather", GOOD), ("search_city", GOOD)]);
        let replies = vec![
            Reply::json(api.whole(&first)),
            Reply::events(api.streamed(&first, 4)),
        ];
        let world = World::new(replies.clone(), asks).await;
        for (is_stream, reply) in [false, true].into_iter().zip(&replies) {
            assert_eq!(
                world.post(path(api, is_stream), &request(api)).await.body,
                reply.body
            );
        }
        assert_eq!(world.requests().len(), 2);
    }
}

#[tokio::test]
async fn what_is_too_long_to_be_held_goes_on_as_it_came() {
    for api in APIS {
        let first = said(&[("get_weather", BAD)]);
        let stream = api.streamed(&first, 5);
        let world = World::new(vec![Reply::events(&stream)], |options| {
            asks(options);
            options.hold_bytes = 10;
        })
        .await;
        assert_eq!(
            world.post(path(api, true), &request(api)).await.body,
            stream
        );
        assert_eq!(world.requests().len(), 1, "{api:?}");
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_goes_on_as_it_came() {
    let api = Api::Chat;
    let stream = api.streamed(&said(&[("get_weather", BAD)]), 5);
    // Broken in the middle of the call.
    let at = stream.rfind("arguments").expect("a call");
    let stream = format!("{}{}", &stream[..at], &stream[at + 3..]);
    let stream = stream.replacen("\"ume", "ume", 1);
    let world = World::new(vec![Reply::events(&stream)], asks).await;
    assert_eq!(
        world.post(path(api, true), &request(api)).await.body,
        stream
    );
    assert_eq!(world.requests().len(), 1);
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_second_request_too() {
    let api = Api::Messages;
    let late = Reply::json("{}").after(Duration::from_secs(60));
    let first = Reply::events(api.streamed(&said(&[("get_weather", BAD)]), 5));
    let world = World::new(vec![first, late], |options| {
        asks(options);
        options.keep_alive = Duration::from_millis(50);
    })
    .await;
    world
        .leave(path(api, true), &request(api), Duration::from_millis(500))
        .await;
    for _ in 0..100 {
        if world.left() == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!((world.left(), world.requests().len()), (1, 2));
    assert_eq!(
        world.events().len(),
        1,
        "the refused call is on record all the same"
    );
}
