//! Refused calls: whether the model may be asked for them again, and which answer is accepted.
//!
//! Takes the refused calls of an answer and a second answer; returns their replacements, or why that answer is not
//! accepted. Never accepts an answer with other tools, with more or fewer calls, with text only, or with a call that
//! is refused again.

use std::time::SystemTime;

use callwright::call::{Call, Completeness};
use callwright::event::Event;
use callwright::failure::{Cause, Failure};
use callwright::feedback::Feedback;
use callwright::json::Value;
use callwright::tool::Tool;
use callwright::wire::AnswerReader;
use callwright::{Gate, Refused, ToolSpec};

use crate::api::Api;
use crate::guard::NewCall;

/// A call that was refused.
#[derive(Debug, Clone)]
pub(crate) struct RefusedCall {
    /// Its number in the answer.
    pub(crate) number: usize,
    /// The feedback for the model.
    pub(crate) instruction: String,
    /// The tools that an accepted call may use; empty if the model is not asked again.
    tools: Vec<String>,
    sent_tool: String,
    sent: Option<Value<'static>>,
    id: Option<Value<'static>>,
}

impl RefusedCall {
    /// `writes` says whether calls that change something may be asked for.
    pub(crate) fn new(
        number: usize,
        gate: &Gate,
        call: &Call<'_>,
        refused: &Refused<'_>,
        writes: bool,
    ) -> Self {
        let may_ask = |tool: &ToolSpec| may_ask_for(tool, writes);
        let names: Vec<&str> = match &refused.failure.cause {
            Cause::UnknownTool { nearest, .. } => nearest.iter().map(String::as_str).collect(),
            _ if may_be_corrected(&refused.failure) => {
                refused.tool().map(Tool::name).into_iter().collect()
            }
            _ => Vec::new(),
        };
        let is_allowed = |name: &&str| gate.tool(name).is_some_and(|tool| may_ask(tool.spec()));
        RefusedCall {
            number,
            instruction: Feedback::default().render_with(&refused.failure, refused.notice.as_ref()),
            tools: names
                .into_iter()
                .filter(is_allowed)
                .map(str::to_owned)
                .collect(),
            sent_tool: call.tool.to_string(),
            sent: call.arguments.value(),
            id: call.id.clone().map(Value::into_owned),
        }
    }
}

/// Whether all of these calls may be asked for again. One that may not would come back with the others.
pub(crate) fn may_all_be_asked_for(refused: &[RefusedCall]) -> bool {
    !refused.is_empty() && refused.iter().all(|call| !call.tools.is_empty())
}

/// Whether calls of a tool may be asked for; `writes` says whether this includes tools that change something.
pub(crate) fn may_ask_for(tool: &ToolSpec, writes: bool) -> bool {
    !tool.may_destroy() && !tool.spends() && (writes || tool.only_reads())
}

/// Whether other arguments would help. A truncated call must be shorter, and a loop must end.
fn may_be_corrected(failure: &Failure) -> bool {
    matches!(
        failure.cause,
        Cause::Arguments(_)
            | Cause::Syntax { .. }
            | Cause::Blank
            | Cause::SeveralValues { .. }
            | Cause::TwoReadings { .. }
    )
}

/// The replacements of the refused calls in an answer, or why it is not accepted.
pub(crate) fn accept(
    api: Api,
    gate: &Gate,
    refused: &[RefusedCall],
    answer: &str,
) -> Result<Vec<(NewCall, Event)>, &'static str> {
    let mut reader = AnswerReader::new(api.provider());
    reader.read(answer).map_err(|_| "answer_shape")?;
    reader.end();
    let calls = &reader.answer().calls;
    if calls.is_empty() {
        return Err("no_call");
    }
    let is_cut = |completeness| {
        matches!(
            completeness,
            Some(Completeness::CutOff | Completeness::Doubtful)
        )
    };
    if reader
        .answer()
        .choices
        .iter()
        .any(|choice| is_cut(choice.completeness))
    {
        return Err("cut_off");
    }
    if calls.len() != refused.len() || calls.iter().any(|call| call.is_foreign || call.is_disputed)
    {
        return Err("other_calls");
    }
    let mut left: Vec<Call<'_>> = (0..calls.len()).filter_map(|at| reader.call(at)).collect();
    let mut new_calls = Vec::new();
    for refused in refused {
        let is_its = |call: &Call<'_>| {
            let verdict = gate.judge(call);
            let name = verdict.tool().map(Tool::name);
            name.is_some_and(|name| refused.tools.iter().any(|tool| tool == name))
        };
        let Some(at) = left.iter().position(is_its) else {
            let is_same = |call: &Call<'_>| call.tool == refused.sent_tool.as_str();
            return Err(if left.iter().any(is_same) {
                "refused_again"
            } else {
                "other_tool"
            });
        };
        let call = left.remove(at);
        if call.tool == refused.sent_tool.as_str()
            && refused.sent.is_some()
            && call.arguments.value() == refused.sent
        {
            return Err("same_again");
        }
        let verdict = gate.judge(&call);
        let new = NewCall::of(&verdict).filter(|_| verdict.is_lossless());
        let new = new.ok_or("refused_again")?;
        let mut event = Event::of(gate, &call, &verdict, SystemTime::now());
        event.id.clone_from(&refused.id);
        new_calls.push((new, event));
    }
    Ok(new_calls)
}
