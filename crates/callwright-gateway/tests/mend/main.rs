//! Conversations that providers reject are mended in place, and valid ones are left alone.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod conversations;
mod through_the_gateway;
#[path = "../support/upstream.rs"]
mod upstream;

use callwright_gateway::{Api, mend};
use conversations::Step::{self, Answer, Result, Say, TextThenResult, User};
use conversations::{is_sound, request};
use proptest::prelude::*;
use serde_json::{Value, json};

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

/// Valid conversations, with results in any order.
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
        // Each id is used once.
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
        for api in Api::ALL {
            let body = request(api, &steps);
            let mended = mend(&body, api);
            prop_assert_eq!(mended.is_none(), is_sound(api, &body), "{:?} {}", api, body);
            if let Some((mended, defects)) = mended {
                prop_assert!(is_sound(api, &mended), "{:?} {}\n{}", api, body, mended);
                prop_assert!(mend(&mended, api).is_none(), "{:?} {}\n{}", api, body, mended);
                prop_assert!(!defects.is_empty());
                // No text is lost.
                for word in ["How warm is it?", "Let me look.", "11 °C", "late"] {
                    prop_assert_eq!(body.matches(word).count(), mended.matches(word).count(), "{}\n{}", body, mended);
                }
            }
        }
    }

    #[test]
    fn no_input_makes_it_panic(steps in steps(), at in any::<prop::sample::Index>(), put in "[\\[\\]{}\",:a0 ]{0,3}", taken in 0_usize..9) {
        for api in Api::ALL {
            let mut body: Vec<char> = request(api, &steps).chars().collect();
            let start = at.index(body.len());
            let end = (start + taken).min(body.len());
            body.splice(start..end, put.chars());
            let body: String = body.into_iter().collect();
            for reader in Api::ALL {
                if let Some((mended, _)) = mend(&body, reader) {
                    prop_assert!(serde_json::from_str::<Value>(&mended).is_ok());
                    prop_assert!(mend(&mended, reader).is_none(), "{:?} {}\n{}", reader, body, mended);
                }
            }
        }
    }

    #[test]
    fn a_sound_conversation_is_left_alone(steps in sound_steps()) {
        for api in Api::ALL {
            let body = request(api, &steps);
            prop_assert!(is_sound(api, &body), "{}", body);
            prop_assert_eq!(mend(&body, api), None);
        }
    }
}

/// Mends a conversation, and compares the result and the names of the defects.
fn check(api: Api, body: &str, expected: &str, names: &[&str]) {
    let (mended, defects) = mend(body, api).expect("a defect");
    assert_eq!(mended, expected);
    let found: Vec<&str> = defects.iter().map(|defect| defect.name()).collect();
    assert_eq!(found, names);
}

#[test]
fn only_what_is_wrong_changes() {
    // Spaces, key order and unknown members are kept.
    check(
        Api::Chat,
        "{ \"messages\" : [ {\"x\":1.50, \"role\":\"user\",\"content\":\"?\"} ,\n {\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]},\n {\"role\":\"user\",\"content\":\"Well?\"} ], \"n\":1 }",
        "{ \"messages\" : [ {\"x\":1.50, \"role\":\"user\",\"content\":\"?\"} ,\n {\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"unreadable\\\":\\\"{\\\"}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"The call was interrupted; its result is unknown.\"},{\"role\":\"user\",\"content\":\"Well?\"} ], \"n\":1 }",
        &["unanswered_call", "unreadable_arguments"],
    );
}

#[test]
fn results_come_first_in_their_message_and_keep_their_order() {
    check(
        Api::Messages,
        r#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]},{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"b"}, {"type":"tool_result","tool_use_id":"a"}]}]}"#,
        r#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"b"},{"type":"tool_result","tool_use_id":"a"},{"type":"text","text":"x"}]}]}"#,
        &["misplaced_result"],
    );
}

#[test]
fn an_orphan_becomes_words_of_the_user() {
    check(
        Api::Messages,
        r#"{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"11"},{"type":"image","source":{}}]}]}]}"#,
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":"Result of a tool, whose call is not in this conversation:"},{"type":"text","text":"11"},{"type":"image","source":{}}]}]}"#,
        &["orphan_result"],
    );
    check(
        Api::Chat,
        r#"{"messages":[{"role":"tool","tool_call_id":"a","name":"f","content":"11"}]}"#,
        r#"{"messages":[{"role":"user","content":"Result of the tool f, whose call is not in this conversation:\n11"}]}"#,
        &["orphan_result"],
    );
    check(
        Api::Gemini,
        r#"{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":11}}}]}]}"#,
        r#"{"contents":[{"role":"user","parts":[{"text":"Result of the tool f, whose call is not in this conversation:\n{\"output\":11}"}]}]}"#,
        &["orphan_result"],
    );
}

#[test]
fn ids_are_renamed_with_their_results() {
    check(
        Api::Responses,
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
    assert_eq!(mend(&body.to_string(), Api::Gemini), None);
    body["contents"][1]["parts"]
        .as_array_mut()
        .expect("parts")
        .pop();
    let (mended, _) = mend(&body.to_string(), Api::Gemini).expect("one is missing");
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
    assert_eq!(mend(&body.to_string(), Api::Chat), None);
    let body =
        json!({"input": [{"type": "custom_tool_call", "call_id": "a", "name": "f", "input": "x"}]});
    let (mended, _) = mend(&body.to_string(), Api::Responses).expect("no result");
    assert!(
        mended.contains(r#"{"type":"custom_tool_call_output","call_id":"a""#),
        "{mended}"
    );
}

#[test]
fn a_conversation_of_which_the_provider_has_a_part_is_left_alone() {
    for key in ["previous_response_id", "conversation"] {
        let body = json!({key: "x", "input": [{"type": "function_call_output", "call_id": "a", "output": "1"}]});
        assert_eq!(mend(&body.to_string(), Api::Responses), None);
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
        assert_eq!(mend(body, Api::Chat), None);
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
    assert!(mend(&json!({"messages": calls}).to_string(), Api::Chat).is_some());
}
