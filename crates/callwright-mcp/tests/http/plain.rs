//! Details that SDKs hide: headers, exact bytes, and missing parts.

use std::time::Duration;

use callwright_mcp::guard::Settings;
use callwright_mcp::http::{Options, ProxyError, serve};
use tokio::net::TcpListener;

use crate::parts::{Answer, Guarded, Server, client, has_python, request};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"plain","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A session over plain HTTP.
async fn session(url: &str) -> String {
    let answer = request(url, "POST", &[], INITIALIZE).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let session = answer
        .header("mcp-session-id")
        .expect("a session")
        .to_owned();
    let answer = post(url, &session, INITIALIZED).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    session
}

async fn post(url: &str, session: &str, body: &str) -> Answer {
    request(url, "POST", &[("Mcp-Session-Id", session)], body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_pass_as_they_are() {
    if !has_python() {
        return;
    }
    let server = Server::start(&[]).await;
    let guarded = Guarded::start(&server.url).await;
    let (without, with) = (session(&server.url).await, session(&guarded.url).await);
    for body in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"thing://one"}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"no/such"}"#,
        r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"slow","arguments":{"steps":2,"pause":0},"_meta":{"progressToken":"p"}}}"#,
    ] {
        let expected = post(&server.url, &without, body).await;
        let answer = post(&guarded.url, &with, body).await;
        assert_eq!(answer.body, expected.body, "{body}");
        assert_eq!(answer.status, expected.status, "{body}");
        assert_eq!(
            answer.header("content-type"),
            expected.header("content-type")
        );
    }
    // Unreadable messages are rejected.
    for body in ["{no JSON", r#"{"jsonrpc":"2.0","id":5}"#] {
        let expected = post(&server.url, &without, body).await;
        let answer = post(&guarded.url, &with, body).await;
        assert_eq!((answer.status, expected.status), (400, 400), "{body}");
        assert!(answer.body.contains(r#""error":{"code":-32"#), "{answer:?}");
    }
    // An unknown session, and one that has ended.
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let call = r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":1}}}"#;
    for body in [list, call] {
        let expected = post(&server.url, "unknown", body).await;
        let answer = post(&guarded.url, "unknown", body).await;
        assert_eq!(
            (answer.status, &answer.body),
            (expected.status, &expected.body)
        );
    }
    let headers = [("Mcp-Session-Id", with.as_str())];
    let ended = request(&guarded.url, "DELETE", &headers, "").await;
    assert_eq!(ended.status, 200, "{ended:?}");
    let answer = post(&guarded.url, &with, list).await;
    assert_eq!(answer.status, 404, "{answer:?}");
    guarded.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_are_answered_here() {
    if !has_python() {
        return;
    }
    let server = Server::start(&[]).await;
    let guarded = Guarded::start(&server.url).await;
    let session = session(&guarded.url).await;
    let call = r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"twice","arguments":{"value":"many"}}}"#;
    let answer = post(&guarded.url, &session, call).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert!(
        answer
            .body
            .starts_with(r#"{"jsonrpc":"2.0","id":"x","result":{"#),
        "{answer:?}"
    );
    assert!(answer.body.contains(r#""isError":true"#), "{answer:?}");
    guarded.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn web_pages_of_other_origins_are_refused() {
    // Nothing listens there: a request that passes the check gets 502.
    let guarded = Guarded::start("http://127.0.0.1:9/mcp").await;
    for (headers, status) in [
        (vec![], 502),
        (vec![("Origin", "http://localhost:6274")], 502),
        (vec![("Origin", "https://evil.example")], 403),
        (vec![("Origin", "null")], 403),
        (vec![("Host", "evil.example")], 403),
    ] {
        for (method, body) in [
            ("POST", INITIALIZE),
            ("GET", ""),
            ("DELETE", ""),
            ("OPTIONS", ""),
        ] {
            let answer = request(&guarded.url, method, &headers, body).await;
            assert_eq!(answer.status, status, "{method} {headers:?} {answer:?}");
        }
    }
    let elsewhere = guarded.url.replace("/mcp", "/admin");
    let answer = request(&elsewhere, "POST", &[], INITIALIZE).await;
    assert_eq!(answer.status, 404, "{answer:?}");
    guarded.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_down_is_named() {
    let guarded = Guarded::start("http://127.0.0.1:9/mcp?key=secret").await;
    let call =
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":{}}}"#;
    let headers = [("Authorization", "Bearer secret")];
    for body in [INITIALIZE, call] {
        let answer = request(&guarded.url, "POST", &headers, body).await;
        assert_eq!(answer.status, 502);
        assert!(
            answer
                .body
                .contains("http://127.0.0.1:9/mcp cannot be reached"),
            "{answer:?}"
        );
        assert!(answer.body.contains("Start it"), "{answer:?}");
    }
    let warnings = guarded.warnings.lock().expect("whole").join("\n");
    assert!(
        !warnings.contains("secret") && warnings.contains("cannot be reached"),
        "{warnings}"
    );
    guarded.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_bounded() {
    let mut options = Options::new("http://127.0.0.1:9/mcp");
    options.proxy.limits.max_bytes = 100;
    let guarded = Guarded::start_with(options).await;
    let answer = request(&guarded.url, "POST", &[], INITIALIZE).await;
    assert_eq!(answer.status, 413);
    assert!(answer.body.contains("more than 100 bytes"), "{answer:?}");
    guarded.end().await;

    if !has_python() {
        return;
    }
    for kind in [&[][..], &["json"][..]] {
        let server = Server::start(kind).await;
        let mut options = Options::new(&server.url);
        options.proxy.limits.max_bytes = 10_000;
        let guarded = Guarded::start_with(options).await;
        let session = session(&guarded.url).await;
        let call = r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"big","arguments":{"length":90000}}}"#;
        let answer = post(&guarded.url, &session, call).await;
        assert!(answer.body.contains(r#""id":8,"error""#), "{answer:?}");
        assert!(answer.body.contains("more than 10000 bytes"), "{answer:?}");
        guarded.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_in_progress_are_finished() {
    if !has_python() {
        return;
    }
    let server = Server::start(&[]).await;
    let mut options = Options::new(&server.url);
    options.proxy.finish = Duration::from_secs(60);
    let guarded = Guarded::start_with(options).await;
    let url = guarded.url.clone();
    let session = session(&url).await;
    let listening = {
        let (url, session) = (url.clone(), session.clone());
        tokio::spawn(async move {
            let headers = [
                ("Mcp-Session-Id", session.as_str()),
                ("Accept", "text/event-stream"),
            ];
            request(&url, "GET", &headers, "").await
        })
    };
    let calling = {
        let (url, session) = (url.clone(), session.clone());
        tokio::spawn(async move {
            let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{"steps":1,"pause":3}}}"#;
            post(&url, &session, call).await
        })
    };
    // Wait until both are in progress.
    tokio::time::sleep(Duration::from_secs(1)).await;
    guarded.end().await;
    let answer = calling.await.expect("no panic");
    assert!(answer.body.contains("done"), "{answer:?}");
    let stream = listening.await.expect("no panic");
    assert_eq!(stream.status, 200, "{stream:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_end_is_cut_off() {
    if !has_python() {
        return;
    }
    let server = Server::start(&[]).await;
    let mut options = Options::new(&server.url);
    options.proxy.finish = Duration::from_millis(100);
    let guarded = Guarded::start_with(options).await;
    let url = guarded.url.clone();
    let calling = tokio::spawn(async move {
        let session = session(&url).await;
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{"steps":1,"pause":600}}}"#;
        post(&url, &session, call).await
    });
    tokio::time::sleep(Duration::from_secs(2)).await;
    guarded.end().await;
    let answer = calling.await;
    assert!(answer.is_err() || answer.is_ok_and(|answer| !answer.body.contains("done")));
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_without_a_session_may_use_the_same_ids() {
    if !has_python() {
        return;
    }
    let server = Server::start(&["stateless"]).await;
    let guarded = Guarded::start(&server.url).await;
    // They look like one client, so their calls must differ.
    let run = async |number: u32| {
        let slow = format!(r#"slow {{"steps":2,"pause":0.2{number}}}"#);
        let twice = format!(r#"twice {{"value":"{number}"}}"#);
        let steps = ["tools", slow.as_str(), twice.as_str()];
        client(&guarded.url, "2026-07-28", &steps).await
    };
    let (one, two, three) = tokio::join!(run(1), run(2), run(3));
    for (number, said) in [(1, one), (2, two), (3, three)] {
        assert_eq!(said[1], "ok | done | 1.0/2.0 step 1 | 2.0/2.0 step 2");
        assert_eq!(said[2], format!("ok | {}", 2 * number));
    }
    guarded.end().await;
}

#[tokio::test]
async fn other_machines_are_refused_unless_allowed() {
    let serve_at = |address: &'static str, options: Options| async move {
        let listener = TcpListener::bind(address).await.expect("a port");
        let settings = std::sync::Arc::new(Settings::default());
        serve(listener, options, settings, async {}).await
    };
    let options = Options::new("http://127.0.0.1:9/mcp");
    let refused = serve_at("0.0.0.0:0", options.clone()).await;
    assert!(matches!(refused, Err(ProxyError::Remote(_))), "{refused:?}");
    let mut remote = options.clone();
    remote.proxy.allow_remote = true;
    assert!(serve_at("0.0.0.0:0", remote).await.is_ok());
    assert!(serve_at("127.0.0.1:0", options).await.is_ok());
    for url in [
        "",
        "localhost",
        "/mcp",
        "ftp://localhost/",
        "http://user:secret@localhost/",
    ] {
        let refused = serve_at("127.0.0.1:0", Options::new(url)).await;
        let Err(ProxyError::Upstream(why)) = refused else {
            panic!("{url} is not the URL of a server")
        };
        assert!(!why.to_string().contains("secret"));
    }
}
