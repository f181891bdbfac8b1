//! Results that the client gets before they are settled: it gets the same, and so do later calls.

use std::sync::Arc;

use callwright::admit::Steps;
use callwright_mcp::guard::{Guard, Now, Settings};
use proptest::prelude::*;

use crate::sides::{Sides, compile, texts};

const LIST: &str = r#"{"id":"list","method":"tools/list"}"#;

const TOOLS: &str = r#"{"id":"list","result":{"tools":[
{"name":"plain","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}},
{"name":"reads","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},
{"name":"typed","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["y"]}}]}}"#;

const RESULTS: [&str; 14] = [
    r#"{"content":[{"type":"text","text":"Echo: hello"}]}"#,
    r#"{"content":[{"type":"text","text":"ok"}]}"#,
    r#"{"content":[{"type":"text","text":"at 10:00:00: nothing"}],"isError":false}"#,
    r#"{"content":[{"type":"text","text":"rate limit exceeded"}],"isError":true}"#,
    r#"{"content":[{"type":"text","text":"no such file"}],"isError":true}"#,
    r#"{"content":[{"type":"text","text":"no"}],"isError":true,"isError":false}"#,
    r#"{"content":[{"type":"text","text":"no"}],"\u0069sError":true}"#,
    r#"{"content":[],"structuredContent":{"y":1},"resultType":"complete"}"#,
    r#"{"content":[],"structuredContent":{"x":1}}"#,
    r#"{"task":{"taskId":"t1","status":"working"}}"#,
    r#"{"resultType":"input_required","inputRequests":{}}"#,
    r#"{"content":[{"type":"text","text":"0123456789012345678901234567890123456789012345678901234567890123456789"}]}"#,
    "{}",
    "null",
];

/// A call, and its result.
#[derive(Debug, Clone)]
struct Step {
    tool: &'static str,
    arguments: &'static str,
    result: &'static str,
    /// Whether the next call is sent before this result comes.
    overlaps: bool,
}

fn step() -> impl Strategy<Value = Step> {
    let tools = prop::sample::select(&["plain", "plain", "reads", "typed", "Plain"][..]);
    let arguments = prop::sample::select(&[r#"{"n":1}"#, r#"{"n":"1"}"#, r#"{"n":2}"#][..]);
    let results = prop::sample::select(&RESULTS[..]);
    (tools, arguments, results, prop::bool::weighted(0.2)).prop_map(
        |(tool, arguments, result, overlaps)| Step {
            tool,
            arguments,
            result,
            overlaps,
        },
    )
}

/// Everything that either side gets, and the operator.
fn run(steps: &[Step], notice: u32, later: bool) -> (Vec<String>, Vec<String>, Vec<String>) {
    let mut settings = Settings::default();
    settings.policy.admission.repeated_result = Steps::new(notice, 4);
    // Questions have random names.
    settings.policy.admission.ask_after = u32::MAX;
    settings.policy.output.max_bytes = Some(600);
    let guard = Guard::new(Arc::new(settings), "s");
    let now = Now::by_clock();
    let mut sides = Sides::default();
    let mut all = |message: &str, is_client: bool| {
        let mut out = Vec::new();
        match (is_client, later) {
            (true, _) => guard.from_client(message.as_bytes(), now, &mut out),
            (false, true) => guard.from_server_unsettled(message.as_bytes(), now, &mut out),
            (false, false) => guard.from_server(message.as_bytes(), now, &mut out),
        }
        let went = Sides::of(&compile(&guard, out, now));
        let reached_server = !went.to_server.is_empty();
        sides.to_server.extend(went.to_server);
        sides.to_client.extend(went.to_client);
        sides.warnings.extend(went.warnings);
        reached_server
    };
    all(LIST, true);
    all(TOOLS, false);
    let mut open = Vec::new();
    for (id, step) in steps.iter().enumerate() {
        let Step {
            tool, arguments, ..
        } = step;
        let call = format!(
            r#"{{"id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        );
        if all(&call, true) {
            open.push((id, step.result));
        }
        if !step.overlaps {
            for (id, result) in open.drain(..) {
                all(&format!(r#"{{"id":{id},"result":{result}}}"#), false);
            }
        }
    }
    let mut out = Vec::new();
    guard.settle(&mut out);
    assert!(out.is_empty(), "{out:?}");
    let Sides {
        to_server,
        to_client,
        warnings,
        ..
    } = sides;
    (texts(to_server), texts(to_client), warnings)
}

proptest! {
    /// Nothing tells when a result was settled.
    #[test]
    fn settling_later_changes_nothing(
        steps in prop::collection::vec(step(), 0..25),
        notice in 1_u32..4,
    ) {
        let first = run(&steps, notice, false);
        let later = run(&steps, notice, true);
        prop_assert_eq!(first, later);
    }
}
