//! Writes the client's events: unchanged, with other calls in them, or new ones for added calls.

use bytes::Bytes;
use callwright::wire::{EnvelopeDefect, Site, SiteRole};
use callwright_http::sse::with_data;

use super::own_events;
use super::waiting::WaitingEvent;
use super::{AnswerGuard, CallJudge};
use crate::text_calls::call_writer;
use crate::text_calls::{AddedPlace, TextFate};

impl AnswerGuard {
    /// Sends the added calls of choices whose end was not announced, and announces the end of those whose calls are
    /// all valid.
    pub(super) fn add_missing_end(&mut self, judge: &mut impl CallJudge, out: &mut Vec<Bytes>) {
        let is_first = !std::mem::replace(&mut self.has_ended, true);
        if self.only_observes || self.unjudged.is_some() || !is_first {
            return;
        }
        for choice in 0..self.texts.len() {
            self.send_added(choice, None, out);
        }
        let answer = self.reader.answer();
        for (at, choice) in answer.choices.iter().enumerate() {
            let is_added = matches!(self.texts.get(at), Some(TextFate::Calls(_)));
            let calls = answer.calls.iter().zip(&self.fates);
            let mut own = calls.filter(|(call, _)| call.choice == at).peekable();
            let has_calls = is_added || own.peek().is_some();
            if choice.completeness.is_none()
                && has_calls
                && own.all(|(_, fate)| fate.is_sound())
                && let Some(event) =
                    own_events::missing_finish(self.api, self.sample.as_deref(), choice.number)
            {
                judge.mended(EnvelopeDefect::FinishReason);
                out.push(event);
            }
        }
    }

    /// Adds an event as the client gets it: after the added calls of a choice that it ends, and not at all if it only
    /// carries text that turned out to be calls.
    pub(super) fn write(
        &mut self,
        event: WaitingEvent,
        judge: &mut impl CallJudge,
        out: &mut Vec<Bytes>,
    ) {
        let mut ended = Vec::new();
        for site in &event.sites {
            if let SiteRole::Finish { choice, .. } = site.role
                && !ended.contains(&choice)
            {
                self.send_added(choice, Some(&event), out);
                ended.push(choice);
            }
        }
        let is_taken = |site: &Site| match site.role {
            SiteRole::TextPart { choice, start } => self
                .texts
                .get(choice)
                .is_some_and(|text| text.takes_part(start)),
            _ => false,
        };
        if event.sites.iter().any(is_taken) {
            return;
        }
        let changes = self.replacements(&event.sites, false, judge);
        if changes.is_empty() {
            return out.push(event.bytes);
        }
        let data = changes.in_text(&event.data);
        out.push(with_data(&event.bytes, Some(data.as_bytes())).into());
    }

    /// Sends the added calls of a choice, once, unless the event that ends it carries them itself.
    fn send_added(&mut self, choice: usize, end: Option<&WaitingEvent>, out: &mut Vec<Bytes>) {
        let Some(TextFate::Calls(calls)) = self.texts.get_mut(choice) else {
            return;
        };
        let before = std::mem::replace(&mut calls.place, AddedPlace::Before);
        if before != AddedPlace::Nowhere {
            return;
        }
        let sites = end.map_or(&[][..], |event| &event.sites);
        let is_room = |site: &Site| match site.role {
            SiteRole::PartList { choice: of, .. } => self.api.events_hold_parts() && of == choice,
            SiteRole::CallList { choice: of } => of == choice,
            _ => false,
        };
        if sites.iter().any(is_room) {
            calls.place = AddedPlace::ThisEvent;
            return;
        }
        let event_number = sites.iter().find_map(|site| match site.role {
            SiteRole::EventNumber(number) => Some(number),
            _ => None,
        });
        let number = self
            .reader
            .answer()
            .choices
            .get(choice)
            .map_or(0, |choice| choice.number);
        out.extend(call_writer::events(
            self.api,
            calls,
            number,
            self.sample.as_deref(),
            event_number,
        ));
    }
}
