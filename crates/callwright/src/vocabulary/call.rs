//! A model's tool call, as it arrived.

use std::borrow::Cow;

use crate::json::{Value, read_value};
use crate::vocabulary::Notation;

/// One tool call of a model, not yet parsed. [`crate::wire`] makes these from provider shapes.
///
/// ```
/// use callwright::Call;
/// use callwright::call::Completeness;
///
/// let call = Call::from_text("search", r#"{"query": "la"#)
///     .with_id("call_1")
///     .with_completeness(Completeness::from_finish_reason("length"));
/// assert_eq!(call.completeness, Completeness::CutOff);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call<'a> {
    /// The provider's id of this call, if it has one: a string, or a number in JSON-RPC.
    pub id: Option<Value<'a>>,
    /// The name of the tool as the model wrote it.
    pub tool: Cow<'a, str>,
    /// The arguments as the model sent them.
    pub arguments: Arguments<'a>,
    /// What the provider reports about the end of the model's answer.
    pub completeness: Completeness,
    /// How the model wrote it, if it was extracted from a message.
    pub rescued: Option<Notation>,
}

/// Arguments as they arrived: providers send them as text or as a JSON value, or leave them out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arguments<'a> {
    /// There were none. They count as `{}` if the tool requires nothing.
    Absent,
    /// Text that should be a JSON object.
    Text(Cow<'a, str>),
    /// A parsed JSON value.
    Value(Value<'a>),
}

/// Whether the model finished what it wanted to send, ordered by severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Completeness {
    /// No reason was given; the structure of the text decides.
    #[default]
    Unknown,
    /// The provider says that the answer ended normally. The structure is checked anyway: providers are known to say this of
    /// calls that were cut.
    Complete,
    /// The provider gave a reason that is not known to be normal (`error`, `MALFORMED_FUNCTION_CALL`). It counts as a cut,
    /// unless the tool is read-only.
    Doubtful,
    /// The provider says that the answer was cut (token limit, content filter). Such a call is never run, however complete it
    /// looks: a gateway on the way may have closed its brackets.
    CutOff,
}

/// How many calls one message may contain, or one call may be split into. Models send a handful at once and providers stop
/// at 128; more is a runaway.
pub(crate) const MOST_CALLS: usize = 128;

/// The id of one of several calls that were sent under a single id: `m7.2`.
pub(crate) fn numbered_id(id: &Value<'_>, number: usize) -> Value<'static> {
    let id = match id {
        Value::String(id) => format!("{id}.{number}"),
        other => format!("{other}.{number}"),
    };
    Value::String(id.into())
}

impl<'a> Call<'a> {
    /// A call of `tool` with arguments as text.
    pub fn from_text(tool: impl Into<Cow<'a, str>>, arguments: impl Into<Cow<'a, str>>) -> Self {
        Call::new(tool, Arguments::Text(arguments.into()))
    }

    /// A call of `tool` with arguments as a JSON value.
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

    /// The same call with what the provider reported about its end.
    #[must_use]
    pub fn with_completeness(mut self, completeness: Completeness) -> Self {
        self.completeness = completeness;
        self
    }

    /// The same call without borrowed data.
    pub fn into_owned(self) -> Call<'static> {
        Call {
            id: self.id.map(Value::into_owned),
            tool: Cow::Owned(self.tool.into_owned()),
            arguments: self.arguments.into_owned(),
            completeness: self.completeness,
            rescued: self.rescued,
        }
    }
}

impl Arguments<'_> {
    /// The value that was sent; `None` if there is none, or if the text is not JSON.
    pub fn value(&self) -> Option<Value<'static>> {
        match self {
            Arguments::Absent => None,
            Arguments::Text(text) => read_value(text).ok().map(Value::into_owned),
            Arguments::Value(value) => Some(value.clone().into_owned()),
        }
    }

    /// The same arguments without borrowed data.
    pub fn into_owned(self) -> Arguments<'static> {
        match self {
            Arguments::Absent => Arguments::Absent,
            Arguments::Text(text) => Arguments::Text(Cow::Owned(text.into_owned())),
            Arguments::Value(value) => Arguments::Value(value.into_owned()),
        }
    }
}

/// The limits on the size of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseLimits {
    /// The longest text of arguments that is parsed, in bytes.
    pub max_bytes: usize,
    /// How deeply containers may be nested.
    pub max_depth: usize,
}

impl Default for ParseLimits {
    fn default() -> Self {
        ParseLimits {
            // Models answer with at most a few hundred kilobytes; a tool that takes whole files through a call gets a few
            // megabytes. Anything beyond is a runaway.
            max_bytes: 8 * 1024 * 1024,
            // The deepest real calls have a dozen levels. Parsers such as `serde_json` stop at 127, and arguments are sent
            // inside lines and requests that add a few.
            max_depth: 100,
        }
    }
}

impl ParseLimits {
    /// The same limits with another depth. More than 120 is reduced to 120: common JSON parsers stop at 127, and what passes
    /// here must still be readable after us, inside a request.
    #[must_use]
    pub fn with_max_depth(mut self, max_depth: usize) -> Self {
        self.max_depth = max_depth.min(120);
        self
    }
}
