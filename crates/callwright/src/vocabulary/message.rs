//! A model's text, as opposed to its calls, and the notations in which models write calls as text.

use std::borrow::Cow;

use super::call::Completeness;
use super::json::Value;
use super::macros::named;

/// A model's text, as opposed to its calls.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message<'a> {
    /// The provider's id of the message, if it has one.
    pub id: Option<Value<'a>>,
    /// The text of the message.
    pub text: Cow<'a, str>,
    /// What the provider reports about the end of the model's answer.
    pub completeness: Completeness,
}

impl<'a> Message<'a> {
    /// A message with only a text.
    pub fn from_text(text: impl Into<Cow<'a, str>>) -> Self {
        Message {
            id: None,
            text: text.into(),
            completeness: Completeness::Unknown,
        }
    }
}

named! {
    /// The notations in which models write calls as text.
    #[non_exhaustive]
    pub enum Notation {
        /// `<tool_call>{"name": …, "arguments": …}</tool_call>`
        ToolCall = "tool_call",
        /// `<function=name><parameter=key>value</parameter></function>`, also inside `<tool_call>`
        Function = "function",
        /// `<invoke name="…"><parameter name="key">value</parameter></invoke>`
        Invoke = "invoke",
        /// `<tool_call>name<arg_key>key</arg_key><arg_value>value</arg_value></tool_call>`
        Pairs = "pairs",
        /// `[TOOL_CALLS]name{…}`, `[TOOL_CALLS][{…}]`, `name[ARGS]{…}`
        Mistral = "mistral",
        /// `<|channel|>commentary to=functions.name<|message|>{…}<|call|>`
        Harmony = "harmony",
        /// `[name(key=value)]`, `name(key=value)`
        Pythonic = "pythonic",
        /// `call:name{key:<|"|>value<|"|>}`, usually between tags
        Gemma = "gemma",
        /// `{"name": …, "arguments": …}`, alone or as a code block
        Json = "json",
    }
}

/// What arguments in another notation than JSON show to be complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The call, from its start to its end.
    Call,
    /// The end of a call whose start is missing, and perhaps parameters with it.
    End,
    /// Each parameter; another may have followed.
    Parameters,
    /// Not even the last value: `3` may have been `30`.
    Nothing,
}
