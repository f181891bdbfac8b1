//! Conversations that providers reject are mended in place, and those without a defect are left alone.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "support/upstream.rs"]
mod upstream;

use std::collections::HashSet;

use callwright::wire::Provider;
use callwright_gateway::mend;
use proptest::prelude::*;
use serde_json::{Value, json};

const PROVIDERS: [Provider; 4] = [
    Provider::OpenAiChat,
    Provider::OpenAiResponses,
    Provider::Anthropic,
    Provider::Gemini,
];

/// What happens in a conversation.
#[derive(Debug, Clone)]
enum Step {
    User(&'static str),
    /// Calls in one answer: id and arguments.
    Answer(Vec<(&'static str, &'static str)>),
    Say(&'static str),
    Result(&'static str, &'static str),
    /// A result after a text in one message, where a provider has such messages.
    TextThenResult(&'static str),
}

use Step::{Answer, Result, Say, TextThenResult, User};

/// The conversation as a request of a provider.
fn request(provider: Provider, steps: &[Step]) -> String {
    let mut messages: Vec<Value> = Vec::new();
    for step in steps {
        match provider {
            Provider::OpenAiChat => match step {
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
            Provider::OpenAiResponses => match step {
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
            Provider::Anthropic => match step {
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
            _ => match step {
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
    let key = match provider {
        Provider::OpenAiResponses => "input",
        Provider::Gemini => "contents",
        _ => "messages",
    };
    json!({"model": "m", key: messages, "tools": [{"name": "x"}]}).to_string()
}

fn tool(id: &str) -> String {
    format!("tool_{}", &id[..1])
}

/// Arguments where they are a value: what is not JSON is a text.
fn value(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments))
}

/// Whether the provider would take it, by the rules in its documentation: every call has an object for arguments, its own
/// id, and one result, which is in its place.
#[expect(clippy::too_many_lines, reason = "the rules of four providers")]
fn is_sound(provider: Provider, body: &str) -> bool {
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
    match provider {
        Provider::OpenAiChat => {
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
        Provider::OpenAiResponses => {
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
        _ => {
            let (key, parts) = match provider {
                Provider::Gemini => ("contents", "parts"),
                _ => ("messages", "content"),
            };
            for message in list(&body[key]) {
                let is_user = message["role"] == "user";
                if is_user && message[parts].is_string() && !open.is_empty() {
                    return false;
                }
                for part in list(&message[parts]) {
                    let (call, result) = match provider {
                        Provider::Gemini => {
                            (part.get("functionCall"), part.get("functionResponse"))
                        }
                        _ => (
                            (part["type"] == "tool_use").then_some(&part),
                            (part["type"] == "tool_result").then_some(&part),
                        ),
                    };
                    if let Some(call) = call {
                        let input = if provider == Provider::Gemini {
                            &call["args"]
                        } else {
                            &call["input"]
                        };
                        if is_user || !is_new(text(&call["id"])) || !input.is_object() {
                            return false;
                        }
                        open.push(text(&call["id"]));
                    } else if let Some(result) = result {
                        let id = if provider == Provider::Gemini {
                            &result["id"]
                        } else {
                            &result["tool_use_id"]
                        };
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

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let id = prop_oneof![Just("a"), Just("b"), Just("c"), Just("dEf456789")];
    let arguments = prop_oneof![
        4 => Just("{}"), 2 => Just(r#"{"x": "ü\n"}"#), 1 => Just(""), 1 => Just(r#"{"x": "#), 1 => Just(r#"{"x": 1,}"#),
    ];
    let call = (id.clone(), arguments);
    let step = prop_oneof![
        2 => Just(User("How warm is it?")),
        1 => Just(Say("Let me look.")),
        4 => prop::collection::vec(call, 1..3).prop_map(Answer),
        5 => (id.clone(), Just("11 °C")).prop_map(|(id, text)| Result(id, text)),
        1 => id.prop_map(TextThenResult),
    ];
    prop::collection::vec(step, 0..9)
}

/// Conversations as they should be, with results in any order.
fn sound_steps() -> impl Strategy<Value = Vec<Step>> {
    let round = prop_oneof![
        Just(vec![User("How warm is it?"), Say("Warm.")]),
        Just(vec![Say("Let me look.")]),
        prop::bool::ANY.prop_map(|turned| {
            let (first, second) = if turned { ("b", "a") } else { ("a", "b") };
            vec![
                Answer(vec![("a", "{}"), ("b", r#"{"x": 1}"#)]),
                Result(first, "1"),
                Result(second, "2"),
            ]
        }),
    ];
    prop::collection::vec(round, 0..2).prop_map(|rounds| {
        let mut has_calls = false;
        // Ids are used once.
        rounds
            .into_iter()
            .filter(|round| {
                !matches!(round[0], Answer(_)) || !std::mem::replace(&mut has_calls, true)
            })
            .flatten()
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_mended_is_sound_and_is_not_mended_again(steps in steps()) {
        for provider in PROVIDERS {
            let body = request(provider, &steps);
            let mended = mend(&body, provider);
            prop_assert_eq!(mended.is_none(), is_sound(provider, &body), "{:?} {}", provider, body);
            if let Some((mended, defects)) = mended {
                prop_assert!(is_sound(provider, &mended), "{:?} {}\n{}", provider, body, mended);
                prop_assert!(mend(&mended, provider).is_none(), "{:?} {}\n{}", provider, body, mended);
                prop_assert!(!defects.is_empty());
                // No word is lost.
                for word in ["How warm is it?", "Let me look.", "11 °C", "late"] {
                    prop_assert_eq!(body.matches(word).count(), mended.matches(word).count(), "{}\n{}", body, mended);
                }
            }
        }
    }

    #[test]
    fn nothing_that_comes_makes_it_panic(steps in steps(), at in any::<prop::sample::Index>(), put in "[\\[\\]{}\",:a0 ]{0,3}", taken in 0_usize..9) {
        for provider in PROVIDERS {
            let mut body: Vec<char> = request(provider, &steps).chars().collect();
            let start = at.index(body.len());
            let end = (start + taken).min(body.len());
            body.splice(start..end, put.chars());
            let body: String = body.into_iter().collect();
            for reader in PROVIDERS {
                if let Some((mended, _)) = mend(&body, reader) {
                    prop_assert!(serde_json::from_str::<Value>(&mended).is_ok());
                    prop_assert!(mend(&mended, reader).is_none(), "{:?} {}\n{}", reader, body, mended);
                }
            }
        }
    }

    #[test]
    fn a_sound_conversation_is_left_alone(steps in sound_steps()) {
        for provider in PROVIDERS {
            let body = request(provider, &steps);
            prop_assert!(is_sound(provider, &body), "{}", body);
            prop_assert_eq!(mend(&body, provider), None);
        }
    }
}

/// Mends and compares, with the names of the defects.
fn check(provider: Provider, body: &str, expected: &str, names: &[&str]) {
    let (mended, defects) = mend(body, provider).expect("a defect");
    assert_eq!(mended, expected);
    let found: Vec<&str> = defects.iter().map(|defect| defect.name()).collect();
    assert_eq!(found, names);
}

#[test]
fn only_what_is_wrong_changes() {
    // Spaces, order of keys and unknown members stay as they are.
    check(
        Provider::OpenAiChat,
        "{ \"messages\" : [ {\"x\":1.50, \"role\":\"user\",\"content\":\"?\"} ,\n {\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]},\n {\"role\":\"user\",\"content\":\"Well?\"} ], \"n\":1 }",
        "{ \"messages\" : [ {\"x\":1.50, \"role\":\"user\",\"content\":\"?\"} ,\n {\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"unreadable\\\":\\\"{\\\"}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"The call was interrupted; nothing is known of its result.\"},{\"role\":\"user\",\"content\":\"Well?\"} ], \"n\":1 }",
        &["unanswered_call", "unreadable_arguments"],
    );
}

#[test]
fn results_come_first_in_their_message_and_keep_their_order() {
    check(
        Provider::Anthropic,
        r#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]},{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"b"}, {"type":"tool_result","tool_use_id":"a"}]}]}"#,
        r#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"b"},{"type":"tool_result","tool_use_id":"a"},{"type":"text","text":"x"}]}]}"#,
        &["misplaced_result"],
    );
}

#[test]
fn an_orphan_becomes_words_of_the_user() {
    check(
        Provider::Anthropic,
        r#"{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"11"},{"type":"image","source":{}}]}]}]}"#,
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":"Result of a tool, whose call is not in this conversation:"},{"type":"text","text":"11"},{"type":"image","source":{}}]}]}"#,
        &["orphan_result"],
    );
    check(
        Provider::OpenAiChat,
        r#"{"messages":[{"role":"tool","tool_call_id":"a","name":"f","content":"11"}]}"#,
        r#"{"messages":[{"role":"user","content":"Result of the tool f, whose call is not in this conversation:\n11"}]}"#,
        &["orphan_result"],
    );
    check(
        Provider::Gemini,
        r#"{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":11}}}]}]}"#,
        r#"{"contents":[{"role":"user","parts":[{"text":"Result of the tool f, whose call is not in this conversation:\n{\"output\":11}"}]}]}"#,
        &["orphan_result"],
    );
}

#[test]
fn ids_are_renamed_with_their_results() {
    check(
        Provider::OpenAiResponses,
        r#"{"input":[{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"1"},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"2"}]}"#,
        r#"{"input":[{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"1"},{"type":"function_call","call_id":"a_2","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"a_2","output":"2"}]}"#,
        &["duplicate_id"],
    );
}

#[test]
fn gemini_pairs_calls_without_ids_by_their_tools() {
    let contents = json!([
        {"role": "model", "parts": [{"functionCall": {"name": "f"}}, {"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}, {"functionResponse": {"name": "f", "response": {}}}]},
    ]);
    let mut body = json!({"contents": contents});
    assert_eq!(mend(&body.to_string(), Provider::Gemini), None);
    body["contents"][1]["parts"]
        .as_array_mut()
        .expect("parts")
        .pop();
    let (mended, _) = mend(&body.to_string(), Provider::Gemini).expect("one is missing");
    let mended: Value = serde_json::from_str(&mended).expect("JSON");
    assert_eq!(
        mended["contents"][1]["parts"][1]["functionResponse"]["name"],
        "f"
    );
}

#[test]
fn custom_tools_have_results_too() {
    let body = json!({"messages": [
        {"role": "assistant", "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "f", "input": "not JSON"}}]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
    ]});
    assert_eq!(mend(&body.to_string(), Provider::OpenAiChat), None);
    let body =
        json!({"input": [{"type": "custom_tool_call", "call_id": "a", "name": "f", "input": "x"}]});
    let (mended, _) = mend(&body.to_string(), Provider::OpenAiResponses).expect("no result");
    assert!(
        mended.contains(r#"{"type":"custom_tool_call_output","call_id":"a""#),
        "{mended}"
    );
}

#[test]
fn a_conversation_of_which_the_provider_has_a_part_is_left_alone() {
    for key in ["previous_response_id", "conversation"] {
        let body = json!({key: "x", "input": [{"type": "function_call_output", "call_id": "a", "output": "1"}]});
        assert_eq!(mend(&body.to_string(), Provider::OpenAiResponses), None);
    }
    for body in [
        "",
        "{",
        "[]",
        "{}",
        r#"{"messages": 1}"#,
        r#"{"messages": [1]}"#,
        r#"{"messages": [{"role": "tool", "role": "user"}]}"#,
    ] {
        assert_eq!(mend(body, Provider::OpenAiChat), None);
    }
}

#[test]
fn thousands_of_calls_of_one_id_are_mended() {
    let calls: Vec<Value> = (0..9_000)
        .map(|_| {
            json!({"role": "assistant", "tool_calls": [
        {"id": "a", "function": {"name": "f", "arguments": "{}"}}]})
        })
        .collect();
    assert!(
        mend(
            &json!({"messages": calls}).to_string(),
            Provider::OpenAiChat
        )
        .is_some()
    );
}

mod through_the_gateway {
    use std::io::Write as _;

    use callwright_gateway::{GatewayOptions, History};
    use serde_json::json;

    use crate::upstream::{Reply, World};

    const PATH: &str = "/v1/chat/completions";

    fn mends(options: &mut GatewayOptions) {
        options.history = History::Mend;
    }

    fn broken() -> String {
        json!({"model": "m", "messages": [{"role": "tool", "tool_call_id": "a", "content": "11 °C"}]}).to_string()
    }

    #[tokio::test]
    async fn what_is_rejected_is_mended_and_sent_once_more() {
        let world = World::new(
            vec![Reply::error(400, "no"), Reply::json(r#"{"ok":1}"#)],
            mends,
        )
        .await;
        let response = world.post(PATH, &broken()).await;
        assert_eq!(
            (response.about.as_str(), response.body.as_str()),
            ("200", r#"{"ok":1}"#)
        );
        let requests = world.requests();
        assert_eq!(requests.len(), 2);
        assert_eq!(requests[0].body, broken());
        assert_eq!(requests[1].json()["messages"][0]["role"], "user");
        let counted = "callwright_history_mended_total{defect=\"orphan_result\"} 1\n";
        assert!(world.metrics().await.contains(counted));
    }

    #[tokio::test]
    async fn if_that_fails_too_the_first_error_counts() {
        for second in [Reply::error(400, "second"), Reply::error(500, "second")] {
            let world = World::new(vec![Reply::error(400, "first"), second], mends).await;
            let response = world.post(PATH, &broken()).await;
            assert_eq!(
                (response.about.as_str(), response.body.as_str()),
                ("400", "first")
            );
            assert_eq!(world.requests().len(), 2);
            assert!(
                !world
                    .metrics()
                    .await
                    .contains("callwright_history_mended_total{")
            );
        }
    }

    #[tokio::test]
    async fn nothing_else_is_sent_twice() {
        let sound = json!({"messages": [{"role": "user", "content": "?"}]}).to_string();
        for (status, body, is_on) in [
            (400, sound, true),
            (500, broken(), true),
            (400, broken(), false),
        ] {
            let world = World::new(vec![Reply::error(status, "first")], |options| {
                if is_on {
                    mends(options);
                }
            })
            .await;
            let response = world.post(PATH, &body).await;
            assert_eq!(
                (response.about, response.body.as_str()),
                (status.to_string(), "first")
            );
            assert_eq!(world.requests().len(), 1);
        }
    }

    #[tokio::test]
    async fn a_compressed_conversation_is_sent_plain_if_it_is_mended() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(broken().as_bytes()).expect("memory");
        let bytes = gzip.finish().expect("memory");
        let replies = vec![Reply::error(400, "no"), Reply::json(r#"{"ok":1}"#)];
        let world = World::new(replies, mends).await;
        let response = world
            .post_bytes(PATH, &bytes, "content-encoding: gzip\r\n")
            .await;
        assert_eq!(response.about, "200");
        let requests = world.requests();
        assert_eq!(requests[0].header("content-encoding"), Some("gzip"));
        assert_eq!(requests[1].header("content-encoding"), None);
        assert_eq!(requests[1].json()["messages"][0]["role"], "user");
    }
}
