//! Reads one call per record: callwright's own events, plain call lines, and single calls in a provider's format.
//!
//! Next to the call there may be `session`, `turn`, `round`, `output`, `is_error`, a time, a model and a duration.
//! The core reads the call and the first five, as for `callwright check`.

use callwright::json::Value;
use callwright::wire;

use super::context::Context;
use super::pick::text;
use super::{Format, Reading};
use crate::seen::{RecordedTool, Seen, SeenCall, ToolAnswer};

pub(super) fn read<'a>(value: Value<'a>, mut context: Context<'a>, reading: &mut Reading<'a>) {
    context.add(&value);
    let format = if value.get("arguments_sent").is_some() {
        Format::Event
    } else {
        Format::Call
    };
    let recorded_tool = match format {
        Format::Event => recorded_tool(&value),
        _ => None,
    };
    let recorded = match wire::recorded(value) {
        Ok(recorded) => recorded,
        Err(error) => {
            reading.troubles.push(error.to_string().into());
            return;
        }
    };
    reading.set_format(format);
    let mut at = context.at();
    at.session = recorded.session.or(at.session);
    at.turn = recorded.at.turn;
    at.round = recorded.at.round;
    let is_error = recorded.is_error;
    let answer = match recorded.output {
        Some(output) => Some(ToolAnswer { output, is_error }),
        // It failed, but how was not recorded.
        None if is_error => Some(ToolAnswer {
            output: Value::String("".into()),
            is_error,
        }),
        None => None,
    };
    reading.seen.push(Seen::Call(Box::new(SeenCall {
        call: recorded.call,
        at,
        answer,
        latency_us: context.latency_us(),
        in_history: false,
        identity: None,
        recorded_tool,
    })));
}

/// What the guard that wrote an event knew about the call's tool.
fn recorded_tool<'a>(event: &Value<'a>) -> Option<RecordedTool<'a>> {
    if text(event, "verdict") == Some("unjudged") {
        return None;
    }
    let code = event
        .get("failure")
        .and_then(|failure| text(failure, "code"));
    if matches!(code, Some("unknown_tool" | "unknown_tool_streak")) {
        return Some(RecordedTool::Unknown);
    }
    event.get("tool_sent")?;
    match event.get("tool")? {
        Value::String(tool) => Some(RecordedTool::Meant(tool.clone())),
        _ => None,
    }
}
