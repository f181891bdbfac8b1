//! Nothing meaningful is ever dropped, whatever it says and in any language.
#![allow(clippy::expect_used, reason = "a test may panic")]

use callwright::repair::{Grade, RepairPolicy};
use callwright::tool::Effect;
use callwright::{Call, Gate, ToolSpec, Verdict};
use proptest::prelude::*;
use serde_json::json;

const CALL: &str = r#"{"to": "ACME", "amount": 5}"#;

fn gate(name: &str, effect: Effect, repair: RepairPolicy) -> Gate {
    let schema = json!({
        "type": "object",
        "properties": {
            "to": {"type": "string"},
            "amount": {"type": "integer"},
            "filter": {"type": "object"},
        },
        "required": ["to", "amount"],
        "additionalProperties": false,
    });
    let tool = ToolSpec::new(name, schema).with_effect(effect);
    Gate::builder()
        .tool(tool)
        .repair(repair)
        .build()
        .expect("one tool")
}

/// The gate of a tool that was not declared read-only, at the highest grade that an operator can set.
fn bold(name: &str) -> Gate {
    gate(name, Effect::Unknown, RepairPolicy::UpTo(Grade::Guess))
}

fn is_refused(gate: &Gate, tool: &str, text: &str) -> bool {
    let call = Call::from_text(tool, text);
    matches!(gate.judge(&call), Verdict::Refused(_))
}

/// Words of any script, with any separators between them.
fn sentence() -> impl Strategy<Value = String> {
    let words = prop_oneof![
        "[A-Za-z]{1,12}",
        "[äöüßéèçñãõåøæ]{1,6}[a-z]{0,6}",
        "[а-яА-Я]{1,12}",
        "[α-ωΑ-Ω]{1,12}",
        "[ぁ-んァ-ン]{1,8}",
        "[一-龥]{1,8}",
        "[가-힣]{1,8}",
        "[א-ת]{1,8}",
        "[ا-ي]{1,8}",
        "[ก-ฮ]{1,8}",
        "[अ-ह]{1,8}",
    ];
    let signs = prop_oneof![
        Just(" "),
        Just(", "),
        Just(". "),
        Just(": "),
        Just("! "),
        Just("\n"),
        Just(" — ")
    ];
    prop::collection::vec((words, signs), 1..6).prop_map(|pairs| {
        pairs
            .into_iter()
            .flat_map(|(word, sign)| [word, sign.to_owned()])
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// Words before, after or inside a call lead to a refusal, in a fence, between tags or bare.
    #[test]
    fn words_are_never_dropped(words in sentence(), place in 0..7) {
        let text = match place {
            0 => format!("{words}{CALL}"),
            1 => format!("{words}\n{CALL}"),
            2 => format!("{CALL}\n{words}"),
            3 => format!("{words}\n```json\n{CALL}\n```"),
            4 => format!("```json\n{CALL}\n```\n{words}"),
            5 => format!("{CALL}<|im_end|>\n{words}"),
            _ => format!("<tool_call>\n{words}\n{CALL}\n</tool_call>"),
        };
        prop_assert!(is_refused(&bold("pay"), "pay", &text), "{text}");
    }

    /// The same holds for comments.
    #[test]
    fn comments_are_never_dropped(words in sentence(), stars: bool) {
        let words = words.replace('\n', " ");
        let comment = if stars { format!("/* {words} */") } else { format!("// {words}\n") };
        let text = format!("{{\"to\": \"ACME\", {comment} \"amount\": 5}}");
        prop_assert!(is_refused(&bold("pay"), "pay", &text), "{text}");
    }

    /// Keys with a value are never dropped, at any grade, whatever the tool does.
    #[test]
    fn keys_are_never_dropped(key in "[a-z_]{1,16}", value in prop_oneof![
        Just(json!(true)), Just(json!(false)), Just(json!(0)), any::<i32>().prop_map(|n| json!(n)),
        "[a-zA-Z0-9]{1,12}".prop_map(|text| json!(text)), Just(json!(["x"])), Just(json!({"x": 1})),
    ], reads: bool) {
        prop_assume!(!["to", "amount", "filter"].contains(&key.as_str()));
        let arguments = json!({"to": "a long name", "amount": 5, key: value});
        let effect = if reads { Effect::Read } else { Effect::Unknown };
        let gate = gate("send", effect, RepairPolicy::UpTo(Grade::Guess));
        let call = Call::from_value("send", callwright::json::Value::from(&arguments));
        // A key may turn out to be a misspelt `filter`; its value is still there.
        if let Verdict::Repaired(repaired) = gate.judge(&call) {
            prop_assert_eq!(repaired.arguments().as_object().map(<[_]>::len), Some(3));
        }
    }

    /// No word for "nothing" removes a filter from a destructive call.
    #[test]
    fn a_filter_is_never_lost(
        name in prop_oneof![
            Just("delete-many"), Just("deleteMany"), Just("bulk_delete"), Just("purgeUsers"), Just("drop_rows"),
            Just("remove"), Just("updateMany"), Just("truncate_table"), Just("reset"), Just("revoke_all"),
        ],
        nothing in prop_oneof![
            Just("null"), Just("\"null\""), Just("\"None\""), Just("\"\""), Just("\" \""), Just("\"undefined\""),
            Just("undefined"), Just("NaN"), Just("\"NaN\""), Just("None"), Just("nil"),
        ],
        complete: bool,
    ) {
        let text = format!("{{\"to\": \"ACME\", \"amount\": 5, \"filter\": {nothing}}}");
        let gate = bold(name);
        let call = Call::from_text(name, text.as_str());
        let call = if complete {
            call.with_completeness(callwright::call::Completeness::Complete)
        } else {
            call
        };
        prop_assert!(matches!(gate.judge(&call), Verdict::Refused(_)), "{name} {text}");
    }

    /// Any finish reason not known to be normal counts as a cut, except for read-only tools.
    #[test]
    fn unknown_finish_reasons_are_cuts(reason in "[A-Za-z_]{1,24}") {
        use callwright::call::Completeness;
        let known = Completeness::from_finish_reason(&reason);
        prop_assume!(known != Completeness::Complete);
        let call = Call::from_text("send", CALL).with_completeness(known);
        let writes = gate("send", Effect::Unknown, RepairPolicy::ByEffect);
        prop_assert!(matches!(writes.judge(&call), Verdict::Refused(_)), "{reason}");
    }
}

/// The same texts for a read-only tool: words are dropped, and recorded as a guess.
#[test]
fn for_reads_words_are_a_guess_on_record() {
    let gate = gate("look_up", Effect::Read, RepairPolicy::ByEffect);
    let text = format!("Here is the call:\n{CALL}");
    let call = Call::from_text("look_up", text.as_str());
    let verdict = gate.judge(&call);
    let Verdict::Repaired(repaired) = &verdict else {
        panic!("refused");
    };
    let edits: Vec<_> = repaired
        .edits()
        .iter()
        .map(|edit| (edit.rule, edit.grade))
        .collect();
    assert_eq!(edits, [("prose", Grade::Guess)]);
}
