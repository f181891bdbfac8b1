//! Every notation of calls, from every API, however the bytes are split.

use super::*;

/// A call in any of the notations that models use.
pub(crate) fn written(notation: usize, tool: &str, arguments: &Value) -> String {
    let members = arguments.as_object().expect("an object");
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let parameters = |open: &str, opened: &str| -> String {
        let parameter = |(key, value): (&String, &Value)| {
            format!("{open}{key}{opened}{}</parameter>\n", text(value))
        };
        members.iter().map(parameter).collect()
    };
    let named: Vec<String> = members
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let json = json!({"name": tool, "arguments": arguments});
    match notation {
        0 => format!("<tool_call>\n{json}\n</tool_call>"),
        1 => format!(
            "<tool_call>\n<function={tool}>\n{}</function>\n</tool_call>",
            parameters("<parameter=", ">")
        ),
        2 => format!("<function={tool}>{arguments}</function>"),
        3 => format!(
            "<invoke name=\"{tool}\">\n{}</invoke>",
            parameters("<parameter name=\"", "\">")
        ),
        4 => format!("[TOOL_CALLS]{tool}{arguments}"),
        5 => format!("[TOOL_CALLS][{json}]"),
        6 => format!("{tool}[ARGS]{arguments}"),
        7 => format!(
            "<|channel|>commentary to=functions.{tool} <|constrain|>json<|message|>{arguments}<|call|>"
        ),
        8 => format!("[{tool}({})]", named.join(", ")),
        9 => json.to_string(),
        10 => format!("[{json}, {json}]"),
        11 => format!("```json\n{json:#}\n```"),
        _ => format!(
            "{}{}",
            written(0, tool, arguments),
            written(0, "get_weather", arguments)
        ),
    }
}

const NOTATIONS: usize = 13;

fn call_as_text() -> impl Strategy<Value = String> {
    let arguments = prop_oneof![
        4 => Just(json!({"city": "Paris"})),
        2 => Just(json!({"city": "Zürich \"x\" 😀", "days": 3})),
        1 => Just(json!({"city": "Paris", "days": "3"})),
        1 => Just(json!({"days": 3})),
    ];
    let tool = prop_oneof![4 => Just("get_weather"), 2 => Just("book_trip"), 1 => Just("get_news")];
    (0..NOTATIONS, tool, arguments)
        .prop_map(|(notation, tool, arguments)| written(notation, tool, &arguments))
}

/// Messages with calls in them, some of them only quoted.
fn message() -> impl Strategy<Value = Said> {
    let before = prop_oneof![
        6 => Just(""),
        1 => Just(" \n"),
        1 => Just("<think>I could call <tool_call>.</think>\n\n"),
        1 => Just("Let me look.\n\n"),
        1 => Just("<|channel|>analysis<|message|>Hm.<|end|>"),
        1 => Just("For example:\n"),
        1 => Just("Sure. "),
    ];
    let after = prop_oneof![6 => Just(""), 1 => Just("\n"), 1 => Just("<|im_end|>"), 1 => Just("\nThat is it.")];
    let reasoning = prop_oneof![2 => Just(""), 1 => Just("Hm. <tool_call>{\"name\": \"get_weather\"}</tool_call>")];
    let called = prop::bool::weighted(0.1);
    (
        before,
        call_as_text(),
        after,
        reasoning,
        prop::bool::weighted(0.1),
        called,
    )
        .prop_map(|(before, call, after, reasoning, is_cut, is_called)| {
            let native = (
                "call_1".to_owned(),
                "get_weather".to_owned(),
                r#"{"city":"Oslo"}"#.to_owned(),
            );
            Said {
                reasoning: reasoning.to_owned(),
                text: format!("{before}{call}{after}"),
                calls: if is_called { vec![native] } else { Vec::new() },
                is_cut,
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_streamed_answer_is_rescued_like_a_whole_one(said in message(), piece in 1_usize..40, portion in 1_usize..300) {
        for api in Api::ALL {
            check(api, &said, piece, portion);
        }
    }
}

#[test]
fn every_notation_is_rescued_from_every_api() {
    for notation in 0..NOTATIONS {
        let arguments = json!({"city": "Paris", "days": 3});
        let call = written(notation, "get_weather", &arguments);
        for api in Api::ALL {
            for piece in [1, 3, 1000] {
                assert!(check(api, &text(&call), piece, 1000), "{api:?}: {call}");
                let reasoned = Said {
                    reasoning: "Hm.".to_owned(),
                    ..text(&call)
                };
                assert!(check(api, &reasoned, piece, 1000), "{api:?}: {call}");
                let thought = text(&format!("<think>Hm.</think>\n\n{call}\n"));
                assert!(check(api, &thought, piece, 1000), "{api:?}: {call}");
                let cut = Said {
                    is_cut: true,
                    ..text(&call)
                };
                assert!(!check(api, &cut, piece, 1000), "{api:?}: {call}");
            }
        }
    }
}

/// Every way to split the bytes of one answer.
#[test]
fn it_does_not_matter_how_bytes_are_cut() {
    let said = text(
        "Let me look.\n<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Zürich\"}}</tool_call>",
    );
    for api in Api::ALL {
        let stream = api.streamed(&said, 20);
        let once = judged(api, &stream, usize::MAX, &mut Judge::default());
        // Portions larger than the longest event add no new split points.
        for portion in 1..400 {
            assert!(
                judged(api, &stream, portion, &mut Judge::default()) == once,
                "{api:?}: {portion}"
            );
        }
        for piece in 1..100 {
            assert!(check(api, &said, piece, 1000));
        }
    }
}
