//! Calls that repeat earlier ones in the conversation: the verdicts are those of `check` on the same conversation.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod support;
#[path = "support/upstream.rs"]
mod upstream;

use callwright::check::Checked;
use callwright::wire::read_recorded;
use callwright::{Gate, Opened, Settled, ToolSpec, Verdict};
use callwright_gateway::{GatewayOptions, Loops};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Api, Said, TestApi};
use upstream::{Reply, World};

/// A round: the arguments of parallel calls, the result of each, and whether that is an error.
type Round = Vec<(&'static str, &'static str, bool)>;

fn schema() -> Value {
    json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
}

/// A request with earlier turns, the rounds of this turn, and the tools.
fn request(api: Api, turns: &[Vec<Round>]) -> String {
    let mut messages = Vec::new();
    let mut number = 0;
    for turn in turns {
        messages.push(match api {
            Api::Gemini => json!({"role": "user", "parts": [{"text": "How warm is it?"}]}),
            _ => json!({"role": "user", "content": "How warm is it?"}),
        });
        for round in turn {
            let calls: Vec<(String, Value, &str, bool)> = round
                .iter()
                .map(|(arguments, output, is_error)| {
                    number += 1;
                    (
                        format!("call_{number}"),
                        serde_json::from_str(arguments).expect("JSON"),
                        *output,
                        *is_error,
                    )
                })
                .collect();
            match api {
                Api::Chat => {
                    messages.push(json!({"role": "assistant", "content": null, "tool_calls": calls.iter().map(|(id, arguments, ..)| {
                        json!({"id": id, "type": "function", "function": {"name": "get_weather", "arguments": arguments.to_string()}})
                    }).collect::<Vec<_>>()}));
                    messages.extend(calls.iter().map(|(id, _, output, _)| json!({"role": "tool", "tool_call_id": id, "content": output})));
                }
                Api::Messages => {
                    messages.push(json!({"role": "assistant", "content": calls.iter().map(|(id, arguments, ..)| {
                        json!({"type": "tool_use", "id": id, "name": "get_weather", "input": arguments})
                    }).collect::<Vec<_>>()}));
                    messages.push(json!({"role": "user", "content": calls.iter().map(|(id, _, output, is_error)| {
                        json!({"type": "tool_result", "tool_use_id": id, "content": output, "is_error": is_error})
                    }).collect::<Vec<_>>()}));
                }
                Api::Responses => {
                    messages.extend(calls.iter().map(|(id, arguments, ..)| {
                        json!({"type": "function_call", "call_id": id, "name": "get_weather", "arguments": arguments.to_string()})
                    }));
                    messages.extend(calls.iter().map(|(id, _, output, _)| json!({"type": "function_call_output", "call_id": id, "output": output})));
                }
                Api::Gemini => {
                    messages.push(json!({"role": "model", "parts": calls.iter().map(|(id, arguments, ..)| {
                        json!({"functionCall": {"id": id, "name": "get_weather", "args": arguments}})
                    }).collect::<Vec<_>>()}));
                    messages.push(json!({"role": "user", "parts": calls.iter().map(|(id, _, output, is_error)| {
                        let key = if *is_error { "error" } else { "output" };
                        json!({"functionResponse": {"id": id, "name": "get_weather", "response": {key: output}}})
                    }).collect::<Vec<_>>()}));
                }
            }
        }
    }
    let tool = json!({"name": "get_weather", "description": "Says how warm it is."});
    let with = |key: &str| {
        let mut tool = tool.clone();
        tool[key] = schema();
        tool
    };
    match api {
        Api::Chat => json!({"model": "m", "messages": messages, "tools": [{"type": "function", "function": with("parameters")}]}),
        Api::Messages => json!({"model": "m", "messages": messages, "tools": [with("input_schema")]}),
        Api::Responses => {
            let mut tool = with("parameters");
            tool["type"] = "function".into();
            json!({"model": "m", "input": messages, "tools": [tool]})
        }
        Api::Gemini => json!({"contents": messages, "tools": [{"functionDeclarations": [with("parameters")]}]}),
    }
    .to_string()
}

/// The verdict of `check` on the last call, with the same conversation as lines of a recording.
fn checked(turns: &[Vec<Round>], last: &str, has_errors: bool) -> (Option<String>, Option<String>) {
    let gate = Gate::builder()
        .tool(ToolSpec::new("get_weather", schema()))
        .build()
        .expect("a tool");
    let mut lines = Vec::new();
    for (turn, rounds) in turns.iter().enumerate() {
        for (round, calls) in rounds.iter().enumerate() {
            lines.extend(calls.iter().map(|(arguments, output, is_error)| {
                json!({"tool": "get_weather", "arguments": arguments, "session": "s", "turn": turn, "round": round,
                    "output": output, "is_error": *is_error && has_errors})
            }));
        }
    }
    let (turn, round) = (turns.len() - 1, turns.last().expect("a turn").len());
    lines.push(json!({"tool": "get_weather", "arguments": last, "session": "s", "turn": turn, "round": round}));
    let mut said = (None, None);
    for line in lines {
        let line = line.to_string();
        let recorded = read_recorded(&line).expect("a call");
        let verdict = gate.judge(&recorded.call);
        let result: Option<Checked<'_>> = match (&verdict, recorded.ran()) {
            (Verdict::Refused(_), _) | (_, None) => None,
            (verdict, Some(ran)) => Some(gate.check(
                verdict.tool().expect("a tool"),
                verdict.arguments().expect("arguments"),
                ran,
            )),
        };
        let opened = gate.admit(&recorded.call, verdict, recorded.place());
        let settled: Settled<'_> = match (opened, result) {
            (Opened::Refused(refused), _) => Verdict::Refused(refused).into(),
            (Opened::Admitted(ticket), Some(result)) => gate.settle(ticket, result),
            (Opened::Admitted(ticket), None) => ticket.into(),
        };
        let failure = settled
            .verdict
            .failure()
            .map(|failure| failure.code.name().to_owned());
        said = (
            failure,
            settled.notice().map(|notice| notice.code.name().to_owned()),
        );
    }
    said
}

fn saying(arguments: &str) -> Said {
    Said {
        text: "Let me look.".to_owned(),
        calls: vec![(
            "new".to_owned(),
            "get_weather".to_owned(),
            arguments.to_owned(),
        )],
        is_cut: false,
        ..Said::default()
    }
}

/// What the gateway records for the last call.
async fn recorded(api: Api, turns: &[Vec<Round>], last: &str) -> (Option<String>, Option<String>) {
    let answer = api.whole(&saying(last));
    let world = World::new(vec![Reply::json(&answer)], |_| {}).await;
    let response = world.post(api.path(), &request(api, turns)).await;
    assert_eq!(response.body, answer, "it is only observed");
    let events = world.events();
    assert_eq!(events.len(), 1);
    let code = |key: &str| events[0][key]["code"].as_str().map(str::to_owned);
    (code("failure"), code("notice"))
}

fn rounds() -> impl Strategy<Value = Vec<Round>> {
    let arguments = prop_oneof![4 => Just(r#"{"city":"Paris"}"#), 1 => Just(r#"{"city":"Rome"}"#), 1 => Just("{}")];
    let output = prop_oneof![3 => Just(("no such city", true)), 2 => Just(("11 degrees", false)), 1 => Just(("12 degrees", false))];
    let call = (arguments, output)
        .prop_map(|(arguments, (output, is_error))| (arguments, output, is_error));
    let round = prop_oneof![4 => prop::collection::vec(call.clone(), 1), 1 => prop::collection::vec(call, 2)];
    prop::collection::vec(round, 0..7)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_verdicts_are_those_of_check(before in rounds(), now in rounds(), last in prop_oneof![4 => Just(r#"{"city":"Paris"}"#), 1 => Just("{}")]) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let turns = [before, now];
        for api in Api::ALL {
            // OpenAI's shapes do not say whether a result is an error.
            let has_errors = matches!(api, Api::Messages | Api::Gemini);
            let expected = checked(&turns, last, has_errors);
            prop_assert_eq!(runtime.block_on(recorded(api, &turns, last)), expected, "{:?} {:?}", api, turns);
        }
    }
}

/// The same call has failed three times.
fn circling() -> [Vec<Round>; 1] {
    [vec![
        vec![(
            r#"{"city":"Paris"}"#,
            "error: no such city",
            true
        )];
        3
    ]]
}

#[tokio::test]
async fn a_loop_is_on_record() {
    for api in Api::ALL {
        let (failure, _) = recorded(api, &circling(), r#"{"city":"Paris"}"#).await;
        assert!(
            failure
                .as_deref()
                .is_some_and(|code| code.starts_with("repeated_")),
            "{api:?}: {failure:?}"
        );
        let (failure, _) = recorded(api, &circling(), r#"{"city":"Rome"}"#).await;
        assert!(
            failure.is_none() || failure.as_deref() == Some("error_streak"),
            "{api:?}: {failure:?}"
        );
    }
}

fn stops(options: &mut GatewayOptions) {
    options.loops = Loops::Stop;
}

#[tokio::test]
async fn a_loop_ends_with_a_text_streamed_or_not() {
    for api in Api::ALL {
        for calls in [1, 2, 3] {
            let mut said = saying(r#"{"city":"Paris"}"#);
            for number in 1..calls {
                said.calls.push((
                    format!("other_{number}"),
                    "get_weather".to_owned(),
                    r#"{"city":"Oslo"}"#.to_owned(),
                ));
            }
            let replies = vec![
                Reply::json(api.whole(&said)),
                Reply::events(api.streamed(&said, 3)),
            ];
            let world = World::new(replies, stops).await;
            let body = request(api, &circling());
            let whole = api.hear_whole(&world.post(api.path(), &body).await.body);
            let streamed = world.post(api.path(), &body).await.body;
            let streamed = api.hear_stream(&streamed);
            assert_eq!(whole, streamed, "{api:?}");
            assert!(whole.calls.is_empty(), "{api:?}");
            let text = whole
                .text
                .strip_prefix("Let me look.")
                .expect("what was said before")
                .trim_start();
            assert!(
                text.starts_with(
                    "Stopped instead of calling \"get_weather\" again. This exact call "
                ),
                "{text}"
            );
            assert!(text.contains("no such city"), "{text}");
            let plain = Said {
                calls: Vec::new(),
                ..said.clone()
            };
            assert_eq!(
                whole.finish,
                api.hear_whole(&api.whole(&plain)).finish,
                "{api:?}"
            );
            let failures = world
                .events()
                .iter()
                .filter(|event| event["failure"].is_object())
                .count();
            assert!(failures >= 2, "both answers are on record");
        }
    }
}

#[tokio::test]
async fn what_is_not_a_loop_keeps_its_bytes() {
    for api in Api::ALL {
        let said = saying(r#"{"city":"Oslo"}"#);
        let turns = [vec![vec![(r#"{"city":"Paris"}"#, "11 degrees", false)]]];
        let (whole, streamed) = (api.whole(&said), api.streamed(&said, 4));
        let world = World::new(vec![Reply::json(&whole), Reply::events(&streamed)], stops).await;
        assert_eq!(
            world.post(api.path(), &request(api, &turns)).await.body,
            whole
        );
        assert_eq!(
            world.post(api.path(), &request(api, &turns)).await.body,
            streamed
        );
    }
}

#[tokio::test]
async fn a_message_of_the_user_begins_again() {
    let mut turns = circling().to_vec();
    turns.push(Vec::new());
    for api in Api::ALL {
        assert_eq!(
            recorded(api, &turns, r#"{"city":"Paris"}"#).await,
            (None, None),
            "{api:?}"
        );
    }
}

#[tokio::test]
async fn a_loop_of_a_tool_without_a_schema_is_seen() {
    let mut body: Value = serde_json::from_str(&request(Api::Messages, &circling())).expect("JSON");
    let tools = body["tools"].as_array_mut().expect("tools");
    tools.push(json!({"name": "other", "input_schema": schema()}));
    tools[0] = json!({"type": "bash_20250124", "name": "get_weather"});
    let said = saying(r#"{"city":"Paris"}"#);
    let world = World::new(vec![Reply::json(Api::Messages.whole(&said))], stops).await;
    let heard = Api::Messages.hear_whole(&world.post("/v1/messages", &body.to_string()).await.body);
    assert!(
        heard.calls.is_empty() && heard.text.contains("Stopped"),
        "{heard:?}"
    );
}

#[tokio::test]
async fn nothing_is_looked_at_if_it_is_off() {
    let answer = Api::Chat.whole(&saying(r#"{"city":"Paris"}"#));
    let world = World::new(vec![Reply::json(&answer)], |options| {
        options.loops = Loops::Off;
    })
    .await;
    let response = world
        .post(Api::Chat.path(), &request(Api::Chat, &circling()))
        .await;
    assert_eq!(response.body, answer);
    assert!(world.events()[0]["failure"].is_null());
}

#[tokio::test]
async fn only_the_latest_rounds_are_replayed() {
    let round: Round = vec![(r#"{"city":"Paris"}"#, "error: no such city", true)];
    let turns = [vec![round; 2_000]];
    let began = std::time::Instant::now();
    let (failure, _) = recorded(Api::Messages, &turns, r#"{"city":"Paris"}"#).await;
    assert!(failure.is_some());
    assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
}

#[tokio::test]
async fn what_is_too_long_to_be_held_is_not_stopped() {
    for api in Api::ALL {
        let stream = api.streamed(&saying(r#"{"city":"Paris"}"#), 3);
        let world = World::new(vec![Reply::events(&stream)], |options| {
            stops(options);
            options.hold_bytes = 10;
        })
        .await;
        assert_eq!(
            world
                .post(api.path(), &request(api, &circling()))
                .await
                .body,
            stream,
            "{api:?}"
        );
    }
}
