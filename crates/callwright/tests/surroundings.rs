//! What models of about forty families leave around a call (`surroundings.json`): how much of it is repaired, and what
//! never is.
//!
//! `cargo test -p callwright --all-features --test surroundings -- --nocapture` prints the shares of each family.
#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test may panic, and prints its shares"
)]

use callwright::repair::{Grade, RepairPolicy};
use callwright::rescue::Message;
use callwright::tool::{Effect, Tool};
use callwright::{Call, Gate, ToolSpec, Verdict};
use serde_json::{Value, json};

const TOOL: &str = "find_flights";
const ARGUMENTS: &str = r#"{"from": "Oslo", "to": "Rome", "nonstop": true, "adults": 2}"#;
const IN_PYTHON: &str = r#"from="Oslo", to="Rome", nonstop=True, adults=2"#;

fn surroundings() -> Value {
    serde_json::from_str(include_str!("surroundings.json")).expect("JSON")
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn families(all: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let families = all.as_object().into_iter().flatten();
    families.map(|(name, list)| (name.as_str(), list))
}

/// A text with a complete call in it, and the same with its arguments alone.
fn filled(template: &str) -> (String, String) {
    let call = format!("{{\"name\": \"{TOOL}\", \"arguments\": {ARGUMENTS}}}");
    let rest = template
        .replace("{A}", ARGUMENTS)
        .replace("{N}", TOOL)
        .replace("{K}", IN_PYTHON);
    (rest.replace("{C}", &call), rest.replace("{C}", ARGUMENTS))
}

fn gate(effect: Effect, grade: Grade) -> Gate {
    let flights = json!({
        "type": "object",
        "properties": {"from": {"type": "string"}, "to": {"type": "string"}, "nonstop": {"type": "boolean"},
            "adults": {"type": "integer"}},
        "required": ["from", "to"], "additionalProperties": false,
    });
    let other = json!({"type": "object", "properties": {}});
    let tools = [(TOOL, flights), ("erase_all", other)];
    let tools = tools.map(|(name, schema)| ToolSpec::new(name, schema).with_effect(effect));
    Gate::builder()
        .tools(tools)
        .repair(RepairPolicy::UpTo(grade))
        .build()
        .expect("two tools")
}

/// The arguments that are passed to the tool; `None` if the call is refused.
fn passed(verdict: &Verdict<'_>) -> Option<Value> {
    let passes = matches!(verdict, Verdict::Valid(_) | Verdict::Repaired(_));
    let arguments = verdict.arguments().filter(|_| passes)?.to_string();
    serde_json::from_str(&arguments).ok()
}

fn judged(gate: &Gate, text: &str) -> Option<Value> {
    let call = Call::from_text(TOOL, text);
    passed(&gate.judge(&call))
}

/// The same, for a message. It must contain one call of the right tool.
fn rescued(gate: &Gate, text: &str) -> Option<Value> {
    let message = Message::from_text(text);
    let rescued = gate.rescue(&message).ok()?;
    let [call] = rescued.calls.as_slice() else {
        return None;
    };
    let verdict = gate.judge(call);
    let tool = verdict.tool().map(Tool::name);
    passed(&verdict).inspect(|_| assert_eq!(tool, Some(TOOL), "{text}"))
}

/// How many texts were repaired, out of how many.
#[derive(Default, Clone, Copy)]
struct Share(usize, usize);

impl Share {
    fn add(&mut self, found: Option<Value>, text: &str) {
        self.1 += 1;
        if let Some(found) = found {
            let meant: Value = serde_json::from_str(ARGUMENTS).expect("JSON");
            assert_eq!(found, meant, "{text}");
            self.0 += 1;
        }
    }

    fn percent(self) -> usize {
        100 * self.0 / self.1.max(1)
    }
}

/// The shares of all families: arguments alone, whole calls, messages.
fn measured(lists: &Value, gate: &Gate) -> [Share; 3] {
    let mut all = [Share::default(); 3];
    for (family, list) in families(lists) {
        let mut own = [Share::default(); 3];
        for template in texts(list) {
            let (whole, bare) = filled(template);
            if template.contains("{C}") {
                own[0].add(judged(gate, &bare), &bare);
            }
            own[1].add(judged(gate, &whole), &whole);
            own[2].add(rescued(gate, &whole), &whole);
        }
        let shown = own.map(|share| format!("{:>3} of {:>3}", share.0, share.1));
        println!("{family:14} {}", shown.join("   "));
        for (all, own) in all.iter_mut().zip(own) {
            all.0 += own.0;
            all.1 += own.1;
        }
    }
    let shown = all.map(|share| format!("{:>9}%", share.percent()));
    println!("{:14} {}", "all", shown.join("   "));
    all
}

#[test]
fn debris_is_repaired_without_loss() {
    let all = surroundings();
    println!("family         arguments    whole call   message");
    let [bare, whole, message] = measured(&all["debris"], &gate(Effect::Unknown, Grade::Lossless));
    // Most of the rest are JSON layers whose names are a guess; in messages, also punctuation and quotes that show a
    // call, and names without a marker.
    assert!(bare.percent() >= 93 && whole.percent() >= 93 && message.percent() >= 80);
}

#[test]
fn almost_everything_is_repaired_for_read_only_tools() {
    let all = surroundings();
    let bold = gate(Effect::Read, Grade::Guess);
    for kind in ["debris", "sentences"] {
        println!("{kind}         arguments    whole call   message");
        let [bare, whole, message] = measured(&all[kind], &bold);
        assert!(bare.percent() >= 97 && whole.percent() >= 96 && message.percent() >= 90);
    }
}

#[test]
fn calls_in_python_are_read_out_of_messages() {
    let bold = gate(Effect::Read, Grade::Guess);
    let all = surroundings();
    let mut share = Share::default();
    for template in texts(&all["python"]) {
        let (text, _) = filled(template);
        share.add(rescued(&bold, &text), &text);
    }
    assert!(share.percent() >= 80, "{} of {}", share.0, share.1);
}

/// A word, a punctuation mark or a role that may mean something, and every sentence.
#[test]
fn meaningful_text_is_never_dropped_for_other_tools() {
    let all = surroundings();
    let gates =
        [Grade::Lossless, Grade::Lossy, Grade::Guess].map(|grade| gate(Effect::Unknown, grade));
    let sentences = families(&all["sentences"]).flat_map(|(_, list)| texts(list));
    for template in texts(&all["doubtful"]).chain(sentences) {
        let (whole, bare) = filled(template);
        for gate in &gates {
            assert_eq!(judged(gate, &bare), None, "{bare}");
            assert_eq!(judged(gate, &whole), None, "{whole}");
            assert_eq!(rescued(gate, &whole), None, "{whole}");
        }
    }
}
