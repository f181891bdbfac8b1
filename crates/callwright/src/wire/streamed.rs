//! An answer as it comes over the wire: the data of its events, or its whole body → calls, text and finish, and where in
//! the data each of them is written.
//!
//! A whole body is read as one event, so a streamed answer and a whole one come out the same. Each provider's file says
//! what its events mean ([`super::provider::ProviderShape::read_event`]). Defects of the envelope that clients trip over
//! are noted with what ought to be in their place. Nothing is judged or changed here, and reasoning is not read.

use std::borrow::Cow;
use std::ops::Range;

use super::provider::Provider;
use super::raw::{RawObject, UnreadableAnswer};
use super::read_event::{EventData, Part};
use crate::call::{Arguments, Call, Completeness};
use crate::json::Value;

/// Reads an answer, event by event.
///
/// ```
/// use callwright::wire::{AnswerReader, Provider};
///
/// let mut reader = AnswerReader::new(Provider::Anthropic);
/// for data in [
///     r#"{"type": "content_block_start", "index": 0,
///         "content_block": {"type": "tool_use", "id": "a", "name": "get_weather", "input": {}}}"#,
///     r#"{"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"city\":"}}"#,
///     r#"{"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": " \"Paris\"}"}}"#,
///     r#"{"type": "content_block_stop", "index": 0}"#,
/// ] {
///     reader.read(data).unwrap();
/// }
/// let call = reader.call(0).unwrap();
/// assert_eq!(call.tool, "get_weather");
/// assert_eq!(call.arguments, callwright::call::Arguments::Text(r#"{"city": "Paris"}"#.into()));
/// ```
#[derive(Debug)]
pub struct AnswerReader {
    provider: Provider,
    answer: StreamedAnswer,
}

/// What has come of an answer so far.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct StreamedAnswer {
    /// The provider's id of the answer.
    pub id: Option<String>,
    /// Its calls, in the order in which they began.
    pub calls: Vec<StreamedCall>,
    /// Its choices; there is one unless the request asked for more.
    pub choices: Vec<StreamedChoice>,
    /// The blocks or items of its choices that hold what the model said, where the provider has such.
    pub texts: Vec<StreamedText>,
    /// The parts of the answer by which later events refer to what came before.
    pub(super) parts: Vec<Part>,
    /// How many tokens the provider counts that ought to be in the text and the calls.
    pub(super) tokens: Option<u64>,
    /// Whether tokens went into what is not read here.
    pub(super) has_reasoning: bool,
}

/// A block or an item that holds text.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct StreamedText {
    /// The choice it belongs to, as an index into [`StreamedAnswer::choices`].
    pub choice: usize,
    /// Where it is in the text of its choice.
    pub span: Range<usize>,
    /// How many parts of the answer came before it.
    pub number: u64,
}

impl StreamedAnswer {
    /// How many parts have come that the provider numbers.
    pub fn number_of_parts(&self) -> u64 {
        u64::try_from(self.parts.len()).unwrap_or(u64::MAX)
    }

    /// Whether the provider counts many more tokens than have come as text and calls: something was lost on the way, mostly
    /// to a parser that took a mark in a sentence for the beginning of a call.
    pub fn lacks_text(&self) -> bool {
        let of_calls = self.calls.iter().map(|call| {
            let arguments = call.arguments.as_ref().map_or(0, String::len);
            arguments + call.tool.len()
        });
        let of_texts = self.choices.iter().map(|choice| choice.text.len());
        let bytes: usize = of_calls.chain(of_texts).sum();
        let is_all_read = !self.has_reasoning && self.calls.iter().all(|call| !call.is_foreign);
        let is_lost = |tokens: u64| {
            tokens >= MANY_TOKENS && u64::try_from(bytes).is_ok_and(|bytes| bytes < tokens / 2)
        };
        is_all_read && self.tokens.is_some_and(is_lost)
    }
}

/// With fewer tokens, marks of templates and blanks could be all that is missing. A token has three or four bytes, and one at
/// the least.
const MANY_TOKENS: u64 = 64;

/// A call of which everything or a part has come.
#[derive(Debug, Default)]
#[non_exhaustive]
#[allow(
    clippy::struct_excessive_bools,
    reason = "five independent facts about one call"
)]
pub struct StreamedCall {
    /// The choice it belongs to, as an index into [`StreamedAnswer::choices`].
    pub choice: usize,
    /// Its id, if the provider gives one.
    pub id: Option<String>,
    /// The name of its tool, as the provider writes it.
    pub tool: String,
    /// The namespace that the name belongs to, if the provider has them. [`AnswerReader::call`] puts it before the name, with
    /// a dot.
    pub namespace: Option<String>,
    /// Its arguments as text, as far as they have come; `None` if there are none.
    pub arguments: Option<String>,
    /// Whether nothing of it can follow.
    pub has_ended: bool,
    /// Whether it is not for the client's tools to run, or has arguments that are not JSON.
    pub is_foreign: bool,
    /// Whether its arguments came in pieces.
    pub has_pieces: bool,
    /// Whether the place where it was made has no room for a second one.
    pub is_single: bool,
    /// Whether its arguments are those of its beginning, which count only if no pieces follow.
    pub(super) has_only_initial: bool,
}

/// One of the answers that a response holds.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct StreamedChoice {
    /// The number that the provider gives it.
    pub number: u64,
    /// What the model said to the user, without its reasoning.
    pub text: String,
    /// What the provider says about the end; `None` until it does.
    pub completeness: Option<Completeness>,
    /// Whether its text is not simply its last part: something else follows, or it is told in two ways.
    pub is_mixed: bool,
}

/// One place in the data of an event.
#[derive(Debug)]
#[non_exhaustive]
pub struct Site {
    /// Where it is.
    pub span: Range<usize>,
    /// What is there.
    pub role: SiteRole,
    /// What has to come before and after another text there: nothing, unless a member is missing and would be put in.
    pub(super) around: (&'static str, &'static str),
}

/// What a [`Site`] holds.
#[derive(Debug)]
#[non_exhaustive]
pub enum SiteRole {
    /// The id of a call, as a JSON string.
    Id {
        /// The call, as an index into [`StreamedAnswer::calls`].
        call: usize,
    },
    /// The name of a call's tool, or a part of it.
    Name {
        /// The call, as an index into [`StreamedAnswer::calls`].
        call: usize,
        /// How much of it.
        extent: Extent,
    },
    /// Arguments of a call, or a part of them.
    Arguments {
        /// The call.
        call: usize,
        /// How much of them.
        extent: Extent,
        /// Whether they are in a JSON string; otherwise they are the JSON.
        as_text: bool,
    },
    /// Something that the model said, as a JSON string.
    Text {
        /// The choice.
        choice: usize,
        /// Where it is in the text of the choice.
        said: Range<usize>,
    },
    /// All that an event says of a block or an item that holds text.
    TextPart {
        /// The choice.
        choice: usize,
        /// Where the block or item begins in the text of the choice.
        start: usize,
    },
    /// The parts of a choice, without the brackets around them.
    PartList {
        /// The choice.
        choice: usize,
        /// Where each part is, and where it begins in the text of the choice if it is nothing but text.
        parts: Vec<(Range<usize>, Option<usize>)>,
    },
    /// Where a choice has room for calls, after those that are there: entries of a list.
    CallList {
        /// The choice.
        choice: usize,
    },
    /// Why a choice ended.
    Finish {
        /// The choice.
        choice: usize,
        /// What it would be if the choice had calls, as JSON; `None` if that makes no difference.
        with_calls: Option<&'static str>,
    },
    /// The number of the event that ends the stream.
    EventNumber(u64),
    /// A defect around a call that clients trip over.
    Defect {
        /// What kind of defect.
        defect: EnvelopeDefect,
        /// What ought to be there, as JSON.
        instead: String,
    },
}

/// How much of a call's arguments, or of its name, a place holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// One of the pieces that are put together.
    Piece,
    /// All of them. Where pieces came before, it repeats them.
    Whole,
    /// All of them, unless pieces follow.
    Initial,
}

/// Defects around a call; their names are those of edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EnvelopeDefect {
    /// The number of a call or a block is missing, used again, or leaves a gap.
    CallIndex,
    /// An id is repeated, or two calls have the same.
    CallId,
    /// The name of a tool is repeated.
    CallName,
    /// Arguments that should be in a text are not.
    ArgumentsEncoding,
    /// The reason of the end says nothing of the calls that are there.
    FinishReason,
}

impl EnvelopeDefect {
    /// The name of the edit that mends it.
    pub fn name(self) -> &'static str {
        match self {
            EnvelopeDefect::CallIndex => "call_index",
            EnvelopeDefect::CallId => "call_id",
            EnvelopeDefect::CallName => "call_name",
            EnvelopeDefect::ArgumentsEncoding => "arguments_encoding",
            EnvelopeDefect::FinishReason => "finish_reason",
        }
    }
}

impl Site {
    /// The text that puts this JSON in its place.
    pub fn filled_with(&self, json: &str) -> String {
        let (before, after) = self.around;
        [before, json, after].concat()
    }
}

impl AnswerReader {
    /// For answers of this provider. (MCP has no model that answers; everything there is unreadable.)
    pub fn new(provider: Provider) -> Self {
        AnswerReader {
            provider,
            answer: StreamedAnswer::default(),
        }
    }

    /// What has come so far.
    pub fn answer(&self) -> &StreamedAnswer {
        &self.answer
    }

    /// Reads the data of one event, or a whole body.
    ///
    /// # Errors
    /// Fails if it is not what the provider sends. What came before is kept; what follows cannot be relied on.
    pub fn read(&mut self, data: &str) -> Result<Vec<Site>, UnreadableAnswer> {
        let shape = self.provider.shape();
        let mut event = EventData {
            data,
            sites: Vec::new(),
            answer: &mut self.answer,
        };
        let object = RawObject::read(data)?;
        shape.read_event(&object, &mut event)?;
        Ok(event.sites)
    }

    /// Says that nothing follows.
    pub fn end(&mut self) {
        for call in &mut self.answer.calls {
            call.has_ended = true;
        }
    }

    /// Says that the stream broke off: what had no end by then was cut off.
    pub fn break_off(&mut self) {
        self.end();
        for choice in &mut self.answer.choices {
            choice.completeness.get_or_insert(Completeness::CutOff);
        }
    }

    /// A call, as far as it has come, with what is known of its end: one that another one follows was complete.
    pub fn call(&self, at: usize) -> Option<Call<'_>> {
        let call = self.answer.calls.get(at)?;
        let arguments = match &call.arguments {
            Some(text) => Arguments::Text(Cow::Borrowed(text)),
            None => Arguments::Absent,
        };
        let mut read = match &call.namespace {
            Some(namespace) => Call::new(format!("{namespace}.{}", call.tool), arguments),
            None => Call::new(call.tool.as_str(), arguments),
        };
        read.id = call.id.as_deref().map(|id| Value::String(id.into()));
        let mut later = self.answer.calls.iter().skip(at + 1);
        read.completeness = if later.any(|later| later.choice == call.choice) {
            Completeness::Complete
        } else {
            let choice = self.answer.choices.get(call.choice);
            choice
                .and_then(|choice| choice.completeness)
                .unwrap_or_default()
        };
        Some(read)
    }
}
