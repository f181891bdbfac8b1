//! The state while one event is read: its data, what was found in it, and the answer that it adds to.
//!
//! Each provider's file reads its own events and records here what they contain. The records become the sites of the event, and
//! the calls, texts and choices of the answer.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::IgnoredAny;

use super::raw::{RawObject, UnreadableAnswer, text};
use super::streamed::{
    EnvelopeDefect, Extent, Site, SiteRole, StreamedAnswer, StreamedCall, StreamedChoice,
    StreamedText,
};
use crate::call::Completeness;
use crate::json::{Value, read_value};
use crate::vocabulary::replacements::span_in;

/// How many calls and other parts an answer may have. Providers stop at 128 calls; the rest are texts between them.
const MOST_PARTS: usize = 1_024;

/// A part by which events refer to a call or a text: a block, an item, an entry of a list.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) choice: usize,
    /// The provider's number for it.
    pub(super) index: Option<u64>,
    /// The provider's name for it.
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

/// The state while one event is read: its data, what was found in it, and the answer that it adds to.
pub(super) struct EventData<'d, 's> {
    pub(super) data: &'d str,
    pub(super) sites: Vec<Site>,
    pub(super) answer: &'s mut StreamedAnswer,
}

impl<'d> EventData<'d, '_> {
    /// The choice with this number, created if necessary.
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

    /// Adds a part that is not a call.
    pub(super) fn other_part(&mut self, part: Part) -> Result<(), UnreadableAnswer> {
        self.after_text(part.choice);
        self.add_part(part)
    }

    fn add_part(&mut self, part: Part) -> Result<(), UnreadableAnswer> {
        self.answer.parts.push(part);
        within_bounds(self.answer.parts.len()).map(|_| ())
    }

    /// A block or an item that contains text.
    pub(super) fn text_part(&mut self, part: Part) -> Result<usize, UnreadableAnswer> {
        let choice = part.choice;
        let start = self
            .answer
            .choices
            .get(choice)
            .map_or(0, |choice| choice.text.len());
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

    /// The n-th text of a choice.
    pub(super) fn text_of_choice(&self, choice: usize, number: usize) -> Option<usize> {
        let texts = self.answer.texts.iter().enumerate();
        let mut own = texts.filter(|(_, text)| text.choice == choice);
        own.nth(number).map(|(at, _)| at)
    }

    /// Records that something other than text follows the text of a choice, if there is any.
    pub(super) fn after_text(&mut self, choice: usize) {
        let has_part = self.answer.texts.iter().any(|text| text.choice == choice);
        if let Some(of) = self.answer.choices.get_mut(choice) {
            of.is_mixed |= has_part || !of.text.is_empty();
        }
    }

    /// Records that the text of a choice is mixed, see [`super::StreamedChoice::is_mixed`].
    pub(super) fn is_mixed(&mut self, choice: usize) {
        if let Some(of) = self.answer.choices.get_mut(choice) {
            of.is_mixed = true;
        }
    }

    /// Records the id of the answer.
    pub(super) fn answer_id(&mut self, object: &RawObject<'d>, key: &str) {
        if self.answer.id.is_none() {
            self.answer.id = object.text(key).map(Cow::into_owned);
        }
    }

    /// Records how many tokens the answer has, without those that are not read here.
    pub(super) fn tokens(
        &mut self,
        usage: &RawObject<'d>,
        all: &str,
        (details, apart): (&str, &[&str]),
    ) {
        let details = usage.object(details).ok().flatten();
        let apart =
            |details: RawObject<'d>| apart.iter().filter_map(|key| details.number(key)).sum();
        let apart: u64 = details.map_or(0, apart);
        self.answer.tokens = usage.number(all).map(|all| all.saturating_sub(apart));
    }

    /// Records that a message has reasoning.
    pub(super) fn reasoning(&mut self) {
        self.answer.has_reasoning = true;
    }

    /// The last part that matches.
    pub(super) fn part(&self, is: impl Fn(&Part) -> bool) -> Option<&Part> {
        self.answer.parts.iter().rfind(|part| is(part))
    }

    /// How many parts came before the last one that matches.
    pub(super) fn number_of_part(&self, is: impl Fn(&Part) -> bool) -> Option<u64> {
        u64::try_from(self.answer.parts.iter().rposition(is)?).ok()
    }

    /// Ends the last call of a choice, before another one starts, if its arguments are complete. If not, the pieces of both may
    /// come in turns. For providers that do not announce the end of a call.
    pub(super) fn end_if_complete(&mut self, choice: usize) {
        // Each call is asked about once: those before it stay open until the choice ends.
        let mut calls = self.answer.calls.iter_mut().rev();
        if let Some(previous) = calls.find(|call| call.choice == choice) {
            let is_complete = |text: &String| serde_json::from_str::<IgnoredAny>(text).is_ok();
            previous.has_ended |= previous.arguments.as_ref().is_some_and(is_complete);
        }
    }

    /// Starts a call.
    pub(super) fn begin(&mut self, part: Part) -> Result<usize, UnreadableAnswer> {
        let choice = part.choice;
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

    /// Records the id of a call, and where it is written.
    pub(super) fn identify(&mut self, at: usize, object: &RawObject<'d>, key: &str) {
        if let (Some(written), Some(id)) = (object.get(key), object.text(key)) {
            self.site(written, SiteRole::Id { call: at });
            self.identify_as(at, &id);
        }
    }

    /// Records an identifier of a call.
    pub(super) fn identify_as(&mut self, at: usize, id: &str) {
        let mut parts = self.answer.parts.iter_mut();
        let part = parts.find(|part| part.call == Some(at) && part.name.is_none());
        if let Some(part) = part {
            part.name = Some(id.to_owned());
        }
        if let Some(call) = self.call(at) {
            call.id = Some(id.to_owned());
        }
    }

    pub(super) fn call_with_id(&self, id: &str) -> Option<usize> {
        let has = |call: &StreamedCall| call.id.as_deref() == Some(id);
        self.answer.calls.iter().position(has)
    }

    /// Records the namespace of the call's tool.
    pub(super) fn namespace(&mut self, call: usize, namespace: String) {
        if let Some(call) = self.call(call) {
            call.namespace = Some(namespace);
        }
    }

    /// Records that there is no room for another call next to this one.
    pub(super) fn is_single(&mut self, call: usize) {
        if let Some(call) = self.call(call) {
            call.is_single = true;
        }
    }

    /// Records that the client's tools do not run this call, or that it cannot be judged.
    pub(super) fn is_foreign(&mut self, call: usize) {
        if let Some(call) = self.call(call) {
            call.is_foreign = true;
        }
    }

    /// How many calls of the same choice came before a call.
    pub(super) fn number_in_choice(&self, at: usize) -> u64 {
        let calls = &self.answer.calls;
        let choice = calls.get(at).map(|call| call.choice);
        let before = calls.iter().take(at);
        before
            .map(|call| u64::from(Some(call.choice) == choice))
            .sum()
    }

    fn call(&mut self, at: usize) -> Option<&mut StreamedCall> {
        self.answer.calls.get_mut(at)
    }

    /// Ends a choice, and its calls.
    pub(super) fn end_choice(&mut self, choice: usize) {
        if let Some(of) = self.answer.choices.get_mut(choice) {
            of.has_ended = true;
        }
        let calls = self.answer.calls.iter_mut();
        for call in calls.filter(|call| call.choice == choice) {
            call.has_ended = true;
        }
    }

    /// Records that the provider says of a call that it is incomplete.
    pub(super) fn is_cut(&mut self, call: usize) {
        if let Some(call) = self.call(call) {
            call.is_cut = true;
        }
    }

    pub(super) fn end_call(&mut self, call: usize) {
        if let Some(call) = self.call(call) {
            call.has_ended = true;
        }
    }

    /// Records text of the model; returns where it starts in the text of the choice.
    pub(super) fn say(&mut self, choice: usize, written: &'d str) -> Option<usize> {
        let said = text(written)?;
        let of = self.answer.choices.get_mut(choice)?;
        let start = of.text.len();
        of.text.push_str(&said);
        let said = start..of.text.len();
        self.site(written, SiteRole::Text { choice, said });
        Some(start)
    }

    /// Records new text in a block or an item.
    pub(super) fn say_in(&mut self, text: usize, written: &'d str) {
        let Some(choice) = self.answer.texts.get(text).map(|text| text.choice) else {
            return;
        };
        let start = self.say(choice, written);
        let end = self
            .answer
            .choices
            .get(choice)
            .map_or(0, |choice| choice.text.len());
        if let Some(of) = self.answer.texts.get_mut(text) {
            let is_last = start.is_none_or(|start| of.span.end == start);
            of.span.end = end;
            if !is_last {
                self.is_mixed(choice);
            }
        }
    }

    /// Records the whole text of a block or an item, which has arrived either completely or not at all.
    pub(super) fn say_again(&mut self, at: usize, written: &'d str) {
        let Some(StreamedText { choice, span, .. }) = self.answer.texts.get(at) else {
            return;
        };
        let (choice, span) = (*choice, span.clone());
        if span.is_empty() {
            return self.say_in(at, written);
        }
        let known = self
            .answer
            .choices
            .get(choice)
            .and_then(|choice| choice.text.get(span.clone()));
        if text(written).as_deref() == known {
            self.site(written, SiteRole::Text { choice, said: span });
        } else {
            self.is_mixed(choice);
        }
    }

    /// Records that a whole event belongs to a block or an item that contains text.
    pub(super) fn is_of_text(&mut self, text: usize) {
        if let Some(StreamedText { choice, span, .. }) = self.answer.texts.get(text) {
            let role = SiteRole::TextPart {
                choice: *choice,
                start: span.start,
            };
            self.answer_site(0..self.data.len(), ("", ""), role);
        }
    }

    /// Records the list of a choice's parts: where each starts in the text, if it is only text.
    pub(super) fn part_list(
        &mut self,
        choice: usize,
        list: &'d str,
        parts: Vec<(&'d str, Option<usize>)>,
    ) {
        let span = span_in(self.data, list);
        let place = |(part, start)| (span_in(self.data, part), start);
        let parts = parts.into_iter().map(place).collect();
        let inner = span.start + 1..span.end.saturating_sub(1).max(span.start + 1);
        self.answer_site(inner, ("", ""), SiteRole::PartList { choice, parts });
    }

    /// Records where further calls would go in a message: after the `last` one, or in a list that is absent, null or empty.
    pub(super) fn call_list(
        &mut self,
        choice: usize,
        message: &RawObject<'d>,
        (key, before): (&str, &'static str),
        last: Option<&'d str>,
    ) {
        let role = SiteRole::CallList { choice };
        if let Some(last) = last {
            let end = span_in(self.data, last).end;
            self.answer_site(end..end, (",", ""), role);
        } else if let Some(written) = message.written(key) {
            self.answer_site(span_in(self.data, written), ("[", "]"), role);
        } else {
            let (span, comma) = message.room(self.data);
            let after = if comma.is_empty() { "]" } else { "]," };
            self.answer_site(span, (before, after), role);
        }
    }

    /// Records the number of the event that ends a stream.
    pub(super) fn event_number(&mut self, object: &RawObject<'d>, key: &str) {
        if let (Some(written), Some(number)) = (object.get(key), object.number(key)) {
            self.site(written, SiteRole::EventNumber(number));
        }
    }

    /// Records the name of a call's tool, or a piece of it.
    pub(super) fn name(&mut self, at: usize, written: &'d str, extent: Extent) {
        let name = text(written).unwrap_or_default();
        if let Some(call) = self.call(at) {
            let is_other = match extent {
                Extent::Piece => call.has_ended && !name.is_empty(),
                Extent::Whole | Extent::Initial => !call.tool.is_empty() && call.tool != name,
            };
            call.is_disputed |= is_other;
            if extent != Extent::Piece {
                call.tool.clear();
            }
            call.tool.push_str(&name);
        }
        self.site(written, SiteRole::Name { call: at, extent });
    }

    /// Records arguments. A provider that wants them as text (`as_text`) may still send the value.
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
        call.is_disputed |= match (&call.arguments, extent) {
            (_, Extent::Piece) => call.has_ended && !sent.trim_ascii().is_empty(),
            (Some(known), Extent::Whole) if !call.has_only_initial => !is_same_json(known, &sent),
            _ => false,
        };
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

    /// Records where the arguments of a call without any would go, so that they can be inserted.
    pub(super) fn no_arguments(
        &mut self,
        at: usize,
        object: &RawObject<'d>,
        key: &'static str,
        as_text: bool,
    ) {
        let (span, comma) = object.room(self.data);
        self.answer_site(
            span,
            (key, comma),
            SiteRole::Arguments {
                call: at,
                extent: Extent::Initial,
                as_text,
            },
        );
    }

    /// Records why a choice ends, and that `calls` would be the reason if there were calls.
    pub(super) fn finish(
        &mut self,
        choice: usize,
        written: &'d str,
        plain: &[&str],
        calls: Option<&'static str>,
    ) {
        // Some servers write an empty reason into every event but the last.
        if written == "\"\"" {
            return;
        }
        let reason = text(written).unwrap_or_default();
        let has_calls = self.answer.calls.iter().any(|call| call.choice == choice);
        if let Some(of) = self.answer.choices.get_mut(choice) {
            let said = Some(Completeness::from_finish_reason(&reason));
            of.completeness = of.completeness.max(said);
        }
        let is_plain = has_calls && plain.contains(&reason.as_ref());
        let with_calls = calls.filter(|_| !is_plain);
        self.site(written, SiteRole::Finish { choice, with_calls });
        if let Some(calls) = calls.filter(|_| is_plain) {
            self.defect(written, EnvelopeDefect::FinishReason, calls.to_owned());
        }
    }

    /// Records the end of a choice whose reason is a status.
    pub(super) fn ended(&mut self, choice: usize, written: &'d str, is_cut: bool) {
        self.finish(choice, written, &[], None);
        self.end_choice(choice);
        if let Some(of) = self.answer.choices.get_mut(choice).filter(|_| is_cut) {
            of.completeness = Some(Completeness::CutOff);
        }
    }

    /// Records a defect, and what should be in its place.
    pub(super) fn defect(&mut self, written: &'d str, defect: EnvelopeDefect, instead: String) {
        self.site(written, SiteRole::Defect { defect, instead });
    }

    /// Records a member that should not be there.
    pub(super) fn surplus(&mut self, object: &RawObject<'d>, key: &str, defect: EnvelopeDefect) {
        if let Some(span) = object.member_span(self.data, key) {
            let instead = String::new();
            self.answer_site(span, ("", ""), SiteRole::Defect { defect, instead });
        }
    }

    /// Compares the number of a call with the expected one.
    pub(super) fn numbered(&mut self, object: &RawObject<'d>, index: Option<u64>, number: u64) {
        if index == Some(number) {
            return;
        }
        let defect = EnvelopeDefect::CallIndex;
        let instead = number.to_string();
        if let Some(written) = object.get("index") {
            self.defect(written, defect, instead);
        } else {
            let (span, comma) = object.room(self.data);
            let role = SiteRole::Defect { defect, instead };
            self.answer_site(span, ("\"index\":", comma), role);
        }
    }

    fn site(&mut self, written: &'d str, role: SiteRole) {
        self.answer_site(span_in(self.data, written), ("", ""), role);
    }

    fn answer_site(
        &mut self,
        span: Range<usize>,
        around: (&'static str, &'static str),
        role: SiteRole,
    ) {
        self.sites.push(Site { span, role, around });
    }
}

/// Whether two texts are the same JSON, however it is written.
fn is_same_json(one: &str, other: &str) -> bool {
    let canonical = |text| read_value(text).ok().map(|value| value.canonical());
    one == other || canonical(one).is_some_and(|one| canonical(other) == Some(one))
}

fn within_bounds(at: usize) -> Result<usize, UnreadableAnswer> {
    if at < MOST_PARTS {
        Ok(at)
    } else {
        Err(UnreadableAnswer::TooManyParts)
    }
}
