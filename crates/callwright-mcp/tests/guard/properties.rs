//! For any input: nothing panics, and nothing is changed where nothing may be.

use std::sync::Arc;

use callwright::policy::Validation;
use callwright_mcp::guard::{Guard, Now, Settings};
use proptest::prelude::*;

use crate::sides::{Sides, compile};

/// A message, and whether the client sends it.
type Step = (bool, Vec<u8>);

fn text(parts: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(parts).prop_map(str::to_owned)
}

fn id() -> impl Strategy<Value = String> {
    text(&["1", "2", "\"a\"", "1.0", "null", "\"callwright-s-1\"", "{}"])
}

fn message() -> impl Strategy<Value = String> {
    let params = text(&[
        r#"{"name":"a","arguments":{"x":"1"}}"#,
        r#"{"name":"a","arguments":{}}"#,
        r#"{"name":"A","arguments":null}"#,
        r#"{"name":"b"}"#,
        r#"{"name":"a","arguments":[1]}"#,
        r#"{"requestId":1}"#,
        r#"{"requestId":"a"}"#,
        r#"{"cursor":"2"}"#,
        "null",
        "7",
    ]);
    let result = text(&[
        r#"{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]},"outputSchema":{"type":"object","required":["y"]}}]}"#,
        r#"{"tools":[{"name":"b"},{"name":"b"},5],"nextCursor":"2"}"#,
        r#"{"tools":7}"#,
        r#"{"content":[],"structuredContent":{}}"#,
        r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#,
        r#"{"content":{},"content":[],"structuredContent":{}}"#,
        "{ }",
        "null",
        "[]",
    ]);
    let method = text(&[
        "tools/call",
        "tools/call",
        "tools/list",
        "ping",
        "notifications/cancelled",
        "notifications/tools/list_changed",
    ]);
    let request = (id(), method, params).prop_map(|(id, method, params)| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
    });
    let notification = (
        text(&[
            "notifications/cancelled",
            "notifications/tools/list_changed",
            "x",
        ]),
        text(&[r#"{"requestId":1}"#, r#"{"requestId":"a"}"#, "{}"]),
    )
        .prop_map(|(method, params)| format!(r#"{{"method":"{method}","params":{params}}}"#));
    let response = (id(), text(&["result", "error"]), result)
        .prop_map(|(id, member, result)| format!(r#"{{"id": {id}, "{member}":{result} }}"#));
    prop_oneof![4 => request, 1 => notification, 4 => response]
}

fn step() -> impl Strategy<Value = Step> {
    let batch =
        prop::collection::vec(message(), 0..4).prop_map(|parts| format!("[{}]", parts.join(" , ")));
    let bytes = prop_oneof![
        8 => message().prop_map(String::into_bytes),
        2 => batch.prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..40),
        1 => (message(), any::<prop::sample::Index>()).prop_map(|(text, at)| {
            let mut bytes = text.into_bytes();
            let at = at.index(bytes.len());
            bytes.truncate(at);
            bytes
        }),
    ];
    (any::<bool>(), bytes)
}

fn run(mode: Validation, steps: &[Step]) -> Sides {
    let mut settings = Settings::default();
    settings.mode = mode;
    let guard = Guard::new(Arc::new(settings), "s");
    let mut out = Vec::new();
    for (is_client, message) in steps {
        if *is_client {
            guard.from_client(message, Now::by_clock(), &mut out);
        } else {
            guard.from_server(message, Now::by_clock(), &mut out);
        }
        out = compile(&guard, out, Now::by_clock());
    }
    guard.tick(Now::by_clock(), &mut out);
    Sides::of(&out)
}

fn sent(steps: &[Step], by_client: bool) -> Vec<Vec<u8>> {
    let of_side = steps
        .iter()
        .filter(|(is_client, _)| *is_client == by_client);
    of_side.map(|(_, message)| message.clone()).collect()
}

/// The guard's own requests and their answers, which neither side sees otherwise.
fn is_ours(message: &[u8]) -> bool {
    String::from_utf8_lossy(message).contains("callwright-s-")
}

proptest! {
    #[test]
    fn off_passes_every_byte(steps in prop::collection::vec(step(), 0..20)) {
        let went = run(Validation::Off, &steps);
        prop_assert_eq!(went.to_server, sent(&steps, true));
        prop_assert_eq!(went.to_client, sent(&steps, false));
    }

    #[test]
    fn warn_adds_a_question_and_nothing_else(steps in prop::collection::vec(step(), 0..20)) {
        let steps: Vec<Step> = steps.into_iter().filter(|(_, message)| !is_ours(message)).collect();
        let mut went = run(Validation::Warn, &steps);
        went.to_server.retain(|message| !is_ours(message));
        prop_assert_eq!(went.to_server, sent(&steps, true));
        prop_assert_eq!(went.to_client, sent(&steps, false));
    }

    /// Strict: nothing panics, and any message that is not valid JSON is unchanged.
    #[test]
    fn strict_keeps_what_it_cannot_read(steps in prop::collection::vec(step(), 0..20)) {
        let went = run(Validation::Strict, &steps);
        for message in went.to_server.iter().chain(&went.to_client) {
            let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(message).is_ok();
            let came = steps.iter().any(|(_, sent)| sent == message);
            prop_assert!(is_json || came, "{}", String::from_utf8_lossy(message));
        }
    }
}
