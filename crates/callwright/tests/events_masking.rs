//! Event lines mask secrets, and nothing else.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use std::time::SystemTime;

use callwright::admit::Place;
use callwright::check::{Ran, ToolFailure};
use callwright::event::{Event, Values};
use callwright::policy::{Policy, ToolPolicy, Validation};
use callwright::{Call, Gate, Opened, ToolSpec, Verdict, wire};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Occurs in every secret, and nowhere else.
const SECRET: &str = "hunter2";

fn login() -> Value {
    json!({
        "type": "object",
        "properties": {
            "user": {"type": "string"},
            "password": {"type": "string", "format": "password"},
            "pin": {"type": "integer", "writeOnly": true},
            "retries": {"type": "integer"},
            "proxy": {
                "type": "object",
                "properties": {
                    "host": {"type": "string"},
                    "token": {"type": "object", "writeOnly": true},
                },
            },
        },
        "required": ["user"],
    })
}

fn gate_of(input: Value) -> Gate {
    let mut tool = ToolSpec::new("login", input);
    tool.output_schema = Some(std::sync::Arc::new(json!({
        "type": "object",
        "properties": {"session_key": {"type": "string", "writeOnly": true}, "name": {"type": "string"}},
    })));
    Gate::builder().tool(tool).build().expect("one tool")
}

fn event_of(gate: &Gate, call: &Call<'_>) -> Event {
    Event::of(gate, call, &gate.judge(call), SystemTime::UNIX_EPOCH)
}

fn line(event: &Event) -> Value {
    let line = event.line().with_output(true).to_string();
    assert!(!line.contains(SECRET), "{line}");
    serde_json::from_str(&line).expect("JSON")
}

fn masked(text: &str) -> Value {
    line(&event_of(
        &gate_of(login()),
        &Call::from_text("login", text),
    ))
}

/// The parsed text in `arguments_sent`.
fn sent(line: &Value) -> Value {
    serde_json::from_str(line["arguments_sent"].as_str().expect("text")).expect("JSON")
}

#[test]
fn only_marked_values_are_masked() {
    let line = masked(
        r#"{"user": "ann", "password": "hunter2", "pin": 123456789012345678901234, "retries": 3,
            "proxy": {"host": "example.com", "token": {"hunter2": ["hunter2"]}}}"#,
    );
    let expected = json!({
        "user": "ann", "password": "[masked]", "pin": "[masked]", "retries": 3,
        "proxy": {"host": "example.com", "token": "[masked]"},
    });
    assert_eq!(line["verdict"], "valid");
    assert_eq!(line["arguments"], expected);
    assert_eq!(sent(&line), expected);
}

#[test]
fn a_text_without_secrets_stays_as_it_was_sent() {
    let text = "{ \"user\":  \"ann\", \"retries\": 1.0 }";
    let line = masked(text);
    assert_eq!(line["arguments_sent"], text);
    assert_eq!(line["arguments"]["user"], "ann");
}

#[test]
fn edits_are_masked_on_both_sides() {
    let line = masked(r#"{"user": "ann", "pin": "4711", "retries": "3"}"#);
    assert_eq!(line["verdict"], "repaired");
    let told = |path: &str| {
        let edits = line["edits"].as_array().expect("a list");
        edits
            .iter()
            .find(|edit| edit["path"] == path)
            .expect("an edit")
            .clone()
    };
    assert_eq!(
        (&told("/pin")["before"], &told("/pin")["after"]),
        (&json!("[masked]"), &json!("[masked]"))
    );
    assert_eq!(
        (&told("/retries")["before"], &told("/retries")["after"]),
        (&json!("3"), &json!(3))
    );
    assert_eq!(line["arguments"]["pin"], "[masked]");
    assert!(!line.to_string().contains("4711"));
}

#[test]
fn an_unreadable_text_is_masked_completely() {
    for text in [
        r#"{"user": "ann", "password": "hunter2" oops"#,
        "hunter2",
        r#"{"password": "hunter2"}{"a": 1}"#,
    ] {
        assert_eq!(masked(text)["arguments_sent"], "[masked]");
    }
    // A value in place of the whole object may be the secret itself.
    assert_eq!(masked(r#""hunter2""#)["arguments_sent"], "\"[masked]\"");
    assert_eq!(masked(r#"["hunter2"]"#)["arguments_sent"], "[\"[masked]\"]");
}

#[test]
fn secrets_in_the_wrong_place_are_masked_too() {
    for text in [
        // Misspelt, in capitals, one layer too many, and JSON in a text.
        r#"{"user": "ann", "passwrd": "hunter2"}"#,
        r#"{"user": "ann", "Password": {"value": "hunter2"}}"#,
        r#"{"arguments": {"user": "ann", "password": "hunter2"}}"#,
        r#"{"arguments": "{\"user\": \"ann\", \"password\": \"hunter2\"}"}"#,
        r#"{"user": "ann", "proxy": "hunter2"}"#,
        r#"{"user": "ann", "password": "hunter2", "password": "hunter2"}"#,
        r#"{"user": "ann", "proxy": {"token": "hunter2"}}"#,
    ] {
        masked(text);
    }
}

#[test]
fn a_result_is_masked_by_its_own_schema_and_where_it_repeats_a_secret() {
    let gate = gate_of(login());
    let call = Call::from_text(
        "login",
        r#"{"user": "ann", "password": "hunter2", "pin": 7}"#,
    );
    let output = r#"{
        "content": [
            {"type": "text", "text": "welcome ann, your key is k-123456"},
            {"type": "text", "text": "{\"session_key\": \"k-123456\"}"},
            {"type": "text", "text": "logged in with hunter2"},
            {"type": "text", "text": "logged in at 17:07"}
        ],
        "structuredContent": {"session_key": "k-123456", "name": "ann"}
    }"#;
    let output = callwright::parse::read_value(output).expect("JSON");
    let event = event_of(&gate, &call).with_output(output);
    let line = line(&event);
    assert_eq!(
        line["output"]["structuredContent"],
        json!({"session_key": "[masked]", "name": "ann"})
    );
    let texts: Vec<&Value> = line["output"]["content"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|part| &part["text"])
        .collect();
    assert_eq!(
        texts,
        [
            "welcome ann, your key is [masked]",
            "[masked]",
            "logged in with [masked]",
            "logged in at 17:07"
        ]
    );
    assert_eq!(line["output"]["content"][0]["type"], "text");
    assert!(
        event.line().to_string().find("\"output\":").is_none(),
        "off unless asked for"
    );
}

#[test]
fn the_operator_gets_no_secrets() {
    let gate = gate_of(login());
    let call = Call::from_text(
        "login",
        r#"{"user": "ann", "password": "hunter2\nagain", "pin": 7}"#,
    );
    let told = |detail: &str| {
        let mut event = event_of(&gate, &call);
        event.operator_detail = Some(detail.to_owned());
        let line = line(&event);
        line["operator_detail"].as_str().expect("text").to_owned()
    };
    assert_eq!(
        told("connection refused: 10.0.0.17"),
        "connection refused: 10.0.0.17"
    );
    assert_eq!(told("bad password hunter2\nagain"), "bad password [masked]");
    assert_eq!(
        told(r#"bad body {"password":"hunter2\nagain"}"#),
        r#"bad body {"password":"[masked]"}"#
    );
    assert_eq!(told("bad pin 7!"), "bad pin [masked]");
    let mut unread = event_of(&gate, &Call::from_text("login", "{hunter2"));
    unread.operator_detail = Some("hunter2?".to_owned());
    assert_eq!(line(&unread)["operator_detail"], "[masked]");
}

#[test]
fn an_earlier_result_is_not_repeated() {
    // A tool that takes no secrets, but returns some.
    let gate = gate_of(json!({"properties": {"user": {"type": "string"}}}));
    let call = Call::from_text("login", r#"{"user": "ann"}"#);
    let refused = (0..9).find_map(
        |round| match gate.open(&call, Place::new("chat", 0, round)) {
            Opened::Admitted(ticket) => {
                let failure = ToolFailure::said("key hunter2 has expired");
                let _ = gate.close(ticket, Ran::failed(failure));
                None
            }
            Opened::Refused(refused) => Some(refused),
        },
    );
    let refused = Verdict::Refused(refused.expect("refused in the end"));
    let event = Event::of(&gate, &call, &refused, SystemTime::UNIX_EPOCH);
    let all = event.line().with_values(Values::All).to_string();
    assert!(!all.contains(SECRET), "the secret is remembered: {all}");
    let line = line(&event);
    let detail = line["failure"]["detail"].as_str().expect("text");
    assert!(detail.contains("3 times"), "the rest is shown: {detail}");
}

#[test]
fn a_quarantined_tool_is_masked_completely() {
    let broken = json!({"type": "object", "properties": {"password": {"writeOnly": true}, "a": {"$ref": "#/gone"}}});
    let gate = gate_of(broken);
    assert!(
        gate.tool("login")
            .and_then(callwright::tool::Tool::quarantined)
            .is_some()
    );
    let call = Call::from_text("login", r#"{"password": "hunter2", "a": ["hunter2"]}"#);
    assert_eq!(
        line(&event_of(&gate, &call))["arguments"],
        json!({"password": "[masked]", "a": ["[masked]"]})
    );
}

#[test]
fn an_unknown_tool_may_be_any_tool() {
    let gate = gate_of(login());
    let call = Call::from_text(
        "log_someone_in",
        r#"{"user": "ann", "password": "hunter2"}"#,
    );
    let line = line(&event_of(&gate, &call));
    assert_eq!(line["failure"]["code"], "unknown_tool");
    assert_eq!(
        line["arguments"],
        json!({"user": "ann", "password": "[masked]"})
    );
}

#[test]
fn a_tool_without_validation_is_still_masked() {
    let mut policy = Policy::default();
    let mut tool = ToolPolicy::new("login");
    tool.validation = Some(Validation::Off);
    policy.tools.push(tool);
    let tool = ToolSpec::new("login", login());
    let gate = Gate::builder()
        .tool(tool)
        .policy(policy)
        .build()
        .expect("one tool");
    let call = Call::from_text("login", r#"{"user": 5, "password": "hunter2"}"#);
    let line = line(&event_of(&gate, &call));
    assert_eq!(line["verdict"], "valid");
    assert_eq!(
        line["arguments"],
        json!({"user": 5, "password": "[masked]"})
    );
}

#[test]
fn all_values_and_none() {
    let gate = gate_of(login());
    let call = Call::from_text(
        "login",
        r#"{"user": "ann", "password": "hunter2", "retries": "x"}"#,
    );
    let output = callwright::parse::read_value(r#"[1, null, true, {"a": "b"}]"#).expect("JSON");
    let mut event = event_of(&gate, &call).with_output(output);
    event.operator_detail = Some("ann said x".to_owned());
    let all = event.line().with_values(Values::All).to_string();
    assert!(
        all.contains(r#""password":"hunter2""#) && all.contains("ann said x"),
        "{all}"
    );
    let none = event
        .line()
        .with_values(Values::None)
        .with_output(true)
        .to_string();
    let none: Value = serde_json::from_str(&none).expect("JSON");
    let shape = json!({"user": "string", "password": "string", "retries": "string"});
    assert_eq!(none["arguments"], shape);
    assert_eq!(sent(&none), shape);
    assert_eq!(
        none["output"],
        json!(["number", "null", "boolean", {"a": "string"}])
    );
    assert_eq!(none["operator_detail"], "[masked]");
    assert_eq!(none["failure"]["code"], "invalid_arguments");
    assert_eq!(none["failure"]["issues"][0]["path"], "/retries");
    assert_eq!(none["failure"]["issues"][0]["expected"], "integer");
    for word in ["received", "message"] {
        assert_eq!(none["failure"]["issues"][0][word], "[masked]");
    }
    assert!(!none.to_string().contains("ann"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// A secret under its own key is never shown, whatever else is sent and whatever the verdict is; without marks
    /// nothing is masked.
    #[test]
    fn a_secret_is_never_revealed(mut sent in support::arguments(), schema in support::schema(), as_text: bool) {
        let secret = "s3cr3t-7731";
        let mut declared = json!({"properties": {"token": {"writeOnly": true}}, "allOf": [schema]});
        let members = sent.as_object_mut().expect("an object");
        members.insert("token".to_owned(), json!([secret, {"deep": secret}]));
        for marked in [true, false] {
            if !marked {
                declared = json!({"allOf": declared["allOf"]});
            }
            let gate = gate_of(declared.clone());
            let text = sent.to_string();
            let call = if as_text {
                Call::from_text("login", text.as_str())
            } else {
                Call::from_value("login", &sent)
            };
            let event = event_of(&gate, &call);
            let line = event.line().to_string();
            if marked {
                prop_assert!(!line.contains(secret), "{line}");
            } else if !declared.to_string().contains("writeOnly") {
                prop_assert!(!line.contains("[masked]"), "{line}");
                prop_assert_eq!(wire::read_recorded(&line).expect("a call").call, call);
            }
            let none = event.line().with_values(Values::None).to_string();
            prop_assert!(!none.contains(secret), "{none}");
        }
    }
}
