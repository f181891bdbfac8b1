//! Why a message does not contain calls: for the operator, never for the model.

use std::fmt;

use crate::text::quoted;

/// Why nothing was extracted from a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoCall {
    /// It contains no marker of a call.
    NoMark,
    /// There is text before the call, so it may be quoted.
    TextBefore,
    /// There is text after the call, so it may be quoted.
    TextAfter,
    /// The call is in a code block among other text.
    InCode,
    /// A tool of this name is not offered.
    NotOffered(String),
    /// There are two ways to read it.
    Ambiguous,
    /// The call breaks the rules of its own notation.
    Unreadable,
    /// It ends before the tool is named.
    CutOff,
    /// It is longer than arguments may be.
    TooLong,
    /// It contains more calls than a model sends at once.
    TooMany,
}

impl NoCall {
    /// The stable name, and a sentence.
    fn words(&self) -> (&'static str, &'static str) {
        match self {
            NoCall::NoMark => ("no_mark", "it has no marker of a call"),
            NoCall::TextBefore => ("text_before", "there is text before the call"),
            NoCall::TextAfter => ("text_after", "there is text after the call"),
            NoCall::InCode => ("in_code", "the call is in a code block"),
            NoCall::NotOffered(_) => ("not_offered", "no such tool is offered"),
            NoCall::Ambiguous => ("ambiguous", "the call can be read in two ways"),
            NoCall::Unreadable => ("unreadable", "the call breaks the rules of its notation"),
            NoCall::CutOff => ("cut_off", "the call ends before it names a tool"),
            NoCall::TooLong => ("too_long", "it is longer than arguments may be"),
            NoCall::TooMany => (
                "too_many",
                "it contains more calls than a model sends at once",
            ),
        }
    }

    /// The stable name.
    pub fn name(&self) -> &'static str {
        self.words().0
    }
}

impl fmt::Display for NoCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoCall::NotOffered(name) => write!(f, "no tool named {} is offered", quoted(name, 40)),
            other => f.write_str(other.words().1),
        }
    }
}
