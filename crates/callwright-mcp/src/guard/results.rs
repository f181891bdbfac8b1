//! Results on their way to the client: unchanged, or with a note for the model.

use std::time::Instant;

use callwright::admit::Fingerprint;
use callwright::check::{Ran, ToolFailure};
use callwright::json::Value;
use callwright::parse::read_value;
use callwright::wire;
use serde_json::value::RawValue;

use super::action::{Action, Fate};
use super::state::ForwardedCall;
use super::{Guard, Now};
use crate::message::Id;
use crate::own_messages;
use crate::present_result::present_result;

pub(super) struct ServerAnswer<'m> {
    pub(super) message: &'m [u8],
    pub(super) id: Id<'m>,
    pub(super) result: Option<&'m RawValue>,
    pub(super) error: Option<&'m RawValue>,
}

impl Guard {
    /// Settles a call with the server's answer. The second value is the call if it is unfinished: the next such call
    /// continues it.
    pub(super) fn result(
        &self,
        call: ForwardedCall,
        answer: &ServerAnswer<'_>,
        now: Now,
        out: &mut Vec<Action<'_>>,
    ) -> (Fate, Option<Fingerprint>) {
        // Only records tell how long it took.
        let came = call.event.as_ref().map(|_| Instant::now());
        let settings = &self.settings;
        let ServerAnswer {
            message, result, ..
        } = *answer;
        let value = result.and_then(|result| read_value(result.get()).ok());
        let mut unfinished = None;
        let ran = match (&value, answer.error) {
            _ if call.shares_id => None,
            (Some(value), _) if is_unfinished(value) => {
                unfinished = Some(call.open.fingerprint());
                None
            }
            (Some(value), _) => Some(wire::read_mcp_result(value)),
            (None, Some(error)) => Some(Ran::failed(ToolFailure::said(error.get().to_owned()))),
            (None, None) => None,
        };
        let Some(ran) = ran else {
            call.forget(&settings.sinks);
            return (Fate::Pass, unfinished);
        };
        let latency = now.instant.saturating_duration_since(call.began);
        let tool = call.open.tool().name().to_owned();
        let typed = call.open.tool().spec().output_schema.is_some();
        let settled = call.gate.close(call.open, ran);
        settings.status.settled(&tool, &settled);
        let presented = settings.feedback.present(&settled);
        let mut fate = Fate::Pass;
        if presented.note.is_none() {
            if let Some(failure) = settled.failure().filter(|_| !presented.is_error) {
                let text = settings.feedback.render(failure);
                out.push(Action::warn(format!("tool {tool:?}: {text}")));
            }
        } else if settings.only_warns() {
            let note = presented.note.unwrap_or_default();
            let warning = format!("tool {tool:?}: the model would be told: {note}");
            out.push(Action::warn(warning));
        } else if let (Some(result), Some(value)) = (result, &value) {
            fate = match present_result(message, result, value, &presented, typed) {
                Some(placed) => Fate::Replace(placed),
                None if presented.is_error => {
                    let note = presented.note.unwrap_or_default();
                    Fate::Replace(own_messages::refusal(
                        answer.id,
                        &note,
                        call.has_result_type,
                        None,
                    ))
                }
                None => Fate::Pass,
            };
        }
        if let Some(event) = call.event {
            let checked_in = came.map(|came| came.elapsed()).unwrap_or_default();
            let mut event = event.settled(&settled).ran(1, latency);
            event.gate_time = call.gate_time + checked_in;
            if let Some(value) = value.filter(|_| settings.keep_output) {
                event = event.with_output(value);
            }
            settings.sinks.send(event);
        }
        (fate, None)
    }
}

/// Whether the call continues: as a task whose result comes later, or after a question that the client answers.
fn is_unfinished(result: &Value<'_>) -> bool {
    let is_task = matches!(result.get("task"), Some(Value::Object(_)))
        && result.get("content").is_none()
        && result.get("structuredContent").is_none();
    let kind = result.get("resultType").and_then(Value::as_str);
    is_task || kind.is_some_and(|kind| kind != "complete")
}
