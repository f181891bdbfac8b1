//! Determines which results are where their provider expects them.

use super::conversation::{CallInHistory, HistoryPart, MendedHistory, ResultInHistory, SpokenBy};
use crate::api::Api;

impl<'a> MendedHistory<'a> {
    /// Marks the results that are where the provider expects them.
    pub(super) fn find_places(&mut self) {
        let is_in_place: Vec<bool> = match self.api {
            Api::Chat => self.directly_after(),
            Api::Responses => self.before_the_user_speaks(),
            Api::Messages | Api::Gemini => self.first_in_the_next_message(),
        };
        for (result, is_in_place) in self.results.iter_mut().zip(is_in_place) {
            result.is_in_place = is_in_place;
        }
    }

    fn call_of(&self, result: &ResultInHistory<'_>) -> Option<&CallInHistory<'a>> {
        self.calls.get(result.call?)
    }

    /// Chat: only other results come between a call and its result.
    fn directly_after(&self) -> Vec<bool> {
        // The last message before each one that is not a result.
        let mut before = Vec::with_capacity(self.messages.len());
        let mut last = None;
        for (at, message) in self.messages.iter().enumerate() {
            before.push(last);
            if message.side != SpokenBy::Neutral {
                last = Some(at);
            }
        }
        let is_in_place = |result: &ResultInHistory<'_>| {
            let call = self.call_of(result);
            call.is_some_and(|call| {
                before.get(result.message).copied().flatten() == Some(call.message)
            })
        };
        self.results.iter().map(is_in_place).collect()
    }

    /// Responses: a result comes after its call, with no user message between them. A result without a call will
    /// become a user message.
    fn before_the_user_speaks(&self) -> Vec<bool> {
        let is_orphan = |part: &HistoryPart<'_>| {
            let result = part.result.and_then(|number| self.results.get(number));
            result.is_some_and(|result| result.call.is_none())
        };
        let mut spoken = 0;
        let spoken: Vec<usize> = self
            .messages
            .iter()
            .map(|message| {
                let speaks = message.side == SpokenBy::User || message.parts.iter().any(is_orphan);
                spoken += usize::from(speaks);
                spoken
            })
            .collect();
        let is_in_place = |result: &ResultInHistory<'_>| {
            self.call_of(result).is_some_and(|call| {
                call.message < result.message
                    && spoken.get(call.message) == spoken.get(result.message)
            })
        };
        self.results.iter().map(is_in_place).collect()
    }

    /// Anthropic, Gemini: the user messages after an answer begin with its results.
    fn first_in_the_next_message(&self) -> Vec<bool> {
        let mut is_in_place = vec![false; self.results.len()];
        // The answer whose results may come now.
        let mut round = None;
        for (at, message) in self.messages.iter().enumerate() {
            if message.side != SpokenBy::User {
                round = (message.side == SpokenBy::Model).then_some(at);
                continue;
            }
            // A string instead of parts.
            if message.list.is_none() {
                round = None;
            }
            for part in &message.parts {
                let Some(number) = part.result else {
                    round = None;
                    continue;
                };
                let call = self
                    .results
                    .get(number)
                    .and_then(|result| self.call_of(result));
                if let Some(place) = is_in_place.get_mut(number) {
                    *place = round.is_some() && call.map(|call| call.round) == round;
                }
            }
        }
        is_in_place
    }
}
