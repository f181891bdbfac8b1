//! The providers, and what each of them defines.
//!
//! For the gate, a provider is one file: a unit struct that implements [`ProviderShape`], one row in the table below, and
//! cases in the corpus. The typings of the bindings list its name (a test compares them), and replay has its own reader of its
//! logs: CONTRIBUTING.md has the whole list.

use std::borrow::Cow;

use serde_json::{Map, Value as Json};

use super::history::{CallResult, HostedCall};
use super::raw::{RawObject, UnreadableAnswer};
use super::read_event::EventData;
use super::{anthropic, gemini, mcp, openai_chat, openai_responses};
use crate::call::{Call, Completeness};
use crate::error::Error;
use crate::json::Value;
use crate::vocabulary::ToolSpec;

/// One row per provider: its documentation, its variant, its name, and the struct in its file.
macro_rules! providers {
    ($($(#[doc = $doc:literal])+ $provider:ident, $name:literal, $shape:path;)+) => {
        /// A provider whose shapes are known.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Provider {
            $($(#[doc = $doc])+ $provider,)+
        }

        impl Provider {
            /// All providers with their names.
            pub const ALL: [(&'static str, Provider); [$($name),+].len()] =
                [$(($name, Provider::$provider)),+];

            /// An outline of its JSON.
            pub fn summary(self) -> ProviderSummary {
                self.shape().vocabulary().summary
            }

            pub(super) fn shape(self) -> &'static dyn ProviderShape {
                match self {
                    $(Provider::$provider => &$shape,)+
                }
            }
        }
    };
}

// In the order in which a value is tried.
providers! {
    /// MCP: `tools/call` requests and `CallToolResult`s.
    Mcp, "mcp", mcp::Mcp;
    /// OpenAI chat completions: `tool_calls[]` and `tool` messages.
    OpenAiChat, "openai_chat", openai_chat::OpenAiChat;
    /// Anthropic messages: `tool_use` and `tool_result` blocks.
    Anthropic, "anthropic", anthropic::Anthropic;
    /// OpenAI responses: `function_call` and `function_call_output` items.
    OpenAiResponses, "openai_responses", openai_responses::OpenAiResponses;
    /// Gemini: `functionCall` and `functionResponse` parts.
    Gemini, "gemini", gemini::Gemini;
}

/// The vocabularies of all providers, in table order.
pub(super) fn vocabularies() -> impl Iterator<Item = &'static Vocabulary> {
    shapes().map(ProviderShape::vocabulary)
}

/// The shapes of all providers, in table order.
pub(super) fn shapes() -> impl Iterator<Item = &'static dyn ProviderShape> {
    Provider::ALL.iter().map(|(_, provider)| provider.shape())
}

/// What one provider's file defines: the form of its calls, answers, histories, results and tools. Never judges a call.
pub(super) trait ProviderShape: Sync {
    /// Its vocabulary: finish reasons, keys, and an outline of its JSON.
    fn vocabulary(&self) -> &'static Vocabulary;

    /// Whether a value is a call in this shape.
    fn is_call(&self, value: &Value<'_>) -> bool;

    /// Reads a call from a value for which [`Self::is_call`] holds and in which no key occurs twice.
    fn read_call<'a>(&self, value: Value<'a>) -> Result<Call<'a>, Error>;

    /// The answers in a complete response body, one per choice, and what the provider reports about their ends; `None` if this
    /// is not a response of this provider. Anything not taken stays in the body.
    fn take_answers<'a>(&self, _body: &mut Value<'a>) -> Option<Vec<RawAnswer<'a>>> {
        None
    }

    /// Reads one event of a streamed answer, or a complete response body.
    fn read_event<'d>(
        &self,
        _data: &RawObject<'d>,
        _event: &mut EventData<'d, '_>,
    ) -> Result<(), UnreadableAnswer> {
        Err(UnreadableAnswer::Shape)
    }

    /// The text of a text part, unless it is reasoning.
    fn text<'p>(&self, _part: &'p Value<'_>) -> Option<&'p str> {
        None
    }

    /// The result of a call, from a message or a part of one; `None` if it is something else.
    fn take_result<'a>(&self, _part: &mut Value<'a>) -> Option<CallResult<'a>> {
        None
    }

    /// A call that the provider ran itself; `None` if this is something else.
    fn take_hosted_call<'a>(&self, _item: &mut Value<'a>) -> Option<HostedCall<'a>> {
        None
    }

    /// Tools that the provider lists within a conversation; `None` if this is something else.
    fn take_listed_tools<'a>(&self, _item: &mut Value<'a>) -> Option<Vec<Value<'a>>> {
        None
    }

    /// A call that may run.
    fn render_call<'v>(&self, call: RunnableCall<'v>) -> Value<'v>;

    /// The result of a call.
    fn render_result<'v>(&self, call: &'v Call<'_>, text: String, is_error: bool) -> Value<'v>;

    /// A result with structured data next to its text, if the shape has a place for it.
    fn with_structure<'v>(&self, result: Value<'v>, _structure: Option<Value<'v>>) -> Value<'v> {
        result
    }

    /// Whether a result of this tool needs structured data unless it is an error.
    fn requires_structure(&self, _tool: &ToolSpec) -> bool {
        false
    }

    /// The results of one answer of the model, as the messages that follow it.
    fn round<'v>(&self, results: Vec<Value<'v>>) -> Vec<Value<'v>> {
        results
    }

    /// A tool as declared in a request. `declared` already has its name and its description.
    fn declare(&self, declared: Map<String, Json>, schema: Json, tool: &ToolSpec) -> Json;
}

/// A call that may run.
pub(super) struct RunnableCall<'v> {
    pub(super) id: Option<Value<'v>>,
    pub(super) tool: &'v str,
    /// The arguments that go to the tool.
    pub(super) arguments: &'v Value<'v>,
    /// Their original text, if it is passed on byte for byte.
    pub(super) sent: Option<&'v str>,
}

impl<'v> RunnableCall<'v> {
    /// The arguments, for a shape that carries them as text.
    pub(super) fn arguments_text(&self) -> Cow<'v, str> {
        let written = || Cow::Owned(self.arguments.to_string());
        self.sent.map_or_else(written, Cow::Borrowed)
    }
}

/// One answer of a response body: its messages or items, and what the provider reports about its end.
pub(super) struct RawAnswer<'a> {
    pub(super) messages: Vec<Value<'a>>,
    pub(super) completeness: Option<Completeness>,
}

/// An outline of a provider's JSON for help texts: the keys that identify its shapes, without their values.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ProviderSummary {
    /// The common name of the provider's API.
    pub title: &'static str,
    /// A declared tool.
    pub tool: &'static str,
    /// A call.
    pub call: &'static str,
    /// A message that may contain calls as text.
    pub message: Option<&'static str>,
    /// A complete answer, with its calls and its finish reason.
    pub answer: Option<&'static str>,
}

/// The keys and finish reasons of a provider.
pub(super) struct Vocabulary {
    /// An outline of its JSON, for people.
    pub(super) summary: ProviderSummary,
    /// The finish reasons of an answer that ended normally, in any case.
    pub(super) finished: &'static [&'static str],
    /// The finish reasons of an answer that was cut, or stopped by a filter, in any case.
    pub(super) cut_off: &'static [&'static str],
    /// The key of the history in a request.
    pub(super) history: Option<&'static str>,
    /// The keys of a message's parts: texts, calls and results.
    pub(super) parts: &'static [&'static str],
    /// The keys of lists of tools, besides the universal `tools`.
    pub(super) tool_lists: &'static [&'static str],
    /// The keys of a tool's input schema.
    pub(super) input_schema: &'static [&'static str],
    /// The keys of a tool's output schema.
    pub(super) output_schema: &'static [&'static str],
    /// The keys of declarations of tools that the provider runs itself, in lower case and without `_`.
    pub(super) hosted_tools: &'static [&'static str],
}

impl Vocabulary {
    /// An empty vocabulary, to be completed.
    pub(super) const fn of(summary: ProviderSummary) -> Self {
        Vocabulary {
            summary,
            finished: &[],
            cut_off: &[],
            history: None,
            parts: &[],
            tool_lists: &[],
            input_schema: &[],
            output_schema: &[],
            hosted_tools: &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    #[test]
    fn the_typings_of_the_bindings_list_every_provider() {
        let bindings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bindings");
        // A packed crate has no bindings.
        if !bindings.exists() {
            return;
        }
        for file in [
            "node/index.d.ts",
            "wasm/lib/callwright.d.ts",
            "python/python/callwright/_gate.py",
        ] {
            let typings = fs::read_to_string(bindings.join(file)).expect(file);
            let mut lines = typings.lines();
            let line = lines.find(|line| line.contains("Provider") && line.contains("mcp"));
            let line = line.expect(file).replace('"', "'");
            for (name, _) in Provider::ALL {
                assert!(line.contains(&format!("'{name}'")), "{file} lacks {name}");
            }
        }
    }
}
