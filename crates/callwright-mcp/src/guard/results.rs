//! Results on their way to the client: as they are, or with what the model should know beside them.

use std::time::Instant;

use callwright::check::{Checked, OutputVerdict, Ran, ToolFailure};
use callwright::classify::Notice;
use callwright::json::Value;
use callwright::parse::read_value;
use callwright::wire;
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
        let tool = running.open.tool().to_owned();
        let (checked, notice) = running.gate.close_open(running.open, ran);
        settings.status.settled(&tool, &checked, notice.as_ref());
        let mut fate = Fate::Passes;
        if let Some((note, is_error)) = self.note(&checked, notice.as_ref()) {
            if settings.only_warns() {
                out.warnings
                    .push(format!("tool {tool:?}: the model would be told: {note}"));
            } else if let Some(result) = result.filter(|_| value.is_some()) {
                fate = match answer::with_note(message, result, &note, is_error) {
                    Some(noted) => Fate::Becomes(noted),
                    None if is_error => {
                        Fate::Becomes(answer::refusal(id, &note, running.says_all, None))
                    }
                    None => Fate::Passes,
                };
            }
        } else if let (OutputVerdict::Warned, Some(failure)) = (checked.verdict, &checked.failure) {
            let text = settings.feedback.render(failure);
            out.warnings.push(format!("tool {tool:?}: {text}"));
        }
        if let Some(event) = running.event {
            let mut event = event
                .with_notice(notice)
                .ran(1, latency)
                .with_result(&checked)
                .with_gate_time(running.gate_time + came.elapsed());
            if let Some(value) = value.filter(|_| settings.keep_output) {
                event = event.with_output(value);
            }
            settings.sinks.send(event);
        }
        fate
    }

    /// What the model should be told beside a result, and whether that makes it an error. The content is kept in any
    /// case.
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

/// Whether the call goes on: as a task that is asked for later, or after a question that the client answers.
fn is_unfinished(result: &Value<'_>) -> bool {
    let is_task = matches!(result.get("task"), Some(Value::Object(_)))
        && result.get("content").is_none()
        && result.get("structuredContent").is_none();
    let kind = result.get("resultType").and_then(Value::as_str);
    is_task || kind.is_some_and(|kind| kind != "complete")
}
