//! Stage 0, only on request: calls that a model wrote into its message → [`Call`]s.
//!
//! Takes a [`Message`] and returns the calls in it with their arguments as they were written, or the
//! reason why there are none. The rule, which `surroundings` enforces:
//!
//! 1. A message is calls only if calls are all it holds, from its first character to its last: reasoning
//!    before them and a code block around the whole message aside, any text makes them a quotation.
//! 2. Where every tool that is called only reads, a few sentences may come before the calls, if the last
//!    one says that the model looks something up now.
//!
//! This stage takes a whole message or nothing of it, calls only tools that are offered under exactly the
//! written name, and never completes what is cut off. It repairs, converts and judges nothing: parameters
//! that are written as text stay text, and parse, validate and repair do the rest.

mod arguments;
mod beginning;
mod chance;
mod cursor;
mod envelope;
mod harmony;
mod mistral;
mod prose;
mod pythonic;
mod reason;
mod surroundings;
mod tags;

pub use beginning::{Beginning, CallWatch};
pub use reason::NoCall;

pub use crate::words::{Message, Notation};

use self::cursor::Cursor;
use self::surroundings::Surroundings;
use crate::call::{Call, Completeness};
use crate::json::Value;
use crate::tool::ToolSet;
use crate::words::ParseLimits;

/// The calls that a message turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rescued<'m> {
    /// The calls in the order in which they were written. The message's id with a number after it is
    /// theirs: `m7.1`, `m7.2`.
    pub calls: Vec<Call<'m>>,
    /// What came before the calls.
    pub rest: &'m str,
}

/// How many calls one message may hold. Models send a handful at once and providers stop at 128; more
/// are a runaway.
const MOST_CALLS: usize = 128;

/// Takes the calls out of a message.
pub(crate) fn rescue<'m>(
    tools: &ToolSet,
    limits: &ParseLimits,
    message: &'m Message<'_>,
) -> Result<Rescued<'m>, NoCall> {
    let text = message.text.as_ref();
    if text.len() > limits.max_bytes {
        return Err(NoCall::TooLong);
    }
    let around = Surroundings::of(text)?;
    let mut cursor = Cursor::new(&text[..around.end], around.calls, limits.max_depth);
    let mut calls = match around.notation {
        Notation::ToolCall => tags::read_tool_calls(&mut cursor)?,
        Notation::Function => tags::read_functions(&mut cursor)?,
        Notation::Invoke => tags::read_invokes(&mut cursor)?,
        Notation::Mistral => mistral::read(&mut cursor)?,
        Notation::Harmony => harmony::read(&mut cursor)?,
        Notation::Pythonic => pythonic::read(&mut cursor)?,
        Notation::Json => envelope::read_alone(&mut cursor)?,
    };
    if calls.is_empty() {
        return Err(NoCall::Unreadable);
    }
    if calls.len() > MOST_CALLS {
        return Err(NoCall::TooMany);
    }
    for call in &calls {
        let Some(tool) = tools.get(&call.tool) else {
            return Err(NoCall::NotOffered(call.tool.as_ref().to_owned()));
        };
        if (around.has_prose || cursor.has_prose) && !tool.spec().only_reads() {
            return Err(NoCall::TextBefore);
        }
    }
    // A message that ends in the middle was cut as a whole, as when the provider says so.
    let completeness = match message.completeness {
        _ if cursor.is_cut => Completeness::CutOff,
        doubt @ (Completeness::Doubtful | Completeness::CutOff) => doubt,
        // That the message ended by itself says nothing about a call that is written in it.
        Completeness::Complete | Completeness::Unknown => Completeness::Unknown,
    };
    for (at, call) in calls.iter_mut().enumerate() {
        call.rescued = Some(around.notation);
        call.id = message.id.as_ref().map(|id| numbered(id, at + 1));
        call.completeness = completeness;
    }
    // In a notation that carries text itself, that text comes first.
    let rest = if cursor.calls > around.calls {
        cursor.calls
    } else {
        around.rest
    };
    let rest = text[..rest].trim_ascii_end();
    Ok(Rescued { calls, rest })
}

/// Calls need ids that differ; the message has only one.
fn numbered(id: &Value<'_>, number: usize) -> Value<'static> {
    let id = match id {
        Value::String(id) => format!("{id}.{number}"),
        other => format!("{other}.{number}"),
    };
    Value::String(id.into())
}
