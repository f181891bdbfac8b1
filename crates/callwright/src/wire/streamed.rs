//! An answer as it comes over the wire: the data of its events, or its whole body → calls, text and finish, and where in
//! the data each of them is written.
//!
//! A whole body is read as one event, so a streamed answer and a whole one come out the same. Each provider's file says
//! what its events mean ([`super::provider::ProviderShape::read_event`]). Defects of the envelope that clients trip over
//! are noted with what ought to be in their place. Nothing is judged or changed here, and reasoning is not read.

use std::borrow::Cow;
use std::ops::Range;

use super::provider::Provider;
use super::raw::{RawObject, UnreadableAnswer, span, text};
use crate::call::{Arguments, Call, Completeness};
use crate::json::Value;

/// How many calls and other parts an answer may have. Providers stop at 128 calls; the rest are texts between them.
const MOST_PARTS: usize = 1_024;

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
    parts: Vec<Part>,
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
}

/// A call of which everything or a part has come.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct StreamedCall {
    /// The choice it belongs to, as an index into [`StreamedAnswer::choices`].
    pub choice: usize,
    /// Its id, if the provider gives one.
    pub id: Option<String>,
    /// The name of its tool.
    pub tool: String,
    /// Its arguments as text, as far as they have come; `None` if there are none.
    pub arguments: Option<String>,
    /// Whether nothing of it can follow.
    pub has_ended: bool,
    /// Whether it is not for the client's tools to run, or has arguments that are not JSON.
    pub is_foreign: bool,
    /// Whether its arguments came in pieces.
    pub has_pieces: bool,
    /// Whether its arguments are those of its beginning, which count only if no pieces follow.
    has_only_initial: bool,
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

/// A part by which events refer to a call, or to a text: a block, an item, an entry of a list.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) choice: usize,
    /// How the provider numbers it.
    pub(super) index: Option<u64>,
    /// What the provider calls it.
    pub(super) name: Option<String>,
    pub(super) call: Option<usize>,
    pub(super) text: Option<usize>,
}

impl Part {
    pub(super) fn new(choice: usize, index: Option<u64>, name: Option<&str>) -> Self {
        Part {
            choice,
            index,
            name: name.map(str::to_owned),
            call: None,
            text: None,
        }
    }
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
    around: (&'static str, &'static str),
}

/// What a [`Site`] holds.
#[derive(Debug)]
#[non_exhaustive]
pub enum SiteRole {
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
    /// Where a choice has its calls, or would have them: a list that is absent, null or empty.
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
        let mut read = Call::new(call.tool.as_str(), arguments);
        read.id = call.id.as_deref().map(|id| Value::String(id.into()));
        let mut later = self.answer.calls.iter().skip(at + 1);
        read.completeness = if later.any(|later| later.choice == call.choice) {
            Completeness::Complete
        } else {
            let choice = self.answer.choices.get(call.choice);
            choice.and_then(|choice| choice.completeness).unwrap_or_default()
        };
        Some(read)
    }
}

/// An event while it is read: its data, what was found in it, and the answer that it adds to.
pub(super) struct EventData<'d, 's> {
    data: &'d str,
    sites: Vec<Site>,
    pub(super) answer: &'s mut StreamedAnswer,
}

impl<'d> EventData<'d, '_> {
    /// The choice with this number; a new one if there is none.
    pub(super) fn choice(&mut self, number: u64) -> Result<usize, UnreadableAnswer> {
        let choices = &mut self.answer.choices;
        if let Some(at) = choices.iter().position(|choice| choice.number == number) {
            return Ok(at);
        }
        choices.push(StreamedChoice {
            number,
            ..StreamedChoice::default()
        });
        within_bounds(choices.len() - 1)
    }

    /// A part that is not a call.
    pub(super) fn other_part(&mut self, part: Part) -> Result<(), UnreadableAnswer> {
        self.after_text(part.choice);
        self.add_part(part)
    }

    fn add_part(&mut self, part: Part) -> Result<(), UnreadableAnswer> {
        self.answer.parts.push(part);
        within_bounds(self.answer.parts.len()).map(|_| ())
    }

    /// A block or an item that holds text.
    pub(super) fn text_part(&mut self, part: Part) -> Result<usize, UnreadableAnswer> {
        let choice = part.choice;
        let start = self.answer.choices.get(choice).map_or(0, |choice| choice.text.len());
        let text = self.answer.texts.len();
        self.answer.texts.push(StreamedText {
            choice,
            span: start..start,
            number: self.answer.number_of_parts(),
        });
        self.add_part(Part {
            text: Some(text),
            ..part
        })?;
        Ok(text)
    }

    /// The text of a choice that this one is of all of them.
    pub(super) fn text_of_choice(&self, choice: usize, number: usize) -> Option<usize> {
        let texts = self.answer.texts.iter().enumerate();
        let mut own = texts.filter(|(_, text)| text.choice == choice);
        own.nth(number).map(|(at, _)| at)
    }

    /// Something that is not text follows the text of a choice, if it has any.
    pub(super) fn after_text(&mut self, choice: usize) {
        let has_part = self.answer.texts.iter().any(|text| text.choice == choice);
        if let Some(of) = self.answer.choices.get_mut(choice) {
            of.is_mixed |= has_part || !of.text.is_empty();
        }
    }

    /// The text of a choice is told in a way that cannot be relied on.
    pub(super) fn is_mixed(&mut self, choice: usize) {
        if let Some(of) = self.answer.choices.get_mut(choice) {
            of.is_mixed = true;
        }
    }

    /// Notes the id of the answer.
    pub(super) fn answer_id(&mut self, object: &RawObject<'d>, key: &str) {
        if self.answer.id.is_none() {
            self.answer.id = object.text(key).map(Cow::into_owned);
        }
    }

    /// The last part that is this one.
    pub(super) fn part(&self, is: impl Fn(&Part) -> bool) -> Option<&Part> {
        self.answer.parts.iter().rfind(|part| is(part))
    }

    /// How many parts came before the last one that is this.
    pub(super) fn number_of_part(&self, is: impl Fn(&Part) -> bool) -> Option<u64> {
        u64::try_from(self.answer.parts.iter().rposition(is)?).ok()
    }

    /// A call begins. Those of the same choice before it have ended.
    pub(super) fn begin(&mut self, part: Part) -> Result<usize, UnreadableAnswer> {
        let choice = part.choice;
        self.end_calls(choice);
        let call = self.answer.calls.len();
        self.add_part(Part {
            call: Some(call),
            ..part
        })?;
        self.answer.calls.push(StreamedCall {
            choice,
            ..StreamedCall::default()
        });
        Ok(call)
    }

    pub(super) fn tool(&self, call: usize) -> Option<&str> {
        let call = self.answer.calls.get(call)?;
        Some(&call.tool)
    }

    /// Notes the id of a call.
    pub(super) fn identify(&mut self, at: usize, id: String) {
        let mut parts = self.answer.parts.iter_mut();
        let part = parts.find(|part| part.call == Some(at) && part.name.is_none());
        if let Some(part) = part {
            part.name = Some(id.clone());
        }
        if let Some(call) = self.call(at) {
            call.id = Some(id);
        }
    }

    pub(super) fn call_with_id(&self, id: &str) -> Option<usize> {
        let has = |call: &StreamedCall| call.id.as_deref() == Some(id);
        self.answer.calls.iter().position(has)
    }

    /// The client's tools do not run it, or not as a call that can be judged.
    pub(super) fn is_foreign(&mut self, call: usize) {
        if let Some(call) = self.call(call) {
            call.is_foreign = true;
        }
    }

    /// How many calls of its choice came before a call.
    pub(super) fn number_in_choice(&self, at: usize) -> u64 {
        let calls = &self.answer.calls;
        let choice = calls.get(at).map(|call| call.choice);
        let before = calls.iter().take(at);
        before.map(|call| u64::from(Some(call.choice) == choice)).sum()
    }

    fn call(&mut self, at: usize) -> Option<&mut StreamedCall> {
        self.answer.calls.get_mut(at)
    }

    /// The calls of a choice have ended.
    pub(super) fn end_calls(&mut self, choice: usize) {
        let calls = self.answer.calls.iter_mut();
        for call in calls.filter(|call| call.choice == choice) {
            call.has_ended = true;
        }
    }

    pub(super) fn end_call(&mut self, call: usize) {
        if let Some(call) = self.call(call) {
            call.has_ended = true;
        }
    }

    /// Notes what the model said; returns where that begins in the text of the choice.
    pub(super) fn say(&mut self, choice: usize, written: &'d str) -> Option<usize> {
        let said = text(written)?;
        let of = self.answer.choices.get_mut(choice)?;
        let start = of.text.len();
        of.text.push_str(&said);
        let said = start..of.text.len();
        self.site(written, SiteRole::Text { choice, said });
        Some(start)
    }

    /// Notes what is new of the text in a block or an item.
    pub(super) fn say_in(&mut self, text: usize, written: &'d str) {
        let Some(choice) = self.answer.texts.get(text).map(|text| text.choice) else {
            return;
        };
        let start = self.say(choice, written);
        let end = self.answer.choices.get(choice).map_or(0, |choice| choice.text.len());
        if let Some(of) = self.answer.texts.get_mut(text) {
            let is_last = start.is_none_or(|start| of.span.end == start);
            of.span.end = end;
            if !is_last {
                self.is_mixed(choice);
            }
        }
    }

    /// Notes the whole text in a block or an item, of which all has come before, or nothing.
    pub(super) fn say_again(&mut self, at: usize, written: &'d str) {
        let Some(StreamedText { choice, span, .. }) = self.answer.texts.get(at) else {
            return;
        };
        let (choice, span) = (*choice, span.clone());
        if span.is_empty() {
            return self.say_in(at, written);
        }
        let known = self.answer.choices.get(choice).and_then(|choice| choice.text.get(span.clone()));
        if text(written).as_deref() == known {
            self.site(written, SiteRole::Text { choice, said: span });
        } else {
            self.is_mixed(choice);
        }
    }

    /// Notes that all of an event is about a block or an item that holds text.
    pub(super) fn is_of_text(&mut self, text: usize) {
        if let Some(StreamedText { choice, span, .. }) = self.answer.texts.get(text) {
            let role = SiteRole::TextPart {
                choice: *choice,
                start: span.start,
            };
            self.answer_site(0..self.data.len(), ("", ""), role);
        }
    }

    /// Notes the list of the parts of a choice: where each begins in its text, if it is nothing but text.
    pub(super) fn part_list(&mut self, choice: usize, list: &'d str, parts: Vec<(&'d str, Option<usize>)>) {
        let span = span(self.data, list);
        let place = |(part, start)| (self::span(self.data, part), start);
        let parts = parts.into_iter().map(place).collect();
        let inner = span.start + 1..span.end.saturating_sub(1).max(span.start + 1);
        self.answer_site(inner, ("", ""), SiteRole::PartList { choice, parts });
    }

    /// Notes where a message that has no calls would have them.
    pub(super) fn call_list(&mut self, choice: usize, message: &RawObject<'d>, key: &'static str, before: &'static str) {
        let role = SiteRole::CallList { choice };
        match message.written(key) {
            Some(written) => self.site(written, role),
            None => {
                let (span, comma) = message.room(self.data);
                self.answer_site(span, (before, comma), role);
            }
        }
    }

    /// Notes the number of the event that ends a stream.
    pub(super) fn event_number(&mut self, object: &RawObject<'d>, key: &str) {
        if let (Some(written), Some(number)) = (object.get(key), object.number(key)) {
            self.site(written, SiteRole::EventNumber(number));
        }
    }

    /// Notes the name of a call's tool, or a piece of it.
    pub(super) fn name(&mut self, at: usize, written: &'d str, extent: Extent) {
        let name = text(written).unwrap_or_default();
        if let Some(call) = self.call(at) {
            if extent != Extent::Piece {
                call.tool.clear();
            }
            call.tool.push_str(&name);
        }
        self.site(written, SiteRole::Name { call: at, extent });
    }

    /// Notes arguments. A provider that wants them as a text (`as_text`) may send the value all the same.
    pub(super) fn arguments(&mut self, at: usize, written: &'d str, extent: Extent, as_text: bool) {
        let sent = match text(written).filter(|_| as_text) {
            Some(text) => text,
            None => Cow::Borrowed(written),
        };
        if as_text && !written.starts_with('"') {
            let instead = Value::String(Cow::Borrowed(written)).to_string();
            let defect = EnvelopeDefect::ArgumentsEncoding;
            self.site(written, SiteRole::Defect { defect, instead });
        }
        let Some(call) = self.call(at) else { return };
        match &mut call.arguments {
            Some(all) if extent == Extent::Piece && !call.has_only_initial => all.push_str(&sent),
            Some(_) if extent == Extent::Piece && sent.is_empty() => {}
            all => {
                *all = Some(sent.into_owned());
                call.has_only_initial = extent == Extent::Initial;
            }
        }
        call.has_pieces |= extent == Extent::Piece;
        let role = SiteRole::Arguments {
            call: at,
            extent,
            as_text,
        };
        self.site(written, role);
    }

    /// Notes where the arguments of a call would be that has none, so that they can be put in.
    pub(super) fn no_arguments(&mut self, at: usize, object: &RawObject<'d>, key: &'static str, as_text: bool) {
        let (span, comma) = object.room(self.data);
        self.answer_site(span, (key, comma), SiteRole::Arguments {
            call: at,
            extent: Extent::Initial,
            as_text,
        });
    }

    /// Notes the end of a choice, and that `calls` would be the reason if calls are there.
    pub(super) fn finish(
        &mut self,
        choice: usize,
        written: &'d str,
        plain: &[&str],
        calls: Option<&'static str>,
    ) {
        let reason = text(written).unwrap_or_default();
        self.end_calls(choice);
        let has_calls = self.answer.calls.iter().any(|call| call.choice == choice);
        if let Some(of) = self.answer.choices.get_mut(choice) {
            of.completeness = Some(Completeness::from_finish_reason(&reason));
        }
        match calls {
            Some(calls) if has_calls && plain.contains(&reason.as_ref()) => {
                self.defect(written, EnvelopeDefect::FinishReason, calls.to_owned());
            }
            with_calls => self.site(written, SiteRole::Finish { choice, with_calls }),
        }
    }

    /// Notes the end of a choice whose reason is a state.
    pub(super) fn ended(&mut self, choice: usize, written: &'d str, is_cut: bool) {
        self.finish(choice, written, &[], None);
        if let Some(of) = self.answer.choices.get_mut(choice).filter(|_| is_cut) {
            of.completeness = Some(Completeness::CutOff);
        }
    }

    /// Notes a defect, and what ought to be in its place.
    pub(super) fn defect(&mut self, written: &'d str, defect: EnvelopeDefect, instead: String) {
        self.site(written, SiteRole::Defect { defect, instead });
    }

    /// A member that ought not to be there.
    pub(super) fn surplus(&mut self, object: &RawObject<'d>, key: &str, defect: EnvelopeDefect) {
        if let Some(span) = object.member_span(self.data, key) {
            let instead = String::new();
            self.answer_site(span, ("", ""), SiteRole::Defect { defect, instead });
        }
    }

    /// Compares the number of a call with the one that it ought to have.
    pub(super) fn numbered(&mut self, object: &RawObject<'d>, index: Option<u64>, number: u64) {
        if index == Some(number) {
            return;
        }
        let defect = EnvelopeDefect::CallIndex;
        let instead = number.to_string();
        match object.get("index") {
            Some(written) => self.defect(written, defect, instead),
            None => {
                let (span, comma) = object.room(self.data);
                let role = SiteRole::Defect { defect, instead };
                self.answer_site(span, ("\"index\":", comma), role);
            }
        }
    }

    fn site(&mut self, written: &'d str, role: SiteRole) {
        self.answer_site(span(self.data, written), ("", ""), role);
    }

    fn answer_site(&mut self, span: Range<usize>, around: (&'static str, &'static str), role: SiteRole) {
        self.sites.push(Site { span, role, around });
    }
}

fn within_bounds(at: usize) -> Result<usize, UnreadableAnswer> {
    if at < MOST_PARTS {
        Ok(at)
    } else {
        Err(UnreadableAnswer::TooManyParts)
    }
}
