//! An event line reads back as the call that was sent, so that it can be replayed.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use callwright::admit::Place;
use callwright::call::{Arguments, Completeness};
use callwright::check::{Ran, ToolFailure};
use callwright::event::{Event, Values};
use callwright::feedback::Feedback;
use callwright::repair::RepairPolicy;
use callwright::rescue::Notation;
use callwright::{Call, Gate, Opened, ToolSpec, Verdict, json, wire};
use proptest::prelude::*;
use serde_json::Value;

fn gate(schema: &Value) -> Gate {
    let tool = ToolSpec::new("search", schema.clone());
    Gate::builder()
        .tool(tool)
        .repair(RepairPolicy::UpTo(callwright::repair::Grade::Guess))
        .build()
        .expect("one tool")
}

fn example_gate() -> Gate {
    gate(&serde_json::json!({
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}, "api_key": {"type": "string", "writeOnly": true}},
        "required": ["query"],
    }))
}

/// The complete call from the documentation.
fn example() -> Event {
    let gate = example_gate();
    let text = r#"{"query": "tea", "limit": "10", "api_key": "k-5177"}"#;
    let call = Call::from_text("functions.search", text).with_id("call_1");
    let place = Place::new("chat-7", 2, 5);
    let Opened::Admitted(ticket) = gate.open(&call, place) else {
        panic!("it may run")
    };
    let answer = json_value(r#"{"error":"index is being rebuilt"}"#);
    let settled = gate.close(ticket, Ran::failed(ToolFailure::said(answer.clone())));
    let time = SystemTime::UNIX_EPOCH + Duration::new(1_798_761_599, 123_456_789);
    let mut event = Event::of(&gate, &call, &settled.verdict, time)
        .at(place)
        .settled(&settled)
        .ran(2, Duration::from_micros(41_300))
        .with_output(answer);
    event.gate_time = Duration::from_micros(14);
    event.operator_detail =
        Some("shard 3: index is being rebuilt: lock held by pid 4711".to_owned());
    event
}

fn json_value(text: &str) -> json::Value<'_> {
    callwright::parse::read_value(text).expect("JSON")
}

#[test]
fn the_line_of_the_documentation_is_the_line_that_is_written() {
    let line = example().line().with_output(true).to_string();
    let page = include_str!("../../../docs/events.md");
    assert!(
        page.lines().any(|printed| printed == line),
        "docs/events.md should have this line:\n{line}"
    );
}

#[test]
fn an_event_has_every_field_of_the_contract() {
    let fields = [
        "v",
        "time",
        "session",
        "turn",
        "round",
        "id",
        "tool",
        "fingerprint",
        "verdict",
        "arguments_sent",
        "arguments",
        "edits",
        "failure",
        "output_digest",
        "latency_us",
        "gate_us",
    ];
    let gate = example_gate();
    let refused = Call::from_text("search", "{");
    let least = Event::of(
        &gate,
        &refused,
        &gate.judge(&refused),
        SystemTime::UNIX_EPOCH,
    );
    for event in [least, example()] {
        let line: Value = serde_json::from_str(&event.line().to_string()).expect("JSON");
        let members = line.as_object().expect("an object");
        let found: Vec<&str> = members
            .keys()
            .map(String::as_str)
            .filter(|key| fields.contains(key))
            .collect();
        assert_eq!(found, fields, "all of them, in this order");
    }
}

#[test]
fn a_failure_reads_as_in_a_verdict_line() {
    let gate = example_gate();
    let call = Call::from_text("search", r#"{"limit": "many"}"#);
    let verdict = gate.judge(&call);
    let told: Value =
        serde_json::from_str(&verdict.line(&call, &Feedback::default()).to_string()).expect("JSON");
    let event = Event::of(&gate, &call, &verdict, SystemTime::UNIX_EPOCH);
    let line: Value = serde_json::from_str(&event.line().to_string()).expect("JSON");
    assert_eq!(line["failure"], told["failure"]);
    assert_eq!(line["edits"], told["edits"]);
    assert_eq!(line["arguments"], told["arguments"]);
}

#[test]
fn an_event_has_the_place_of_its_call() {
    let event = example();
    let line = event
        .line()
        .with_values(Values::All)
        .with_output(true)
        .to_string();
    let recorded = wire::read_recorded(&line).expect("a call");
    let text = r#"{"query": "tea", "limit": "10", "api_key": "k-5177"}"#;
    assert_eq!(
        recorded.call,
        Call::from_text("functions.search", text).with_id("call_1")
    );
    assert_eq!(recorded.place(), Some(Place::new("chat-7", 2, 5)));
    assert_eq!(
        recorded.output,
        Some(json_value(r#"{"error":"index is being rebuilt"}"#))
    );
    assert!(recorded.is_error);
    // And it is the same call again.
    let gate = example_gate();
    let verdict = gate.judge(&recorded.call);
    let Verdict::Repaired(repaired) = &verdict else {
        panic!("its name was corrected")
    };
    let ran = recorded.ran().expect("recorded");
    let result = gate.check(repaired.tool(), repaired.arguments(), ran);
    assert_eq!(Some(result.outcome().digest), event.output_digest);
    assert_eq!(
        gate.fingerprint(&recorded.call, &verdict),
        event.fingerprint
    );
}

#[test]
fn digits_are_kept() {
    let gate = gate(&serde_json::json!({"type": "object"}));
    let text = r#"{"id": 123456789012345678901234567890, "rate": 1.10}"#;
    let call = Call::from_value("search", json_value(text));
    let event = Event::of(&gate, &call, &gate.judge(&call), SystemTime::UNIX_EPOCH);
    let line = event.line().to_string();
    assert_eq!(
        line.matches("123456789012345678901234567890").count(),
        2,
        "{line}"
    );
    assert_eq!(line.matches("1.10").count(), 2, "{line}");
}

fn completeness() -> impl Strategy<Value = Completeness> {
    prop::sample::select(
        &[
            Completeness::Unknown,
            Completeness::Complete,
            Completeness::CutOff,
        ][..],
    )
}

fn sent() -> impl Strategy<Value = Arguments<'static>> {
    prop_oneof![
        Just(Arguments::Absent),
        "[\\u{0}-\\u{30}{}\\[\\]:\"a\\\\\u{2028}日]{0,40}"
            .prop_map(|text| Arguments::Text(Cow::Owned(text))),
        support::arguments().prop_map(|value| Arguments::Text(Cow::Owned(value.to_string()))),
        support::json().prop_map(|value| Arguments::Value(json::Value::from(&value).into_owned())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_event_reads_back_as_its_call(
        arguments in sent(),
        schema in support::schema(),
        tool in prop_oneof![Just("search".to_owned()), Just("functions.search".to_owned()), ".{0,12}"],
        id in prop::option::of(".{0,8}"),
        completeness in completeness(),
        rescued in prop::sample::select(&[None, Some(Notation::Harmony), Some(Notation::Json)][..]),
        session in prop::option::of(".{0,8}"),
        (turn, round) in any::<(u64, u64)>(),
        output in prop::option::of(support::json()),
    ) {
        let gate = gate(&schema);
        let mut call = Call::new(tool, arguments).with_completeness(completeness);
        call.rescued = rescued;
        if let Some(id) = id {
            call = call.with_id(id);
        }
        let verdict = gate.judge(&call);
        let mut event = Event::of(&gate, &call, &verdict, SystemTime::UNIX_EPOCH);
        if let Some(session) = &session {
            event = event.at(Place::new(session, turn, round));
        }
        if let Some(output) = &output {
            event = event.with_output(json::Value::from(output));
        }
        // The schema may mark secrets.
        let line = event.line().with_values(Values::All).with_output(true).to_string();
        prop_assert!(!line.contains('\n'));
        let recorded = wire::read_recorded(&line).expect("a call");
        prop_assert_eq!(&recorded.call, &call);
        prop_assert_eq!(wire::read_line(&line).expect("a call"), call.clone());
        prop_assert_eq!(recorded.session.as_deref(), session.as_deref());
        if session.is_some() {
            prop_assert_eq!((recorded.at.turn, recorded.at.round), (Some(turn), Some(round)));
        }
        prop_assert_eq!(recorded.output, output.as_ref().map(json::Value::from));
        // The event agrees with the gate.
        let told = event.arguments();
        if matches!(verdict, Verdict::Valid(_) | Verdict::Repaired(_)) {
            prop_assert_eq!(told.as_deref(), verdict.arguments());
        } else if let Some(arguments) = verdict.arguments() {
            prop_assert_eq!(told.as_deref(), Some(arguments));
        }
    }
}
