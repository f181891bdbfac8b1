//! What a model said, as opposed to what it called, and the notations in which it writes calls as text.

use std::borrow::Cow;

use super::call::Completeness;
use super::json::Value;

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

/// The ways in which models write calls as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Notation {
    /// `<tool_call>{"name": …, "arguments": …}</tool_call>`
    ToolCall,
    /// `<function=name><parameter=key>value</parameter></function>`, also inside `<tool_call>`
    Function,
    /// `<invoke name="…"><parameter name="key">value</parameter></invoke>`
    Invoke,
    /// `[TOOL_CALLS]name{…}`, `[TOOL_CALLS][{…}]`, `name[ARGS]{…}`
    Mistral,
    /// `<|channel|>commentary to=functions.name<|message|>{…}<|call|>`
    Harmony,
    /// `[name(key=value)]`
    Pythonic,
    /// `{"name": …, "arguments": …}`, alone or as a code block
    Json,
}

impl Notation {
    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            Notation::ToolCall => "tool_call",
            Notation::Function => "function",
            Notation::Invoke => "invoke",
            Notation::Mistral => "mistral",
            Notation::Harmony => "harmony",
            Notation::Pythonic => "pythonic",
            Notation::Json => "json",
        }
    }

    /// The notation of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        const ALL: [Notation; 7] = [
            Notation::ToolCall,
            Notation::Function,
            Notation::Invoke,
            Notation::Mistral,
            Notation::Harmony,
            Notation::Pythonic,
            Notation::Json,
        ];
        ALL.into_iter().find(|notation| notation.name() == name)
    }
}
