//! Calls written as text, through a running gateway in front of a server that sends exact bytes.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::too_many_lines,
    reason = "a test may panic, and tells one story"
)]

use std::sync::Arc;

use callwright_gateway::{Gateway, GatewayOptions, Rescue};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const CALL: &str =
    r#"<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}</tool_call>"#;

/// Answers every request with the same bytes.
async fn upstream(kind: &'static str, body: String) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let body = Arc::new(body);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let body = Arc::clone(&body);
            tokio::spawn(async move {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all(head.as_bytes()).await;
                let _ = stream.write_all(body.as_bytes()).await;
            });
        }
    });
    address
}

async fn gateway(upstream: std::net::SocketAddr, rescue: Rescue) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let mut options = GatewayOptions::new(format!("http://{upstream}"));
    options.rescue = rescue;
    tokio::spawn(async move {
        let gateway = Gateway::new(options).expect("valid options");
        gateway.serve(listener, std::future::pending()).await
    });
    address
}

async fn asked(gateway: std::net::SocketAddr, method: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(gateway).await.expect("a gateway");
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {gateway}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("text");
    answer
}

fn request(more: &str) -> String {
    let tool = r#"{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}"#;
    format!(r#"{{"model":"m","messages":[],"tools":[{tool}]{more}}}"#)
}

#[tokio::test]
async fn a_call_as_text_arrives_as_a_call_and_is_counted() {
    let body = format!(
        r#"{{"id":"c1","choices":[{{"index":0,"message":{{"role":"assistant","content":"{CALL}"}},"finish_reason":"stop"}}]}}"#
    );
    let server = upstream("application/json", body).await;
    let path = "/v1/chat/completions";
    let local = gateway(server, Rescue::Auto).await;
    let answer = asked(local, "POST", path, &request("")).await;
    assert!(
        answer.contains("x-callwright: calls=1 rescued=1"),
        "{answer}"
    );
    assert!(
        answer.contains(r#""finish_reason":"tool_calls""#) && answer.contains(r#""content":null"#),
        "{answer}"
    );
    let metrics = asked(local, "GET", "/callwright/metrics", "").await;
    assert!(
        metrics.contains(r#"callwright_rescued_total{notation="tool_call"} 1"#),
        "{metrics}"
    );
    assert!(
        metrics.contains(
            r#"callwright_calls_total{api="chat",verdict="valid",tool="get_weather",model="m"} 1"#
        ),
        "{metrics}"
    );
    // Not if the client wants no calls, or the operator has disabled rescue.
    let answer = asked(local, "POST", path, &request(r#","tool_choice":"none""#)).await;
    assert!(
        answer.contains(CALL) && !answer.contains("x-callwright"),
        "{answer}"
    );
    let off = gateway(server, Rescue::Off).await;
    assert!(asked(off, "POST", path, &request("")).await.contains(CALL));
}

#[tokio::test]
async fn a_streamed_answer_stays_too() {
    let start = r#"data: {"type":"message_start","message":{"id":"m1","content":[]}}"#;
    let block = r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
    let delta = format!(
        r#"data: {{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{CALL}"}}}}"#
    );
    let stop = r#"data: {"type":"content_block_stop","index":0}"#;
    let end = r#"data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#;
    let body = [start, block, &delta, stop, end]
        .map(|event| format!("{event}\n\n"))
        .concat();
    let local = gateway(upstream("text/event-stream", body).await, Rescue::Auto).await;
    let request = request("")
        .replace("\"function\":{", "")
        .replace("}}}}}]", "}}}}]")
        .replace("parameters", "input_schema");
    let answer = asked(local, "POST", "/v1/messages", &request).await;
    assert!(
        answer.contains(r#""type":"tool_use","id":"call_"#)
            && answer.contains(r#""stop_reason":"tool_use""#),
        "{answer}"
    );
    assert!(
        !answer.contains("<tool_call>") && !answer.contains("\"text\""),
        "{answer}"
    );
}
