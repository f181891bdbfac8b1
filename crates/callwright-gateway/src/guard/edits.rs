//! Computes the replacements in an event or a whole body that apply the decisions about its calls and its text.

use callwright::internal::{Replacement, Replacements};
use callwright::wire::{EnvelopeDefect, Extent, Site, SiteRole};

use super::fates::CallFate;
use super::{AnswerGuard, CallJudge};
use crate::api::Api;
use crate::text_calls::TextFate;
use crate::text_calls::call_writer;
use crate::text_calls::{AddedCalls, AddedPlace};

impl AnswerGuard {
    /// The replacements in an event, or in a whole body.
    pub(super) fn replacements(
        &mut self,
        sites: &[Site],
        is_whole: bool,
        judge: &mut impl CallJudge,
    ) -> Replacements {
        let mut changes: Replacements = sites
            .iter()
            .filter_map(|site| self.added_at(site, sites, is_whole))
            .collect();
        for site in sites {
            if let SiteRole::Id { call } = site.role
                && let Some((id, is_first)) = self.ids.write_instead(call)
            {
                if is_first {
                    judge.mended(EnvelopeDefect::CallId);
                }
                changes.add((site.span.clone(), quoted(id)));
            }
            if let Some(json) = self.instead(&site.role) {
                changes.add((site.span.clone(), site.filled_with(&json)));
            }
        }
        for site in sites {
            if let SiteRole::Defect { defect, instead } = &site.role
                && !changes.has(&site.span)
            {
                judge.mended(*defect);
                changes.add((site.span.clone(), site.filled_with(instead)));
            }
        }
        changes
    }

    /// The replacement at a site of rescued text, or next to it.
    fn added_at(&self, site: &Site, sites: &[Site], is_whole: bool) -> Option<Replacement> {
        let added = |choice: usize| match self.texts.get(choice) {
            Some(TextFate::Calls(calls)) => Some(calls),
            _ => None,
        };
        // Calls are added where the choice ends.
        let is_place = |choice: usize| {
            let is_end = |site: &Site| matches!(site.role, SiteRole::Finish { choice: of, .. } if of == choice);
            is_whole || sites.iter().any(is_end)
        };
        // Some lists repeat calls that came in events of their own; others are all that a client gets.
        let is_only_place = |choice: usize, calls: &AddedCalls| {
            is_place(choice) && (is_whole || calls.place == AddedPlace::ThisEvent)
        };
        let json = match &site.role {
            SiteRole::Text { choice, said } => {
                let AddedCalls { rest, .. } = added(*choice)?;
                let text = &self.reader.answer().choices.get(*choice)?.text;
                let left = text.get(said.start.min(*rest)..said.end.min(*rest))?;
                match self.api {
                    _ if said.end <= *rest => return None,
                    Api::Chat if left.is_empty() => "null".to_owned(),
                    Api::Chat | Api::Responses | Api::Messages | Api::Gemini => quoted(left),
                }
            }
            SiteRole::PartList { choice, parts } => {
                let calls = added(*choice)?;
                let is_here = if self.api.events_hold_parts() {
                    is_only_place(*choice, calls)
                } else {
                    is_place(*choice)
                };
                let entries = is_here.then(|| call_writer::entries(self.api, calls));
                let entries = entries.unwrap_or_default();
                return call_writer::replaced_parts(&site.span, parts, calls.rest, &entries);
            }
            SiteRole::CallList { choice } => {
                let calls = added(*choice).filter(|calls| is_only_place(*choice, calls))?;
                if is_whole {
                    call_writer::entries(self.api, calls)
                } else {
                    call_writer::delta_entries(calls)
                }
            }
            SiteRole::Finish { choice, with_calls } => {
                added(*choice)?;
                (*with_calls)?.to_owned()
            }
            SiteRole::EventNumber(number) => {
                call_writer::later_number(*number, added(0)?).to_string()
            }
            _ => return None,
        };
        Some((site.span.clone(), site.filled_with(&json)))
    }

    /// The replacement at a site of a changed call.
    fn instead(&mut self, role: &SiteRole) -> Option<String> {
        let (SiteRole::Name { call, extent } | SiteRole::Arguments { call, extent, .. }) = *role
        else {
            return None;
        };
        let has_pieces = self.reader.answer().calls.get(call)?.has_pieces;
        let Some(CallFate::Changed {
            new,
            has_name,
            has_arguments,
        }) = self.fates.get_mut(call)
        else {
            return None;
        };
        let (has_it, new, as_text) = match *role {
            SiteRole::Arguments { .. } if extent == Extent::Initial && has_pieces => return None,
            SiteRole::Arguments { as_text, .. } => (has_arguments, &new.arguments, as_text),
            _ if self.reader.answer().calls.get(call)?.tool == new.tool => return None,
            _ => (has_name, &new.tool, true),
        };
        // The first piece contains all of it, the others are emptied.
        let is_there = extent == Extent::Piece && std::mem::replace(has_it, true);
        let new = if is_there { "" } else { new };
        Some(if as_text { quoted(new) } else { new.to_owned() })
    }
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
