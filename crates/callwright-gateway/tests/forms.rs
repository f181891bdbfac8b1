//! Rare forms of requests and answers: Gemini's streams as a JSON list, its answers that gave up on a call, namespaces
//! of the responses API.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use bytes::Bytes;
use callwright::policy::ToolPolicy;
use callwright::tool::Effect;
use serde_json::{Value, json};
use support::scripted::{Arrived, Running, ScriptedApi, Step, text};

const GEMINI: &str = "/v1beta/models/m:generateContent";
const GEMINI_LIST: &str = "/v1beta/models/m:streamGenerateContent?key=k";
const GEMINI_EVENTS: &str = "/v1beta/models/m:streamGenerateContent?alt=sse";

fn schema() -> Value {
    json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]})
}

fn gemini_request() -> String {
    json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "tools": [
        {"functionDeclarations": [{"name": "get_weather", "parametersJsonSchema": schema()}]}]})
    .to_string()
}

fn json_head() -> String {
    "HTTP/1.1 200 OK\ncontent-type: application/json; charset=UTF-8".to_owned()
}

/// A list as Gemini writes it, in pieces of `size` bytes.
fn list(days: &str, size: usize) -> (String, Vec<Step>) {
    let text = json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "Let me look.\n]"}]}, "index": 0}]});
    let call = json!({"candidates": [{"content": {"role": "model", "parts": [
        {"functionCall": {"name": "get_weather", "args": {"city": "Paris", "days": "DAYS"}}, "thoughtSignature": "c2ln"}]},
        "finishReason": "STOP", "index": 0}]});
    let pretty = |value: &Value| serde_json::to_string_pretty(value).expect("JSON");
    let written =
        format!("[{}\n,\r\n{}\n]\n", pretty(&text), pretty(&call)).replace("\"DAYS\"", days);
    let steps = written
        .as_bytes()
        .chunks(size)
        .map(|piece| Step::Send(Bytes::copy_from_slice(piece)));
    let steps = steps.collect();
    (written, steps)
}

#[tokio::test]
async fn a_list_that_is_streamed_is_judged() {
    for size in [7, 64, 10_000] {
        let (valid, steps) = list("3", size);
        let upstream = ScriptedApi::start(&json_head(), steps).await;
        let gateway = Running::start(upstream.options()).await;
        let answer = text(gateway.post(GEMINI_LIST, gemini_request()).await).await;
        assert_eq!(answer, valid, "valid answers keep their bytes");

        let (_, steps) = list("\"3\"", size);
        let upstream = ScriptedApi::start(&json_head(), steps).await;
        let gateway = Running::start(upstream.options()).await;
        let answer = text(gateway.post(GEMINI_LIST, gemini_request()).await).await;
        let read = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        assert_eq!(read(&answer), read(&valid));
        let metrics = gateway.get("/callwright/metrics").await;
        assert!(
            metrics.contains("api=\"gemini\",verdict=\"repaired\""),
            "{metrics}"
        );
    }
}

#[tokio::test]
async fn a_malformed_list_passes() {
    for body in [
        r#"{"error": {"code": 7}}"#,
        "[]",
        "[1, 2]",
        "",
        "[{\"candidates\": ",
    ] {
        let steps = vec![Step::Send(Bytes::copy_from_slice(body.as_bytes()))];
        let upstream = ScriptedApi::start(&json_head(), steps).await;
        let gateway = Running::start(upstream.options()).await;
        let answer = text(gateway.post(GEMINI_LIST, gemini_request()).await).await;
        assert_eq!(answer, body);
    }
}

fn candidates(parts: &Value, reason: &str) -> String {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason, "index": 0}],
        "usageMetadata": {"totalTokenCount": 40}})
    .to_string()
}

fn given_up() -> String {
    json!({"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL",
        "finishMessage": "Malformed function call: print(default_api.get_weather(city='Paris'))", "index": 0}]})
    .to_string()
}

/// The answer after the first one gave up on a call, and how often the API was asked.
async fn after_giving_up(path: &str, second: String, effect: Effect) -> (String, usize) {
    let is_stream = path.contains("stream");
    let upstream = ScriptedApi::answering(move |request: &Arrived| {
        let answer = if request.head.contains("x-callwright-reask") {
            second.clone()
        } else if is_stream {
            format!("data: {}\n\n", given_up())
        } else {
            given_up()
        };
        let is_events = answer.starts_with("data:");
        let kind = if is_events {
            "text/event-stream"
        } else {
            "application/json"
        };
        (
            format!("HTTP/1.1 200 OK\ncontent-type: {kind}"),
            vec![Step::Send(Bytes::from(answer))],
        )
    })
    .await;
    let mut options = upstream.options();
    options.reask = 1;
    let mut tool = ToolPolicy::new("get_weather");
    tool.effect = Some(effect);
    options.policy.tools = vec![tool];
    let gateway = Running::start(options).await;
    let answer = text(gateway.post(path, gemini_request()).await).await;
    (answer, upstream.arrived().len())
}

#[tokio::test]
async fn an_answer_that_gave_up_is_asked_for_once_more() {
    let call = |days: Value| json!([{"functionCall": {"name": "get_weather", "args": {"city": "Paris", "days": days}}, "thoughtSignature": "c2ln"}]);
    let repaired = candidates(&call(json!(3)), "STOP");
    for path in [GEMINI, GEMINI_EVENTS] {
        let second = candidates(&call(json!("3")), "STOP");
        let (answer, asked) = after_giving_up(path, second, Effect::Read).await;
        let answer = answer.trim().trim_start_matches("data: ");
        let read = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        assert_eq!((read(answer), asked), (read(&repaired), 2), "{path}");
    }
}

#[tokio::test]
async fn what_cannot_take_its_place_is_not_used() {
    let call = |name: &str, args: Value| json!([{"functionCall": {"name": name, "args": args}}]);
    let paris = json!({"city": "Paris"});
    for (second, effect, times) in [
        (given_up(), Effect::Read, 2),
        (
            candidates(&json!([{"text": "hm"}]), "STOP"),
            Effect::Read,
            2,
        ),
        (
            candidates(&call("get_weather", json!({})), "STOP"),
            Effect::Read,
            2,
        ),
        (
            candidates(&call("other", paris.clone()), "STOP"),
            Effect::Read,
            2,
        ),
        (
            candidates(&call("get_weather", paris.clone()), "MAX_TOKENS"),
            Effect::Read,
            2,
        ),
        // The model is not asked again for a tool that writes.
        (
            candidates(&call("get_weather", paris), "STOP"),
            Effect::Write,
            2,
        ),
    ] {
        for path in [GEMINI, GEMINI_EVENTS] {
            let (answer, asked) = after_giving_up(path, second.clone(), effect).await;
            let answer = answer.trim().trim_start_matches("data: ");
            assert_eq!((answer, asked), (given_up().as_str(), times), "{second}");
        }
    }
}

#[tokio::test]
async fn calls_in_a_namespace_are_judged_and_stay_in_it() {
    let function = |name: &str| json!({"type": "function", "name": name, "parameters": schema()});
    let request = json!({"model": "m", "input": "hi", "tools": [
        {"type": "namespace", "name": "weather", "description": "d", "tools": [function("get"), function("compare")]},
        {"type": "namespace", "name": "archive", "description": "d", "tools": [function("fetch")]},
    ]})
    .to_string();
    let answer = |namespace: &str, name: &str, days: Value| {
        let arguments = json!({"city": "Paris", "days": days}).to_string();
        let item = json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name, "namespace": namespace,
            "arguments": arguments, "status": "completed"});
        json!({"id": "r1", "object": "response", "status": "completed", "output": [item]})
            .to_string()
    };
    for (sent, expected) in [
        (
            answer("weather", "get", json!(3)),
            answer("weather", "get", json!(3)),
        ),
        (
            answer("weather", "get", json!("3")),
            answer("weather", "get", json!(3)),
        ),
        (
            answer("weather", "Get", json!(3)),
            answer("weather", "get", json!(3)),
        ),
        // The name exists only in the other namespace.
        (
            answer("weather", "fetch", json!(3)),
            answer("weather", "fetch", json!(3)),
        ),
    ] {
        let upstream = ScriptedApi::json(&sent).await;
        let gateway = Running::start(upstream.options()).await;
        let got = text(gateway.post("/v1/responses", request.clone()).await).await;
        assert_eq!(got, expected);
    }
}
