//! Call lines as callwright's documents show them, which most plain logs are made of: the way for these is short.
//!
//! In comes a value, out goes its call; or the value again, if it is anything else. It never reads a line otherwise than
//! [`super::line`] does, which knows all cases.

use callwright::Call;
use callwright::call::Arguments;
use callwright::json::{Number, Value};

use super::{Format, Reading, time};
use crate::seen::{Answer, At, Seen, SeenCall};

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
        match (key.as_ref(), value) {
            ("tool", Value::String(tool)) => call.tool = tool,
            ("arguments", Value::String(text)) => call.arguments = Arguments::Text(text),
            ("arguments", value) => call.arguments = Arguments::Value(value),
            ("id", id) => call.id = Some(id),
            ("session", Value::String(session)) => at.session = Some(session),
            ("turn", Value::Number(turn)) => at.turn = turn.as_u64(),
            ("round", Value::Number(round)) => at.round = round.as_u64(),
            ("model", Value::String(model)) => at.model = Some(model),
            ("time", value) => at.time = time::read(&value),
            ("latency_us", Value::Number(latency)) => latency_us = latency.as_u64(),
            ("output", value) => output = Some(value),
            ("is_error", Value::Bool(yes)) => is_error = yes,
            // There is nothing else in a plain line.
            _ => {}
        }
    }
    // An MCP result says so itself.
    let says_so = |output: &Value<'_>| output.get("isError") == Some(&Value::Bool(true));
    is_error |= output.as_ref().is_some_and(says_so);
    let output = match output {
        // That it failed is known, if not how.
        None if is_error => Some(Value::String("".into())),
        output => output,
    };
    reading.set_format(Format::Call);
    reading.seen.push(Seen::Call(Box::new(SeenCall {
        call,
        at,
        answer: output.map(|output| Answer { output, is_error }),
        latency_us,
        in_history: false,
    })));
    Ok(())
}

/// Whether a line has a tool, and no members but those that are read here: each once, and of its usual type.
fn is_plain(members: &[(std::borrow::Cow<'_, str>, Value<'_>)]) -> bool {
    const TOOL: u16 = 1;
    let mut found = 0;
    for (key, value) in members {
        let member = match (key.as_ref(), value) {
            ("tool", Value::String(_)) => TOOL,
            ("arguments", Value::String(_) | Value::Object(_) | Value::Array(_)) => 1 << 1,
            ("id", Value::String(_) | Value::Number(_)) => 1 << 2,
            ("session", Value::String(_)) => 1 << 3,
            ("turn", Value::Number(number)) if is_small(number) => 1 << 4,
            ("round", Value::Number(number)) if is_small(number) => 1 << 5,
            ("model", Value::String(model)) if !model.is_empty() => 1 << 6,
            ("time", Value::String(_) | Value::Number(_)) => 1 << 7,
            ("latency_us", Value::Number(number)) if is_small(number) => 1 << 8,
            ("output", _) => 1 << 9,
            ("is_error", Value::Bool(_)) => 1 << 10,
            _ => return false,
        };
        if found & member != 0 {
            return false;
        }
        found |= member;
    }
    found & TOOL != 0
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
        fn the_short_way_reads_what_the_long_way_reads(
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
