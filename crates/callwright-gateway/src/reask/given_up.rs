//! Gemini answers in which the model gave up on a call (`MALFORMED_FUNCTION_CALL`): nothing in them can be corrected,
//! so the same request is sent once more.
//!
//! Takes an answer; returns whether the model gave up without saying anything, and whether another answer may replace
//! it.

use callwright::call::Completeness;
use callwright::wire::{AnswerReader, StreamedAnswer};
use callwright::{Gate, ToolSpec};
use serde_json::Value;

use crate::api::Api;

/// Whether the data of an event, or a whole body, says that the model gave up.
pub(crate) fn is_given_up(api: Api, data: &str) -> bool {
    let may_give_up = match api {
        Api::Gemini => data.contains("MALFORMED_FUNCTION_CALL"),
        Api::Chat | Api::Responses | Api::Messages => false,
    };
    if !may_give_up {
        return false;
    }
    let read: Value = serde_json::from_str(data).unwrap_or_default();
    let reason = read.pointer("/candidates/0/finishReason");
    reason.and_then(Value::as_str) == Some("MALFORMED_FUNCTION_CALL")
}

/// Whether the answer says nothing that the client would lose or get twice.
pub(crate) fn says_nothing(answer: &StreamedAnswer) -> bool {
    let [choice] = answer.choices.as_slice() else {
        return answer.choices.is_empty();
    };
    answer.calls.is_empty() && choice.text.is_empty()
}

/// Whether an answer may replace one that gave up: it is complete, and all its calls are valid and may be asked for.
pub(crate) fn accept(
    gate: &Gate,
    may_ask: impl Fn(&ToolSpec) -> bool,
    answer: &str,
) -> Result<(), &'static str> {
    let mut reader = AnswerReader::new(Api::Gemini.provider());
    reader.read(answer).map_err(|_| "answer_shape")?;
    reader.end();
    if is_given_up(Api::Gemini, answer) {
        return Err("refused_again");
    }
    let read = reader.answer();
    let [choice] = read.choices.as_slice() else {
        return Err("answer_shape");
    };
    if choice.completeness != Some(Completeness::Complete) {
        return Err("cut_off");
    }
    if read.calls.is_empty() {
        return Err("no_call");
    }
    for (at, call) in read.calls.iter().enumerate() {
        let call = reader.call(at).filter(|_| !call.is_foreign);
        let call = call.ok_or("other_calls")?;
        let verdict = gate.judge(&call);
        if verdict.failure().is_some() {
            return Err("refused_again");
        }
        let tool = verdict.tool().ok_or("other_tool")?;
        if !verdict.is_lossless() || !may_ask(tool.spec()) {
            return Err("other_tool");
        }
    }
    Ok(())
}
