//! Events held because they belong to an incomplete call, or to text that may be one.

use bytes::Bytes;
use callwright::wire::{Site, SiteRole};

use super::fates::CallFate;
use super::{AnswerGuard, CallJudge};
use crate::text_calls::TextFate;

/// An event that may have to wait.
#[derive(Debug)]
pub(super) struct WaitingEvent {
    pub(super) bytes: Bytes,
    /// Its data; the sites are ranges in it.
    pub(super) data: String,
    pub(super) sites: Vec<Site>,
}

impl AnswerGuard {
    /// Whether an event may overtake those that wait: it does not have to wait itself, and belongs to other choices.
    pub(super) fn may_overtake(&self, sites: &[Site]) -> bool {
        let own = self.choices(sites);
        let is_other = |waiting: &WaitingEvent| {
            let theirs = self.choices(&waiting.sites);
            !theirs.is_empty() && theirs.iter().all(|choice| !own.contains(choice))
        };
        !self.waits(sites)
            && (self.waiting.is_empty() || !own.is_empty() && self.waiting.iter().all(is_other))
    }

    /// Whether it belongs to an incomplete call, or to text that may be one.
    fn waits(&self, sites: &[Site]) -> bool {
        let is_open = |call| matches!(self.fates.get(call), None | Some(CallFate::Open));
        let text = |choice: usize| self.texts.get(choice);
        sites.iter().any(|site| match &site.role {
            SiteRole::Text { choice, said } => text(*choice).is_some_and(|text| text.holds(said)),
            SiteRole::TextPart { choice, start } => {
                text(*choice).is_some_and(|text| text.holds_part(*start))
            }
            _ => call_of(site).is_some_and(is_open),
        })
    }

    /// Whether an event with these sites needs any processing.
    pub(super) fn concerns(&self, sites: &[Site]) -> bool {
        let is_left = |choice: &usize| matches!(self.texts.get(*choice), Some(TextFate::AsItCame));
        sites.iter().any(|site| match &site.role {
            SiteRole::Text { choice, .. }
            | SiteRole::TextPart { choice, .. }
            | SiteRole::PartList { choice, .. }
            | SiteRole::CallList { choice }
            | SiteRole::Finish { choice, .. } => !is_left(choice),
            SiteRole::EventNumber(_) => false,
            _ => true,
        })
    }

    fn choices(&self, sites: &[Site]) -> Vec<usize> {
        let calls = &self.reader.answer().calls;
        let of = |site: &Site| match site.role {
            SiteRole::Text { choice, .. }
            | SiteRole::TextPart { choice, .. }
            | SiteRole::PartList { choice, .. }
            | SiteRole::Finish { choice, .. } => Some(choice),
            _ => calls.get(call_of(site)?).map(|call| call.choice),
        };
        sites.iter().filter_map(of).collect()
    }

    /// Releases the events at the front that no longer wait.
    pub(super) fn go_on(&mut self, judge: &mut impl CallJudge, out: &mut Vec<Bytes>) {
        while let Some(event) = self.waiting.pop_front() {
            if self.waits(&event.sites) {
                return self.waiting.push_front(event);
            }
            self.taken.push(event.bytes.clone());
            self.write(event, judge, out);
        }
    }
}

/// The call that a site belongs to.
fn call_of(site: &Site) -> Option<usize> {
    match site.role {
        SiteRole::Id { call } | SiteRole::Name { call, .. } | SiteRole::Arguments { call, .. } => {
            Some(call)
        }
        _ => None,
    }
}
