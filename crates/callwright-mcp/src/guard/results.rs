//! Results on their way to the client: as they are, or with what the model should know beside them.

use std::time::Instant;

use callwright::check::{Ran, ToolFailure};
use callwright::event::Event;
use callwright::json::Value;
use callwright::parse::read_value;
use callwright::{Settled, wire};
use serde_json::value::RawValue;

use super::state::Running;
use super::{Fate, Guard, Now, Outbox};
use crate::answer;
use crate::message::Id;

impl Guard {
    /// What came of a call.
    #[expect(clippy::too_many_arguments, reason = "the parts of one message")]
    pub(super) fn result(
        &self,
        running: Running,
        message: &[u8],
        id: Id<'_>,
        result: Option<&RawValue>,
        error: Option<&RawValue>,
        now: Now,
        out: &mut Outbox<'_>,
    ) -> Fate {
        let came = Instant::now();
        let settings = &self.settings;
        let value = result.and_then(|result| read_value(result.get()).ok());
        let ran = match (&value, error) {
            _ if running.shares_id => None,
            (Some(value), _) if is_unfinished(value) => {
                self.state().left_unfinished(running.open.fingerprint());
                None
            }
            (Some(value), _) => Some(wire::read_mcp_result(value)),
            (None, Some(error)) => Some(Ran::failed(ToolFailure::said(error.get().to_owned()))),
            (None, None) => None,
        };
        let Some(ran) = ran else {
            running.forget(&settings.sinks);
            return Fate::Passes;
        };
        let latency = now.instant.saturating_duration_since(running.began);
        let tool = running.open.tool().name().to_owned();
        let typed = running.open.tool().spec().output_schema.is_some();
        let settled = running.gate.close(running.open, ran);
        settings.status.settled(&tool, &settled);
        let presented = settings.feedback.present(&settled);
        let mut fate = Fate::Passes;
        if presented.note.is_none() {
            if let Some(failure) = settled.failure().filter(|_| !presented.is_error) {
                let text = settings.feedback.render(failure);
                out.warnings.push(format!("tool {tool:?}: {text}"));
            }
        } else if settings.only_warns() {
            let note = presented.note.unwrap_or_default();
            out.warnings
                .push(format!("tool {tool:?}: the model would be told: {note}"));
        } else if let (Some(result), Some(value)) = (result, &value) {
            fate = match answer::presented(message, result, value, &presented, typed) {
                Some(placed) => Fate::Becomes(placed),
                None if presented.is_error => {
                    let note = presented.note.unwrap_or_default();
                    Fate::Becomes(answer::refusal(id, &note, running.says_all, None))
                }
                None => Fate::Passes,
            };
        }
        if let Some(event) = running.event {
            let mut event = with_outcome(event, &settled)
                .ran(1, latency)
                .with_gate_time(running.gate_time + came.elapsed());
            if let Some(value) = value.filter(|_| settings.keep_output) {
                event = event.with_output(value);
            }
            settings.sinks.send(event);
        }
        fate
    }
}

/// The record of a call with what became of it.
pub(super) fn with_outcome(event: Event, settled: &Settled<'_>) -> Event {
    let event = event
        .with_notice(settled.notice().cloned())
        .with_uncounted(settled.uncounted);
    match &settled.result {
        Some(checked) => event.with_result(checked),
        None => event,
    }
}

/// Whether the call goes on: as a task that is asked for later, or after a question that the client answers.
fn is_unfinished(result: &Value<'_>) -> bool {
    let is_task = matches!(result.get("task"), Some(Value::Object(_)))
        && result.get("content").is_none()
        && result.get("structuredContent").is_none();
    let kind = result.get("resultType").and_then(Value::as_str);
    is_task || kind.is_some_and(|kind| kind != "complete")
}
