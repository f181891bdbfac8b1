//! Reads one call per record: callwright's own events, plain call lines, and single calls in a provider's format.
//!
//! Next to the call there may be `session`, `turn`, `round`, `output`, `is_error`, a time, a model and a duration.
//! The core reads the call and the first five, as for `callwright check`.

use callwright::json::Value;
use callwright::wire;

use super::context::Context;
use super::{Format, Reading};
use crate::seen::{Seen, SeenCall, ToolAnswer};

pub(super) fn read<'a>(value: Value<'a>, mut context: Context<'a>, reading: &mut Reading<'a>) {
    context.add(&value);
    let format = if value.get("arguments_sent").is_some() {
        Format::Event
    } else {
        Format::Call
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
    })));
}
