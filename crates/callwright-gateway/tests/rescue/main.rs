//! Calls written as text: however the bytes are split, a streamed answer gives the same result as a whole one, and
//! anything that is not a call keeps its bytes.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::too_many_lines,
    reason = "a test may panic, and tells one story"
)]

mod notations;
mod shapes;
#[path = "../support/mod.rs"]
mod support;
mod waiting;

use std::sync::Arc;

use bytes::Bytes;
use callwright::call::Completeness;
use callwright::rescue::Message;
use callwright::tool::Effect;
use callwright::{Gate, ToolSpec, Verdict};
use callwright_gateway::{AnswerGuard, CallScope};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::judge::Judge;
use support::{Api, Heard, Said, TestApi, guarded};

/// A read-only tool, and one with unknown effect.
fn gate() -> Arc<Gate> {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"], "additionalProperties": false});
    let mut weather = ToolSpec::new("get_weather", schema.clone());
    weather.effect = Effect::Read;
    Arc::new(
        Gate::builder()
            .tool(weather)
            .tool(ToolSpec::new("book_trip", schema))
            .build()
            .expect("tools"),
    )
}

fn guard(api: Api) -> AnswerGuard {
    AnswerGuard::new(gate(), api)
        .splitting(CallScope::default())
        .rescuing()
}

fn events(stream: &str) -> impl Iterator<Item = Bytes> {
    stream
        .split_inclusive("\n\n")
        .map(|event| Bytes::copy_from_slice(event.as_bytes()))
}

fn judged(api: Api, stream: &str, portion: usize, judge: &mut Judge) -> String {
    guarded::streamed(guard(api), stream, portion, judge)
}

fn judged_whole(api: Api, body: &str, judge: &mut Judge) -> String {
    guarded::whole(guard(api), body, judge)
}

/// A message with only text.
fn text(text: &str) -> Said {
    Said {
        text: text.to_owned(),
        ..Said::default()
    }
}

/// Removes pings, which are passed on at once even while text is held.
fn without_pings(stream: &str) -> String {
    stream
        .split_inclusive("\n\n")
        .filter(|event| !event.starts_with("event: ping"))
        .collect()
}

/// What a client should get from a message, apart from ids: the remaining text, and the calls.
fn expected(said: &Said) -> Option<(String, Vec<(String, Value)>)> {
    let gate = gate();
    let mut message = Message::from_text(said.text.as_str());
    message.completeness = if said.is_cut {
        Completeness::CutOff
    } else {
        Completeness::Complete
    };
    let rescued = gate
        .rescue(&message)
        .ok()
        .filter(|_| said.calls.is_empty())?;
    let calls = rescued.calls.iter().map(|call| {
        let verdict = gate.judge(call);
        let is_sound = matches!(verdict, Verdict::Valid(_) | Verdict::Repaired(_));
        let arguments = verdict.arguments().filter(|_| is_sound)?.to_string();
        Some((
            verdict.tool()?.name().to_owned(),
            serde_json::from_str(&arguments).expect("JSON"),
        ))
    });
    Some((rescued.rest.to_owned(), calls.collect::<Option<Vec<_>>>()?))
}

fn finish_with_calls(api: Api) -> &'static str {
    match api {
        Api::Chat => "tool_calls",
        Api::Messages => "tool_use",
        Api::Responses => "completed",
        Api::Gemini => "STOP",
    }
}

/// Checks the streamed and the whole answer. Returns whether there were calls.
fn check(api: Api, said: &Said, piece: usize, portion: usize) -> bool {
    let (stream, body) = (api.streamed(said, piece), api.whole(said));
    let (mut of_stream, mut of_body) = (Judge::default(), Judge::default());
    let judged_stream = judged(api, &stream, portion, &mut of_stream);
    let judged_body = judged_whole(api, &body, &mut of_body);
    assert_eq!(of_stream.verdicts, of_body.verdicts);
    let Some((rest, calls)) = expected(said) else {
        assert!(
            without_pings(&judged_stream) == without_pings(&stream),
            "{api:?}: not a call, so not a byte changes: {said:?}"
        );
        assert_eq!(
            judged_body, body,
            "{api:?}: not a call, so not a byte changes"
        );
        return false;
    };
    let mut heard = api.hear_stream(&judged_stream);
    let mut whole = api.hear_whole(&judged_body);
    for call in heard.calls.iter_mut().chain(&mut whole.calls) {
        call.2 = serde_json::from_str::<Value>(&call.2)
            .expect("JSON")
            .to_string();
    }
    assert_eq!(heard, whole, "{api:?}: {said:?}");
    assert_eq!(heard.text, rest, "{api:?}");
    let found: Vec<_> = heard
        .calls
        .iter()
        .map(|(_, tool, arguments)| {
            (
                tool.clone(),
                serde_json::from_str::<Value>(arguments).expect("JSON"),
            )
        })
        .collect();
    assert_eq!(found, calls, "{api:?}");
    assert_eq!(heard.finish, finish_with_calls(api));
    let ids: std::collections::BTreeSet<&str> =
        heard.calls.iter().map(|call| call.0.as_str()).collect();
    assert_eq!(ids.len(), calls.len());
    for id in ids {
        let hash = id.strip_prefix("call_").expect("an id of ours");
        assert!(
            hash.len() == 24 && hash.bytes().all(|byte| byte.is_ascii_alphanumeric()),
            "{id}"
        );
    }
    if rest.is_empty() {
        assert!(
            heard
                .parts
                .iter()
                .all(|part| !matches!(part.as_str(), "text" | "message")),
            "{:?}",
            heard.parts
        );
    }
    assert!(
        of_stream
            .verdicts
            .iter()
            .all(|(notation, ..)| notation.is_some())
    );
    true
}
