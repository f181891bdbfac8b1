//! The official SDKs as clients: what they read from repaired answers, streamed and whole.
//!
//! `CALLWRIGHT_TEST_SDK_PYTHON` is a Python with `openai`, `anthropic` and `google-genai`;
//! `CALLWRIGHT_TEST_SDK_NODE_MODULES` a folder with those and the Vercel AI SDK for Node. Without them the tests say so
//! and pass.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may panic, and says what it skips"
)]

mod support;

use std::path::Path;
use std::process::Stdio;

use bytes::Bytes;
use serde_json::{Map, Value, json};
use support::scripted::{Arrived, Running, ScriptedApi, Step};
use support::{Api, Said, TestApi};

/// What a model says, and the calls that every client must get.
type Script = (fn(Api) -> Said, [[&'static str; 3]; 2]);

/// Two calls, one of which needs a repair.
const REPAIRED: Script = (
    |_| {
        said(&[
            ("call_1", r#"{"city":"Paris","days":"3"}"#),
            ("call_2", r#"{"city":"Rome"}"#),
        ])
    },
    [
        ["call_1", "get_weather", r#"{"city":"Paris","days":3}"#],
        ["call_2", "get_weather", r#"{"city":"Rome"}"#],
    ],
);

/// One call that contains two.
const SPLIT: Script = (
    |api| {
        let both = [r#"{"city":"Paris","days":3}"#, r#"{"city":"Rome"}"#];
        if api.wants_json() {
            said(&[("call_1", &format!("[{}]", both.join(",")))])
        } else {
            said(&[("call_1", &both.concat())])
        }
    },
    [
        ["call_1", "get_weather", r#"{"city":"Paris","days":3}"#],
        ["call_1_2", "get_weather", r#"{"city":"Rome"}"#],
    ],
);

fn said(calls: &[(&str, &str)]) -> Said {
    let call = |(id, arguments): &(&str, &str)| {
        let tool = "get_weather".to_owned();
        ((*id).to_owned(), tool, (*arguments).to_owned())
    };
    Said {
        text: "Let me look.".to_owned(),
        calls: calls.iter().map(call).collect(),
        ..Said::default()
    }
}

/// Answers in the format of the path, with the members that the official SDKs require.
fn answer(request: &Arrived, said: fn(Api) -> Said) -> (String, Vec<Step>) {
    let path = request.head.split(' ').nth(1).unwrap_or_default();
    let body = String::from_utf8_lossy(&request.body);
    let api = match path {
        path if path.contains("/chat/completions") => Api::Chat,
        path if path.contains("/messages") => Api::Messages,
        path if path.contains("/responses") => Api::Responses,
        _ => Api::Gemini,
    };
    let is_streamed = body.contains("\"stream\":true")
        || body.contains("\"stream\": true")
        || path.contains("streamgeneratecontent");
    let (kind, text) = if is_streamed {
        ("text/event-stream", api.streamed(&said(api), 3))
    } else {
        ("application/json", api.whole(&said(api)))
    };
    let head = format!("HTTP/1.1 200 OK\ncontent-type: {kind}");
    (head, vec![Step::Send(Bytes::from(complete(&text)))])
}

/// Adds members that the SDKs need and the tests of the guard do not.
fn complete(text: &str) -> String {
    text.replace(r#""role":"assistant","content":[]"#, r#""role":"assistant","type":"message","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}"#)
        .replace(r#""type":"message","role":"assistant","content":[{"#, r#""type":"message","role":"assistant","model":"m","usage":{"input_tokens":1,"output_tokens":1},"content":[{"#)
        .replace(r#""id":"c1","object""#, r#""id":"c1","created":1,"object""#)
        .replace(r#""id":"r1","object":"response""#, r#""id":"r1","created_at":1,"model":"m","parallel_tool_calls":true,"tools":[],"tool_choice":"auto","usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2,"input_tokens_details":{"cached_tokens":0},"output_tokens_details":{"reasoning_tokens":0}},"object":"response""#)
        .replace(r#""response":{"id":"r1","status":"in_progress""#, r#""response":{"id":"r1","object":"response","created_at":1,"model":"m","parallel_tool_calls":true,"tools":[],"tool_choice":"auto","status":"in_progress""#)
        .replace(r#""thoughtSignature":"s""#, r#""thoughtSignature":"c2ln""#)
        .replace(r#""type":"message","id":"msg_1","status""#, r#""type":"message","id":"msg_1","role":"assistant","status""#)
}

async fn heard_by(program: &str, script: &str, said: fn(Api) -> Said) -> Map<String, Value> {
    let upstream = ScriptedApi::answering(move |request| answer(request, said)).await;
    let gateway = Running::start(upstream.options()).await;
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(script);
    let run = tokio::process::Command::new(program)
        .arg(script)
        .arg(format!("http://127.0.0.1:{}", gateway.port))
        .stdin(Stdio::null())
        .output()
        .await
        .expect("it runs");
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    // Libraries print there too.
    let stdout = String::from_utf8_lossy(&run.stdout);
    let last = stdout.lines().last().unwrap_or_default();
    let Ok(Value::Object(heard)) = serde_json::from_str(last) else {
        panic!("not JSON: {stdout}");
    };
    heard
}

/// Runs the clients, and compares what they got.
async fn check(program: &str, script: &str, clients: usize) {
    for (said, calls) in [REPAIRED, SPLIT] {
        let heard = heard_by(program, script, said).await;
        assert_eq!(heard.len(), clients, "{:?}", heard.keys());
        for (client, heard) in &heard {
            assert_eq!(heard["calls"], json!(calls), "{client}: {heard}");
            assert_eq!(heard["text"], "Let me look.", "{client}: {heard}");
        }
    }
}

#[tokio::test]
async fn python() {
    let Ok(python) = std::env::var("CALLWRIGHT_TEST_SDK_PYTHON") else {
        eprintln!("skipped: CALLWRIGHT_TEST_SDK_PYTHON is not set");
        return;
    };
    check(&python, "sdks.py", 8).await;
}

#[tokio::test]
async fn node() {
    if std::env::var("CALLWRIGHT_TEST_SDK_NODE_MODULES").is_err() {
        eprintln!("skipped: CALLWRIGHT_TEST_SDK_NODE_MODULES is not set");
        return;
    }
    check("node", "sdks.mjs", 18).await;
}
