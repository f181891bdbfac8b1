//! Random debris of chat templates around calls is repaired; sentences in ten languages never are, except for read-only
//! tools.
#![allow(clippy::expect_used, reason = "a test may panic")]

use callwright::repair::{Grade, RepairPolicy};
use callwright::rescue::Message;
use callwright::tool::Effect;
use callwright::{Call, Gate, ToolSpec, Verdict};
use serde_json::{Value, json};

/// The number of generated texts. The seed is fixed, so all runs generate the same ones.
const TEXTS: u64 = 3_000;

/// Pseudo-random numbers from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % sides
    }

    fn one_of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.roll(all.len())]
    }
}

const TAGS: [&str; 14] = [
    "tool_call",
    "tool_calls",
    "function_call",
    "function_calls",
    "functioncall",
    "tool_use",
    "use_tool",
    "tool_request",
    "tool_code",
    "action_call",
    "arguments",
    "parameters",
    "tool",
    "minimax:tool_call",
];

const TOKENS: [&str; 18] = [
    "im_start",
    "im_end",
    "tool_call",
    "tool_calls_begin",
    "tool▁call▁begin",
    "tool_call_end",
    "python_tag",
    "eot_id",
    "eom_id",
    "endoftext",
    "end_of_text",
    "START_ACTION",
    "END_ACTION",
    "END_OF_TURN_TOKEN",
    "action_start",
    "plugin",
    "message",
    "call",
];

const MARKERS: [&str; 6] = [
    "TOOL_CALLS",
    "TOOL_CALL",
    "TOOL_REQUEST",
    "END_TOOL_REQUEST",
    "/INST",
    "/TOOL_CALLS",
];

const LABELS: [&str; 7] = [
    "Action Input: ",
    "Tool call:\n",
    "Function call:\n",
    "Arguments: ",
    "JSON: ",
    "### Tool call\n",
    "tool_call\n",
];

const LANGUAGES: [&str; 8] = [
    "",
    "json",
    "xml",
    "python",
    "tool_call",
    "tool_code",
    "yaml",
    "json5",
];

/// A name in another spelling, or with a typo.
fn respelt(name: &str, dice: &mut Dice) -> String {
    match dice.roll(8) {
        0 => name.to_uppercase(),
        1 => name.replace('_', "-"),
        2 => name.replace('_', ""),
        // The tag of a call with a missing letter.
        3 if name == "tool_call" || name == "tool_calls" => name.replacen("call", "cal", 1),
        _ => name.to_owned(),
    }
}

fn tag(name: &str, is_closing: bool, dice: &mut Dice) -> String {
    let slash = if is_closing && dice.roll(6) > 0 {
        "/"
    } else {
        ""
    };
    let name = respelt(name, dice);
    match dice.roll(12) {
        0 => format!("<{slash}{name}\n"),
        1 => format!("<<{slash}{name}>>"),
        2 => format!("<{slash}{name}><{slash}{name}>"),
        _ => format!("<{slash}{name}>"),
    }
}

fn token(dice: &mut Dice) -> String {
    let name = dice.one_of(&TOKENS);
    match dice.roll(8) {
        0 => format!("<｜{name}｜>"),
        1 => format!("<|{name}>"),
        2 => format!("<|{name}|><|{name}|>"),
        _ => format!("<|{name}|>"),
    }
}

/// A call with debris around it. A message gets no punctuation, which could mean that the call is only shown.
fn debris(call: &str, is_message: bool, dice: &mut Dice) -> String {
    let mut text = String::new();
    if dice.roll(6) == 0 {
        text += dice.one_of(&[
            "<think>\n</think>\n",
            "<think>I look {now}.</think>\n\n",
            "[THINK]Hm.[/THINK]",
        ]);
    }
    if dice.roll(6) == 0 {
        text += dice.one_of(&[
            "<|im_start|>assistant\n",
            "<start_of_turn>model\n",
            "assistant<|end_header_id|>\n\n",
        ]);
    }
    let kind = dice.roll(6);
    let name = dice.one_of(&TAGS);
    let fence = if dice.roll(5) == 0 && !is_message {
        "~~~"
    } else {
        "```"
    };
    match kind {
        0 => text += &tag(name, false, dice),
        1 => text += &token(dice),
        2 => text += &format!("[{}]", dice.one_of(&MARKERS)),
        3 => text += dice.one_of(&LABELS),
        4 => text += &format!("{fence}{}\n", dice.one_of(&LANGUAGES)),
        _ => {}
    }
    text += dice.one_of(&["", "\n", " "]);
    text += call;
    text += dice.one_of(&["", "\n", " "]);
    match kind {
        0 if dice.roll(5) > 0 => text += &tag(name, true, dice),
        1 if dice.roll(3) > 0 => text += &token(dice),
        2 if dice.roll(2) > 0 => text += &format!("[/{}]", dice.one_of(&MARKERS[..4])),
        4 if dice.roll(5) > 0 => text += &format!("\n{fence}"),
        _ => {}
    }
    text += dice.one_of(&[
        "",
        "",
        "\n",
        "<|im_end|>",
        "<|eot_id|>\n",
        "</s>",
        "<|endoftext|><|endoftext|>",
        "<|im_e",
        "}",
    ]);
    // Nothing comes after a token that is cut off.
    if !is_message && !text.ends_with("<|im_e") {
        text += dice.one_of(&["", "", "", ">", ";", "\n---"]);
    }
    text
}

const SENTENCES: [&str; 30] = [
    "Do not run this: ",
    "Sure, here you go. ",
    "For example: ",
    "Nicht ausführen: ",
    "Gerne, hier ist der Aufruf. ",
    "Nur ein Entwurf. ",
    "Ne pas exécuter : ",
    "Voici l'appel. ",
    "À titre d'exemple : ",
    "No ejecutar: ",
    "Aquí está la llamada. ",
    "Solo un ejemplo. ",
    "Non eseguire: ",
    "Ecco la chiamata. ",
    "Não execute isto: ",
    "Aqui está a chamada. ",
    "Не выполнять: ",
    "Вот вызов. ",
    "Это лишь пример. ",
    "実行しないでください。",
    "こちらが呼び出しです。",
    "例えば：",
    "不要执行：",
    "这是调用。",
    "仅供参考。",
    "실행하지 마세요: ",
    "호출은 다음과 같습니다. ",
    "لا تنفذ هذا: ",
    "هذا هو الاستدعاء. ",
    "इसे न चलाएं: ",
];

const CALLS: [(&str, &str); 4] = [
    (
        "find_flights",
        r#"{"from": "Oslo", "to": "Rome", "nonstop": true}"#,
    ),
    (
        "find_flights",
        r#"{"from": "São Paulo {GRU}", "to": "<b>"}"#,
    ),
    ("read_file", r#"{"path": "/tmp/a b.txt", "lines": [1, 5]}"#),
    ("read_file", r#"{"path": "C:\\x[1].md"}"#),
];

fn gate(effect: Effect, grade: Grade) -> Gate {
    let flights = json!({
        "type": "object",
        "properties": {"from": {"type": "string"}, "to": {"type": "string"}, "nonstop": {"type": "boolean"}},
        "required": ["from", "to"], "additionalProperties": false,
    });
    let files = json!({
        "type": "object",
        "properties": {"path": {"type": "string"}, "lines": {"type": "array", "items": {"type": "integer"}}},
        "required": ["path"], "additionalProperties": false,
    });
    let tools = [("find_flights", flights), ("read_file", files)];
    let tools = tools.map(|(name, schema)| ToolSpec::new(name, schema).with_effect(effect));
    Gate::builder()
        .tools(tools)
        .repair(RepairPolicy::UpTo(grade))
        .build()
        .expect("two tools")
}

/// The arguments that would be passed to the tool.
fn judged(gate: &Gate, tool: &str, text: &str) -> Option<Value> {
    let call = Call::from_text(tool, text);
    let verdict = gate.judge(&call);
    let passes = matches!(verdict, Verdict::Valid(_) | Verdict::Repaired(_));
    let arguments = verdict.arguments().filter(|_| passes)?.to_string();
    serde_json::from_str(&arguments).ok()
}

/// The same for a message, which has to be a single call.
fn rescued(gate: &Gate, text: &str) -> Option<Value> {
    let message = Message::from_text(text);
    let rescued = gate.rescue(&message).ok()?;
    let [call] = rescued.calls.as_slice() else {
        return None;
    };
    let verdict = gate.judge(call);
    let arguments = verdict
        .arguments()
        .filter(|_| verdict.failure().is_none())?
        .to_string();
    serde_json::from_str(&arguments).ok()
}

fn enveloped(tool: &str, arguments: &str, dice: &mut Dice) -> String {
    let name = dice.one_of(&[
        "name",
        "tool",
        "tool_name",
        "function_name",
        "function",
        "action",
    ]);
    let key = dice.one_of(&["arguments", "params", "args", "input", "action_input"]);
    format!("{{\"{name}\": \"{tool}\", \"{key}\": {arguments}}}")
}

#[test]
fn debris_is_repaired() {
    let gate = gate(Effect::Unknown, Grade::Lossless);
    let (mut dice, mut missed) = (Dice(16), Vec::new());
    for number in 0..TEXTS {
        let (tool, arguments) = CALLS[dice.roll(CALLS.len())];
        let meant: Value = serde_json::from_str(arguments).expect("JSON");
        let (text, found) = if number % 2 == 0 {
            let text = debris(arguments, false, &mut dice);
            let found = judged(&gate, tool, &text);
            (text, found)
        } else {
            let text = debris(&enveloped(tool, arguments, &mut dice), true, &mut dice);
            let found = rescued(&gate, &text);
            (text, found)
        };
        match found {
            Some(found) => assert_eq!(found, meant, "{text}"),
            None => missed.push(text),
        }
    }
    let most = usize::try_from(TEXTS / 100).expect("few");
    assert!(
        missed.len() <= most,
        "{} of {TEXTS} missed: {:#?}",
        missed.len(),
        &missed[..missed.len().min(20)]
    );
}

#[test]
fn sentences_are_only_dropped_for_read_only_tools() {
    let careful = [Grade::Lossless, Grade::Lossy].map(|grade| gate(Effect::Read, grade));
    let undeclared =
        [Grade::Lossless, Grade::Lossy, Grade::Guess].map(|grade| gate(Effect::Unknown, grade));
    let bold = gate(Effect::Read, Grade::Guess);
    let (mut dice, mut healed) = (Dice(61), 0);
    for _ in 0..TEXTS / 3 {
        let (tool, arguments) = CALLS[dice.roll(CALLS.len())];
        let meant: Value = serde_json::from_str(arguments).expect("JSON");
        let sentence = dice.one_of(&SENTENCES);
        let place = dice.roll(3);
        let place_words = |text: &str| match place {
            0 => format!("{sentence}{text}"),
            1 => format!("{sentence}\n{text}"),
            _ => format!("{text}\n{sentence}"),
        };
        let call = place_words(&debris(arguments, true, &mut dice));
        let message = place_words(&debris(
            &enveloped(tool, arguments, &mut dice),
            true,
            &mut dice,
        ));
        for gate in careful.iter().chain(&undeclared) {
            assert_eq!(judged(gate, tool, &call), None, "{call}");
            assert_eq!(rescued(gate, &message), None, "{message}");
        }
        for found in [judged(&bold, tool, &call), rescued(&bold, &message)]
            .into_iter()
            .flatten()
        {
            assert_eq!(found, meant, "{call} {message}");
            healed += 1;
        }
    }
    // Most of the words around calls of read-only tools are recognised as words.
    assert!(healed > TEXTS / 3, "{healed}");
}
