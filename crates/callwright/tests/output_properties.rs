//! Properties of any result, whatever the tool returned.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use callwright::check::{Checked, Detector, Output, OutputVerdict, Ran, ToolFailure};
use callwright::feedback::{Feedback, Style};
use callwright::parse::read_value;
use callwright::policy::{Policy, Validation};
use callwright::validate::CompiledSchema;
use callwright::{Gate, ToolSpec};
use proptest::prelude::*;
use serde_json::{Value, json as json_value};
use support::{arguments, json, schema};

/// A gate with one tool, `get_order`, whose results get every check.
fn gate(output_schema: Option<&Value>, mode: Validation, detect: bool) -> Gate {
    let mut policy = Policy::default();
    policy.output.mode = Some(mode);
    if detect {
        policy.output.detect = Some(Detector::ALL.map(|(_, detector)| detector).to_vec());
    }
    let input = json_value!({"properties": {
        "order_id": {"type": "string"},
        "page": {"type": "integer"},
        "cursor": {"type": "string"},
    }});
    let mut tool = ToolSpec::new("get_order", input);
    if let Some(schema) = output_schema {
        tool = tool.with_output_schema(schema.clone());
    }
    let builder = Gate::builder().tool(tool).policy(policy);
    builder.build().expect("one tool")
}

/// Judges the outcome of a call of the tool.
fn check<'o>(gate: &Gate, arguments: &Value, ran: Ran<'o>) -> Checked<'o> {
    let text = arguments.to_string();
    let arguments = read_value(&text).expect("JSON");
    gate.check(gate.tool("get_order").expect("there"), &arguments, ran)
}

fn assert_one_line(text: &str) {
    let hidden = |letter: char| {
        letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2028}' | '\u{2029}')
    };
    assert!(!text.contains(hidden), "{text:?}");
}

/// Messages about a result stay on their lines, in every style; any excerpt of it is its beginning.
fn assert_words(checked: &Checked<'_>) {
    let whole = checked
        .output
        .as_ref()
        .map(|output| output.text().into_owned());
    let whole = whole.unwrap_or_default();
    for (_, style) in Style::ALL {
        let feedback = Feedback::new(style);
        let text = feedback.present_result(&[], checked, None).into_text();
        match checked.verdict {
            OutputVerdict::Passed | OutputVerdict::Warned => assert_eq!(text, whole),
            OutputVerdict::Partial => {
                let note = text.strip_prefix(&*whole).expect("the result, and a note");
                let note = note
                    .strip_prefix("\n\n[")
                    .and_then(|note| note.strip_suffix(']'));
                assert_one_line(note.expect("a note in brackets"));
            }
            _ => {
                let Some(failure) = &checked.failure else {
                    panic!("a refusal has a reason");
                };
                assert_one_line(&feedback.detail(failure));
                assert_one_line(&feedback.hint(failure));
                assert!(!text.is_empty());
                if style != Style::Numbered && checked.verdict == OutputVerdict::Refused {
                    assert_one_line(&text);
                }
            }
        }
    }
}

/// Texts similar to what detectors look for.
fn odd_text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(
        &[
            "{",
            "}",
            "[",
            "]",
            "\"",
            ":",
            ",",
            "error",
            "Error: ",
            "HTTP 429",
            "<html>",
            "null",
            "None",
            "No results found",
            "[truncated]",
            "... (3 more lines)",
            "Traceback (most recent call last)",
            "has_more",
            "true",
            "next_cursor",
            "\n",
            " ",
            "é",
            "\u{202e}",
            "\u{2028}",
            "\0",
            "1",
            "items",
            "\\",
            "<title>",
            "</title>",
            "Output truncated",
            "Order not found",
            "…",
            "🦀",
        ][..],
    );
    prop_oneof![
        3 => prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat()),
        1 => ".{0,60}",
    ]
}

/// Values similar to what detectors look for.
fn odd_value() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(
        &[
            "error",
            "errors",
            "message",
            "success",
            "status",
            "statusCode",
            "has_more",
            "next",
            "next_cursor",
            "next_page",
            "items",
            "total",
            "total_count",
            "page",
            "meta",
            "links",
            "result",
            "data",
            "content",
            "order",
            "count",
            "href",
            "pageInfo",
            "hasNextPage",
            "endCursor",
            "offset",
            "number",
            "totalPages",
        ][..],
    );
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..600).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        odd_text().prop_map(Value::from),
        Just(json_value!("https://shop.example/orders?page=%32&cursor=%")),
    ];
    leaf.prop_recursive(4, 24, 5, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            3 => prop::collection::vec((key.clone(), inner), 0..6).prop_map(|pairs| {
                Value::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            }),
        ]
    })
}

fn odd_arguments() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(&["order_id", "page", "cursor", "offset", "limit", "query"][..]);
    let value = prop_oneof![
        odd_text().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        Just(Value::Null),
        (0_u64..4).prop_map(Value::from),
    ];
    let pairs = prop::collection::vec((key, value), 0..4);
    pairs.prop_map(|pairs| {
        Value::Object(
            pairs
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// No text causes a panic, and messages about it stay on their line.
    #[test]
    fn any_text_gets_a_verdict(text in odd_text(), arguments in odd_arguments(), schema in prop::option::of(schema())) {
        for mode in [Validation::Strict, Validation::Warn] {
            let gate = gate(schema.as_ref(), mode, true);
            assert_words(&check(&gate, &arguments, Ran::ok(text.as_str())));
        }
    }

    /// No value causes a panic.
    #[test]
    fn any_value_gets_a_verdict(value in odd_value(), arguments in odd_arguments()) {
        let gate = gate(None, Validation::Strict, true);
        let text = value.to_string();
        assert_words(&check(&gate, &arguments, Ran::ok(text.as_str())));
        let value = read_value(&text).expect("JSON");
        assert_words(&check(&gate, &arguments, Ran::ok(value)));
    }

    /// No bytes cause a panic.
    #[test]
    fn any_bytes_get_a_verdict(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let gate = gate(Some(&json_value!({"type": "object"})), Validation::Strict, true);
        let checked = check(&gate, &json_value!({}), Ran::ok(Output::from_bytes(bytes.clone())));
        assert_words(&checked);
        prop_assert_eq!(checked.verdict == OutputVerdict::Passed, serde_json::from_slice::<serde_json::Map<String, Value>>(&bytes).is_ok());
    }

    /// No failure of a tool causes a panic, and its message stays on its line.
    #[test]
    fn any_failure_gets_words(code in odd_text(), detail in odd_text(), hint in odd_text()) {
        let gate = gate(None, Validation::Strict, false);
        let failure = ToolFailure::new(code, detail).with_hint(hint.clone()).with_recommendation(hint);
        assert_words(&check(&gate, &json_value!({}), Ran::failed(failure)));
        let failure = ToolFailure::internal("hunter2");
        let checked = check(&gate, &json_value!({}), Ran::failed(failure));
        prop_assert!(!Feedback::default().present_result(&[], &checked, None).into_text().contains("hunter2"));
    }

    /// What the schema accepts passes byte for byte, and what it rejects does not pass.
    #[test]
    fn a_good_result_is_not_touched(value in json(), schema in schema()) {
        let gate = gate(Some(&schema), Validation::Strict, false);
        let Ok(compiled) = CompiledSchema::compile(schema) else { return Ok(()) };
        let text = serde_json::to_string_pretty(&value).expect("JSON");
        let accepted = compiled.accepts(&read_value(&text).expect("JSON"));
        let checked = check(&gate, &json_value!({}), Ran::ok(text.as_str()));
        if gate.tool("get_order").expect("there").output_schema().is_some() {
            prop_assert_eq!(checked.verdict == OutputVerdict::Passed, accepted);
        }
        if accepted {
            prop_assert_eq!(Feedback::default().present_result(&[], &checked, None).into_text(), text.as_str());
        }
    }

    /// With checks off, nothing changes.
    #[test]
    fn off_changes_nothing(text in odd_text(), schema in schema(), arguments in arguments()) {
        let gate = gate(Some(&schema), Validation::Off, true);
        let checked = check(&gate, &arguments, Ran::ok(text.as_str()));
        prop_assert_eq!(checked.verdict, OutputVerdict::Passed);
        prop_assert!(checked.failure.is_none());
        prop_assert_eq!(Feedback::default().present_result(&[], &checked, None).into_text(), text.as_str());
    }

    /// An error that the tool itself reports is passed on unchanged, whatever its schema says.
    #[test]
    fn errors_are_not_masked(text in "[ -~]{1,60}", schema in schema()) {
        let gate = gate(Some(&schema), Validation::Strict, true);
        let checked = check(&gate, &json_value!({}), Ran::failed(ToolFailure::said(text.clone())));
        prop_assert_eq!(checked.verdict, OutputVerdict::Failed);
        if !text.trim().is_empty() {
            prop_assert_eq!(Feedback::default().present_result(&[], &checked, None).into_text(), text.as_str());
        }
    }
}
