//! What is recorded about the calls of an answer.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod support;
#[path = "support/upstream.rs"]
mod upstream;

use serde_json::{Value, json};
use support::{Api, Said, TestApi};
use upstream::{Reply, World};

/// Two calls with the same id.
fn said() -> Said {
    let call = |arguments: &str| {
        let [id, tool, arguments] = ["call_1", "get_weather", arguments].map(str::to_owned);
        (id, tool, arguments)
    };
    Said {
        calls: vec![call(r#"{"city":"Paris"}"#), call(r#"{"city":"Rome"}"#)],
        ..Said::default()
    }
}

async fn recorded(reply: Reply) -> Vec<Value> {
    let world = World::new(vec![reply], |_| {}).await;
    let response = world.post(Api::Chat.path(), &Api::Chat.request()).await;
    assert_eq!(response.about, "200");
    world.events()
}

#[tokio::test]
async fn what_is_mended_around_calls_is_on_record() {
    // A finish reason that does not mention the calls.
    let wrong_end = |answer: String| answer.replace(r#""tool_calls"}"#, r#""stop"}"#);
    for reply in [
        Reply::json(wrong_end(Api::Chat.whole(&said()))),
        Reply::events(wrong_end(Api::Chat.streamed(&said(), 5))),
    ] {
        let events = recorded(reply).await;
        assert_eq!(events.len(), 2);
        let mended = |at: usize| &events[at]["mended"];
        assert_eq!(*mended(0), Value::Null);
        assert_eq!(*mended(1), json!(["call_id", "finish_reason"]));
        for event in &events {
            assert_eq!(event["verdict"], "valid");
            assert_eq!(event["model"], "m");
        }
    }
}

#[tokio::test]
async fn an_answer_without_a_fault_records_no_mending() {
    let mut said = said();
    said.calls.pop();
    let events = recorded(Reply::json(Api::Chat.whole(&said))).await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].get("mended"), None);
}
