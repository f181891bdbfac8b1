//! The cases of `corpus/gateway`: takes events or a whole body, and checks what the client gets.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use callwright::Gate;
use callwright::wire::{Provider, read_tools};
use callwright_gateway::{AnswerGuard, Api, CallScope, TakenIds};
use serde_json::Value;
use support::judge::Judge;

#[test]
fn every_case_comes_out_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/gateway");
    let mut cases = 0;
    for api in Api::ALL {
        let (name, _) = Provider::ALL
            .iter()
            .find(|(_, provider)| *provider == api.provider())
            .expect("a name");
        let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).expect("cases");
        let file: Value = serde_json::from_str(&text).expect("a file of cases");
        let tools = read_tools(&file["tools"].to_string()).expect("tools");
        let gate = Arc::new(Gate::builder().tools(tools).build().expect("tools"));
        for case in file["cases"].as_array().expect("cases") {
            let what = format!("{name}: {}", case["name"]);
            run(api, &gate, case, &what);
            cases += 1;
        }
    }
    assert!(cases > 120, "{cases} cases");
}

fn run(api: Api, gate: &Arc<Gate>, case: &Value, what: &str) {
    let mut judge = Judge::default();
    let taken = case["conversation_ids"].as_array();
    let taken = taken.into_iter().flatten().filter_map(Value::as_str);
    let mut scope = CallScope::default();
    scope.is_single = case["single"] == true;
    let mut guard = AnswerGuard::new(Arc::clone(gate), api)
        .splitting(scope)
        .avoiding(TakenIds::of(taken));
    if case["rescue"] == true {
        guard = guard.rescuing();
    }
    let (sent, received) = if case["body"].is_null() {
        let events = case["events"].as_array().expect("events");
        let written: Vec<Bytes> = events.iter().map(written).collect();
        let mut out = Vec::new();
        for event in &written {
            guard.event(event.clone(), &mut judge, &mut out);
        }
        guard.end(&mut judge, &mut out);
        if case["same"] == true {
            assert_eq!(text(&out), text(&written), "{what}");
        }
        (
            Value::Array(events.clone()),
            Value::Array(out.iter().map(read).collect()),
        )
    } else {
        let body = case["body"].to_string();
        let changed = guard.body(&body, &mut judge);
        assert_eq!(changed.is_none(), case["same"] == true, "{what}");
        let changed = changed.map(|body| serde_json::from_str(&body).expect("JSON"));
        (
            case["body"].clone(),
            changed.unwrap_or_else(|| case["body"].clone()),
        )
    };
    let lacks_text = case["lacks_text"] == true;
    assert_eq!(guard.answer().lacks_text(), lacks_text, "{what}");
    let expected = if case["expect"].is_null() {
        &sent
    } else {
        &case["expect"]
    };
    if case["sorted"] == true {
        let sorted = |value: &Value| {
            let mut events: Vec<String> = value
                .as_array()
                .expect("events")
                .iter()
                .map(Value::to_string)
                .collect();
            events.sort();
            events
        };
        assert_eq!(sorted(&received), sorted(expected), "{what}");
    } else {
        assert_eq!(received, *expected, "{what}");
    }
    let names = |list: &Value| {
        list.as_array().map(|names| {
            names
                .iter()
                .map(|name| name.as_str().expect("a name").to_owned())
                .collect()
        })
    };
    let mended: Vec<String> = names(&case["mended"]).unwrap_or_default();
    assert_eq!(judge.mended, mended, "{what}");
    if let Some(verdicts) = names(&case["verdicts"]) {
        let verdicts: Vec<String> = verdicts;
        let judged: Vec<&str> = judge
            .verdicts
            .iter()
            .map(|(.., verdict)| *verdict)
            .collect();
        assert_eq!(judged, verdicts, "{what}");
    }
}

/// An event as an API sends it.
fn written(event: &Value) -> Bytes {
    let data = event
        .as_str()
        .map_or_else(|| event.to_string(), str::to_owned);
    match event["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {data}\n\n").into(),
        None => format!("data: {data}\n\n").into(),
    }
}

fn read(event: &Bytes) -> Value {
    let event = String::from_utf8_lossy(event);
    let data = event
        .lines()
        .find_map(|line| line.strip_prefix("data: "))
        .expect("data");
    serde_json::from_str(data).unwrap_or_else(|_| Value::from(data))
}

fn text(events: &[Bytes]) -> String {
    String::from_utf8(events.concat()).expect("text")
}
