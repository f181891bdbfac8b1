//! A message that is still streaming: no part of a call is shown too early, and prose is not held back.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod cpu_time;

use std::time::Duration;

use callwright::repair::{Grade, RepairPolicy};
use callwright::rescue::{Beginning, CallWatch, Message};
use callwright::tool::Effect;
use callwright::wire::read_tools;
use callwright::{Gate, ToolSpec};
use proptest::prelude::*;
use serde_json::{Value, json};

use cpu_time::cpu_time;

/// Two read-only tools, and one whose effect is unknown.
fn gate() -> Gate {
    gate_up_to(Grade::Guess)
}

fn gate_up_to(grade: Grade) -> Gate {
    let schema = json!({"type": "object"});
    let reader = |name: &str| {
        let mut tool = ToolSpec::new(name, schema.clone());
        tool.effect = Effect::Read;
        tool
    };
    let tools = [
        reader("look"),
        reader("get_weather"),
        ToolSpec::new("drop", schema.clone()),
    ];
    let builder = Gate::builder().tools(tools);
    builder
        .repair(RepairPolicy::UpTo(grade))
        .build()
        .expect("tools")
}

/// Follows a text that arrives in these steps.
fn follow(gate: &Gate, text: &str, steps: impl Iterator<Item = usize>) -> Result<(), String> {
    let message = Message::from_text(text);
    let rest = gate.rescue(&message).ok().map(|rescued| rescued.rest.len());
    let mut watch = CallWatch::default();
    let mut shown = 0;
    for end in steps.filter(|end| text.is_char_boundary(*end)) {
        let so_far = &text[..end];
        let (from, is_over) = match gate.call_may_begin(&mut watch, so_far) {
            Beginning::Never => (end, true),
            Beginning::From(from) => (from, false),
        };
        if from < shown || from > end {
            return Err(format!("{so_far:?}: {from} after {shown}"));
        }
        if rest.is_some_and(|rest| is_over || from > rest) {
            return Err(format!(
                "{so_far:?}: {from} of {text:?}, of which {rest:?} stays"
            ));
        }
        shown = from;
    }
    Ok(())
}

const PIECES: [&str; 82] = [
    "<TOOLCALL>",
    "<|tool_call_begin|>",
    "<|tool_sep|>",
    "functions.drop:0",
    "Action: ",
    "Action Input: ",
    "tool",
    "assistant<|end_header_id|>",
    "[THINK]",
    "[/THINK]",
    "</toolcall>",
    "{\"tool\": \"look\", \"args\": {}}",
    "~~~",
    "Sure. ",
    "<tool_call>",
    "</tool_call>",
    "<function=drop>",
    "</function>",
    "<parameter=x>",
    "</parameter>",
    "<function_calls>",
    "</function_calls>",
    "<invoke name=\"drop\">",
    "</invoke>",
    "<invoke name=\"look\">",
    "</invoke>",
    "<parameter name=\"x\">",
    "[TOOL_CALLS]",
    "[ARGS]",
    "<|start|>assistant",
    "<|channel|>commentary",
    "<|channel|>analysis",
    " to=functions.drop",
    " to=functions.look",
    "<|message|>",
    "<|call|>",
    "<|end|>",
    "<|im_end|>",
    "</s>",
    "<|im_start|>assistant\n",
    "<think>",
    "</think>",
    "<thinking>",
    "</thinking>",
    "```",
    "```json\n",
    "\n```",
    "{\"name\": \"drop\", \"arguments\": {\"x\": \"a\"}}",
    "{\"arguments\": {}, \"name\": \"look\"}",
    "{\"name\": \"mcp__any__look\", \"arguments\": {}}",
    "{\"name\": \"any/get_weather\", \"arguments\": {}}",
    "{\"name\": \"dropdrop\", \"arguments\": {}}",
    "{\"name\": \"look<|call|>\", \"arguments\": {}}",
    "{\"type\": \"function\", \"function\": {\"name\": \"look\", \"parameters\": {\"x\": 1}}}",
    "{\"id\": \"a\", ",
    "\"name\": \"look\", ",
    "\"arguments\": {}}",
    "{'name': 'drop', 'arguments': {'x': 'a'}}",
    "{\"x\": \"a\"}",
    "[drop(x='a')",
    "[look(x=1), drop()]",
    "[{\"name\": \"look\", \"arguments\": {}}]",
    "[",
    "]",
    "}",
    "drop",
    "look",
    "look[ARGS]{}",
    "nothing",
    "I'll look.\n",
    "Let me check.",
    "I don’t. ",
    "no",
    "For example: ",
    "\n",
    " ",
    "\"",
    "é",
    "<",
    "[]",
    "`",
    "{",
];

fn text_of_pieces() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..8).prop_map(|all| all.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_of_a_call_is_shown(text in text_of_pieces(), step in 1_usize..12, is_bold: bool) {
        let gate = gate_up_to(if is_bold { Grade::Guess } else { Grade::Lossless });
        let steps = (0..text.len()).step_by(step).chain([text.len()]);
        prop_assert_eq!(follow(&gate, &text, steps), Ok(()));
    }

    /// A watch that is reused for another message does not fail.
    #[test]
    fn any_text_may_follow(texts in prop::collection::vec(text_of_pieces(), 0..4)) {
        let gate = gate();
        let mut watch = CallWatch::default();
        for text in texts {
            if let Beginning::From(from) = gate.call_may_begin(&mut watch, &text) {
                prop_assert!(text.is_char_boundary(from), "{:?}: {}", text, from);
            }
        }
    }
}

/// All messages of the corpus, cut everywhere, with white space and the tokens of servers around them.
#[test]
fn the_corpus_is_followed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/rescue");
    let mut rescued = 0;
    for file in std::fs::read_dir(folder).expect("the corpus") {
        let file = std::fs::read_to_string(file.expect("a file").path()).expect("text");
        let file: Value = serde_json::from_str(&file).expect("JSON");
        let tools = read_tools(&file["tools"].to_string()).expect("tools");
        let gate = Gate::builder().tools(tools).build().expect("a gate");
        for case in file["cases"].as_array().expect("cases") {
            let Some(text) = case["text"].as_str() else {
                continue;
            };
            let around = [
                ("", ""),
                (" \n", "\n"),
                ("", "<|im_end|>\n"),
                ("<think>Hm.</think>\n\n", ""),
            ];
            for (before, after) in around {
                let text = format!("{before}{text}{after}");
                for step in [1, 2, 3, 7, 31, usize::MAX] {
                    let steps = (0..text.len()).step_by(step).chain([text.len()]);
                    assert_eq!(follow(&gate, &text, steps), Ok(()));
                }
                rescued += usize::from(gate.rescue(&Message::from_text(text)).is_ok());
            }
        }
    }
    assert!(rescued > 200, "{rescued}");
}

#[test]
fn text_that_cannot_be_a_call_is_shown_at_once() {
    use Beginning::{From, Never};
    let careful = gate_up_to(Grade::Lossless);
    for (text, expected) in [
        ("", From(0)),
        (" \n", From(0)),
        ("The weather", Never),
        ("# Weather", Never),
        ("1. Look", Never),
        ("get_", From(0)),
        ("get_weather[", From(0)),
        ("get_weathers", Never),
        ("drop[ARGS]", From(0)),
        ("<", From(0)),
        ("<too", From(0)),
        ("<tool_call>", From(0)),
        ("<TOOLCALL>\n", From(0)),
        ("<|python_tag|>{\"na", From(0)),
        ("Action: loo", From(0)),
        ("Action: look\nAction Input: {", From(0)),
        ("Action item", Never),
        ("<div>", Never),
        ("<in", From(0)),
        ("<out>", Never),
        ("<think>Let me", From(13)),
        ("<think>Hm.</think>\n\n", From(18)),
        ("<think>Hm.</think>\n\nSo: ", Never),
        ("<think>Hm.</think>\n\n{\"na", From(18)),
        ("<|im_start|>assistant\n<tool_call>", From(0)),
        ("``", From(0)),
        ("```js", From(0)),
        ("```json\n", From(0)),
        ("```json\n{\"name\": \"get_weather\"", From(0)),
        ("```json\n{\"name\": \"package\"", Never),
        ("```json\n{\"version\": ", Never),
        ("```python\nimport", Never),
        ("{", From(0)),
        ("{\"na", From(0)),
        ("{\"name\":", From(0)),
        ("{\"name\": \"Al", Never),
        ("{\"name\": 5", Never),
        ("{\"tool\": \"lo", From(0)),
        ("{\"foo", Never),
        ("{\"id\": \"1\", \"ty", From(0)),
        ("{\"id\": \"1\", \"title", Never),
        ("{\"type\": \"function\"", From(0)),
        ("{\"function\": {\"name\": \"drop\"", From(0)),
        ("{\"function\": {\"x", Never),
        ("{}", Never),
        ("[", From(0)),
        ("[1", From(0)),
        ("[1]", Never),
        ("[drop(", From(0)),
        ("[{\"name\": \"look\"", From(0)),
        ("[link](", Never),
        ("<|channel|>analysis<|message|>Hm", From(32)),
        (
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assis",
            From(40),
        ),
        ("<|channel|>final<|message|>", Never),
        (
            "<|channel|>commentary to=functions.nothing<|message|>",
            Never,
        ),
    ] {
        let begins = careful.call_may_begin(&mut CallWatch::default(), text);
        assert_eq!(begins, expected, "{text:?}");
    }
    // If guesses are allowed, words before a call of a read-only tool are shown as they arrive.
    let bold = gate();
    for (text, expected) in [
        ("The weather is", From(14)),
        ("The weather:", From(12)),
        ("Let me look.\n", From(12)),
        ("Let me look.\n<", From(12)),
        ("Let me look.\n<b>", From(16)),
        ("Let me look.\nloo", From(12)),
        ("Let me look.\nlooking at it", From(26)),
        ("Let me look.\nlook[AR", From(12)),
        ("Let me look.\n{", From(12)),
        ("Let me look.\n{\"x", From(16)),
    ] {
        let begins = bold.call_may_begin(&mut CallWatch::default(), text);
        assert_eq!(begins, expected, "{text:?}");
    }
}

/// Texts that arrive a few bytes at a time: scanning all of them each time would take minutes.
#[test]
fn a_text_is_scanned_once() {
    let gate = gate();
    let before = cpu_time();
    for (text, filler) in [
        ("", " "),
        ("A", "\n"),
        ("<think>", "<think> "),
        ("<think>", "</think"),
        ("<tool_call>", "<tool_call>"),
        ("```json\n{\"name\": \"look\"", "`\n"),
        ("```json\n", " "),
        ("```json\n[]\n```", " "),
        ("{\"id\": \"", "a"),
        ("{\"id\": \"a\"", " "),
        ("[drop(", "x"),
        ("<|channel|>", "analysis "),
        ("<|channel|>analysis<|message|>", "<|en"),
        ("", "<|channel|>analysis<|message|><|end|>"),
        ("", "I'll look.\n"),
    ] {
        let text = format!("{text}{}", filler.repeat(400_000 / filler.len()));
        let mut watch = CallWatch::default();
        for end in (0..text.len()).step_by(4) {
            let _ = gate.call_may_begin(&mut watch, &text[..end]);
        }
    }
    let took = cpu_time().saturating_sub(before);
    assert!(took < Duration::from_secs(20), "{took:?}");
}
