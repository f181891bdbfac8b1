//! A fast path for call lines as in callwright's documentation, which most plain logs consist of. It saves six
//! percent of the CPU time of replaying such a log.
//!
//! Takes a value; returns its call, or the value again if it is anything else. Never reads a line differently from
//! [`super::line`], which handles all cases; a property test compares the two.

use std::borrow::Cow;

use callwright::Call;
use callwright::call::Arguments;
use callwright::json::{Number, Value};

use super::{Format, Reading, time};
use crate::seen::{At, Seen, SeenCall, ToolAnswer};

/// Reads a line.
pub(super) fn read<'a>(value: Value<'a>, reading: &mut Reading<'a>) -> Result<(), Value<'a>> {
    let Value::Object(members) = value else {
        return Err(value);
    };
    let Some(slots) = line_members(&members) else {
        return Err(Value::Object(members));
    };
    let mut at = At::default();
    let mut call = Call::new("", Arguments::Absent);
    let (mut output, mut is_error, mut latency_us) = (None, false, None);
    for (slot, (_, value)) in slots.into_iter().zip(members) {
        match (slot, value) {
            (LineMember::Tool, Value::String(tool)) => call.tool = tool,
            (LineMember::Arguments, Value::String(text)) => {
                call.arguments = Arguments::Text(text);
            }
            (LineMember::Arguments, value) => call.arguments = Arguments::Value(value),
            (LineMember::Id, id) => call.id = Some(id),
            (LineMember::Session, Value::String(session)) => at.session = Some(session),
            (LineMember::Turn, Value::Number(turn)) => at.turn = turn.as_u64(),
            (LineMember::Round, Value::Number(round)) => at.round = round.as_u64(),
            (LineMember::Model, Value::String(model)) => at.model = Some(model),
            (LineMember::Time, value) => at.time = time::read(&value),
            (LineMember::Latency, Value::Number(latency)) => latency_us = latency.as_u64(),
            (LineMember::Output, value) => output = Some(value),
            (LineMember::IsError, Value::Bool(yes)) => is_error = yes,
            // A plain line has nothing else.
            _ => {}
        }
    }
    let output = match output {
        // It failed, but how was not recorded.
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
        recorded_tool: None,
    })));
    Ok(())
}

/// The members of a plain line.
#[derive(Debug, Clone, Copy, PartialEq)]
enum LineMember {
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

impl LineMember {
    /// How many there are.
    const COUNT: usize = LineMember::IsError as usize + 1;
}

/// Which member a key names. The length is checked first, so that a key is compared with few others.
fn line_member(key: &str) -> Option<LineMember> {
    let named = |name: &str, slot| (key == name).then_some(slot);
    match key.len() {
        2 => named("id", LineMember::Id),
        4 => named("tool", LineMember::Tool)
            .or_else(|| named("time", LineMember::Time))
            .or_else(|| named("turn", LineMember::Turn)),
        5 => named("round", LineMember::Round).or_else(|| named("model", LineMember::Model)),
        6 => named("output", LineMember::Output),
        7 => named("session", LineMember::Session),
        8 => named("is_error", LineMember::IsError),
        9 => named("arguments", LineMember::Arguments),
        10 => named("latency_us", LineMember::Latency),
        _ => None,
    }
}

/// Which members a line has, if it has a tool and only members that are read here: each once, and of its usual type.
fn line_members(members: &[(Cow<'_, str>, Value<'_>)]) -> Option<[LineMember; LineMember::COUNT]> {
    let mut slots = [LineMember::Tool; LineMember::COUNT];
    let mut found = 0_u16;
    for (at, (key, value)) in members.iter().enumerate() {
        // There are never more than slots, since each is there once.
        let slot = line_member(key)?;
        let fits = match (slot, value) {
            (LineMember::Tool | LineMember::Session, Value::String(_))
            | (LineMember::Id | LineMember::Time, Value::String(_) | Value::Number(_))
            | (LineMember::Arguments, Value::String(_) | Value::Object(_) | Value::Array(_))
            | (LineMember::IsError, Value::Bool(_))
            | (LineMember::Output, _) => true,
            (LineMember::Turn | LineMember::Round | LineMember::Latency, Value::Number(number)) => {
                is_small(number)
            }
            (LineMember::Model, Value::String(model)) => !model.is_empty(),
            _ => false,
        };
        let bit = 1 << slot as u16;
        if !fits || found & bit != 0 {
            return None;
        }
        found |= bit;
        slots[at] = slot;
    }
    (found & (1 << LineMember::Tool as u16) != 0).then_some(slots)
}

/// A whole number far from any limit.
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
