//! Connections and messages that break off, and slow or large ones, on either side.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::odd::{Got, Odd, Script, call, events, json, parsed, usual, with};
use crate::parts::{Guarded, LONG, request};

/// A response that is shorter than its Content-Length.
fn cut(kind: &str, body: &str) -> String {
    let answer = with("200 OK", &format!("Content-Type: {kind}\r\n"), body);
    answer.replace("Content-Length: ", "Content-Length: 9")
}

#[tokio::test(flavor = "multi_thread")]
async fn half_a_response_is_reported() {
    let whole: Script = |got| match parsed(&got.body)["method"].as_str() {
        Some("tools/call") => cut("application/json", r#"{"jsonrpc":"2.0","id":7,"res"#),
        _ => usual(got),
    };
    let stream: Script = |got| match parsed(&got.body)["method"].as_str() {
        Some("tools/call") => cut(
            "text/event-stream",
            "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"res",
        ),
        _ => usual(got),
    };
    for (script, status) in [(whole, 502), (stream, 200)] {
        let server = Odd::start(script).await;
        let guarded = Guarded::start(&server.url).await;
        let body = call(7, &json!({"n": 1})).to_string();
        let answer = request(&guarded.url, "POST", &[], &body).await;
        assert_eq!(answer.status, status, "{answer:?}");
        assert!(
            answer.body.contains("did not complete its response"),
            "{answer:?}"
        );
        assert!(answer.body.contains(r#""id":7"#), "{answer:?}");
        // It was sent only once, because it may have run.
        let calls = server.bodies();
        let calls = calls.iter().filter(|body| body.contains("tools/call"));
        assert_eq!(calls.count(), 1);
        guarded.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_ends_without_the_result_is_reported() {
    let ends: Script = |got| match parsed(&got.body)["method"].as_str() {
        Some("tools/call") => events(": working\n\n"),
        _ => usual(got),
    };
    // The client may resume it.
    let pauses: Script = |got| match parsed(&got.body)["method"].as_str() {
        Some("tools/call") => events("id: 3\ndata:\n\n"),
        _ => usual(got),
    };
    for (script, is_reported) in [(ends, true), (pauses, false)] {
        let server = Odd::start(script).await;
        let guarded = Guarded::start(&server.url).await;
        let body = call(7, &json!({"n": 1})).to_string();
        let answer = request(&guarded.url, "POST", &[], &body).await;
        let why = "ended its response before the result. The request may or may not have been";
        assert_eq!(answer.body.contains(why), is_reported, "{answer:?}");
        assert_eq!(answer.body.contains(r#""id":7"#), is_reported, "{answer:?}");
        guarded.end().await;
    }
}

/// An incomplete event is not delivered: it has not been judged, and some clients would accept it.
#[tokio::test(flavor = "multi_thread")]
async fn an_unfinished_event_is_dropped() {
    let script: Script = |got| match parsed(&got.body)["method"].as_str() {
        Some("tools/call") => events(
            "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"structuredContent\":{\"n\":\"x\"},\"content\":[]}}\n",
        ),
        _ => usual(got),
    };
    let server = Odd::start(script).await;
    let guarded = Guarded::start(&server.url).await;
    let body = call(7, &json!({"n": 1})).to_string();
    let answer = request(&guarded.url, "POST", &[], &body).await;
    assert!(!answer.body.contains("structuredContent"), "{answer:?}");
    assert!(
        answer
            .body
            .contains("ended its response in the middle of a message"),
        "{answer:?}"
    );
    assert!(answer.body.contains(r#""id":7"#), "{answer:?}");
    guarded.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn half_a_request_is_not_sent_on() {
    let server = Odd::start(usual).await;
    let guarded = Guarded::start(&server.url).await;
    let host = guarded.url.split('/').nth(2).expect("a host");
    let body = call(1, &json!({"n": 1})).to_string();
    let length = body.len();
    let head = format!("POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n");
    for sent in 0..3 {
        let mut stream = TcpStream::connect(host).await.expect("it listens");
        let half = format!("{head}{}", &body[..body.len() * sent / 3]);
        stream.write_all(half.as_bytes()).await.expect("it reads");
        stream.shutdown().await.expect("it is open");
        let mut answer = Vec::new();
        let read = timeout(LONG, stream.read_to_end(&mut answer)).await;
        read.expect("in time").ok();
    }
    assert!(server.bodies().is_empty());
    let answer = request(&guarded.url, "POST", &[], &body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    guarded.end().await;
}

/// The length of a call's result.
const LARGE: usize = 50_000_000;

#[tokio::test(flavor = "multi_thread")]
async fn fifty_megabytes_pass() {
    fn large(got: &Got) -> String {
        let message = parsed(&got.body);
        if message["method"] != "tools/call" {
            return usual(got);
        }
        let content = json!([{"type": "text", "text": "x".repeat(LARGE)}]);
        let n = &message["params"]["arguments"]["n"];
        let result = json!({"content": content, "structuredContent": {"n": n}});
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        match n.as_u64() {
            Some(1) => json(&answer),
            _ => events(&format!("id: 1\ndata: {answer}\n\n")),
        }
    }
    let server = Odd::start(large).await;
    let guarded = Guarded::start(&server.url).await;
    for n in 1..=2 {
        let body = call(n, &json!({"n": n})).to_string();
        let answer = request(&guarded.url, "POST", &[], &body).await;
        let message = answer.body.trim_start_matches("id: 1\ndata: ");
        let message: Value = serde_json::from_str(message.trim_end()).expect("JSON");
        let text = message["result"]["content"][0]["text"].as_str();
        assert_eq!(text.expect("a text").len(), LARGE);
        assert_eq!(message["result"]["isError"], Value::Null);
    }
    guarded.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_go_away_do_not_disturb_others() {
    // The server closes the connection without an answer.
    let never: Script = |got| match parsed(&got.body)["params"]["arguments"]["n"].as_u64() {
        Some(0) => String::new(),
        _ => usual(got),
    };
    let server = Odd::start(never).await;
    let guarded = Guarded::start(&server.url).await;
    let host = guarded.url.split('/').nth(2).expect("a host");
    for _ in 0..20 {
        let body = call(1, &json!({"n": 0})).to_string();
        let length = body.len();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nMcp-Session-Id: s\r\nContent-Length: {length}\r\n\r\n"
        );
        let mut stream = TcpStream::connect(host).await.expect("it listens");
        let sent = stream.write_all(format!("{head}{body}").as_bytes()).await;
        sent.expect("it reads");
    }
    // Neither the id nor the session is still in use.
    let body = call(1, &json!({"n": 1})).to_string();
    let headers = [("Mcp-Session-Id", "s")];
    let answer = request(&guarded.url, "POST", &headers, &body).await;
    assert!(answer.body.contains(r#""id":1"#), "{answer:?}");
    guarded.end().await;
}

/// How many events the server sends to a slow reader, and how long each is.
const EVENTS: usize = 4_000;
const EVENT: usize = 16_000;

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_reader_gets_everything_and_takes_no_memory() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let upstream = format!("http://{}/mcp", listener.local_addr().expect("a port"));
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a client");
        let mut head = [0; 4_096];
        let read = stream.read(&mut head).await.expect("a request");
        assert!(read > 0);
        let kind =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        stream.write_all(kind.as_bytes()).await.expect("it reads");
        for number in 0..EVENTS {
            let text = "x".repeat(EVENT);
            let event =
                format!("id: {number}\ndata: {{\"method\":\"{number}\",\"x\":\"{text}\"}}\n\n");
            stream.write_all(event.as_bytes()).await.expect("it reads");
            counted.fetch_add(event.len(), Ordering::Relaxed);
        }
    });
    let guarded = Guarded::start(&upstream).await;
    let host = guarded.url.split('/').nth(2).expect("a host");
    let mut stream = TcpStream::connect(host).await.expect("it listens");
    let get = format!("GET /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(get.as_bytes()).await.expect("it reads");
    // Wait until the server cannot send any more.
    let mut before = 0;
    loop {
        sleep(Duration::from_millis(500)).await;
        let now = sent.load(Ordering::Relaxed);
        if now > 0 && now == before {
            break;
        }
        before = now;
    }
    // The system's socket buffers hold a few megabytes.
    assert!(before < EVENTS * EVENT / 2, "{before} bytes were taken");
    let mut all = Vec::new();
    let read = timeout(LONG, stream.read_to_end(&mut all)).await;
    read.expect("in time").expect("it answers");
    let text = String::from_utf8(all).expect("text");
    let ids: Vec<usize> = text
        .lines()
        .filter_map(|line| line.strip_prefix("id: ")?.parse().ok())
        .collect();
    assert_eq!(ids, (0..EVENTS).collect::<Vec<_>>());
    guarded.end().await;
}
