//! Behaviour that official servers do not show, but others may: a server with scripted answers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::parts::{Guarded, request};

/// A request as the server received it.
#[derive(Debug, Clone)]
pub(crate) struct Got {
    pub(crate) head: String,
    pub(crate) body: String,
}

pub(crate) type Script = fn(&Got) -> String;

pub(crate) struct Odd {
    pub(crate) url: String,
    pub(crate) got: Arc<Mutex<Vec<Got>>>,
}

impl Odd {
    pub(crate) async fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let got: Arc<Mutex<Vec<Got>>> = Arc::default();
        let seen = Arc::clone(&got);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let seen = Arc::clone(&seen);
                tokio::spawn(async move { answer(stream, script, &seen).await });
            }
        });
        Odd {
            url: format!("http://127.0.0.1:{port}/mcp"),
            got,
        }
    }

    pub(crate) fn bodies(&self) -> Vec<String> {
        let got = self.got.lock().expect("whole");
        got.iter().map(|got| got.body.clone()).collect()
    }
}

async fn answer(mut stream: TcpStream, script: Script, seen: &Mutex<Vec<Got>>) {
    let mut bytes = Vec::new();
    let got = loop {
        let mut portion = [0; 4_096];
        let read = stream.read(&mut portion).await.unwrap_or(0);
        if read == 0 {
            return;
        }
        bytes.extend_from_slice(&portion[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let head = format!("{}\r\n", head.to_lowercase());
        let length = head.split("content-length: ").nth(1);
        let length = length.and_then(|rest| rest.lines().next()?.parse().ok());
        if body.len() >= length.unwrap_or(0) {
            let body = body.to_owned();
            break Got { head, body };
        }
    };
    seen.lock().expect("whole").push(got.clone());
    let answer = script(&got);
    stream.write_all(answer.as_bytes()).await.ok();
}

pub(crate) fn with(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

pub(crate) fn json(body: &Value) -> String {
    let kind = "Content-Type: application/json\r\n";
    with("200 OK", kind, &body.to_string())
}

pub(crate) fn events(body: &str) -> String {
    let kind = "Content-Type: text/event-stream\r\n";
    with("200 OK", kind, body)
}

pub(crate) fn parsed(body: &str) -> Value {
    serde_json::from_str(body).expect("JSON")
}

const HEARD: &str = ": hello\r\n\r\nid: 4\r\ndata: {\"method\":\r\ndata:  \"notifications/message\"}\r\n\r\nevent: other\r\ndata: 1\r\n\r\n";

/// One tool, whose results do not match its schema.
pub(crate) fn usual(got: &Got) -> String {
    if got.body.is_empty() {
        return events(HEARD);
    }
    let message = parsed(&got.body);
    if let Some(parts) = message.as_array() {
        let answers = parts
            .iter()
            .map(|part| json!({"jsonrpc": "2.0", "id": part["id"], "result": {}}));
        return json(&answers.collect());
    }
    let id = &message["id"];
    match message["method"].as_str() {
        Some("tools/list") => {
            let number = json!({"type": "object", "properties": {"n": {"type": "integer"}},
                "required": ["n"]});
            let tool = json!({"name": "one", "inputSchema": number, "outputSchema": number});
            let list = json!({"jsonrpc": "2.0", "id": id, "result": {"tools": [tool]}});
            let list = serde_json::to_string_pretty(&list).expect("text");
            let lines: Vec<String> = list.lines().map(|line| format!("data: {line}\n")).collect();
            events(&format!("{}\n", lines.concat()))
        }
        Some("tools/call") => events(&format!(
            "{HEARD}id: 5\nevent: message\nretry: 7\ndata: {{\"jsonrpc\":\"2.0\",\"id\":{id},\ndata: \"result\":{{\"content\":[],\"structuredContent\":{{\"n\":\"x\"}}}}}}\n\n"
        )),
        _ => json(&json!({"jsonrpc": "2.0", "id": id, "result": {}})),
    }
}

pub(crate) fn call(id: u32, arguments: &Value) -> Value {
    let params = json!({"name": "one", "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

#[tokio::test(flavor = "multi_thread")]
async fn only_data_of_a_changed_message_is_written_again() {
    let server = Odd::start(usual).await;
    let guarded = Guarded::start(&server.url).await;
    let headers = [("Mcp-Session-Id", "s")];
    let body = call(1, &json!({"n": 1})).to_string();
    let answer = request(&guarded.url, "POST", &headers, &body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let rest = answer.body.strip_prefix(HEARD).expect("the same bytes");
    let changed = rest
        .strip_prefix("id: 5\nevent: message\nretry: 7\n")
        .expect("the same frame");
    let changed = changed.strip_suffix("\n\n").expect("one event").lines();
    let data = changed.map(|line| line.strip_prefix("data: ").expect("data"));
    let result = parsed(&data.collect::<String>());
    assert_eq!(result["result"]["isError"], true, "{result}");
    assert_eq!(
        result["result"]["structuredContent"],
        Value::Null,
        "{result}"
    );
    guarded.end().await;
}

/// Clients look for the media type at the beginning of the header, or anywhere in it. Some skip a byte order mark, and
/// some read events of any name.
#[tokio::test(flavor = "multi_thread")]
async fn results_in_an_odd_envelope_are_judged() {
    fn result(got: &Got, kind: &str, before: &str, after: &str) -> String {
        if parsed(&got.body)["method"] != "tools/call" {
            return usual(got);
        }
        let result = json!({"content": [], "structuredContent": {"n": "x"}});
        let message = json!({"jsonrpc": "2.0", "id": 1, "result": result});
        with("200 OK", kind, &format!("{before}{message}{after}"))
    }
    let scripts: [(Script, &str); 6] = [
        (
            |got| {
                let kind = "Content-Type: application/json\r\n";
                result(got, kind, "\u{feff}", "")
            },
            "application/json",
        ),
        (
            |got| {
                let kind = "Content-Type: text/event-stream\r\n";
                result(got, kind, "event: other\ndata: ", "\n\n")
            },
            "text/event-stream",
        ),
        (
            |got| result(got, "Content-Type: application/json-rpc\r\n", "", ""),
            "application/json",
        ),
        (
            |got| {
                let kinds = "Content-Type: text/plain\r\nContent-Type: application/json\r\n";
                result(got, kinds, "", "")
            },
            "application/json",
        ),
        (
            |got| {
                let kind = "Content-Type: application/json; x=text/event-stream\r\n";
                result(got, kind, "", "")
            },
            "application/json",
        ),
        (
            |got| {
                let kind = "Content-Type: x-text/event-stream\r\n";
                result(got, kind, "\u{feff}data: ", "\n\n")
            },
            "text/event-stream",
        ),
    ];
    for (script, kind) in scripts {
        let server = Odd::start(script).await;
        let guarded = Guarded::start(&server.url).await;
        let body = call(1, &json!({"n": 1})).to_string();
        let answer = request(&guarded.url, "POST", &[], &body).await;
        assert!(answer.body.contains("\"isError\":true"), "{answer:?}");
        assert!(!answer.body.contains("structuredContent"), "{answer:?}");
        assert!(!answer.body.contains('\u{feff}'), "{answer:?}");
        let head = answer.head.to_lowercase();
        assert_eq!(head.matches("content-type:").count(), 1, "{answer:?}");
        assert_eq!(answer.header("content-type"), Some(kind), "{answer:?}");
        guarded.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_are_judged_part_by_part() {
    let server = Odd::start(usual).await;
    let guarded = Guarded::start(&server.url).await;
    let headers = [("Mcp-Session-Id", "s")];
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
    let bad = call(1, &json!({"n": "many"}));
    // In the first round the call waits for the tools; in the second they are known.
    for round in 0..2 {
        let body = json!([bad, ping]).to_string();
        let answer = request(&guarded.url, "POST", &headers, &body).await;
        let answers = parsed(&answer.body);
        assert_eq!(answers[0]["id"], 1, "{round} {answers}");
        assert_eq!(answers[0]["result"]["isError"], true, "{round} {answers}");
        assert_eq!(answers[1], json!({"jsonrpc": "2.0", "id": 2, "result": {}}));
        assert_eq!(server.bodies().last(), Some(&format!("[{ping}]")));
    }
    let alone = json!([bad]).to_string();
    let answer = request(&guarded.url, "POST", &headers, &alone).await;
    assert_eq!(parsed(&answer.body)[0]["result"]["isError"], true);
    guarded.end().await;
}

/// However a client writes the cancellation, the request of the cancelled call ends.
#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_call_that_waits_is_answered() {
    let slow: Script = |got| {
        if got.body.contains("tools/list") {
            std::thread::sleep(Duration::from_secs(1));
        }
        usual(got)
    };
    let cancel = |id: &Value| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    for cancelled in [
        cancel(&json!(1)),
        cancel(&json!(1.0)),
        json!([cancel(&json!(1))]),
        json!([cancel(&json!(1)), {"jsonrpc": "2.0", "method": "notifications/x"}]),
    ] {
        let server = Odd::start(slow).await;
        let guarded = Guarded::start(&server.url).await;
        let (url, body) = (guarded.url.clone(), call(1, &json!({"n": 1})).to_string());
        let waiting = tokio::spawn(async move { request(&url, "POST", &[], &body).await });
        while server.bodies().is_empty() {
            sleep(Duration::from_millis(10)).await;
        }
        request(&guarded.url, "POST", &[], &cancelled.to_string()).await;
        let answer = timeout(Duration::from_secs(20), waiting).await;
        let answer = answer.expect("it does not hang").expect("an answer");
        assert!(
            answer.body.contains("was cancelled"),
            "{cancelled} {answer:?}"
        );
        let bodies = server.bodies();
        assert!(
            !bodies.iter().any(|body| body.contains("tools/call")),
            "{bodies:?}"
        );
        guarded.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_pass_and_streams_are_resumed() {
    let server = Odd::start(usual).await;
    let guarded = Guarded::start(&server.url).await;
    let headers = [
        ("Mcp-Session-Id", "s"),
        ("Last-Event-ID", "4"),
        ("Authorization", "Bearer secret"),
        ("Accept-Encoding", "gzip"),
        ("X-Own", "1"),
    ];
    let answer = request(&guarded.url, "GET", &headers, "").await;
    assert_eq!(answer.body, HEARD);
    let body = call(1, &json!({"n": 1})).to_string();
    request(&guarded.url, "POST", &headers, &body).await;
    let got = server.got.lock().expect("whole").clone();
    assert_eq!(got.len(), 3, "{got:?}");
    for got in &got {
        assert!(got.head.contains("authorization: bearer secret"), "{got:?}");
        assert!(got.head.contains("mcp-session-id: s"), "{got:?}");
        assert!(!got.head.contains("gzip"), "{got:?}");
        assert!(got.head.contains("x-own: 1"), "{got:?}");
    }
    assert!(got[0].head.contains("last-event-id: 4"), "{got:?}");
    let warnings = guarded.warnings.lock().expect("whole").join("\n");
    assert!(!warnings.contains("secret"), "{warnings}");
    guarded.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_do_not_bypass_the_guard() {
    let ping = r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#;
    let slash: Script = |got| {
        if got.head.starts_with("post /mcp/ ") {
            return usual(got);
        }
        with("307 Temporary Redirect", "Location: /mcp/\r\n", "")
    };
    let away: Script = |_| {
        let to = "Location: http://other.example/mcp\r\n";
        with("307 Temporary Redirect", to, "")
    };
    let circle: Script = |_| with("308 Permanent Redirect", "Location: /mcp\r\n", "");
    let packed: Script = |_| {
        let packed = "Content-Type: application/json\r\nContent-Encoding: gzip\r\n";
        with("200 OK", packed, "?")
    };
    for (script, status, says) in [
        (slash, 200, r#""id":3,"result""#),
        (away, 502, "another address"),
        (circle, 502, "another address"),
        (packed, 502, "compresses"),
    ] {
        let server = Odd::start(script).await;
        let guarded = Guarded::start(&server.url).await;
        let answer = request(&guarded.url, "POST", &[], ping).await;
        assert_eq!(answer.status, status, "{answer:?}");
        assert!(answer.body.contains(says), "{answer:?}");
        assert_eq!(answer.header("location"), None);
        guarded.end().await;
    }
}

/// A tool that requires an argument to be repeated in a header.
pub(crate) fn marked(got: &Got) -> String {
    let message = parsed(&got.body);
    let id = &message["id"];
    if message["method"] != "tools/list" {
        return json(&json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}}));
    }
    let sure = json!({"type": "boolean", "x-mcp-header": "Sure"});
    let schema = json!({"type": "object", "properties": {"sure": sure}});
    let list = json!({"tools": [{"name": "one", "inputSchema": schema}]});
    json(&json!({"jsonrpc": "2.0", "id": id, "result": list}))
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_agree_with_a_repaired_call() {
    let server = Odd::start(marked).await;
    let guarded = Guarded::start(&server.url).await;
    let headers = [
        ("Mcp-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "one"),
        ("Mcp-Param-Sure", "perhaps"),
    ];
    // A valid call keeps its headers, whatever they say: the server judges them.
    for (sent, header) in [(json!("True"), "true"), (json!(false), "perhaps")] {
        let body = call(1, &json!({"sure": sent})).to_string();
        let answer = request(&guarded.url, "POST", &headers, &body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let got = server.got.lock().expect("whole").pop().expect("a call");
        assert!(!got.body.contains('T'), "{got:?}");
        let header = format!("mcp-param-sure: {header}\r\n");
        assert!(got.head.contains(&header), "{got:?}");
    }
    guarded.end().await;
}
