//! Runs `corpus/present` through the guard, with a server that answers as the case says.

use std::sync::Arc;

use callwright_mcp::guard::{Guard, Now, Settings};
use serde_json::{Value, json};

use crate::present_cases::{PresentCase, TOOL, cases};
use crate::sides::{Sides, compile};

/// What the client gets for its last call.
fn answered(case: &PresentCase) -> Value {
    let mut settings = Settings::default();
    settings.policy = case.policy();
    settings.feedback = case.feedback();
    let guard = Guard::new(Arc::new(settings), "s");
    let now = Now::by_clock();
    let from_client = |message: &Value| {
        let (message, mut out) = (message.to_string(), Vec::new());
        guard.from_client(message.as_bytes(), now, &mut out);
        Sides::of(&compile(&guard, out, now))
    };
    let from_server = |id: u64, result: Value| {
        let message = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
        let mut out = Vec::new();
        guard.from_server(message.as_bytes(), now, &mut out);
        Sides::of(&compile(&guard, out, now))
    };
    from_client(&json!({"jsonrpc": "2.0", "id": 0, "method": "tools/list"}));
    from_server(0, json!({"tools": [case.tool()]}));
    let mut answer = Value::Null;
    for id in 1..=case.times() {
        let params = json!({"name": TOOL, "arguments": case.arguments()});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        let mut sides = from_client(&call);
        if !sides.to_server.is_empty() {
            sides = from_server(id, case.mcp_result());
        }
        let message: Value = serde_json::from_slice(&sides.to_client[0]).unwrap();
        answer = message["result"].clone();
    }
    answer
}

#[test]
fn a_settled_call_reads_as_everywhere() {
    for case in cases() {
        case.check_blocks("MCP guard", &answered(&case));
    }
}
