//! Runs `corpus/present` through the toolbox and through each provider's shape.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod present_cases;
#[path = "present_cases/toolbox.rs"]
mod present_toolbox;

use callwright::admit::Place;
use callwright::feedback::{Content, Feedback};
use callwright::tool::Effect;
use callwright::wire::{Provider, render, render_settled};
use callwright::{Call, Gate, Settled, ToolSpec, Verdict};
use present_cases::{TOOL, cases};
use present_toolbox::toolbox;
use serde_json::Value;

/// The text and the flag of a rendered result, wherever the provider has them.
fn read(provider: Provider, rendered: &Value) -> (String, Option<bool>) {
    let (text, is_error) = match provider {
        Provider::OpenAiChat => (&rendered["content"], None),
        Provider::OpenAiResponses => (&rendered["output"], None),
        Provider::Anthropic => (&rendered["content"], Some(rendered["is_error"] == true)),
        Provider::Mcp => (
            &rendered["content"][0]["text"],
            Some(rendered["isError"] == true),
        ),
        Provider::Gemini => {
            let response = &rendered["functionResponse"]["response"];
            let error = response.get("error");
            (error.unwrap_or(&response["output"]), Some(error.is_some()))
        }
        other => panic!("read results of {other:?} here"),
    };
    (text.as_str().expect("a text").to_owned(), is_error)
}

#[tokio::test]
async fn a_settled_call_reads_the_same_in_every_shape() {
    for case in cases() {
        let toolbox = toolbox(&case);
        let arguments = case.arguments().to_string();
        let call = Call::from_text(TOOL, &arguments).with_id("call_1");
        let mut settled: Option<Settled<'_>> = None;
        for round in 0..case.times() {
            settled = Some(toolbox.invoke(&call, Place::new("s", 0, round)).await);
        }
        let settled = settled.expect("it ran");
        let presented = toolbox.feedback().present(&settled);
        let content = match presented.content {
            Content::Kept(_) => "kept",
            Content::Cut(..) => "cut",
            Content::Withheld => "withheld",
        };
        let shown = presented.content_text();
        case.check(
            content,
            shown.as_deref(),
            presented.note.as_deref(),
            presented.is_error,
        );
        case.check_text("toolbox", &toolbox.text(&settled), Some(settled.is_error()));
        for (name, provider) in Provider::ALL {
            let rendered = render_settled(provider, &call, &settled, toolbox.feedback());
            let rendered: Value = serde_json::from_str(&rendered.to_string()).expect("JSON");
            let (text, is_error) = read(provider, &rendered);
            case.check_text(name, &text, is_error);
            if let Verdict::Refused(_) = settled.verdict {
                let verdict = render(provider, &call, &settled.verdict, toolbox.feedback());
                assert_eq!(verdict.to_string(), rendered.to_string(), "{name}");
            }
        }
    }
}

#[test]
fn a_receipt_distinguishes_omissions_from_renames() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {"query": {"type": "string"}, "scale": {"enum": ["day", "week"], "description": "The unit."}},
        "required": ["query", "scale"],
        "additionalProperties": false
    });
    let tool = ToolSpec::new("search", schema).with_effect(Effect::Read);
    let gate = Gate::builder().tool(tool).build().expect("a gate");
    for (arguments, receipt) in [
        (
            r#"{"query": "a", "scale": "day", "": ""}"#,
            r#"Note: the arguments were corrected: [""] was ""; left out."#,
        ),
        (
            r#"{"query": "a", "unit": "day"}"#,
            r#"Note: the arguments were corrected: key "unit" was taken for "scale"."#,
        ),
    ] {
        let call = Call::from_text("search", arguments);
        let verdict = gate.judge(&call);
        let said = Feedback::default().receipt(verdict.edits());
        assert_eq!(said.as_deref(), Some(receipt), "{arguments}");
    }
}

#[test]
fn a_receipt_names_both_keys_of_a_secret_whichever_rule_renames_it() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {"gradeDict": {"type": "object", "writeOnly": true}},
        "required": ["gradeDict"],
        "additionalProperties": false
    });
    let gate = Gate::builder().tool(ToolSpec::new("store", schema));
    let gate = gate.build().expect("a gate");
    for (arguments, sent) in [
        (r#"{"GradeDict": {"a": "5521907"}}"#, "GradeDict"),
        (r#"{"grades": {"a": "5521907"}}"#, "grades"),
    ] {
        let call = Call::from_text("store", arguments);
        let verdict = gate.judge(&call);
        let said = Feedback::default().receipt(verdict.edits());
        let receipt = format!(
            r#"Note: the arguments were corrected: key "{sent}" was taken for "gradeDict"."#
        );
        assert_eq!(said, Some(receipt), "{arguments}");
    }
}
