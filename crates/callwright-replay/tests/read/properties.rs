//! Any record is read or reported, and nothing in it is changed.

use callwright::call::Arguments;
use callwright_replay::read::{Reader, Reading, RecordPlace};
use callwright_replay::seen::Seen;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::shown;

/// Keys that mean something in some format.
const KEYS: [&str; 44] = [
    "tool",
    "name",
    "arguments",
    "input",
    "output",
    "messages",
    "role",
    "content",
    "tool_calls",
    "function",
    "function_call",
    "id",
    "type",
    "choices",
    "message",
    "candidates",
    "contents",
    "parts",
    "functionCall",
    "functionResponse",
    "jsonrpc",
    "method",
    "params",
    "result",
    "error",
    "tools",
    "resourceSpans",
    "scopeSpans",
    "spans",
    "attributes",
    "key",
    "value",
    "stringValue",
    "traceId",
    "request",
    "response",
    "body",
    "session",
    "time",
    "model",
    "events",
    "object",
    "delta",
    "finish_reason",
];

const TEXTS: [&str; 22] = [
    "assistant",
    "user",
    "tool",
    "tool_use",
    "tool_result",
    "function_call",
    "function_call_output",
    "mcp_call",
    "message",
    "chat.completion.chunk",
    "response",
    "message_start",
    "tools/call",
    "gen_ai.tool.name",
    "gen_ai.input.messages",
    "execute_tool",
    "{}",
    "[{\"role\":\"user\"}]",
    "data: {\"choices\":[]}",
    "2026-01-01T00:00:00Z",
    "length",
    "c1",
];

fn record() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        prop::sample::select(&TEXTS[..]).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(&KEYS[..]), inner), 0..6).prop_map(
                |members| members
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect()
            ),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_json_is_read_or_reported(record in record()) {
        let found = shown(&record.to_string());
        let known = !found["format"].is_null() || found["troubles"] != json!([]);
        prop_assert!(known, "{record}\n{found}");
        let troubles = found["troubles"].as_array().unwrap();
        prop_assert!(troubles.iter().all(|said| !said.as_str().unwrap().contains(char::is_control)));
    }

    #[test]
    fn any_text_is_read_or_reported(text in "\\PC{0,60}|[{}\\[\\]\":,a-z0-9 ]{0,60}") {
        let found = shown(&text);
        prop_assert!(!found["format"].is_null() || found["troubles"] != json!([]));
    }

    #[test]
    fn arguments_stay_as_they_are_in_every_shape(arguments in record(), shape in 0_usize..6) {
        let text = arguments.to_string();
        let record = match shape {
            0 => json!({"choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": text}}]}}]}),
            1 => json!({"object": "response", "output": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": text}]}),
            2 => json!({"type": "message", "role": "assistant", "stop_reason": null, "content": [{"type": "tool_use", "id": "c", "name": "f", "input": arguments}]}),
            3 => json!({"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": {"name": "f", "arguments": arguments}}),
            4 => json!({"tool": "f", "id": "c", "arguments": text}),
            _ => json!({"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "t", "attributes": [
                {"key": "gen_ai.tool.name", "value": {"stringValue": "f"}},
                {"key": "gen_ai.tool.call.id", "value": {"stringValue": "c"}},
                {"key": "gen_ai.tool.call.arguments", "value": {"stringValue": text}},
            ]}]}]}]}),
        };
        // Null arguments count as no arguments.
        prop_assume!(!arguments.is_null());
        let line = record.to_string();
        let mut reading = Reading::default();
        Reader::new().read(&line, RecordPlace { file: "f", line: 1 }, &mut reading);
        let [Seen::Call(call)] = reading.seen.as_slice() else {
            panic!("{record}: {reading:?}");
        };
        let found = match &call.call.arguments {
            Arguments::Text(text) => text.to_string(),
            Arguments::Value(value) => Value::from(value).to_string(),
            Arguments::Absent => panic!("{record}"),
        };
        prop_assert_eq!(found, text);
        prop_assert_eq!(call.call.id.as_ref().and_then(|id| id.as_str()), Some("c"));
    }
}
