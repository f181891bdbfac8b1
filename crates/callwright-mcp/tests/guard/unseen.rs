//! No call reaches a server unseen: whatever a lenient server would accept as a call is judged or blocked.

use std::sync::Arc;

use callwright::policy::Validation;
use callwright_mcp::guard::{Guard, Now, Settings};
use serde_json::{Value, json};

use crate::sides::{Sides, compile};

const LIST: &str = r#"{"id":"list","result":{"tools":[{"name":"get","inputSchema":{"type":"object","properties":{"q":{"type":"string"}}}},{"name":"delete","inputSchema":{"type":"object"}}]}}"#;

struct Went {
    to_server: Vec<Vec<u8>>,
    to_client: Vec<Value>,
    warnings: Vec<String>,
    settings: Arc<Settings>,
}

/// The effect of a message, once the tools are known.
fn sent(mode: Validation, message: &[u8]) -> Went {
    let mut settings = Settings::default();
    settings.mode = mode;
    let settings = Arc::new(settings);
    let guard = Guard::new(Arc::clone(&settings), "s");
    let mut out = Vec::new();
    guard.from_client(
        br#"{"id":"list","method":"tools/list"}"#,
        Now::by_clock(),
        &mut out,
    );
    guard.from_server(LIST.as_bytes(), Now::by_clock(), &mut out);
    compile(&guard, out, Now::by_clock());
    let mut out = Vec::new();
    guard.from_client(message, Now::by_clock(), &mut out);
    let sides = Sides::of(&out);
    let json = |message: &Vec<u8>| serde_json::from_slice(message).unwrap();
    Went {
        to_client: sides.to_client.iter().map(json).collect(),
        to_server: sides.to_server,
        warnings: sides.warnings,
        settings,
    }
}

/// Messages that some parsers read as a call, and that can be read in more than one way.
const UNCLEAR: &[&[u8]] = &[
    // Python and Node use the last of two duplicate keys.
    br#"{"id":1,"method":"ping","method":"tools/call","params":{"name":"delete"}}"#,
    br#"{"id":1,"method":"tools/call","method":"tools/call","params":{"name":"delete"}}"#,
    br#"{"id":1,"method":"tools/call","params":{"name":"get"},"params":{"name":"delete"}}"#,
    br#"{"id":1,"method":"tools/call","params":{"name":"get","name":"delete"}}"#,
    br#"{"id":1,"method":"tools/call","params":{"name":"get","n\u0061me":"delete"}}"#,
    br#"{"id":1,"method":"tools/call","params":{"name":"get","arguments":{},"arguments":{"q":5}}}"#,
    // Go ignores case.
    br#"{"id":1,"method":"ping","Method":"tools/call","params":{"name":"delete"}}"#,
    br#"{"id":1,"METHOD":"tools/call","params":{"name":"delete"}}"#,
    br#"{"id":1,"method":"tools/call","params":{"name":"get","Name":"delete"}}"#,
    "{\"id\":1,\"method\":\"ping\",\"paramſ\":{\"name\":\"delete\"}}".as_bytes(),
    br#"{"id":1,"method":"tools/call","params":{"name":"get","ARGUMENTS":{"q":5}}}"#,
    // Not quite JSON.
    br#"{"id":1,"method":"tools/call","params":{"name":"delete"},}"#,
    br#"{"id":1,"method":"tools/call","params":{"name":"delete","arguments":{"q":NaN}}}"#,
    b"{'id':1,'method':'tools/call','params':{'name':'delete'}}",
    br#"{"id":1,"method":"ping"}{"id":2,"method":"tools/call","params":{"name":"delete"}}"#,
    br#"{"id":1,"method":"ping"} // {"id":2,"method":"tools/call","params":{"name":"delete"}}"#,
    "\u{feff}{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"delete\"}}".as_bytes(),
    b"{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"delete\",\"arguments\":{\"q\":\"\xff\"}}}",
    b"{\0\"\0i\0d\0\"\0:\0\x31\0}\0",
    b"{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"delete\",\"arguments\":{\"q\":\"\r\"}}}",
    // Nested arrays are not batches.
    br#"[[{"id":1,"method":"tools/call","params":{"name":"delete"}}]]"#,
    br#"[{"id":1,"method":"ping"},[{"id":2,"method":"tools/call","params":{"name":"delete"}}]]"#,
    // By position, as JSON-RPC allows.
    br#"{"id":1,"method":"tools/call","params":["delete",{}]}"#,
    br#"{"id":1,"method":"tools/call","params":{"name":["delete"]}}"#,
    br#"{"id":1,"method":"tools/call","params":{"name":"delete\ud800"}}"#,
    br#"{"id":1,"method":"tools/call"}"#,
    // A notification gets no answer, but may still run.
    br#"{"method":"tools/call","params":{"name":"delete"}}"#,
    br#"{"id":null,"method":"tools/call","params":{"name":"delete"}}"#,
];

#[test]
fn an_ambiguous_message_is_not_forwarded() {
    for message in UNCLEAR {
        let shown = String::from_utf8_lossy(message);
        let went = sent(Validation::Strict, message);
        let calls = went
            .to_server
            .iter()
            .filter(|sent| String::from_utf8_lossy(sent).contains("delete"));
        assert_eq!(calls.count(), 0, "{shown}");
        // Requests are answered with an error; a notification has no answer.
        let is_note = shown.starts_with(r#"{"method""#);
        let is_told = went.to_client.iter().any(|answer| {
            answer["error"]["message"].is_string() || answer["result"]["isError"] == true
        });
        assert_eq!(is_told, !is_note, "{shown} {:?}", went.to_client);
        assert_eq!(went.settings.status.unreadable(), 1, "{shown}");
        assert_eq!(went.warnings.len(), 1, "{shown} {:?}", went.warnings);
    }
}

#[test]
fn where_nothing_may_be_changed_it_is_counted() {
    for message in UNCLEAR {
        let went = sent(Validation::Warn, message);
        let shown = String::from_utf8_lossy(message);
        assert_eq!(went.to_server, [message.to_vec()], "{shown}");
        assert_eq!(went.settings.status.unreadable(), 1, "{shown}");
        assert_eq!(went.warnings.len(), 1, "{shown} {:?}", went.warnings);
        let went = sent(Validation::Off, message);
        assert_eq!(went.to_server, [message.to_vec()], "{shown}");
    }
}

/// Mistakes that a model can make are answered with an instruction.
#[test]
fn arguments_that_cannot_be_read_are_refused_with_an_instruction() {
    let deep = ["[".repeat(2_000), "]".repeat(2_000)].concat();
    for (arguments, says) in [
        (r#"{"q":"\ud800"}"#, "both halves of the character"),
        (r#"{"q":"\udc00 \ud800"}"#, "both halves of the character"),
        (&*format!(r#"{{"q":{deep}}}"#), "levels"),
        (r#"{"q":"a","q":5}"#, "q"),
        (r#"{"q":5,"q":"a"}"#, "q"),
    ] {
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"get","arguments":{arguments}}}}}"#
        );
        let went = sent(Validation::Strict, message.as_bytes());
        let shown: String = message.chars().take(100).collect();
        assert!(went.to_server.is_empty(), "{shown} {:?}", went.to_server);
        let result = &went.to_client[0]["result"];
        assert_eq!(result["isError"], true, "{shown} {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(says), "{shown} {text}");
        let counts = went.settings.status.tools()["get"];
        assert_eq!((counts.calls, counts.refused), (1, 1), "{shown}");
    }
}

/// Unusual, but all parsers agree.
#[test]
fn odd_writing_is_judged() {
    for call in [
        r#"{"id":1,"method":"tools\/call","params":{"name":"get","arguments":{"q":{}}}}"#,
        r#"{"id":1,"method":"tools\u002fcall","params":{"name":"get","arguments":{"q":{}}}}"#,
        r#"{"id":1,"m\u0065thod":"tools/call","params":{"n\u0061me":"get","arguments":{"q":{}}}}"#,
        r#"{"id":1,"method":"tools/call","params":{"name":"\u0067et","arguments":{"q":{}}}}"#,
        r#"{"id":{"a":1},"method":"tools/call","params":{"name":"get","arguments":{"q":{}}}}"#,
        r#"{"id":true,"method":"tools/call","params":{"name":"get","arguments":{"q":{}}}}"#,
        r#"{"id":1,"method":"tools/call","result":{},"params":{"name":"get","arguments":{"q":{}}}}"#,
        " \t{\"id\":1,\"method\":\"tools/call\",\r\n\"params\":{\"name\":\"get\",\"arguments\":{\"q\":{}}}} \r\n",
        r#"[{"id":1,"method":"tools/call","params":{"name":"get","arguments":{"q":{}}}}]"#,
    ] {
        let went = sent(Validation::Strict, call.as_bytes());
        let counts = went
            .settings
            .status
            .tools()
            .get("get")
            .copied()
            .unwrap_or_default();
        assert_eq!((counts.calls, counts.refused), (1, 1), "{call}");
        assert!(went.to_server.is_empty(), "{call}");
    }
}

/// A server that does not list its tools is still guarded against loops, and every call is recorded.
#[test]
fn calls_of_unlisted_tools_are_counted() {
    let settings = Arc::new(Settings::default());
    let guard = Guard::new(Arc::clone(&settings), "s");
    let call = |id: usize| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "x", "arguments": {}}})
            .to_string()
    };
    let mut out = Vec::new();
    let first = call(0);
    guard.from_client(first.as_bytes(), Now::by_clock(), &mut out);
    let error = r#"{"id":"callwright-s-1","error":{"code":-32601,"message":"no"}}"#;
    guard.from_server(error.as_bytes(), Now::by_clock(), &mut out);
    let calls: Vec<String> = (1..40).map(call).collect();
    let failures: Vec<String> = (0..40)
        .map(|id| json!({"id": id, "result": {"content": [{"type": "text", "text": "no"}], "isError": true}}).to_string())
        .collect();
    for (at, failure) in failures.iter().enumerate() {
        guard.from_server(failure.as_bytes(), Now::by_clock(), &mut out);
        if let Some(call) = calls.get(at) {
            guard.from_client(call.as_bytes(), Now::by_clock(), &mut out);
        }
    }
    let counts = settings.status.tools()["x"];
    assert_eq!(counts.calls, 40);
    assert!(counts.stopped > 20, "{counts}");
    assert_eq!(counts.unjudged + counts.stopped, 40, "{counts}");
}
