//! A fast path for call lines as callwright's documents show them, which most plain logs are made of. It saves six percent
//! of the CPU time of replaying such a log.
//!
//! Takes a value; returns its call, or the value again if it is anything else. It never reads a line differently from
//! [`super::line`], which knows all cases; a property test compares the two.

use callwright::Call;
use callwright::call::Arguments;
use callwright::json::{Number, Value};

use super::{Format, Reading, time};
use crate::seen::{At, Seen, SeenCall, ToolAnswer};

/// Reads a line.
pub(super) fn read<'a>(value: Value<'a>, reading: &mut Reading<'a>) -> Result<(), Value<'a>> {
    let members = match value {
        Value::Object(members) if is_plain(&members) => members,
        other => return Err(other),
    };
    let mut at = At::default();
    let mut call = Call::new("", Arguments::Absent);
    let (mut output, mut is_error, mut latency_us) = (None, false, None);
    for (key, value) in members {
        match (slot(&key), value) {
            (Some(Slot::Tool), Value::String(tool)) => call.tool = tool,
            (Some(Slot::Arguments), Value::String(text)) => call.arguments = Arguments::Text(text),
            (Some(Slot::Arguments), value) => call.arguments = Arguments::Value(value),
            (Some(Slot::Id), id) => call.id = Some(id),
            (Some(Slot::Session), Value::String(session)) => at.session = Some(session),
            (Some(Slot::Turn), Value::Number(turn)) => at.turn = turn.as_u64(),
            (Some(Slot::Round), Value::Number(round)) => at.round = round.as_u64(),
            (Some(Slot::Model), Value::String(model)) => at.model = Some(model),
            (Some(Slot::Time), value) => at.time = time::read(&value),
            (Some(Slot::Latency), Value::Number(latency)) => latency_us = latency.as_u64(),
            (Some(Slot::Output), value) => output = Some(value),
            (Some(Slot::IsError), Value::Bool(yes)) => is_error = yes,
            // A plain line has nothing else.
            _ => {}
        }
    }
    let output = match output {
        // It failed, and how was not recorded.
        None if is_error => Some(Value::String("".into())),
        output => output,
    };
    reading.set_format(Format::Call);
    reading.seen.push(Seen::Call(Box::new(SeenCall {
        call,
        at,
        answer: output.map(|output| ToolAnswer { output, is_error }),
        latency_us,
        in_history: false,
        identity: None,
    })));
    Ok(())
}

/// The members of a plain line.
#[derive(Clone, Copy, PartialEq)]
enum Slot {
    Tool,
    Arguments,
    Id,
    Session,
    Turn,
    Round,
    Model,
    Time,
    Latency,
    Output,
    IsError,
}

/// Which member a key names. By its length first: a key is compared with few others then.
fn slot(key: &str) -> Option<Slot> {
    let named = |name: &str, slot| (key == name).then_some(slot);
    match key.len() {
        2 => named("id", Slot::Id),
        4 => named("tool", Slot::Tool)
            .or_else(|| named("time", Slot::Time))
            .or_else(|| named("turn", Slot::Turn)),
        5 => named("round", Slot::Round).or_else(|| named("model", Slot::Model)),
        6 => named("output", Slot::Output),
        7 => named("session", Slot::Session),
        8 => named("is_error", Slot::IsError),
        9 => named("arguments", Slot::Arguments),
        10 => named("latency_us", Slot::Latency),
        _ => None,
    }
}

/// Whether a line has a tool, and no members but those that are read here: each once, and of its usual type.
fn is_plain(members: &[(std::borrow::Cow<'_, str>, Value<'_>)]) -> bool {
    let mut found = 0_u16;
    for (key, value) in members {
        let Some(slot) = slot(key) else {
            return false;
        };
        let fits = match (slot, value) {
            (Slot::Tool | Slot::Session, Value::String(_))
            | (Slot::Id | Slot::Time, Value::String(_) | Value::Number(_))
            | (Slot::Arguments, Value::String(_) | Value::Object(_) | Value::Array(_))
            | (Slot::IsError, Value::Bool(_))
            | (Slot::Output, _) => true,
            (Slot::Turn | Slot::Round | Slot::Latency, Value::Number(number)) => is_small(number),
            (Slot::Model, Value::String(model)) => !model.is_empty(),
            _ => false,
        };
        let bit = 1 << slot as u16;
        if !fits || found & bit != 0 {
            return false;
        }
        found |= bit;
    }
    found & (1 << Slot::Tool as u16) != 0
}

/// A whole number that is far from every limit.
fn is_small(number: &Number<'_>) -> bool {
    const MOST_DIGITS: usize = 17;
    let text = number.as_str().as_bytes();
    text.len() <= MOST_DIGITS && text.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use callwright::parse::read_value;
    use proptest::prelude::*;

    use super::super::context::Context;
    use super::super::line;
    use super::*;

    fn member() -> impl Strategy<Value = String> {
        let key = prop::sample::select(vec![
            "tool",
            "arguments",
            "id",
            "session",
            "turn",
            "round",
            "model",
            "time",
            "latency_us",
            "output",
            "is_error",
            "name",
            "args",
            "latency_ms",
            "finish_reason",
            "timestamp",
        ]);
        let value = prop::sample::select(vec![
            r#""a""#,
            r#""""#,
            "1",
            "0",
            "-1",
            "1.5",
            "123456789012345678901",
            "null",
            "true",
            "false",
            "{}",
            "[]",
            r#"{"isError":true}"#,
            r#"{"isError":false}"#,
            r#""length""#,
            r#""2026-01-31T10:00:00Z""#,
            r#""{\"b\":1}""#,
        ]);
        (key, value).prop_map(|(key, value)| format!("{key:?}:{value}"))
    }

    proptest! {
        #[test]
        fn both_paths_read_the_same(
            tool in prop::sample::select(vec!["", r#""tool":"a","#]),
            members in prop::collection::vec(member(), 1..8),
        ) {
            let text = format!("{{{tool}{}}}", members.join(","));
            let value = || read_value(&text).expect("JSON");
            let (mut short, mut long) = (Reading::default(), Reading::default());
            if read(value(), &mut short).is_ok() {
                line::read(value(), Context::default(), &mut long);
                prop_assert_eq!(format!("{short:?}"), format!("{long:?}"));
            }
        }
    }

    #[test]
    fn a_usual_line_is_plain() {
        let text = r#"{"time":"2026-01-31T10:00:00Z","session":"s","turn":1,"round":2,"model":"m","id":"c","tool":"t","arguments":"{}","latency_us":5,"output":{"ok":true},"is_error":false}"#;
        let mut reading = Reading::default();
        assert!(read(read_value(text).expect("JSON"), &mut reading).is_ok());
        assert_eq!(reading.seen.len(), 1);
    }
}
