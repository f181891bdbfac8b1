//! A stdio client in front of a real HTTP server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use callwright_mcp::guard::Settings;
use callwright_mcp::http::{Options, ProxyError, bridge};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::odd::{Got, Odd, Script, events, json as whole, parsed, with};
use crate::parts::{Server, has_python};

/// A timeout against hangs.
const LONG: Duration = Duration::from_secs(60);

struct Client {
    output: WriteHalf<DuplexStream>,
    input: Lines<BufReader<ReadHalf<DuplexStream>>>,
    bridged: JoinHandle<Result<(), ProxyError>>,
}

impl Client {
    fn start(upstream: &str) -> Self {
        Client::with(Options::new(upstream))
    }

    fn with(options: Options) -> Self {
        let (ours, theirs) = tokio::io::duplex(1_000);
        let (input, output) = tokio::io::split(theirs);
        let settings = Arc::new(Settings::default());
        let bridged = tokio::spawn(bridge(options, settings, input, output));
        let (input, output) = tokio::io::split(ours);
        Client {
            output,
            input: BufReader::new(input).lines(),
            bridged,
        }
    }

    async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        let written = self.output.write_all(line.as_bytes()).await;
        written.expect("it reads");
    }

    async fn next(&mut self) -> Value {
        let line = timeout(LONG, self.input.next_line())
            .await
            .expect("in time");
        serde_json::from_str(&line.expect("text").expect("a line")).expect("JSON")
    }

    async fn ask(&mut self, message: Value) -> Value {
        self.send(message).await;
        self.next().await
    }

    async fn end(mut self) {
        self.output.shutdown().await.expect("it is open");
        let bridged = timeout(LONG, self.bridged).await.expect("in time");
        bridged.expect("no panic").expect("it ends well");
    }
}

fn call(id: u32, tool: &str, arguments: &Value, meta: &Value) -> Value {
    let mut params = json!({"name": tool, "arguments": arguments});
    if !meta.is_null() {
        params["_meta"] = meta.clone();
    }
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

async fn calls(client: &mut Client, meta: &Value) {
    let text = |answer: &Value| answer["result"]["content"][0]["text"].clone();
    // The tools are not known yet, so two calls wait for them.
    client
        .send(call(1, "twice", &json!({"value": "21"}), meta))
        .await;
    client
        .send(call(2, "twice", &json!({"value": "many"}), meta))
        .await;
    let mut answers = [client.next().await, client.next().await];
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(text(&answers[0]), "42", "{answers:?}");
    assert_eq!(answers[1]["result"]["isError"], true, "{answers:?}");
    let answer = client
        .ask(call(3, "add", &json!({"a": 1, "b": 2}), meta))
        .await;
    assert_eq!(text(&answer), "3", "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_become_requests() {
    if !has_python() {
        return;
    }
    let server = Server::start(&[]).await;

    let mut client = Client::start(&server.url);
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "lines", "version": "1"}});
    let answer = client
        .ask(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}))
        .await;
    assert_eq!(answer["result"]["serverInfo"]["name"], "things", "{answer}");
    client
        .send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
    calls(&mut client, &Value::Null).await;
    let slow = call(
        9,
        "slow",
        &json!({"steps": 2, "pause": 0}),
        &json!({"progressToken": "p"}),
    );
    client.send(slow).await;
    for step in 1..=2 {
        let progress = client.next().await;
        assert_eq!(progress["method"], "notifications/progress", "{progress}");
        assert_eq!(
            progress["params"]["progress"],
            f64::from(step),
            "{progress}"
        );
    }
    assert_eq!(client.next().await["id"], 9);
    client.end().await;

    let mut client = Client::start(&server.url);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "lines", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    calls(&mut client, &meta).await;
    client.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_down_is_named_on_a_line() {
    let mut client = Client::start("http://127.0.0.1:9/mcp");
    let answer = client.ask(call(5, "add", &json!({}), &Value::Null)).await;
    assert_eq!(answer["id"], 5);
    let why = answer["error"]["message"].as_str().expect("a text");
    assert!(
        why.contains("http://127.0.0.1:9/mcp cannot be reached"),
        "{why}"
    );
    client.end().await;
}

/// Ends the stream of a call before its result, and sends the rest when the stream is resumed.
fn breaks_off(got: &Got) -> String {
    if got.head.contains("last-event-id: 1\r\n") {
        // Nothing new yet.
        return events("id: 2\nretry: 20\ndata:\n\n");
    }
    if got.head.contains("last-event-id: 2\r\n") {
        return events(
            "id: 3\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\n\n",
        );
    }
    if got.body.is_empty() {
        return with("405 Method Not Allowed", "", "");
    }
    let message = parsed(&got.body);
    if message["method"] == "tools/call" {
        return events("id: 1\nretry: 20\ndata:\n\n");
    }
    let list = json!({"tools": [{"name": "one"}]});
    whole(&json!({"jsonrpc": "2.0", "id": message["id"], "result": list}))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_breaks_off_is_resumed() {
    let server = Odd::start(breaks_off).await;
    let mut client = Client::start(&server.url);
    let answer = client.ask(call(1, "one", &json!({}), &Value::Null)).await;
    assert_eq!(answer["result"]["content"], json!([]), "{answer}");
    client.end().await;
    let calls = server.bodies();
    let calls = calls.iter().filter(|body| body.contains("tools/call"));
    assert_eq!(calls.count(), 1);

    // If the server no longer knows the stream, the bridge gives up.
    let forgets: Script = |got| match got.body.as_str() {
        "" => with("404 Not Found", "", ""),
        _ => breaks_off(got),
    };
    let server = Odd::start(forgets).await;
    let mut client = Client::start(&server.url);
    let answer = client.ask(call(1, "one", &json!({}), &Value::Null)).await;
    let why = answer["error"]["message"].as_str().expect("a text");
    assert!(
        why.contains("ended its response before the result"),
        "{why}"
    );
    client.end().await;
}

/// Forgets its first session after the handshake, like a restarted server.
fn forgets_a_session(got: &Got) -> String {
    static SESSIONS: AtomicUsize = AtomicUsize::new(0);
    if got.body.is_empty() {
        return with("405 Method Not Allowed", "", "");
    }
    let message = parsed(&got.body);
    let answer = |result: Value| {
        json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string()
    };
    if message["method"] == "initialize" {
        let number = SESSIONS.fetch_add(1, Ordering::SeqCst);
        let head = format!("Content-Type: application/json\r\nMcp-Session-Id: s{number}\r\n");
        let info = json!({"protocolVersion": "2025-06-18", "capabilities": {}});
        return with("200 OK", &head, &answer(info));
    }
    if message["method"] == "notifications/initialized" {
        return with("202 Accepted", "", "");
    }
    if got.head.contains("mcp-session-id: s0\r\n") {
        return with(
            "404 Not Found",
            "Content-Type: text/plain\r\n",
            "no such session",
        );
    }
    let kind = "Content-Type: application/json\r\n";
    let tool = json!({"name": "one", "inputSchema": {"type": "object"}});
    with(
        "200 OK",
        kind,
        &answer(json!({"tools": [tool], "content": []})),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_the_server_has_forgotten_is_opened_again() {
    let server = Odd::start(forgets_a_session).await;
    let mut client = Client::start(&server.url);
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}});
    client
        .ask(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}))
        .await;
    client
        .send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
    let answer = client.ask(call(1, "one", &json!({}), &Value::Null)).await;
    assert_eq!(answer["result"]["content"], json!([]), "{answer}");
    client.end().await;
    let bodies = server.bodies();
    let count = |method: &str| bodies.iter().filter(|body| body.contains(method)).count();
    assert_eq!(
        (count("\"initialize\""), count("notifications/initialized")),
        (2, 2)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_refuses_is_quoted() {
    let server = Odd::start(|_| with("401 Unauthorized", "", "log in first")).await;
    let mut client = Client::start(&server.url);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let answer = client.ask(ping).await;
    assert_eq!(
        answer["error"]["message"],
        "The MCP server answered with HTTP status 401 Unauthorized: log in first"
    );
    client.end().await;

    // What the server says is not an answer to the request.
    let server = Odd::start(|_| {
        let kind = "Content-Type: application/json\r\n";
        let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"full"}}"#;
        with("429 Too Many Requests", kind, error)
    })
    .await;
    let mut client = Client::start(&server.url);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert_eq!(client.ask(ping).await["error"]["message"], "full");
    assert_eq!(
        client.next().await["error"]["message"],
        "The MCP server answered with HTTP status 429 Too Many Requests"
    );
    client.end().await;
}

/// A server that works on a call may not take the notification that cancels it.
#[tokio::test(flavor = "multi_thread")]
async fn a_notification_that_the_server_does_not_take_holds_up_nothing_for_long() {
    let script: Script = |got| {
        if got.body.contains("notifications/cancelled") {
            // Longer than a call may have to wait.
            std::thread::sleep(Duration::from_secs(20));
        }
        crate::odd::usual(got)
    };
    let server = Odd::start(script).await;
    let mut client = Client::start(&server.url);
    client
        .send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}))
        .await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let answer = timeout(Duration::from_secs(15), client.ask(ping)).await;
    assert_eq!(answer.expect("in time")["id"], 1);
    client.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_is_too_long_is_not_the_last() {
    let server = Odd::start(crate::odd::usual).await;
    let mut options = Options::new(&server.url);
    options.proxy.limits.max_bytes = 1_000;
    let mut client = Client::with(options);
    let answer = client.ask(json!({"text": "x".repeat(5_000)})).await;
    assert_eq!(
        answer["error"]["message"],
        "a line has more than 1000 bytes"
    );
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert_eq!(client.ask(ping).await["id"], 1);
    client.end().await;
}
