//! Results on their way to the client: as they are, or with what the model should know beside them.

use std::time::Instant;

use callwright::admit::Fingerprint;
use callwright::check::{Checked, OutputVerdict, Ran, ToolFailure};
use callwright::classify::Notice;
use callwright::json::Value;
use callwright::parse::read_value;
use callwright::wire;
use serde_json::value::RawValue;

use super::action::{Action, Fate};
use super::state::ForwardedCall;
use super::{Guard, Now};
use crate::answer;
use crate::message::Id;

/// The server's answer to a call.
pub(super) struct ServerAnswer<'m> {
    pub(super) message: &'m [u8],
    pub(super) id: Id<'m>,
    pub(super) result: Option<&'m RawValue>,
    pub(super) error: Option<&'m RawValue>,
}

impl Guard {
    /// Settles a call with the server's answer. The second value is the call if it is not finished: it goes on with the
    /// next such call.
    pub(super) fn result(
        &self,
        call: ForwardedCall,
        answer: &ServerAnswer<'_>,
        now: Now,
        out: &mut Vec<Action<'_>>,
    ) -> (Fate, Option<Fingerprint>) {
        let came = Instant::now();
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
        let tool = call.open.tool().to_owned();
        let (checked, notice) = call.gate.close_open(call.open, ran);
        settings.status.settled(&tool, &checked, notice.as_ref());
        let mut fate = Fate::Pass;
        if let Some((note, is_error)) = self.note(&checked, notice.as_ref()) {
            if settings.only_warns() {
                let warning = format!("tool {tool:?}: the model would be told: {note}");
                out.push(Action::Warn(warning));
            } else if let Some(result) = result.filter(|_| value.is_some()) {
                fate = match answer::with_note(message, result, &note, is_error) {
                    Some(noted) => Fate::Replace(noted),
                    None if is_error => Fate::Replace(answer::refusal(
                        answer.id,
                        &note,
                        call.has_result_type,
                        None,
                    )),
                    None => Fate::Pass,
                };
            }
        } else if let (OutputVerdict::Warned, Some(failure)) = (checked.verdict, &checked.failure) {
            let text = settings.feedback.render(failure);
            out.push(Action::Warn(format!("tool {tool:?}: {text}")));
        }
        if let Some(event) = call.event {
            let mut event = event
                .with_notice(notice)
                .ran(1, latency)
                .with_result(&checked)
                .with_gate_time(call.gate_time + came.elapsed());
            if let Some(value) = value.filter(|_| settings.keep_output) {
                event = event.with_output(value);
            }
            settings.sinks.send(event);
        }
        (fate, None)
    }

    /// What the model should be told beside a result, and whether that makes it an error. The content is always kept.
    fn note(&self, checked: &Checked<'_>, notice: Option<&Notice>) -> Option<(String, bool)> {
        let feedback = &self.settings.feedback;
        let objection = match (checked.verdict, &checked.failure) {
            (OutputVerdict::Refused | OutputVerdict::Partial, Some(failure)) => {
                Some(feedback.render(failure))
            }
            _ => None,
        };
        let notice = notice.map(|notice| feedback.notice(notice));
        let texts: Vec<String> = objection.into_iter().chain(notice).collect();
        let is_error = checked.verdict == OutputVerdict::Refused;
        (!texts.is_empty()).then(|| (texts.join(" "), is_error))
    }
}

/// Whether the call goes on: as a task whose result comes later, or after a question that the client answers.
fn is_unfinished(result: &Value<'_>) -> bool {
    let is_task = matches!(result.get("task"), Some(Value::Object(_)))
        && result.get("content").is_none()
        && result.get("structuredContent").is_none();
    let kind = result.get("resultType").and_then(Value::as_str);
    is_task || kind.is_some_and(|kind| kind != "complete")
}
