//! A call in a recorded conversation: the call, its place in the conversation, and its outcome.
//!
//! `session`, `turn`, `round`, `output` and `is_error` are members next to the call, whatever shape the call has.

use std::borrow::Cow;

use xxhash_rust::xxh3::xxh3_64;

use super::line::read_json;
use super::members::sent_arguments;
use super::{mcp, not_a_call, read_call};
use crate::call::Call;
use crate::error::Error;
use crate::json::Value;
use crate::vocabulary::{Moment, Output, Place, Ran, ToolFailure};

/// How many members [`member`] knows.
const MEMBERS: usize = 8;

/// How many of them may be next to a call of any shape; the others belong to our own call lines.
const BESIDE: usize = 5;

fn member(key: &str) -> Option<usize> {
    Some(match key {
        "session" => 0,
        "turn" => 1,
        "round" => 2,
        "output" => 3,
        "is_error" => 4,
        "tool" => 5,
        "arguments" => 6,
        "id" => 7,
        _ => return None,
    })
}

/// Whether this is one of our own call lines and contains nothing else, as most are: one pass over the members is enough then.
fn is_own_line(value: &Value<'_>) -> bool {
    let mut seen = [false; MEMBERS];
    let once = |(key, _): &(Cow<'_, str>, Value<'_>)| {
        member(key).is_some_and(|at| !std::mem::replace(&mut seen[at], true))
    };
    matches!(value.get("tool"), Some(Value::String(_)))
        && value
            .as_object()
            .is_some_and(|members| members.iter().all(once))
}

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
    /// The tool's result, if it was recorded.
    pub output: Option<Value<'a>>,
    /// Whether the result is recorded as an error. An MCP result says so itself.
    pub is_error: bool,
}

impl<'a> From<Call<'a>> for Recorded<'a> {
    fn from(call: Call<'a>) -> Self {
        Recorded {
            call,
            session: None,
            at: Moment::default(),
            output: None,
            is_error: false,
        }
    }
}

impl Recorded<'_> {
    /// The place of the call, if it belongs to a conversation.
    pub fn place(&self) -> Option<Place<'_>> {
        let session = self.session.as_deref()?;
        Some(Place {
            session,
            at: self.at,
        })
    }

    /// The outcome of the call, if that was recorded.
    pub fn ran(&self) -> Option<Ran<'_>> {
        match &self.output {
            Some(output) => Some(recorded_outcome(Cow::Borrowed(output), self.is_error)),
            // It failed, but the error was not recorded.
            None => self.is_error.then(|| Ran::failed(ToolFailure::said(""))),
        }
    }
}

/// The outcome of a call from its recorded result: text, or a value, which may be an MCP result and then says itself whether the
/// tool failed. An owned result is not copied.
pub fn recorded_outcome<'r>(result: Cow<'r, Value<'r>>, is_error: bool) -> Ran<'r> {
    let is_error = is_error || result.get("isError") == Some(&Value::Bool(true));
    let output = match result {
        Cow::Borrowed(Value::String(text)) => Output::from(text.as_ref()),
        Cow::Borrowed(value) => mcp::output(value),
        Cow::Owned(Value::String(text)) => Output::Text(text),
        Cow::Owned(value) if mcp::is_result(&value) => mcp::output(&value).into_owned(),
        Cow::Owned(value) => Output::Value(value),
    };
    if is_error {
        Ran::failed(ToolFailure::said(output.into_owned()))
    } else {
        Ran::ok(output)
    }
}

/// Reads one line of JSON Lines: a call in any known shape, and what was recorded with it.
///
/// # Errors
/// Fails if the line is not JSON or not a call; the error says which, and names the column.
pub fn read_recorded(line: &str) -> Result<Recorded<'_>, Error> {
    recorded(read_json(line)?)
}

/// The same for a line that has already been parsed.
///
/// # Errors
/// Fails if the value is not a call; the error says why.
pub fn recorded(mut value: Value<'_>) -> Result<Recorded<'_>, Error> {
    let is_own = is_own_line(&value);
    let mut taken: [Option<Value<'_>>; MEMBERS] = Default::default();
    if let Value::Object(members) = &mut value {
        members.retain_mut(|(key, value)| {
            let slot = member(key).filter(|at| is_own || *at < BESIDE);
            match slot.map(|at| &mut taken[at]) {
                Some(slot @ None) => *slot = Some(std::mem::take(value)),
                _ => return true,
            }
            false
        });
    }
    let [session, turn, round, output, is_error, tool, arguments, id] = taken;
    let present = |member: Option<_>| member.filter(|member| *member != Value::Null);
    let session = match present(session) {
        None => None,
        Some(Value::String(text)) => Some(text),
        Some(Value::Number(number)) => Some(Cow::Owned(number.as_str().to_owned())),
        Some(other) => return Err(wrong("session", "a text or a number", &other)),
    };
    let at = Moment {
        turn: number(present(turn), "turn")?,
        round: number(present(round), "round")?,
    };
    let is_error = match present(is_error) {
        None => false,
        Some(Value::Bool(yes)) => yes,
        Some(other) => return Err(wrong("is_error", "true or false", &other)),
    };
    let call = match tool {
        Some(Value::String(tool)) => {
            let mut call = Call::new(tool, sent_arguments(present(arguments)));
            call.id = present(id);
            call
        }
        _ => read_call(value)?,
    };
    Ok(Recorded {
        call,
        session,
        at,
        output,
        is_error,
    })
}

/// A number, or a hash of a name.
fn number(value: Option<Value<'_>>, key: &str) -> Result<Option<u64>, Error> {
    Ok(match value {
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

/// A number for a text: it differs from that of other texts, but its order means nothing.
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
        assert!(one.ran().is_some_and(|ran| ran.result.is_err()));
        assert_eq!(one.call, other.call);
        assert_eq!((one.session, one.at), (other.session, other.at));
        assert_eq!((one.output, one.is_error), (other.output, other.is_error));
    }
}
