//! What a model asked for, as it arrived.

use std::borrow::Cow;

use crate::json::Value;
use crate::rescue::Notation;

/// One tool call of a model, not yet read. [`crate::wire`] makes these out of provider shapes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call<'a> {
    /// The provider's id of this call, if it has one: a string, or a number in JSON-RPC.
    pub id: Option<Value<'a>>,
    /// The name of the tool as the model wrote it.
    pub tool: Cow<'a, str>,
    /// The arguments as the model sent them.
    pub arguments: Arguments<'a>,
    /// What the provider says about the end of the model's answer.
    pub completeness: Completeness,
    /// How the model wrote it, if it was taken out of a message.
    pub rescued: Option<Notation>,
}

/// Arguments as they arrived: providers send them as text or as a JSON value, or leave them out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arguments<'a> {
    /// There were none. They count as `{}` where the tool requires nothing.
    Absent,
    /// Text that should be a JSON object.
    Text(Cow<'a, str>),
    /// A JSON value that somebody has read already.
    Value(Value<'a>),
}

/// Whether the model came to the end of what it wanted to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Completeness {
    /// Nobody said; the structure of the text decides.
    #[default]
    Unknown,
    /// The provider says that the answer ended by itself. The structure is looked at all the same:
    /// providers are known to say this of calls that were cut.
    Complete,
    /// The provider says that the answer was cut (token limit, content filter). Such a call is never
    /// run, however whole it looks: somebody on the way may have closed its brackets.
    CutOff,
}

impl Completeness {
    /// Reads a finish or stop reason in the words of any provider.
    pub fn from_finish_reason(reason: &str) -> Self {
        const CUT: [&str; 15] = [
            "length",
            "max_tokens",
            "max_output_tokens",
            "max_completion_tokens",
            "model_length",
            "model_context_window_exceeded",
            "incomplete",
            "in_progress",
            "content_filter",
            "safety",
            "recitation",
            "blocklist",
            "prohibited_content",
            "spii",
            "refusal",
        ];
        const DONE: [&str; 6] = [
            "stop",
            "tool_calls",
            "tool_use",
            "end_turn",
            "function_call",
            "completed",
        ];
        let is = |word: &&str| word.eq_ignore_ascii_case(reason);
        if CUT.iter().any(is) {
            Completeness::CutOff
        } else if DONE.iter().any(is) {
            Completeness::Complete
        } else {
            Completeness::Unknown
        }
    }
}

impl<'a> Call<'a> {
    /// A call of `tool` whose arguments came as text.
    pub fn from_text(tool: impl Into<Cow<'a, str>>, arguments: impl Into<Cow<'a, str>>) -> Self {
        Call::new(tool, Arguments::Text(arguments.into()))
    }

    /// A call of `tool` whose arguments came as a JSON value.
    pub fn from_value(tool: impl Into<Cow<'a, str>>, arguments: impl Into<Value<'a>>) -> Self {
        Call::new(tool, Arguments::Value(arguments.into()))
    }

    /// A call of `tool` with these arguments.
    pub fn new(tool: impl Into<Cow<'a, str>>, arguments: Arguments<'a>) -> Self {
        Call {
            id: None,
            tool: tool.into(),
            arguments,
            completeness: Completeness::Unknown,
            rescued: None,
        }
    }

    /// The same call with the provider's id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Cow<'a, str>>) -> Self {
        self.id = Some(Value::String(id.into()));
        self
    }

    /// The same call with what the provider said about its end.
    #[must_use]
    pub fn with_completeness(mut self, completeness: Completeness) -> Self {
        self.completeness = completeness;
        self
    }
}
