//! What a model said, as opposed to what it called, and the notations in which it writes calls as text.

use std::borrow::Cow;

use super::call::Completeness;
use super::json::Value;
use super::macros::named;

/// What a model said, as opposed to what it called.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message<'a> {
    /// The provider's id of the message, if it has one.
    pub id: Option<Value<'a>>,
    /// The text of the message.
    pub text: Cow<'a, str>,
    /// What the provider says about the end of the model's answer.
    pub completeness: Completeness,
}

impl<'a> Message<'a> {
    /// A message of which only the text is known.
    pub fn from_text(text: impl Into<Cow<'a, str>>) -> Self {
        Message {
            id: None,
            text: text.into(),
            completeness: Completeness::Unknown,
        }
    }
}

named! {
    /// The ways in which models write calls as text.
    #[non_exhaustive]
    pub enum Notation {
        /// `<tool_call>{"name": …, "arguments": …}</tool_call>`
        ToolCall = "tool_call",
        /// `<function=name><parameter=key>value</parameter></function>`, also inside `<tool_call>`
        Function = "function",
        /// `<invoke name="…"><parameter name="key">value</parameter></invoke>`
        Invoke = "invoke",
        /// `[TOOL_CALLS]name{…}`, `[TOOL_CALLS][{…}]`, `name[ARGS]{…}`
        Mistral = "mistral",
        /// `<|channel|>commentary to=functions.name<|message|>{…}<|call|>`
        Harmony = "harmony",
        /// `[name(key=value)]`
        Pythonic = "pythonic",
        /// `{"name": …, "arguments": …}`, alone or as a code block
        Json = "json",
    }
}
