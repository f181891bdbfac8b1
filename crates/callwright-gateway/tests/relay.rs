//! Requests and answers through a running gateway, in front of an API that sends exact bytes.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may panic, and says what it skips"
)]

mod support;

use std::io::Write as _;
use std::time::Duration;

use bytes::Bytes;
use callwright::Policy;
use callwright_gateway::Mode;
use hyper::Method;
use serde_json::{Value, json};
use support::scripted::{Running, ScriptedApi, Step, sent, text, until_broken};
use support::{Api, Said, TestApi};

const CHAT: &str = "/v1/chat/completions";

fn said(arguments: &str) -> Said {
    Said {
        text: "Let me look.".to_owned(),
        calls: vec![(
            "call_1".to_owned(),
            "get_weather".to_owned(),
            arguments.to_owned(),
        )],
        is_cut: false,
        ..Said::default()
    }
}

const VALID: &str = r#"{"city":"Paris","days":3}"#;
const REPAIRABLE: &str = r#"{"city":"Paris","days":"3"}"#;

#[tokio::test]
async fn an_answer_without_a_fault_keeps_its_bytes() {
    for api in Api::ALL {
        let body = api.whole(&said(VALID));
        let upstream = ScriptedApi::json(&body).await;
        let gateway = Running::start(upstream.options()).await;
        let request = api.request();
        let response = gateway.post(api.path(), request.clone()).await;
        assert_eq!(response.headers()["x-request-id"], "r7");
        assert_eq!(response.headers()["x-callwright"], "calls=1");
        assert_eq!(text(response).await, body, "{api:?}");
        let arrived = upstream.arrived();
        assert_eq!(arrived.len(), 1);
        assert_eq!(arrived[0].body, request.as_bytes());

        let stream = api.streamed(&said(VALID), 4);
        let upstream = ScriptedApi::events(sent(&stream)).await;
        let gateway = Running::start(upstream.options()).await;
        let response = gateway.post(api.path(), request).await;
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        assert_eq!(text(response).await, stream, "{api:?}");
    }
}

#[tokio::test]
async fn a_call_is_repaired_in_place_and_counted() {
    for api in Api::ALL {
        let upstream = ScriptedApi::json(&api.whole(&said(REPAIRABLE))).await;
        let gateway = Running::start(upstream.options()).await;
        let response = gateway.post(api.path(), api.request()).await;
        assert_eq!(response.headers()["x-callwright"], "calls=1 repaired=1");
        assert_eq!(text(response).await, api.whole(&said(VALID)), "{api:?}");
        // Most clients skip a byte order mark.
        let marked = format!("\u{feff}{}", api.whole(&said(REPAIRABLE)));
        let upstream = ScriptedApi::json(&marked).await;
        let marked = Running::start(upstream.options()).await;
        let response = marked.post(api.path(), api.request()).await;
        assert_eq!(text(response).await, api.whole(&said(VALID)), "{api:?}");
        let metrics = gateway.get("/callwright/metrics").await;
        assert!(
            metrics.contains(",verdict=\"repaired\",tool=\"get_weather\""),
            "{metrics}"
        );
        assert!(
            metrics.contains("callwright_edits_total{rule="),
            "{metrics}"
        );

        let upstream = ScriptedApi::events(sent(&api.streamed(&said(REPAIRABLE), 3))).await;
        let gateway = Running::start(upstream.options()).await;
        let stream = text(gateway.post(api.path(), api.request()).await).await;
        let (heard, expected) = (
            api.hear_stream(&stream),
            api.hear_whole(&api.whole(&said(VALID))),
        );
        assert_eq!(heard, expected, "{api:?}");
    }
}

/// The answer has no room for a note to the model, so a header reports the highest repair grade.
#[tokio::test]
async fn a_repair_beyond_lossless_is_counted_by_its_grade() {
    let schema =
        json!({"type": "object", "properties": {"scale": {"enum": ["celsius", "fahrenheit"]}}});
    let tool =
        json!({"type": "function", "function": {"name": "get_weather", "parameters": schema}});
    let request = json!({"model": "m", "messages": [], "tools": [tool]}).to_string();
    let upstream = ScriptedApi::json(&Api::Chat.whole(&said(r#"{"scale":"celcius"}"#))).await;
    let mut options = upstream.options();
    options.policy = Policy::from_toml("[tool.get_weather]\neffect = \"read\"").expect("a policy");
    let gateway = Running::start(options).await;
    let response = gateway.post(CHAT, request).await;
    let header = response.headers()["x-callwright"].clone();
    assert_eq!(header, "calls=1 repaired=1 guess=1");
    assert!(text(response).await.contains("celsius"));
}

#[tokio::test]
async fn observing_changes_and_holds_nothing() {
    let stream = Api::Chat.streamed(&said(REPAIRABLE), 3);
    let upstream = ScriptedApi::events(sent(&stream)).await;
    let mut options = upstream.options();
    options.mode = Mode::Observe;
    let gateway = Running::start(options).await;
    assert_eq!(
        text(gateway.post(CHAT, Api::Chat.request()).await).await,
        stream
    );
    let metrics = gateway.get("/callwright/metrics").await;
    assert!(metrics.contains("verdict=\"repaired\""), "{metrics}");
    let body = Api::Chat.whole(&said(REPAIRABLE));
    let upstream = ScriptedApi::json(&body).await;
    let mut options = upstream.options();
    options.mode = Mode::Observe;
    let gateway = Running::start(options).await;
    let response = gateway.post(CHAT, Api::Chat.request()).await;
    let told = response.headers()["x-callwright"].clone();
    assert_eq!(told, "calls=1 repaired=1 mode=observe");
    assert_eq!(text(response).await, body);
}

#[tokio::test]
async fn what_is_not_judged_is_a_pipe() {
    let body = Api::Chat.whole(&said(REPAIRABLE));
    let upstream = ScriptedApi::json(&body).await;
    let gateway = Running::start(upstream.options()).await;
    // No tools, another path, another method, and a body that is not JSON.
    for (method, path, request) in [
        (Method::POST, CHAT, r#"{"model": "m", "messages": []}"#),
        (
            Method::POST,
            "/v1/embeddings",
            r#"{"tools": [{"name": "get_weather", "parameters": {}}]}"#,
        ),
        (Method::GET, "/v1/models?limit=2", ""),
        (Method::POST, CHAT, "tools"),
    ] {
        let response = gateway
            .send(method, path, &[("authorization", "Bearer k")], request)
            .await;
        assert_eq!(text(response).await, body);
        let arrived = upstream.arrived().pop().expect("a request");
        assert!(arrived.head.contains(path), "{}", arrived.head);
        assert!(arrived.head.contains("authorization: bearer k"));
    }
}

#[tokio::test]
async fn errors_of_the_api_pass_as_they_are() {
    let body = r#"{"error": {"message": "slow down"}}"#;
    let head = "HTTP/1.1 429 Too Many Requests\ncontent-type: application/json\nretry-after: 7\nx-ratelimit-remaining: 0";
    let upstream =
        ScriptedApi::start(head, vec![Step::Send(Bytes::from_static(body.as_bytes()))]).await;
    let gateway = Running::start(upstream.options()).await;
    let response = gateway.post(CHAT, Api::Chat.request()).await;
    assert_eq!(response.status(), 429);
    assert_eq!(response.headers()["retry-after"], "7");
    assert_eq!(response.headers()["x-ratelimit-remaining"], "0");
    assert_eq!(text(response).await, body);
    assert_eq!(upstream.arrived().len(), 1, "nothing is sent twice");
}

#[tokio::test]
async fn an_api_that_is_not_there_is_named() {
    let upstream = ScriptedApi::json("{}").await;
    let mut options = upstream.options();
    options.proxy.upstream = "http://127.0.0.1:9/".to_owned();
    let gateway = Running::start(options).await;
    let response = gateway.post(CHAT, Api::Chat.request()).await;
    assert_eq!(response.status(), 502);
    let error: Value = serde_json::from_str(&text(response).await).expect("JSON");
    let message = error["error"]["message"].as_str().expect("a message");
    assert!(
        message.starts_with("The API at http://127.0.0.1:9/ cannot be reached: "),
        "{message}"
    );
}

#[tokio::test]
async fn a_compressed_request_is_examined_and_passes_unchanged() {
    let plain = Api::Chat.request();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(plain.as_bytes()).expect("writes");
    let zstd = ruzstd::encoding::compress_to_vec(
        plain.as_bytes(),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    let answer = Api::Chat.whole(&said(REPAIRABLE));
    let upstream = ScriptedApi::json(&answer).await;
    let gateway = Running::start(upstream.options()).await;
    for (encoding, body) in [("gzip", gzip.finish().expect("a file")), ("zstd", zstd)] {
        let response = gateway
            .send(
                Method::POST,
                CHAT,
                &[("content-encoding", encoding)],
                body.clone(),
            )
            .await;
        assert_eq!(
            text(response).await,
            Api::Chat.whole(&said(VALID)),
            "{encoding}"
        );
        assert_eq!(upstream.arrived().pop().expect("a request").body, body);
    }
    // A body that cannot be decoded is passed on.
    let response = gateway
        .send(
            Method::POST,
            CHAT,
            &[("content-encoding", "zstd")],
            "no zstd",
        )
        .await;
    assert_eq!(text(response).await, answer);
    let metrics = gateway.get("/callwright/metrics").await;
    assert!(
        metrics.contains("callwright_unjudged_total{reason=\"request_encoding\"} 1"),
        "{metrics}"
    );
}

#[tokio::test]
async fn a_bomb_is_not_unpacked() {
    let bomb = ruzstd::encoding::compress_to_vec(
        std::io::Read::take(std::io::repeat(b' '), 80 << 20),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    let answer = Api::Chat.whole(&said(REPAIRABLE));
    let upstream = ScriptedApi::json(&answer).await;
    let gateway = Running::start(upstream.options()).await;
    let response = gateway
        .send(Method::POST, CHAT, &[("content-encoding", "zstd")], bomb)
        .await;
    assert_eq!(text(response).await, answer);
}

#[tokio::test]
async fn large_bodies_pass_unjudged() {
    let answer = Api::Chat.whole(&Said {
        text: "x".repeat(3 << 20),
        ..said(REPAIRABLE)
    });
    let upstream = ScriptedApi::json(&answer).await;
    let mut options = upstream.options();
    options.proxy.limits.max_bytes = 1 << 20;
    let gateway = Running::start(options).await;
    assert_eq!(
        text(gateway.post(CHAT, Api::Chat.request()).await).await,
        answer
    );
    let padded = format!("{}{}", Api::Chat.request(), " ".repeat(2 << 20));
    assert_eq!(text(gateway.post(CHAT, padded.clone()).await).await, answer);
    let metrics = gateway.get("/callwright/metrics").await;
    assert!(
        metrics.contains("reason=\"answer_too_large\"} 1")
            && metrics.contains("reason=\"request_too_large\"} 1"),
        "{metrics}"
    );
}

#[tokio::test]
async fn an_api_that_dies_within_a_call_loses_nothing_that_it_sent() {
    for api in [Api::Chat, Api::Messages, Api::Responses] {
        let stream = api.streamed(&said(REPAIRABLE), 3);
        let events: Vec<&str> = stream.split_inclusive("\n\n").collect();
        let begun = events[..events.len() - 4].concat();
        let mut steps = sent(&begun);
        steps.push(Step::Die);
        let upstream = ScriptedApi::events(steps).await;
        let gateway = Running::start(upstream.options()).await;
        let (came, is_broken) = until_broken(gateway.post(api.path(), api.request()).await).await;
        assert_eq!(came, begun, "{api:?}");
        assert!(is_broken, "{api:?}");
    }
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_request() {
    let stream = Api::Chat.streamed(&said(VALID), 3);
    let mut steps = sent(&stream[..200]);
    steps.extend([
        Step::Wait(Duration::from_secs(60)),
        Step::Send(Bytes::from_static(b"x")),
    ]);
    let upstream = ScriptedApi::events(steps).await;
    let gateway = Running::start(upstream.options()).await;
    let response = gateway.post(CHAT, Api::Chat.request()).await;
    drop(response);
    for _ in 0..100 {
        if upstream.closed() == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the request to the API is still open");
}

#[tokio::test]
async fn a_call_that_is_held_for_too_long_passes_unchanged() {
    for api in [Api::Chat, Api::Messages, Api::Responses] {
        let stream = api.streamed(&said(REPAIRABLE), 3);
        let mut steps = sent(&stream);
        steps.insert(steps.len() - 5, Step::Wait(Duration::from_millis(400)));
        let upstream = ScriptedApi::events(steps).await;
        let mut options = upstream.options();
        options.hold = Duration::from_millis(100);
        let gateway = Running::start(options).await;
        assert_eq!(
            text(gateway.post(api.path(), api.request()).await).await,
            stream,
            "{api:?}"
        );
        let metrics = gateway.get("/callwright/metrics").await;
        assert!(metrics.contains("callwright_released_total 1"), "{metrics}");
        assert!(
            metrics.contains("verdict=\"repaired\""),
            "it is judged for the record: {metrics}"
        );
    }
}

#[tokio::test]
async fn a_client_gets_keep_alives_while_a_call_is_held() {
    for (api, kept_alive) in [
        (Api::Chat, "\"delta\":{}"),
        (Api::Messages, "event: ping\n"),
        (Api::Responses, "event: keepalive\n"),
    ] {
        let mut steps = sent(&api.streamed(&said(REPAIRABLE), 3));
        steps.insert(steps.len() - 5, Step::Wait(Duration::from_millis(350)));
        let upstream = ScriptedApi::events(steps).await;
        let mut options = upstream.options();
        options.keep_alive = Duration::from_millis(100);
        let gateway = Running::start(options).await;
        let stream = text(gateway.post(api.path(), api.request()).await).await;
        let plain = text(
            Running::start(upstream.options())
                .await
                .post(api.path(), api.request())
                .await,
        )
        .await;
        let times = |stream: &str| stream.matches(kept_alive).count();
        assert!(times(&stream) >= times(&plain) + 2, "{api:?}: {stream}");
        assert_eq!(
            api.hear_stream(&stream),
            api.hear_whole(&api.whole(&said(VALID)))
        );
    }
}

#[tokio::test]
async fn clients_need_a_key_where_keys_are_set() {
    let upstream = ScriptedApi::json("{}").await;
    let mut options = upstream.options();
    options.client_keys = vec!["one".to_owned(), "two".to_owned()];
    options.upstream_headers = vec![("authorization".to_owned(), "Bearer secret".to_owned())];
    let gateway = Running::start(options).await;
    for (headers, status) in [
        (vec![], 401),
        (vec![("authorization", "Bearer three")], 401),
        (vec![("authorization", "Bearer tw")], 401),
        (vec![("authorization", "Bearer two")], 200),
        (vec![("x-api-key", "one"), ("api-key", "own")], 200),
    ] {
        let response = gateway.send(Method::POST, CHAT, &headers, "{}").await;
        assert_eq!(response.status(), status, "{headers:?}");
    }
    let head = upstream.arrived().pop().expect("a request").head;
    assert!(head.contains("authorization: bearer secret"), "{head}");
    // The provider must not see the gateway's keys; other keys pass.
    assert!(!head.contains("x-api-key"), "{head}");
    assert!(head.contains("api-key: own"), "{head}");
    assert_eq!(
        gateway.get("/callwright/health").await,
        r#"{"status":"ok"}"#
    );
}

#[tokio::test]
async fn web_pages_and_sockets_are_turned_away() {
    let upstream = ScriptedApi::json("{}").await;
    let gateway = Running::start(upstream.options()).await;
    let status = async |headers: &[(&str, &str)]| {
        gateway
            .send(Method::GET, "/v1/responses", headers, "")
            .await
            .status()
    };
    assert_eq!(status(&[("origin", "https://evil.example")]).await, 403);
    assert_eq!(
        status(&[("upgrade", "websocket"), ("connection", "upgrade")]).await,
        426
    );
    assert_eq!(upstream.arrived().len(), 0);
}

#[tokio::test]
async fn settings_change_while_it_runs() {
    let upstream = ScriptedApi::json("{}").await;
    let gateway = Running::start(upstream.options()).await;
    assert_eq!(gateway.post(CHAT, "{}").await.status(), 200);
    let mut options = upstream.options();
    options.client_keys = vec!["one".to_owned()];
    gateway.gateway.reload(&options).expect("valid");
    assert_eq!(gateway.post(CHAT, "{}").await.status(), 401);
    options.client_keys = Vec::new();
    options.upstream_headers = vec![("no name".to_owned(), String::new())];
    assert!(gateway.gateway.reload(&options).is_err());
    assert_eq!(
        gateway.post(CHAT, "{}").await.status(),
        401,
        "the old settings stay"
    );
}

#[tokio::test]
async fn streams_in_progress_finish_when_it_ends() {
    let stream = Api::Chat.streamed(&said(REPAIRABLE), 3);
    let mut steps = sent(&stream);
    steps.insert(6, Step::Wait(Duration::from_millis(300)));
    let upstream = ScriptedApi::events(steps).await;
    let mut gateway = Running::start(upstream.options()).await;
    let response = gateway.post(CHAT, Api::Chat.request()).await;
    gateway.begin_end();
    let heard = Api::Chat.hear_stream(&text(response).await);
    assert_eq!(heard, Api::Chat.hear_whole(&Api::Chat.whole(&said(VALID))));
    gateway.end().await;
}
