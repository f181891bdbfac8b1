//! A secret is never revealed: not to a model, not to an operator, not in a record.
#![allow(
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "a test may panic, and takes values that are made on the spot"
)]

#[path = "secrets/cases.rs"]
mod cases;
#[path = "secrets/shown.rs"]
mod shown;

use cases::{Case, leak};
use proptest::prelude::*;
use serde_json::{Value, json};

fn assert_nothing_leaks(case: &Case) {
    for (what, text) in shown::everything(case) {
        let found = leak(&case.token, &text);
        assert!(
            found.is_none(),
            "{what} shows {found:?} of {}:\n{text}\n\ntool: {}\ncall: {}",
            case.token,
            case.tool,
            case.line,
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_secret_is_never_revealed(bytes in prop::collection::vec(any::<u8>(), 8..40)) {
        assert_nothing_leaks(&Case::new(&bytes, "log_in"));
    }
}

/// One tool that marks a place, and a call of it.
fn case(schema: Value, arguments: Value) -> Case {
    Case {
        tool: json!({"name": "log_in", "inputSchema": schema, "annotations": {"readOnlyHint": true}}),
        line: json!({"tool": "log_in", "arguments": arguments}),
        token: "zQx81LmTr45Kp".to_owned(),
    }
}

#[test]
fn places_that_once_leaked() {
    let token = "zQx81LmTr45Kp";
    let password = json!({"type": "string", "format": "password"});
    let plain = json!({"properties": {"user": {"type": "string"}, "password": password}});
    let all = [
        // The arguments as a whole are marked.
        case(
            json!({"writeOnly": true, "properties": {"a": {"type": "integer"}}}),
            json!({"a": token}),
        ),
        // Marked under keys without a fixed name, in an object whose key is listed elsewhere.
        case(
            json!({"properties": {"env": {"additionalProperties": password}, "user": {"type": "integer"}}}),
            json!({"env": {"user": [token]}, "user": "x"}),
        ),
        case(
            json!({
                "properties": {"options": {"properties": {"deep": {"type": "integer"}}}},
                "additionalProperties": {"type": "integer", "writeOnly": true},
            }),
            json!({"deep": token}),
        ),
        // Inside the marked part, and without what surrounds it.
        case(
            json!({"properties": {"vault": {"writeOnly": true, "properties": {"seed": {"type": "integer"}}}}}),
            json!({"seed": token}),
        ),
        // Pairs.
        case(
            plain.clone(),
            json!({"user": 5, "fields": [{"name": "password", "value": token}]}),
        ),
        case(plain.clone(), json!({"user": [token], token: "password"})),
        // Not JSON.
        case(
            plain.clone(),
            json!(format!("{{\"user\": \"ann\" \"{token}\"}}")),
        ),
        case(plain, json!(format!("call log_in(password=\"{token}\")"))),
    ];
    for case in &all {
        assert_nothing_leaks(case);
    }
}
