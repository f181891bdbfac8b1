//! An answer as it arrives over the wire: the data of its events, or its whole body → calls, text and finish reason, and where
//! in the data each of them is written.
//!
//! A whole body is read as one event, so a streamed answer and a complete one give the same result. Each provider's file
//! interprets its events ([`super::provider::ProviderShape::read_event`]). Defects of the envelope that clients trip over are
//! recorded along with what should be in their place. Never judges or changes anything, and does not read reasoning.

use std::borrow::Cow;
use std::ops::Range;

use super::provider::Provider;
use super::raw::{RawObject, UnreadableAnswer};
use super::read_event::{EventData, Part};
use crate::call::{Arguments, Call, Completeness};
use crate::json::Value;
use crate::vocabulary::named;

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

/// The part of an answer that has arrived.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct StreamedAnswer {
    /// The provider's id of the answer.
    pub id: Option<String>,
    /// Its calls, in the order in which they started.
    pub calls: Vec<StreamedCall>,
    /// Its choices: one, unless the request asked for more.
    pub choices: Vec<StreamedChoice>,
    /// The blocks or items of its choices that contain text, where the provider has those.
    pub texts: Vec<StreamedText>,
    /// The parts of the answer to which later events refer.
    pub(super) parts: Vec<Part>,
    /// How many tokens the provider counts for the text and the calls.
    pub(super) tokens: Option<u64>,
    /// Whether some tokens belong to content that is not read here.
    pub(super) has_reasoning: bool,
}

/// A block or an item that contains text.
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
    /// How many numbered parts have arrived.
    pub fn number_of_parts(&self) -> u64 {
        u64::try_from(self.parts.len()).unwrap_or(u64::MAX)
    }

    /// Whether the provider counts many more tokens than have arrived as text and calls: something was lost on the way, usually
    /// to a parser that took a marker in a sentence for the start of a call.
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

/// With fewer tokens, template markers and blanks could account for the difference. A token has three or four bytes, and at
/// least one.
const MANY_TOKENS: u64 = 64;

/// A call that has arrived in full or in part.
#[derive(Debug, Default)]
#[non_exhaustive]
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent facts about one call"
)]
pub struct StreamedCall {
    /// The choice it belongs to, as an index into [`StreamedAnswer::choices`].
    pub choice: usize,
    /// Its id, if the provider gives one.
    pub id: Option<String>,
    /// The name of its tool, as the provider writes it.
    pub tool: String,
    /// The namespace of the name, if the provider has them. [`AnswerReader::call`] puts it before the name, with a dot.
    pub namespace: Option<String>,
    /// Its arguments as text, as far as they have arrived; `None` if there are none.
    pub arguments: Option<String>,
    /// Whether nothing more of it can follow.
    pub has_ended: bool,
    /// Whether it is not for the client's tools to run, or its arguments are not JSON.
    pub is_foreign: bool,
    /// Whether its arguments arrived in pieces.
    pub has_pieces: bool,
    /// Whether there is no room for a second call next to it.
    pub is_single: bool,
    /// Whether it was said in two versions, or went on after its end: readers differ in which call they run.
    pub is_disputed: bool,
    /// Whether its arguments are the initial ones, which count only if no pieces follow.
    pub(super) has_only_initial: bool,
    /// Whether the provider says of this call that it is incomplete.
    pub(super) is_cut: bool,
}

/// One of the choices in a response.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct StreamedChoice {
    /// The provider's number for it.
    pub number: u64,
    /// The model's text to the user, without its reasoning.
    pub text: String,
    /// What the provider reports about the end, the worst if it reports several; `None` until it does.
    pub completeness: Option<Completeness>,
    /// Whether nothing more of it can follow. A provider may report the reason earlier, and another one after it.
    pub has_ended: bool,
    /// Whether its text is not simply its last part: something else follows, or it arrived in two forms.
    pub is_mixed: bool,
}

/// One place in the data of an event.
#[derive(Debug)]
#[non_exhaustive]
pub struct Site {
    /// Where it is.
    pub span: Range<usize>,
    /// What is written there.
    pub role: SiteRole,
    /// What has to surround the text that is inserted there: nothing, unless a member is missing and would be added.
    pub(super) around: (&'static str, &'static str),
}

/// What a [`Site`] contains.
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
    /// Text of the model, as a JSON string.
    Text {
        /// The choice.
        choice: usize,
        /// Where it is in the text of the choice.
        said: Range<usize>,
    },
    /// Everything that an event says about a block or an item that contains text.
    TextPart {
        /// The choice.
        choice: usize,
        /// Where the block or item starts in the text of the choice.
        start: usize,
    },
    /// The parts of a choice, without the brackets around them.
    PartList {
        /// The choice.
        choice: usize,
        /// Where each part is, and where it starts in the text of the choice if it is only text.
        parts: Vec<(Range<usize>, Option<usize>)>,
    },
    /// Where a choice has room for further calls, after the existing ones: entries of a list.
    CallList {
        /// The choice.
        choice: usize,
    },
    /// Why a choice ended.
    Finish {
        /// The choice.
        choice: usize,
        /// What the reason would be if the choice had calls, as JSON; `None` if that makes no difference.
        with_calls: Option<&'static str>,
    },
    /// The number of the event that ends the stream.
    EventNumber(u64),
    /// A defect around a call that clients trip over.
    Defect {
        /// What kind of defect.
        defect: EnvelopeDefect,
        /// What should be there, as JSON.
        instead: String,
    },
}

/// How much of a call's arguments, or of its name, a place holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// One of several pieces that belong together.
    Piece,
    /// All of it. If pieces came before, it repeats them.
    Whole,
    /// All of it, unless pieces follow.
    Initial,
}

named! {
    /// Defects around a call; their names are those of edits.
    #[non_exhaustive]
    pub enum EnvelopeDefect {
        /// The number of a call or a block is missing, used again, or leaves a gap.
        CallIndex = "call_index",
        /// An id is repeated, or two calls have the same.
        CallId = "call_id",
        /// The name of a tool is repeated.
        CallName = "call_name",
        /// Arguments that should be in a text are not.
        ArgumentsEncoding = "arguments_encoding",
        /// The finish reason does not mention the calls that are there.
        FinishReason = "finish_reason",
    }
}

impl Site {
    /// The text to write at this place so that it holds this JSON.
    pub fn filled_with(&self, json: &str) -> String {
        let (before, after) = self.around;
        [before, json, after].concat()
    }
}

impl AnswerReader {
    /// A reader for answers of this provider. (MCP has no model answers; everything is unreadable there.)
    pub fn new(provider: Provider) -> Self {
        AnswerReader {
            provider,
            answer: StreamedAnswer::default(),
        }
    }

    /// The part that has arrived.
    pub fn answer(&self) -> &StreamedAnswer {
        &self.answer
    }

    /// Reads the data of one event, or a whole body.
    ///
    /// # Errors
    /// Fails if it is not what the provider sends. Earlier data is kept; anything that follows is unreliable.
    pub fn read(&mut self, data: &str) -> Result<Vec<Site>, UnreadableAnswer> {
        let StreamedAnswer {
            calls,
            texts,
            parts,
            ..
        } = &self.answer;
        let known = (calls.len(), texts.len(), parts.len());
        let read = self.read_event(data);
        if read.is_err() {
            self.answer.calls.truncate(known.0);
            self.answer.texts.truncate(known.1);
            self.answer.parts.truncate(known.2);
        }
        read
    }

    fn read_event(&mut self, data: &str) -> Result<Vec<Site>, UnreadableAnswer> {
        let shape = self.provider.shape();
        let mut event = EventData {
            data,
            sites: Vec::new(),
            answer: &mut self.answer,
        };
        let object = RawObject::read(data)?;
        shape.read_event(&object, &mut event)?;
        let sites = event.sites;
        // In all APIs, an error in place of an event ends the answer where it is.
        let error = object.get("error");
        if error.is_some_and(|error| error.starts_with('{')) || object.is_a("error") {
            self.break_off();
        }
        Ok(sites)
    }

    /// Marks the end of the data.
    pub fn end(&mut self) {
        for call in &mut self.answer.calls {
            call.has_ended = true;
        }
        for choice in &mut self.answer.choices {
            choice.has_ended = true;
        }
    }

    /// Marks that choices whose finish reason is known have ended, though more might follow.
    pub fn end_finished(&mut self) {
        let choices = &mut self.answer.choices;
        for choice in choices.iter_mut() {
            choice.has_ended |= choice.completeness.is_some();
        }
        for call in &mut self.answer.calls {
            call.has_ended |= choices
                .get(call.choice)
                .is_some_and(|choice| choice.has_ended);
        }
    }

    /// Marks that the answer broke off: anything unfinished was cut off.
    pub fn break_off(&mut self) {
        self.end();
        for choice in &mut self.answer.choices {
            choice.completeness.get_or_insert(Completeness::CutOff);
        }
    }

    /// A call, as far as it has arrived, with what is known about its end: a call that another one follows was complete.
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
        read.completeness = if call.is_cut {
            Completeness::CutOff
        } else if later.any(|later| later.choice == call.choice) {
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
