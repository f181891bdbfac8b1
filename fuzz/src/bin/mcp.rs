//! Feeds any text as a script of two sides of MCP, one line each: nothing panics, nothing is changed where nothing may
//! be, and whatever a lenient server accepts as a call was judged. Then the same as a script of one client and two
//! servers.
#![no_main]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use callwright::policy::Validation;
use callwright_fuzz::{Bounds, bounded, plant};
use callwright_mcp::config::read_servers;
use callwright_mcp::guard::{Action, Guard, Now, Settings};
use callwright_mcp::hub::{Dispatch, Router, ServerGroup};
use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;
use serde_json::{Deserializer, Value};

const BOUNDS: Bounds = Bounds {
    reads: (200_000, 500),
    allocated: (64 << 20, 2_048),
    held: (64 << 20, 16 << 10),
};

fn seeds() -> Vec<Vec<u8>> {
    const LIST: &str = r#"C{"id":1,"method":"tools/list"}
S{"id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]},"outputSchema":{"type":"object","required":["y"]}},{"name":"b","inputSchema":null}],"nextCursor":"2"}}
"#;
    [
        r#"C{"id":2,"method":"tools/call","params":{"name":"a","arguments":{"x":"1"}}}
S{"id":2,"result":{"content":[{"type":"text","text":"hi"}],"structuredContent":{}}}
C{"id":3,"method":"tools/call","params":{"name":"a","arguments":{}}}"#,
        r#"C{"id":2,"method":"tools/call","params":{"name":"c","_meta":{}}}
S{"id":"callwright-s-1","result":{"tools":[{"name":"c"}]}}
S{"id":2,"result":{"isError":true,"content":[]}}
C{"method":"notifications/cancelled","params":{"requestId":2}}"#,
        r#"C[{"id":2,"method":"ping"},{"id":"a\/b","method":"tools/call","params":{"name":"A"}}]
S[{"id":"a/b","result":{"task":{}}},{"method":"notifications/tools/list_changed"}]"#,
        r#"C{"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}
S{"id":"callwright-part-2-0-0","result":{"protocolVersion":"2025-11-25","capabilities":{"resources":{}}}}
T{"id":"callwright-part-2-1-0","result":{"capabilities":{"prompts":{}},"instructions":"x"}}
C{"id":3,"method":"resources/read","params":{"uri":"x://y"}}
T{"id":"q","method":"roots/list","params":{"_meta":{"progressToken":5}}}
C{"id":"1/\"q\"","result":{"roots":[]}}
C{"id":4,"method":"tools/call","params":{"name":"b__t.u"}}"#,
        r#"C{"id":2,"method":"ping","method":"tools/call","params":{"name":"a"}}
C{"id":3,"Method":"tools/call","params":{"name":"a","Name":"b","arguments":{"x":"\ud800"}}}
C[[{"id":4,"method":"tools/call","params":{"name":"b"}}]]
C{"id":5,"method":"ping"}{"id":6,"method":"tools/call","params":{"name":"b"}}"#,
        r#"C{"id":0,"method":"initialize","params":{"capabilities":{"elicitation":{}}}}
C{"id":2,"method":"tools/call","params":{"name":"b","_meta":{"callwright/consent":{"question":"callwright-question-0","answer":"allow_once"}}}}
C{"id":3,"method":"tools/call","params":{"name":"b","requestState":"callwright-question-0","inputResponses":{"callwright":{"action":"accept"}}}}
C{"id":"callwright-s-1","result":{"action":"accept","content":{"answer":"allow_once"}}}"#,
        "C\x0c{\"id\":4,\"method\":\"tools/call\",\"params\":{\"name\":\"b__t.u\"}}",
    ]
    .iter()
    .map(|script| format!("{LIST}{script}").into_bytes())
    .collect()
}

/// What goes to the server and to the client.
fn run(mode: Validation, script: &[(bool, &[u8])]) -> [Vec<Vec<u8>>; 2] {
    let mut settings = Settings::default();
    settings.mode = mode;
    settings.fix_schemas = true;
    let settings = Arc::new(settings);
    let guard = Guard::new(Arc::clone(&settings), "s");
    let mut out = Vec::new();
    for (is_client, message) in script {
        if *is_client {
            guard.from_client(message, Now::by_clock(), &mut out);
        } else {
            guard.from_server(message, Now::by_clock(), &mut out);
        }
        if let Some(at) = out
            .iter()
            .position(|it| matches!(it, Action::CompileTools(_)))
            && let Action::CompileTools(compilation) = out.remove(at)
        {
            guard.tools_compiled(compilation.run(), Now::by_clock(), &mut out);
        }
    }
    guard.tick(Now::by_clock(), &mut out);
    guard.client_ended(Now::by_clock(), &mut out);
    let to_server = out.iter().filter_map(Action::for_server);
    let to_server: Vec<Vec<u8>> = to_server.map(<[u8]>::to_vec).collect();
    let to_client = out.iter().filter_map(Action::for_client);
    if mode == Validation::Strict {
        assert_seen(&to_server, &settings);
    }
    [to_server, to_client.map(<[u8]>::to_vec).collect()]
}

/// Every call that was sent to the server, as a lenient reader finds it, was judged and allowed.
fn assert_seen(sent: &[Vec<u8>], settings: &Settings) {
    let mut taken: BTreeMap<String, u64> = BTreeMap::new();
    for message in sent {
        let text = String::from_utf8_lossy(message);
        let text = text.trim_start_matches('\u{feff}');
        // Several values on a line are several messages to some servers.
        for value in Deserializer::from_str(text).into_iter::<Value>() {
            let Ok(value) = value else { break };
            let exact = calls(&value);
            // Go ignores case.
            let calls = if exact.is_empty() {
                calls(&folded(value))
            } else {
                exact
            };
            for tool in calls {
                *taken.entry(tool).or_default() += 1;
            }
        }
    }
    let judged = settings.status.tools();
    for (tool, times) in taken {
        let counts = judged.get(&tool).copied().unwrap_or_default();
        let passed = counts.calls - counts.refused - counts.stopped;
        assert!(
            times <= passed,
            "{tool:?}: {times} calls, {passed} let through"
        );
    }
}

/// The names of the tools that a message calls; Python and Node use the last of two duplicate members, as here.
fn calls(message: &Value) -> Vec<String> {
    match message {
        Value::Array(parts) => parts.iter().flat_map(calls).collect(),
        Value::Object(members) if members.get("method") == Some(&Value::from("tools/call")) => {
            let params = members.get("params");
            let name = params.and_then(|params| params.get("name").or_else(|| params.get(0)));
            name.and_then(Value::as_str)
                .map(str::to_owned)
                .into_iter()
                .collect()
        }
        _ => Vec::new(),
    }
}

fn folded(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| (name.to_uppercase().to_lowercase(), folded(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(folded).collect(),
        other => other,
    }
}

/// What goes to two servers and to the client: lines that begin with `T` come from the second server.
fn run_two(text: &[u8]) {
    let servers = read_servers(r#"{"mcpServers":{"a":{"command":"x"},"b":{"command":"y"}}}"#);
    let group = ServerGroup::new(servers.expect("servers")).expect("a group");
    let now = Instant::now();
    let router = Router::new(&group, now);
    let mut dispatch = Dispatch::default();
    for line in text.split(|byte| *byte == b'\n') {
        let Some((of, message)) = line.split_first() else {
            continue;
        };
        match of {
            b'C' => router.from_client(message, now, &mut dispatch),
            of => router.from_server(usize::from(*of == b'T'), message, &mut dispatch),
        }
    }
    router.tick(now + Duration::from_secs(60), &mut dispatch);
    router.server_gone(0, "gone", &mut dispatch);
    let to_servers = dispatch.to_servers.iter().map(|(_, message)| message);
    for message in dispatch.to_client.iter().chain(to_servers) {
        let text = String::from_utf8_lossy(message);
        assert!(serde_json::from_str::<&RawValue>(&text).is_ok(), "{text}");
    }
}

fn is_ours(message: &[u8]) -> bool {
    message.windows(12).any(|part| part == b"callwright-s")
}

fuzz_target!(
    init: plant(seeds()),
    |text: &[u8]| bounded(text, BOUNDS, || {
        run_two(text);
        let script: Vec<(bool, &[u8])> = text
            .split(|byte| *byte == b'\n')
            .filter_map(|line| Some((*line.first()? == b'C', line.get(1..)?)))
            .collect();
        let sent = |by_client: bool| {
            let side = script.iter().filter(move |(is_client, _)| *is_client == by_client);
            side.map(|(_, message)| message.to_vec()).collect::<Vec<_>>()
        };
        assert_eq!(run(Validation::Off, &script), [sent(true), sent(false)]);
        for message in run(Validation::Strict, &script).iter().flatten() {
            let is_json = serde_json::from_slice::<&RawValue>(message).is_ok();
            let came = script.iter().any(|(_, sent)| sent == message);
            assert!(is_json || came, "{}", String::from_utf8_lossy(message));
        }
        // The client never sees answers to the guard's own requests, so a script that guesses such an id is excluded.
        if !script.iter().any(|(_, message)| is_ours(message)) {
            let [mut to_server, to_client] = run(Validation::Warn, &script);
            to_server.retain(|message| !is_ours(message));
            assert_eq!([to_server, to_client], [sent(true), sent(false)]);
        }
    })
);
