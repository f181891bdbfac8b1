//! A model's message: `{"text", "id"?, "finish_reason"?}`, an OpenAI chat message, an Anthropic text block
//! or message. For [`crate::Gate::rescue`].

use super::line::read_json;
use super::recorded::{Recorded, recorded};
use super::{declared_completeness, each_key_once, present};
use crate::error::{Error, ErrorKind};
use crate::json::Value;
use crate::rescue::Message;

/// What one line of a recording holds.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RecordedLine<'a> {
    /// A call in any known shape, and what is recorded beside it.
    Call(Recorded<'a>),
    /// Text in which calls may be written.
    Message(Message<'a>),
}

/// Reads one line of JSON Lines: a call or a message in any known shape.
///
/// # Errors
/// Fails if the line is not JSON, or neither of them; the error says why.
pub fn read_recorded_line(line: &str) -> Result<RecordedLine<'_>, Error> {
    let value = read_json(line)?;
    let has = |key: &str| value.get(key).is_some();
    let names_a_tool = ["tool", "name", "function", "method", "functionCall"]
        .into_iter()
        .any(has);
    // A message may name its author.
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
            "it has calls of its own; give each of them its own line",
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

/// The text of a list of blocks that holds one text and nothing else.
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
            "it has other blocks than one text; give texts and calls their own lines",
        )),
    }
}

fn not_a_message(why: &str) -> Error {
    ErrorKind::NotACall(format!(
        "not a message: {why}; a message is {{\"text\": …}} or {{\"role\": \"assistant\", \"content\": …}}"
    ))
    .into()
}
