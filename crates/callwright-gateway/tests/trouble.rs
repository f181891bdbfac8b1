//! Misbehaving clients and APIs: slow, large, hostile, many at once. Nothing hangs, and nothing is lost unless it was
//! lost upstream.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use std::time::Duration;

use serde_json::{Value, json};
use support::scripted::{Running, ScriptedApi, Step, sent, text};
use support::{Api, Said, TestApi};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const CHAT: &str = "/v1/chat/completions";
const VALID: &str = r#"{"city":"Paris","days":3}"#;
const REPAIRABLE: &str = r#"{"city":"Paris","days":"3"}"#;

fn request(schema: &Value) -> String {
    json!({"model": "m", "messages": [], "tools": [
        {"type": "function", "function": {"name": "get_weather", "parameters": schema}}]})
    .to_string()
}

fn plain_request() -> String {
    request(
        &json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"]}),
    )
}

fn said(arguments: &str) -> Said {
    Said {
        text: "Let me look.".to_owned(),
        calls: vec![(
            "call_1".to_owned(),
            "get_weather".to_owned(),
            arguments.to_owned(),
        )],
        ..Said::default()
    }
}

#[tokio::test]
async fn a_client_that_sends_and_reads_slowly_gets_everything() {
    let upstream = ScriptedApi::json(&Api::Chat.whole(&said(REPAIRABLE))).await;
    let gateway = Running::start(upstream.options()).await;
    let body = plain_request();
    let head = format!(
        "POST {CHAT} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut client = TcpStream::connect(("127.0.0.1", gateway.port))
        .await
        .expect("connects");
    for piece in [head, body.clone()].concat().as_bytes().chunks(40) {
        client.write_all(piece).await.expect("sends");
        client.flush().await.expect("sends");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut answer = Vec::new();
    let mut part = [0; 64];
    while let Ok(read @ 1..) = client.read(&mut part).await {
        answer.extend_from_slice(&part[..read]);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let answer = String::from_utf8(answer).expect("text");
    let expected = Api::Chat.whole(&said(VALID));
    assert!(answer.ends_with(&expected), "{answer}");
    assert_eq!(upstream.arrived()[0].body, body.as_bytes());
}

#[tokio::test]
async fn a_client_that_does_not_read_does_not_hold_up_others() {
    // More than the socket buffers hold.
    let long = format!(
        "data: {}\n\n",
        json!({"choices": [], "x": "y".repeat(60_000)})
    );
    let mut stream = long.repeat(400);
    stream += &Api::Chat.streamed(&said(REPAIRABLE), 3);
    let upstream = ScriptedApi::events(sent(&stream)).await;
    let gateway = Running::start(upstream.options()).await;
    let stuck = gateway.post(CHAT, plain_request()).await;
    for _ in 0..3 {
        let other = text(gateway.post(CHAT, plain_request()).await).await;
        assert!(other.contains(r#"\"days\":3"#));
    }
    let late = text(stuck).await;
    assert_eq!(late.matches(&long).count(), 400);
    assert!(late.contains(r#"\"days\":3"#));
}

#[tokio::test]
async fn a_request_that_breaks_off_does_not_reach_the_model() {
    let upstream = ScriptedApi::json("{}").await;
    let gateway = Running::start(upstream.options()).await;
    let mut client = TcpStream::connect(("127.0.0.1", gateway.port))
        .await
        .expect("connects");
    let head = format!("POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5000\r\n\r\n");
    client
        .write_all(format!("{head}{}", plain_request()).as_bytes())
        .await
        .expect("sends");
    client.shutdown().await.expect("leaves");
    let mut answer = String::new();
    let _cut = client.read_to_string(&mut answer).await;
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 400"),
        "{answer}"
    );
    assert!(upstream.arrived().is_empty());
}

#[tokio::test]
async fn a_header_bomb_is_refused_and_the_next_request_served() {
    let upstream = ScriptedApi::json(&Api::Chat.whole(&said(VALID))).await;
    let gateway = Running::start(upstream.options()).await;
    for bomb in [
        format!("x-bomb: {}\r\n", "x".repeat(2_000_000)),
        "x: y\r\n".repeat(50_000),
    ] {
        let mut client = TcpStream::connect(("127.0.0.1", gateway.port))
            .await
            .expect("connects");
        let head = format!("POST {CHAT} HTTP/1.1\r\nhost: localhost\r\n{bomb}\r\n");
        // The gateway may close the connection before all of it is sent.
        let _cut = client.write_all(head.as_bytes()).await;
        let mut answer = Vec::new();
        let _cut = client.read_to_end(&mut answer).await;
        let answer = String::from_utf8_lossy(&answer);
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 431"),
            "{answer}"
        );
    }
    assert!(upstream.arrived().is_empty());
    let answer = text(gateway.post(CHAT, plain_request()).await).await;
    assert_eq!(answer, Api::Chat.whole(&said(VALID)));
}

#[tokio::test]
async fn a_hostile_schema_costs_its_own_tool_only() {
    let mut all = json!({"a0": {"type": "object"}});
    for level in 1..60 {
        let below = json!({"$ref": format!("#/$defs/a{}", level - 1)});
        all[format!("a{level}")] = json!({"allOf": [below, below]});
    }
    let hostile = json!({"$defs": all, "$ref": "#/$defs/a59"});
    let mut request: Value = serde_json::from_str(&plain_request()).expect("JSON");
    let other = json!({"type": "function", "function": {"name": "other", "parameters": hostile}});
    request["tools"].as_array_mut().expect("tools").push(other);
    let upstream = ScriptedApi::json(&Api::Chat.whole(&said(REPAIRABLE))).await;
    let gateway = Running::start(upstream.options()).await;
    let answer = gateway.post(CHAT, request.to_string());
    let answer = tokio::time::timeout(Duration::from_secs(60), answer).await;
    let answer = text(answer.expect("it does not hang")).await;
    assert_eq!(answer, Api::Chat.whole(&said(VALID)));
}

#[tokio::test]
async fn bodies_of_64_megabytes_pass() {
    let large = "x".repeat(65 * 1024 * 1024);
    let answer = json!({"choices": [], "large": large}).to_string();
    let upstream = ScriptedApi::json(&answer).await;
    let gateway = Running::start(upstream.options()).await;
    let response = gateway.post(CHAT, plain_request()).await;
    assert!(text(response).await == answer, "the answer is not the same");
    let mut request: Value = serde_json::from_str(&plain_request()).expect("JSON");
    request["messages"] = json!([{"role": "user", "content": large}]);
    let request = request.to_string();
    let response = gateway.post(CHAT, request.clone()).await;
    assert!(text(response).await == answer, "the answer is not the same");
    assert!(
        upstream.arrived()[1].body == request.as_bytes(),
        "the request is not the same"
    );
    let metrics = gateway.get("/callwright/metrics").await;
    for reason in ["answer_too_large", "request_too_large"] {
        let line = format!("callwright_unjudged_total{{reason=\"{reason}\"}} 1");
        assert!(metrics.contains(&line), "{metrics}");
    }
}

#[tokio::test]
async fn five_hundred_clients_at_once_are_all_served() {
    let stream = Api::Chat.streamed(&said(REPAIRABLE), 3);
    let mut steps = sent(&stream);
    steps.insert(3, Step::Wait(Duration::from_millis(300)));
    let upstream = ScriptedApi::events(steps).await;
    let gateway = Running::start(upstream.options()).await;
    let expected = Api::Chat.hear_whole(&Api::Chat.whole(&said(VALID)));
    let body = plain_request();
    let clients = (0..500).map(|_| async { text(gateway.post(CHAT, body.clone()).await).await });
    for answer in futures_util::future::join_all(clients).await {
        assert_eq!(Api::Chat.hear_stream(&answer), expected);
    }
    let metrics = gateway.get("/callwright/metrics").await;
    let line = "callwright_calls_total{api=\"chat\",verdict=\"repaired\",tool=\"get_weather\",model=\"m\"} 500";
    assert!(metrics.contains(line), "{metrics}");
}

#[tokio::test]
async fn many_streams_finish_when_it_ends_and_new_clients_are_refused() {
    let stream = Api::Chat.streamed(&said(REPAIRABLE), 3);
    let mut steps = sent(&stream);
    steps.insert(6, Step::Wait(Duration::from_millis(500)));
    let upstream = ScriptedApi::events(steps).await;
    let mut gateway = Running::start(upstream.options()).await;
    let mut open = Vec::new();
    for _ in 0..50 {
        open.push(gateway.post(CHAT, plain_request()).await);
    }
    gateway.begin_end();
    let port = gateway.port;
    let expected = Api::Chat.hear_whole(&Api::Chat.whole(&said(VALID)));
    for response in open {
        assert_eq!(Api::Chat.hear_stream(&text(response).await), expected);
    }
    gateway.end().await;
    assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err());
}
