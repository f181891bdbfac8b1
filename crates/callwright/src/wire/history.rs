//! Histories: the conversation that a request carries → turns, answers and results, in order.
//!
//! Takes messages of OpenAI (chat and responses), Anthropic and Gemini, in any mixture; skips anything else.

use std::borrow::Cow;

use super::answer::WholeAnswer;
use super::finish::declared_completeness;
use super::members::{object, take_list};
use super::open_calls::OpenCalls;
use super::provider::{shapes, vocabularies};
use crate::call::Call;
use crate::error::Error;
use crate::json::Value;

/// One step of a conversation.
#[derive(Debug)]
#[non_exhaustive]
pub enum HistoryEntry<'a> {
    /// The user wrote something: a turn starts.
    User,
    /// The model answered: a round.
    Answer(WholeAnswer<'a>),
    /// A tool returned a result.
    Result(CallResult<'a>),
    /// The provider lists the tools of a server that it calls itself, each as the server declared it.
    Tools(Vec<Value<'a>>),
}

/// A call that the provider ran itself. It needs no result, and must not run again.
#[derive(Debug)]
#[non_exhaustive]
pub struct HostedCall<'a> {
    /// The call; an error if it cannot be read.
    pub call: Result<Call<'a>, Error>,
    /// Its result, if there is one.
    pub result: Option<CallResult<'a>>,
}

/// The result of a call, as found in a history.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallResult<'a> {
    /// The id of the call.
    pub id: Option<Value<'a>>,
    /// The name of the tool, if the provider gives it. Gemini gives calls an id only in some of its APIs.
    pub tool: Option<Cow<'a, str>>,
    /// What the tool returned: text, or a value, which may be an MCP result. [`super::recorded_outcome`] takes it.
    pub output: Value<'a>,
    /// Whether the provider marks it as an error. OpenAI has no such mark.
    pub is_error: bool,
}

/// Reads the conversation of a request (`messages`, `input`, `contents`), a list of messages, or what a response adds to the
/// conversation.
///
/// ```
/// use callwright::parse::read_value;
/// use callwright::wire::{HistoryEntry, read_history};
///
/// let request = read_value(r#"{"model": "m", "contents": [
///     {"role": "user", "parts": [{"text": "How warm is it?"}]},
///     {"role": "model", "parts": [{"functionCall": {"name": "get_weather", "args": {}}}]},
///     {"role": "user", "parts": [{"functionResponse": {"name": "get_weather", "response": {"error": "closed"}}}]}
/// ]}"#).unwrap();
/// let history = read_history(request);
/// assert!(matches!(&history[..], [HistoryEntry::User, HistoryEntry::Answer(answer), HistoryEntry::Result(result)]
///     if answer.calls.len() == 1 && result.is_error));
/// ```
pub fn read_history(mut request: Value<'_>) -> Vec<HistoryEntry<'_>> {
    let mut history = Vec::new();
    if let Some(answers) = shapes().find_map(|shape| shape.take_answers(&mut request)) {
        for raw in answers {
            let before = history.len();
            for message in raw.messages {
                read_message(message, &mut history);
            }
            if let (Some(completeness), Some(HistoryEntry::Answer(answer))) =
                (raw.completeness, history[before..].last_mut())
            {
                answer.end(None, completeness);
            }
        }
        return history;
    }
    let keys = || vocabularies().filter_map(|own| own.history);
    let messages = match request {
        Value::Array(messages) => messages,
        _ => match keys().find_map(|key| take_list(&mut request, key)) {
            Some(messages) => messages,
            // OpenAI responses accept a plain text as a user message.
            None if keys().any(|key| matches!(request.get(key), Some(Value::String(_)))) => {
                return vec![HistoryEntry::User];
            }
            None => Vec::new(),
        },
    };
    for message in messages {
        read_message(message, &mut history);
    }
    history
}

fn read_message<'a>(mut message: Value<'a>, history: &mut Vec<HistoryEntry<'a>>) {
    if let Some(result) = take_result(&mut message) {
        history.push(HistoryEntry::Result(result));
        return;
    }
    if let Some(tools) = shapes().find_map(|shape| shape.take_listed_tools(&mut message)) {
        history.push(HistoryEntry::Tools(tools));
        return;
    }
    let hosted = shapes().find_map(|shape| shape.take_hosted_call(&mut message));
    let is = |roles: &[&str]| {
        let role = message.get("role").and_then(Value::as_str);
        role.is_some_and(|role| roles.contains(&role))
    };
    let by_user = is(&["user"]);
    let by_model = is(&["assistant", "model"]);
    // The items of one response follow each other; other APIs have one message per answer.
    let continues = message.get("type").is_some();
    let completeness = declared_completeness(&message).filter(|_| by_model && !continues);
    let before = history.len();
    if by_model || hosted.is_some() {
        extend_answer(history, continues, |answer| answer.hosted.extend(hosted));
    }
    for mut part in parts(message) {
        if let Some(result) = take_result(&mut part) {
            history.push(HistoryEntry::Result(result));
        } else if by_model || is_call(&part) {
            let own = history.len() > before || continues;
            extend_answer(history, own, |answer| answer.add(part));
        }
    }
    if let (Some(completeness), Some(HistoryEntry::Answer(answer))) =
        (completeness, history.last_mut())
    {
        answer.end(None, completeness);
    }
    // Results arrive as user messages, and do not start a turn.
    if by_user && history.len() == before {
        history.push(HistoryEntry::User);
    }
}

/// Adds to the answer at the end of a history, or to a new one.
fn extend_answer<'a>(
    history: &mut Vec<HistoryEntry<'a>>,
    continues: bool,
    extend: impl FnOnce(&mut WholeAnswer<'a>),
) {
    let mut answer = match history.pop() {
        Some(HistoryEntry::Answer(answer)) if continues => answer,
        other => {
            history.extend(other);
            WholeAnswer::default()
        }
    };
    extend(&mut answer);
    history.push(HistoryEntry::Answer(answer));
}

/// The parts of a message: texts, calls, results; or the message itself, if it is a call.
pub(super) fn parts(mut message: Value<'_>) -> Vec<Value<'_>> {
    if is_call(&message) {
        return vec![message];
    }
    let mut parts = Vec::new();
    for key in vocabularies().flat_map(|own| own.parts) {
        match message.take(key) {
            Some(Value::Array(list)) => parts.extend(list),
            Some(text @ Value::String(_)) => parts.push(text),
            // OpenAI's predecessor of `tool_calls`.
            Some(function @ Value::Object(_)) if *key == "function_call" => {
                parts.push(object([("function", Some(function))]));
            }
            _ => {}
        }
    }
    parts
}

/// Whether a part of a message is a call. MCP requests are never parts of messages.
pub(super) fn is_call(part: &Value<'_>) -> bool {
    shapes().any(|shape| shape.vocabulary().history.is_some() && shape.is_call(part))
}

/// The text of a text part, unless it is reasoning.
pub(super) fn text_of<'p>(part: &'p Value<'_>) -> Option<&'p str> {
    part.as_str()
        .or_else(|| shapes().find_map(|shape| shape.text(part)))
}

fn take_result<'a>(part: &mut Value<'a>) -> Option<CallResult<'a>> {
    shapes().find_map(|shape| shape.take_result(part))
}

/// A tool's output from a message's content: its text if it is one; blocks become an MCP result.
pub(super) fn content_output(content: Option<Value<'_>>) -> Value<'_> {
    match content {
        None => Value::String("".into()),
        Some(Value::Array(blocks)) => match <[Value<'_>; 1]>::try_from(blocks) {
            Ok([mut block]) if text_of(&block).is_some() && !matches!(block, Value::String(_)) => {
                block.take("text").unwrap_or_default()
            }
            Ok(block) => object([("content", Some(Value::Array(block.into())))]),
            Err(blocks) => object([("content", Some(Value::Array(blocks)))]),
        },
        Some(other) => other,
    }
}

/// The calls of a history that have no result, in order: the agent was stopped, or crashed halfway. Answer them (as cancelled,
/// for example) before the history goes to a provider again; all providers reject a call without a result.
///
/// ```
/// use callwright::parse::read_value;
/// use callwright::wire::unanswered;
///
/// let history = read_value(r#"[
///     {"role": "user", "content": "How warm is it?"},
///     {"role": "assistant", "tool_calls": [
///         {"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}},
///         {"id": "b", "type": "function", "function": {"name": "get_time", "arguments": "{}"}}]},
///     {"role": "tool", "tool_call_id": "a", "content": "11 °C"}
/// ]"#).unwrap();
/// let open = unanswered(&history);
/// assert_eq!(open.len(), 1);
/// assert_eq!(open[0].tool, "get_time");
/// ```
pub fn unanswered<'h>(history: &'h Value<'_>) -> Vec<Call<'h>> {
    let (mut calls, mut open) = (Vec::new(), OpenCalls::default());
    for entry in read_history(history.clone()) {
        match entry {
            HistoryEntry::User | HistoryEntry::Tools(_) => {}
            // A call that cannot be read cannot be answered either.
            HistoryEntry::Answer(answer) => {
                for call in answer.calls.into_iter().flatten() {
                    open.push(&call);
                    calls.push(Some(call));
                }
            }
            HistoryEntry::Result(result) => {
                if let Some(call) = open.take(&result).and_then(|at| calls.get_mut(at)) {
                    *call = None;
                }
            }
        }
    }
    calls.into_iter().flatten().collect()
}
