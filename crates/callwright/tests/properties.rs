//! Properties of any input.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use callwright::failure::Failure;
use callwright::feedback::{Feedback, Style};
use callwright::parse::read_value;
use callwright::repair::{Grade, RepairPolicy};
use callwright::validate::CompiledSchema;
use callwright::{Call, Gate, ToolSpec, Verdict, json};
use proptest::prelude::*;
use serde_json::Value;
use support::{arguments, json, schema};

fn gate(schema: &Value) -> Gate {
    repairing_gate(schema, RepairPolicy::Never)
}

fn repairing_gate(schema: &Value, policy: RepairPolicy) -> Gate {
    Gate::builder()
        .tool(ToolSpec::new("tool", schema.clone()))
        .repair(policy)
        .build()
        .expect("one tool")
}

/// All leaves of a value as text.
fn leaves(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| leaves(item, found)),
        Value::Object(members) => members.values().for_each(|member| leaves(member, found)),
        Value::String(text) => found.push(text.clone()),
        other => found.push(other.to_string()),
    }
}

/// The text with one bracket outside its strings inserted, deleted or replaced by the other kind.
fn with_wrong_bracket(text: &str, place: prop::sample::Index, how: u8) -> String {
    let (mut inside, mut escaped) = (false, false);
    let outside: Vec<usize> = text
        .char_indices()
        .filter_map(|(at, c)| {
            let was_inside = inside;
            inside ^= c == '"' && !escaped;
            escaped = was_inside && c == '\\' && !escaped;
            (!was_inside).then_some(at)
        })
        .collect();
    let is_bracket = |at: &usize| text[*at..].starts_with(['{', '}', '[', ']']);
    let brackets: Vec<usize> = outside.iter().copied().filter(is_bracket).collect();
    let (at, length, sign) = match how % 6 {
        0..4 => (outside[place.index(outside.len())], 0, how % 4),
        4 => (brackets[place.index(brackets.len())], 1, 9),
        _ => {
            let at = brackets[place.index(brackets.len())];
            let sibling = "]}[{".find(&text[at..=at]).unwrap_or(0);
            (at, 1, u8::try_from(sibling).unwrap_or(0))
        }
    };
    let sign = ["}", "]", "{", "["].get(usize::from(sign)).unwrap_or(&"");
    format!("{}{sign}{}", &text[..at], &text[at + length..])
}

/// The engine through its own crate, on its own values: the reference for our verdicts.
fn reference(schema: &Value) -> Option<jsonschema::Validator> {
    jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .build(schema)
        .ok()
}

/// What the feedback promises, in every style.
fn assert_words(failure: &Failure) {
    for (_, style) in Style::ALL {
        let feedback = Feedback::new(style);
        let text = feedback.render(failure);
        assert!(!text.is_empty());
        let hidden = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2028}');
        let body = text.replace('\n', "");
        assert!(!body.contains(hidden), "{text:?}");
        if style != Style::Numbered {
            assert!(!text.contains('\n'), "{text:?}");
        }
        let lines = feedback.issue_lines(failure);
        assert!(lines.len() <= 6, "{lines:?}");
        for line in &lines {
            assert!(line.chars().count() <= 100, "{line:?}");
        }
        if style == Style::Numbered {
            assert!(
                text.lines().all(|line| line.chars().count() <= 200),
                "{text}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// The strict parser accepts what `serde_json` accepts, with the same result.
    #[test]
    fn the_reader_agrees_with_serde_json(value in json()) {
        for text in [value.to_string(), serde_json::to_string_pretty(&value).expect("JSON")] {
            let ours = read_value(&text).expect("JSON");
            prop_assert_eq!(Value::from(&ours), value.clone());
        }
    }

    /// Damaged JSON: accepted or rejected exactly as by `serde_json`, and no panic.
    #[test]
    fn damage_is_seen_as_serde_json_sees_it(
        value in json(),
        at in any::<prop::sample::Index>(),
        junk in prop_oneof![
            "[{}\\[\\]\",:\\\\.eE+0-9tfn \\-]{0,3}",
            ".{0,3}",
            Just("\\ud800".to_owned()),
            Just("1e999".to_owned()),
        ],
        drop in 0_usize..4,
    ) {
        let characters: Vec<char> = value.to_string().chars().collect();
        let at = at.index(characters.len() + 1);
        let end = (at + drop).min(characters.len());
        let text: String = characters[..at].iter().chain(junk.chars().collect::<Vec<_>>().iter())
            .chain(&characters[end..]).collect();
        let theirs = serde_json::from_str::<Value>(&text);
        let ours = read_value(&text);
        prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{}: {:?} / {:?}", text, ours, theirs);
        if let Err(error) = ours {
            let (line, column) = error.line_and_column(&text);
            prop_assert!(line >= 1 && column >= 1 && error.offset <= text.len());
        }
    }

    /// A text that is cut off anywhere never counts as a complete call.
    #[test]
    fn a_cut_is_always_seen(value in arguments(), at in any::<prop::sample::Index>()) {
        let text = value.to_string();
        let cut: String = text.chars().take(1 + at.index(text.chars().count() - 1)).collect();
        prop_assume!(cut.len() < text.len());
        let gate = gate(&Value::Bool(true));
        let call = Call::from_text("tool", cut.as_str());
        let verdict = gate.judge(&call);
        let code = verdict.failure().map(|failure| failure.code.name());
        prop_assert_eq!(code, Some("truncated_call"), "{}", cut);
    }

    /// Any text against any schema: a verdict, no panic, and sentences within their limits.
    #[test]
    fn any_text_gets_a_verdict(text in ".{0,200}", schema in schema()) {
        let gate = gate(&schema);
        let call = Call::from_text("tool", text);
        if let Verdict::Refused(refused) = gate.judge(&call) {
            assert_words(&refused.failure);
        }
    }

    /// Our verdict is the engine's, and it is explained exactly when it is a refusal.
    #[test]
    fn the_verdict_is_the_engines(value in arguments(), schema in schema()) {
        let Some(reference) = reference(&schema) else { return Ok(()); };
        let text = value.to_string();
        let gate = gate(&schema);
        let call = Call::from_text("tool", text.as_str());
        match gate.judge(&call) {
            Verdict::Valid(valid) => {
                prop_assert!(reference.is_valid(&value));
                prop_assert_eq!(valid.arguments().to_string(), text, "as it was sent");
            }
            Verdict::Refused(refused) => {
                prop_assert!(!reference.is_valid(&value));
                prop_assert!(!refused.failure.issues().is_empty());
                assert_words(&refused.failure);
            }
            Verdict::Repaired(_) => unreachable!("nothing is repaired here"),
        }
    }

    /// The same for values of any type, which outputs may have.
    #[test]
    fn a_schema_judges_any_value(value in json(), schema in schema()) {
        let (Some(reference), Ok(ours)) = (reference(&schema), CompiledSchema::compile(schema))
        else { return Ok(()); };
        let tree = json::Value::from(&value);
        prop_assert_eq!(ours.accepts(&tree), reference.is_valid(&value));
        prop_assert_eq!(ours.issues(&tree).is_empty(), ours.accepts(&tree));
    }

    /// Text and value are judged alike.
    #[test]
    fn the_way_arguments_arrive_does_not_matter(value in arguments(), schema in schema()) {
        let gate = gate(&schema);
        let text = value.to_string();
        let by_text = Call::from_text("tool", text.as_str());
        let by_value = Call::from_value("tool", &value);
        let (left, right) = (gate.judge(&by_text), gate.judge(&by_value));
        prop_assert_eq!(left.failure(), right.failure());
        prop_assert_eq!(left.arguments(), right.arguments());
    }

    /// What the schema accepts is never changed, whatever repair is allowed.
    #[test]
    fn valid_input_is_a_fixed_point(value in arguments(), schema in schema()) {
        let gate = repairing_gate(&schema, RepairPolicy::UpTo(Grade::Guess));
        let text = value.to_string();
        let call = Call::from_text("tool", text.as_str());
        let Some(reference) = reference(&schema) else { return Ok(()); };
        if reference.is_valid(&value) {
            let verdict = gate.judge(&call);
            prop_assert_eq!(verdict.name(), "valid");
            prop_assert_eq!(verdict.arguments().map(ToString::to_string), Some(text));
        }
    }

    /// A repaired value is accepted, is unchanged when it is sent again, took no edit above the cap, and at the
    /// lossless grade contains nothing that neither the call nor the schema contains.
    #[test]
    fn repair_keeps_its_promises(
        value in arguments(),
        schema in schema(),
        grade in prop::sample::select(&[Grade::Lossless, Grade::Lossy, Grade::Guess][..]),
    ) {
        let gate = repairing_gate(&schema, RepairPolicy::UpTo(grade));
        let call = Call::from_value("tool", &value);
        let Verdict::Repaired(repaired) = gate.judge(&call) else { return Ok(()); };
        prop_assert!(!repaired.edits().is_empty());
        prop_assert!(repaired.edits().iter().all(|edit| edit.grade <= grade));
        let accepted = reference(&schema).is_none_or(|all| all.is_valid(&Value::from(repaired.arguments())));
        prop_assert!(accepted);
        let again = Call::from_value("tool", repaired.arguments().clone());
        prop_assert_eq!(gate.judge(&again).name(), "valid");
        if grade == Grade::Lossless {
            let (sent, declared) = (value.to_string(), schema.to_string());
            let mut made = Vec::new();
            leaves(&Value::from(repaired.arguments()), &mut made);
            for leaf in made {
                let json = Value::from(leaf.clone()).to_string();
                let inner = json.trim_matches('"');
                prop_assert!(sent.contains(inner) || declared.contains(inner), "{} in {}", leaf, sent);
            }
        }
    }

    /// Text with any damage: a verdict, no panic, and never a call that was cut off.
    #[test]
    fn damaged_text_is_safe_to_repair(
        value in arguments(),
        schema in schema(),
        python in any::<bool>(),
        front in prop::sample::select(&["", "```json\n", "Here is the call: ", "<tool_call>", "`", "assistant<|end_header_id|>\n"][..]),
        cut in any::<prop::sample::Index>(),
        junk in prop_oneof![Just(String::new()), ".{0,12}", "[{}\\[\\]'\",:\\\\ ]{0,12}"],
    ) {
        let gate = repairing_gate(&schema, RepairPolicy::UpTo(Grade::Guess));
        let mut text = value.to_string();
        if python {
            text = text.replace('"', "'").replace("true", "True").replace("null", "None");
        }
        let length = text.chars().count();
        let whole = Call::from_text("tool", format!("{text}{junk}"));
        let _ = gate.judge(&whole).name();
        let kept: String = text.chars().take(1 + cut.index(length)).collect();
        if kept.len() < text.len() {
            let call = Call::from_text("tool", format!("{front}{kept}"));
            prop_assert_eq!(gate.judge(&call).name(), "refused", "{}", kept);
        }
    }

    /// If one bracket is wrong and the call is repaired, the value is the intended one.
    #[test]
    fn a_repaired_bracket_was_the_wrong_one(
        value in arguments(),
        place in any::<prop::sample::Index>(),
        how in any::<u8>(),
    ) {
        let gate = repairing_gate(&serde_json::json!({}), RepairPolicy::UpTo(Grade::Guess));
        let call = Call::from_text("tool", with_wrong_bracket(&value.to_string(), place, how));
        let verdict = gate.judge(&call);
        let Verdict::Repaired(repaired) = &verdict else { return Ok(()); };
        if repaired.edits().iter().any(|edit| edit.rule == "bracket") {
            prop_assert_eq!(repaired.arguments().to_string(), value.to_string());
        }
    }

    /// Unescaped quotes: every value in the result is in the text as it is, and the text is not cut off.
    #[test]
    fn unescaped_quotes_add_nothing(
        texts in prop::collection::vec("( ?[a-z=(),:;<>{}]{0,3}( ?\"[a-z ]{1,4}\")?){1,4}", 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let gate = repairing_gate(&serde_json::json!({}), RepairPolicy::UpTo(Grade::Guess));
        let members: Vec<String> =
            texts.iter().enumerate().map(|(at, text)| format!("\"k{at}\": \"{text}\"")).collect();
        let whole = format!("{{{}}}", members.join(", "));
        let kept: String = whole.chars().take(1 + cut.index(whole.len())).collect();
        for text in [whole.as_str(), kept.as_str()] {
            let call = Call::from_text("tool", text);
            let verdict = gate.judge(&call);
            let Verdict::Repaired(repaired) = &verdict else { continue };
            prop_assert_eq!(text.chars().next_back(), Some('}'));
            let mut made = Vec::new();
            leaves(&Value::from(repaired.arguments()), &mut made);
            prop_assert!(made.iter().all(|leaf| text.contains(leaf.as_str())), "{}", text);
        }
    }

    /// A marked secret is never revealed.
    #[test]
    fn secrets_stay_secret(secret in "[A-Z]{12}", wrong in 1_u64..999_999) {
        for hidden in [
            serde_json::json!({"type": "string", "format": "password", "maxLength": 3}),
            serde_json::json!({"writeOnly": true, "enum": ["no", 0]}),
            serde_json::json!({"writeOnly": true, "anyOf": [{"type": "boolean"}, {"type": "null"}]}),
            serde_json::json!({"$ref": "#/$defs/s", "writeOnly": true}),
        ] {
            let schema = serde_json::json!({
                "properties": {"token": hidden},
                "$defs": {"s": {"type": "boolean"}},
            });
            let gate = gate(&schema);
            for value in [Value::from(secret.clone()), Value::from(wrong)] {
                let arguments = serde_json::json!({"token": value});
                let call = Call::from_value("tool", &arguments);
                let verdict = gate.judge(&call);
                let Some(failure) = verdict.failure() else { continue };
                for (_, style) in Style::ALL {
                    let text = Feedback::new(style).render(failure);
                    prop_assert!(!text.contains(&secret), "{}", text);
                    prop_assert!(!text.contains(&format!("number {wrong}")), "{}", text);
                }
            }
        }
    }
}
