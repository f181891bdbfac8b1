//! Properties of any message from which calls are extracted.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod cpu_time;

use std::time::Duration;

use callwright::call::Completeness;
use callwright::rescue::{Message, Rescued};
use callwright::tool::Effect;
use callwright::{Gate, ToolSpec};
use proptest::prelude::*;
use serde_json::json;

use cpu_time::cpu_time;

/// One read-only tool, and one with an unknown effect.
fn gate() -> Gate {
    let schema = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    let mut look = ToolSpec::new("look", schema.clone());
    look.effect = Effect::Read;
    Gate::builder()
        .tool(look)
        .tool(ToolSpec::new("drop", schema))
        .build()
        .expect("two tools")
}

/// A call in every notation. Harmony's lacks the token that servers cut off.
const CALLS: [&str; 12] = [
    r#"<tool_call>{"name": "drop", "arguments": {"x": "a"}}</tool_call>"#,
    "<tool_call>\n<function=drop>\n<parameter=x>\na\n</parameter>\n</function>\n</tool_call>",
    "<function=drop><parameter=x>a</parameter></function>",
    r#"<function=drop>{"x": "a"}</function>"#,
    r#"<invoke name="drop"><parameter name="x">a</parameter></invoke>"#,
    r#"<function_calls><invoke name="drop"><parameter name="x">a</parameter></invoke></function_calls>"#,
    r#"[TOOL_CALLS]drop{"x": "a"}"#,
    r#"[TOOL_CALLS][{"name": "drop", "arguments": {"x": "a"}}]"#,
    r#"drop[ARGS]{"x": "a"}"#,
    r#"<|channel|>commentary to=functions.drop<|message|>{"x": "a"}"#,
    r#"[drop(x="a")]"#,
    "```json\n{\"name\": \"drop\", \"arguments\": {\"x\": \"a\"}}\n```",
];

/// Pieces of notations, quotations and prose.
const PIECES: [&str; 38] = [
    "<tool_call>",
    "</tool_call>",
    "<function=",
    "<function=drop>",
    "</function>",
    "<parameter=x>",
    "</parameter>",
    "<function_calls>",
    "</function_calls>",
    "<invoke name=\"drop\">",
    "</invoke>",
    "<parameter name=\"x\">",
    "[TOOL_CALLS]",
    "[ARGS]",
    "<|start|>assistant",
    "<|channel|>commentary",
    " to=functions.drop",
    "<|message|>",
    "<|call|>",
    "<|end|>",
    "<think>",
    "</think>",
    "```",
    "```json\n",
    "{\"name\": \"drop\", \"arguments\": {\"x\": \"a\"}}",
    "{\"x\": \"a\"}",
    "{'x': 'a'}",
    "[drop(x='a')",
    "]",
    "}",
    "drop",
    "nothing",
    "I'll look.\n",
    "For example: ",
    "\n",
    " ",
    "\"",
    "é",
];

fn text_of_pieces() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..12).prop_map(|all| all.concat())
}

#[test]
fn every_notation_is_read_alone() {
    let gate = gate();
    for text in CALLS {
        let message = Message::from_text(text);
        let Rescued { calls, rest, .. } = gate.rescue(&message).expect(text);
        assert_eq!((calls.len(), rest), (1, ""), "{text}");
        let arguments = gate.judge(&calls[0]).arguments().map(ToString::to_string);
        assert_eq!(arguments.as_deref(), Some(r#"{"x":"a"}"#), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any text before or after a call means that it is not a call, unless the tool is known to be read-only.
    #[test]
    fn text_around_a_call_makes_it_a_quotation(
        call in prop::sample::select(&CALLS[..]),
        around in "[ -~é\n]{0,30}[!-;=?-Z\\^_a-zé\"]",
    ) {
        // The start of a tag at the end of a message is left over from what a server removed.
        let tag = around.trim().trim_start_matches(['<', '/', '\\', '|']);
        let is_cut_tag = around.trim_start().starts_with('<')
            && tag.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
        prop_assume!(!is_cut_tag);
        let gate = gate();
        for text in [format!("{around}{call}"), format!("{around}\n{call}"), format!("{call}{around}"), format!("{call}\n{around}")] {
            let message = Message::from_text(text.as_str());
            prop_assert!(gate.rescue(&message).is_err(), "{}", text);
        }
    }

    /// A call that is cut off anywhere is marked as such, or is not a call.
    #[test]
    fn a_cut_is_always_seen(call in prop::sample::select(&CALLS[..]), at in any::<prop::sample::Index>()) {
        let gate = gate();
        let (whole, message) = (Message::from_text(call), Message::from_text(&call[..at.index(call.len())]));
        if let Ok(rescued) = gate.rescue(&message) {
            // JSON is visibly complete by itself; nothing that is cut off runs.
            let is_cut = rescued.calls.iter().all(|call| call.completeness == Completeness::CutOff);
            let all = gate.rescue(&whole).expect("calls").calls;
            let is_whole = rescued.calls.iter().zip(&all).all(|(cut, whole)| {
                (&cut.tool, gate.judge(cut).arguments()) == (&whole.tool, gate.judge(whole).arguments())
            });
            prop_assert!(is_cut || is_whole, "{:?}", message.text);
        }
    }

    /// Any mixture of pieces: no panic, only offered tools, and everything else is kept.
    #[test]
    fn only_offered_tools_are_called(text in text_of_pieces()) {
        let gate = gate();
        let message = Message::from_text(text.as_str());
        if let Ok(rescued) = gate.rescue(&message) {
            prop_assert!(!rescued.calls.is_empty());
            prop_assert!(text.starts_with(rescued.rest));
            for call in &rescued.calls {
                prop_assert!(call.rescued.is_some());
                let _ = gate.judge(call).name();
                // The schemas accept a call without arguments, so only its name could be wrong.
                let bare = callwright::Call::from_text(call.tool.as_ref(), "{}");
                prop_assert!(gate.judge(&bare).failure().is_none(), "{}", call.tool);
            }
        }
    }

    /// Any text: no panic, and no call without a tag, a bracket or a brace.
    #[test]
    fn prose_is_not_a_call(text in ".{0,200}") {
        let message = Message::from_text(text.as_str());
        let rescued = gate().rescue(&message);
        let marked = text.contains(['<', '[', '{']);
        prop_assert!(rescued.is_err() || marked);
    }
}

/// Quadratic work on these would take minutes.
#[test]
fn hostile_text_costs_linear_time() {
    let gate = gate();
    let before = cpu_time();
    let mut texts: Vec<String> = PIECES.iter().map(|piece| piece.repeat(40_000)).collect();
    texts.extend(CALLS.iter().map(|call| call.repeat(5_000)));
    for open in [
        "<tool_call>{\"name\":\"drop\",\"arguments\":",
        "<tool_call>{",
        "<function=drop><parameter=x>",
        "[TOOL_CALLS]drop{\"x\":",
        "[drop(x=[",
        "[drop(x='a\\",
        "[drop(x={'a':",
        "[drop(x='a', ",
        "<|channel|>commentary to=functions.drop<|message|>",
        "<|channel|>analysis<|message|><|end|>",
        "{\"name\":",
    ] {
        texts.push(open.repeat(40_000));
        for filler in ["[", "{\"a\":", "\\", "'", "\"", "<", "</", "a=1,", "\n"] {
            texts.push(format!("{open}{}", filler.repeat(200_000)));
        }
    }
    for text in &texts {
        let message = Message::from_text(text.as_str());
        let _ = gate.rescue(&message).is_ok();
    }
    // About a second without optimisation, for 150 texts of up to three megabytes.
    let took = cpu_time().saturating_sub(before);
    assert!(took < Duration::from_secs(30), "{took:?}");
}
