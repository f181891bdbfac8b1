//! A call in a recorded conversation: the call, where it stands, and what came of it.
//!
//! `session`, `turn`, `round`, `output` and `is_error` stand beside the call, whichever shape it has.

use std::borrow::Cow;

use xxhash_rust::xxh3::xxh3_64;

use super::line::read_json;
use super::{mcp, not_a_call, present, read_call};
use crate::call::Call;
use crate::error::Error;
use crate::json::Value;
use crate::words::{Moment, Output, Place, Ran, ToolFailure};

/// What may stand beside a call. Most lines have nothing of it.
const BESIDE: [&str; 5] = ["session", "turn", "round", "output", "is_error"];

/// One line of a recording.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Recorded<'a> {
    /// The call.
    pub call: Call<'a>,
    /// The conversation it belongs to, if any.
    pub session: Option<Cow<'a, str>>,
    /// When in that conversation.
    pub at: Moment,
    /// What the tool answered, if that was recorded.
    pub output: Option<Value<'a>>,
    /// Whether the answer is an error.
    pub is_error: bool,
}

impl Recorded<'_> {
    /// Where the call stands, if it belongs to a conversation.
    pub fn place(&self) -> Option<Place<'_>> {
        let session = self.session.as_deref()?;
        Some(Place {
            session,
            at: self.at,
        })
    }

    /// What came of the call, if that was recorded.
    pub fn ran(&self) -> Option<Ran<'_>> {
        let output = match &self.output {
            Some(output) => recorded_output(output),
            // That it failed is known, if not how.
            None if self.is_error => Output::from(""),
            None => return None,
        };
        Some(if self.is_error {
            Ran::failed(ToolFailure::said(output.into_owned()))
        } else {
            Ran::ok(output)
        })
    }
}

/// A recorded answer as the tool gave it: text, or a value, which may be an MCP result.
pub fn recorded_output<'r>(output: &'r Value<'_>) -> Output<'r> {
    match output {
        Value::String(text) => Output::from(text.as_ref()),
        value => mcp::output(value),
    }
}

/// The same of an answer that nobody else needs: nothing of it is copied.
pub fn into_recorded_output(output: Value<'_>) -> Output<'_> {
    match output {
        Value::String(text) => Output::Text(text),
        value if mcp::is_result(&value) => mcp::output(&value).into_owned(),
        value => Output::Value(value),
    }
}

/// Reads one line of JSON Lines: a call in any known shape, and where it stands.
///
/// # Errors
/// Fails if the line is not JSON or no call; the error says which and names the column.
pub fn read_recorded(line: &str) -> Result<Recorded<'_>, Error> {
    recorded(read_json(line)?)
}

/// The same of a line that somebody has read already.
///
/// # Errors
/// Fails if the value is no call; the error says why.
pub fn recorded(mut value: Value<'_>) -> Result<Recorded<'_>, Error> {
    let members = value.as_object().unwrap_or_default();
    if !members
        .iter()
        .any(|(key, _)| BESIDE.contains(&key.as_ref()))
    {
        return Ok(Recorded {
            call: read_call(value)?,
            session: None,
            at: Moment::default(),
            output: None,
            is_error: false,
        });
    }
    let session = match present(&mut value, "session") {
        None => None,
        Some(Value::String(text)) => Some(text),
        Some(Value::Number(number)) => Some(Cow::Owned(number.as_str().to_owned())),
        Some(other) => return Err(wrong("session", "a text or a number", &other)),
    };
    let at = Moment {
        turn: number(&mut value, "turn")?,
        round: number(&mut value, "round")?,
    };
    let output = value.take("output");
    let is_error = match present(&mut value, "is_error") {
        None => false,
        Some(Value::Bool(yes)) => yes,
        Some(other) => return Err(wrong("is_error", "true or false", &other)),
    };
    // An MCP result says so itself.
    let says_so =
        output.as_ref().and_then(|output| output.get("isError")) == Some(&Value::Bool(true));
    Ok(Recorded {
        call: read_call(value)?,
        session,
        at,
        output,
        is_error: is_error || says_so,
    })
}

/// A number, or a name for what has none.
fn number(value: &mut Value<'_>, key: &str) -> Result<Option<u64>, Error> {
    Ok(match present(value, key) {
        None => None,
        Some(Value::String(text)) => Some(name(&text)),
        Some(Value::Number(number)) => {
            // `1.0` is the same turn as `1`.
            let text = number.as_str();
            let whole = text
                .split_once('.')
                .filter(|(_, rest)| rest.bytes().all(|b| b == b'0'));
            let known = number.as_u64().or_else(|| whole?.0.parse().ok());
            Some(known.unwrap_or_else(|| name(text)))
        }
        Some(other) => return Err(wrong(key, "a number or a text", &other)),
    })
}

/// A text in place of a number: other than other texts, and neither before nor after them.
fn name(text: &str) -> u64 {
    xxh3_64(text.as_bytes()) | Moment::FIRST_NAME
}

fn wrong(key: &str, wanted: &str, found: &Value<'_>) -> Error {
    let found = found.kind().name();
    not_a_call(&format!("`{key}` must be {wanted}, found {found}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_and_its_value_are_the_same_recording() {
        let line = r#"{"tool":"a","arguments":{"b":1},"session":"s","turn":2,"output":{"isError":true},"time":3}"#;
        let value = crate::json::read_value(line).expect("JSON");
        let (one, other) = (read_recorded(line), recorded(value));
        let (one, other) = (one.expect("a call"), other.expect("a call"));
        assert_eq!(one.call, other.call);
        assert_eq!((one.session, one.at), (other.session, other.at));
        assert_eq!((one.output, one.is_error), (other.output, other.is_error));
        assert!(one.is_error);
    }
}
