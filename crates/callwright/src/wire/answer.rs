//! A model's answer: one line of a recording, or a provider's complete response body.
//!
//! A line is a call or a message: `{"text", "id"?, "finish_reason"?}`, an OpenAI chat message, an Anthropic text block or
//! message. [`crate::Gate::rescue`] takes the message.

use super::history::{HistoryEntry, HostedCall, is_call, parts, read_history, text_of};
use super::line::read_json;
use super::provider::{RawAnswer, shapes};
use super::recorded::{Recorded, recorded};
use super::{declared_completeness, each_key_once, present, read_call};
use crate::call::{Call, Completeness};
use crate::error::{Error, ErrorKind};
use crate::json::Value;
use crate::vocabulary::Message;

/// One line of a recording.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RecordedLine<'a> {
    /// A call in any known shape, and what was recorded with it.
    Call(Recorded<'a>),
    /// Text that may contain calls.
    Message(Message<'a>),
}

/// One complete answer of a model: its calls, its text, and whether it is complete.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct WholeAnswer<'a> {
    /// The calls in order, each with its completeness. Anything that looks like a call but cannot be read is an error.
    pub calls: Vec<Result<Call<'a>, Error>>,
    /// Calls that the provider ran itself.
    pub hosted: Vec<HostedCall<'a>>,
    /// The model's text, without its reasoning; it may contain calls, see [`crate::Gate::rescue`].
    pub message: Option<Message<'a>>,
    /// What the provider reports about the end of the answer.
    pub completeness: Completeness,
}

impl<'a> WholeAnswer<'a> {
    /// Adds a call or a text; pictures, reasoning and calls of the provider's own tools are skipped.
    pub(super) fn add(&mut self, part: Value<'a>) {
        if is_call(&part) {
            self.calls.push(read_call(part));
        } else if let Some(text) = text_of(&part) {
            let message = self.message.get_or_insert_with(|| Message::from_text(""));
            message.text.to_mut().push_str(text);
        }
    }

    /// Sets what the provider reports about the end. Only the last call can have been cut off.
    pub(super) fn end(&mut self, id: Option<&Value<'a>>, completeness: Completeness) {
        self.completeness = completeness;
        if let Some(message) = &mut self.message {
            message.completeness = completeness;
            message.id = id.cloned();
        }
        let last = self.calls.len().saturating_sub(1);
        for (at, call) in self.calls.iter_mut().enumerate() {
            if let Ok(call) = call
                && (at == last || completeness == Completeness::Complete)
            {
                call.completeness = call.completeness.max(completeness);
            }
        }
    }
}

/// Reads a provider's complete response body: a chat completion, a response, a message, or Gemini's candidates. There is one
/// answer per choice, and one choice unless the request asked for more.
///
/// ```
/// use callwright::feedback::Feedback;
/// use callwright::parse::read_value;
/// use callwright::wire::{Provider, read_whole_answer, render};
/// use callwright::{Gate, ToolSpec};
/// use serde_json::json;
///
/// # fn main() -> Result<(), callwright::Error> {
/// let gate = Gate::builder().tool(ToolSpec::new("save", json!({"required": ["text"]}))).build()?;
/// let body = r#"{"id": "msg_1", "type": "message", "role": "assistant", "content": [
///     {"type": "text", "text": "Saving."},
///     {"type": "tool_use", "id": "a", "name": "save", "input": {"text": "Once upon a"}}],
///     "stop_reason": "max_tokens"}"#;
/// for answer in read_whole_answer(read_value(body).expect("JSON"))? {
///     for call in answer.calls {
///         let call = call?;
///         let verdict = gate.judge(&call);
///         // Cut off by the token limit, so it must not run, although its JSON is whole.
///         assert_eq!(verdict.name(), "refused");
///         let result = render(Provider::Anthropic, &call, &verdict, &Feedback::default());
///         assert!(result.to_string().contains("cut off"));
///     }
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Fails if the value is not a response of a known provider, or if a key occurs twice.
pub fn read_whole_answer(mut body: Value<'_>) -> Result<Vec<WholeAnswer<'_>>, Error> {
    let not_one = || {
        let why = "not an answer: it is not a complete response of a known provider";
        Error::from(ErrorKind::NotACall(why.to_owned()))
    };
    take_whole_answers(&mut body)?.ok_or_else(not_one)
}

/// The answers in a response body; `None` if it does not come from a known provider.
fn take_whole_answers<'a>(body: &mut Value<'a>) -> Result<Option<Vec<WholeAnswer<'a>>>, Error> {
    each_key_once(body)?;
    let Some(answers) = shapes().find_map(|shape| shape.take_answers(body)) else {
        return Ok(None);
    };
    let id = present(body, "id");
    let answers = answers.into_iter();
    answers
        .map(|raw| whole_answer(raw, id.as_ref()))
        .collect::<Result<_, _>>()
        .map(Some)
}

fn whole_answer<'a>(raw: RawAnswer<'a>, id: Option<&Value<'a>>) -> Result<WholeAnswer<'a>, Error> {
    let mut answer = WholeAnswer::default();
    for mut message in raw.messages {
        each_key_once(&message)?;
        let hosted = shapes().find_map(|shape| shape.take_hosted_call(&mut message));
        answer.hosted.extend(hosted);
        for part in parts(message) {
            answer.add(part);
        }
    }
    answer.end(id, raw.completeness.unwrap_or_default());
    Ok(answer)
}

/// Reads one record of a recording and passes on each thing in it: a call in any known shape; the calls of a provider's
/// complete answer, or its text if it has none; the calls of a history; the same for each element of an array. `messages`
/// decides whether a message without calls is passed on too, as [`read_recorded_line`] does.
pub fn read_record<'a>(
    text: &'a str,
    messages: bool,
    each: &mut dyn FnMut(Result<RecordedLine<'a>, Error>),
) {
    match read_json(text) {
        Ok(Value::Array(elements)) if !elements.iter().any(|it| it.get("role").is_some()) => {
            for element in elements {
                read_element(element, messages, each);
            }
        }
        Ok(value) => read_element(value, messages, each),
        Err(error) => each(Err(error)),
    }
}

fn read_element<'a>(
    mut value: Value<'a>,
    messages: bool,
    each: &mut dyn FnMut(Result<RecordedLine<'a>, Error>),
) {
    // The usual line takes the short way.
    if value.get("tool").is_some() {
        return each(recorded(value).map(RecordedLine::Call));
    }
    let answers = match take_whole_answers(&mut value) {
        Ok(Some(answers)) => answers,
        Ok(None) if holds_calls(&value) => answers_of(value),
        Ok(None) if messages => return each(call_or_message(value)),
        Ok(None) => return each(recorded(value).map(RecordedLine::Call)),
        Err(error) => return each(Err(error)),
    };
    let no_call = |message: Option<Message<'a>>| {
        Ok(RecordedLine::Message(
            message.unwrap_or_else(|| Message::from_text("")),
        ))
    };
    // A blocked prompt has no answer at all.
    if answers.is_empty() {
        each(no_call(None));
    }
    for answer in answers {
        if answer.calls.is_empty() {
            each(no_call(answer.message));
        }
        for call in answer.calls {
            each(call.map(|call| RecordedLine::Call(call.into())));
        }
    }
}

/// Whether this is a history, or one of its messages, that contains calls.
fn holds_calls(value: &Value<'_>) -> bool {
    let is_history = value.as_array().is_some() || value.get("role").is_some();
    is_history && !answers_of(value.clone()).is_empty()
}

/// The answers with calls in a history or in one of its messages.
fn answers_of(history: Value<'_>) -> Vec<WholeAnswer<'_>> {
    let messages = match history {
        Value::Array(messages) => messages,
        message => vec![message],
    };
    let steps = read_history(Value::Array(messages)).into_iter();
    let answers = steps.filter_map(|step| match step {
        HistoryEntry::Answer(answer) if !answer.calls.is_empty() => Some(answer),
        _ => None,
    });
    answers.collect()
}

/// Reads one line of JSON Lines: a call or a message in any known shape.
///
/// # Errors
/// Fails if the line is not JSON, or neither a call nor a message; the error says why.
pub fn read_recorded_line(line: &str) -> Result<RecordedLine<'_>, Error> {
    call_or_message(read_json(line)?)
}

fn call_or_message(value: Value<'_>) -> Result<RecordedLine<'_>, Error> {
    let has = |key: &str| value.get(key).is_some();
    let names_a_tool = ["tool", "name", "function", "method", "functionCall"]
        .into_iter()
        .any(has);
    // A message may name its author, so a name alone does not make it a call.
    if has("role") || has("text") && !names_a_tool {
        read(value).map(RecordedLine::Message)
    } else {
        recorded(value).map(RecordedLine::Call)
    }
}

fn read(mut value: Value<'_>) -> Result<Message<'_>, Error> {
    each_key_once(&value)?;
    if let Some(role) = value.get("role")
        && role.as_str() != Some("assistant")
    {
        return Err(not_a_message("only an `assistant` writes calls"));
    }
    let completeness = declared_completeness(&value);
    let calls = present(&mut value, "tool_calls").or_else(|| present(&mut value, "function_call"));
    if !matches!(calls.as_ref().map(Value::as_array), None | Some(Some([]))) {
        return Err(not_a_message(
            "it already has calls; give each on its own line",
        ));
    }
    let id = present(&mut value, "id");
    let text = match (value.take("content"), value.take("text")) {
        (None | Some(Value::Null), Some(Value::String(text)))
        | (Some(Value::String(text)), None) => text,
        (Some(Value::Null), None) => "".into(),
        (Some(Value::Array(blocks)), None) => only_text(blocks)?,
        _ => return Err(not_a_message("it needs one text, as `text` or `content`")),
    };
    let mut message = Message::from_text(text);
    message.id = id;
    message.completeness = completeness.unwrap_or_default();
    Ok(message)
}

/// The text of a list of blocks that contains one text and nothing else.
fn only_text(mut blocks: Vec<Value<'_>>) -> Result<std::borrow::Cow<'_, str>, Error> {
    match (blocks.pop(), blocks.is_empty()) {
        (None, _) => Ok("".into()),
        (Some(mut block), true) if block.get("type").and_then(Value::as_str) == Some("text") => {
            match block.take("text") {
                Some(Value::String(text)) => Ok(text),
                _ => Err(not_a_message("its block has no text")),
            }
        }
        _ => Err(not_a_message(
            "it has blocks besides one text; give texts and calls on separate lines",
        )),
    }
}

fn not_a_message(why: &str) -> Error {
    ErrorKind::NotACall(format!(
        "not a message: {why}; a message is {{\"text\": …}} or {{\"role\": \"assistant\", \"content\": …}}"
    ))
    .into()
}
