//! The text of one choice: whether it passes immediately, waits because it may be calls, or is calls.
//!
//! Takes the answer received so far; decides only that, and writes nothing. [`Gate::rescue`] says which text is
//! calls. All of them must be valid or repaired; otherwise all of it stays text. A choice that already has calls, or
//! anything else after its text, is left alone, and reasoning is never examined.

use std::ops::Range;

use callwright::Gate;
use callwright::json::Value;
use callwright::rescue::{Beginning, CallWatch, Message};
use callwright::wire::StreamedAnswer;
use serde_json::json;

use super::added_calls::{AddedCall, AddedCalls, AddedPlace};
use super::call_ids::{self, CallIds};
use super::call_scope::CallScope;
use crate::api::Api;
use crate::guard::{CallJudge, Decision, NewCall};

/// What happens to the text of a choice.
#[derive(Debug)]
pub(crate) enum TextFate {
    /// It may be calls from some position on, and has been examined up to another.
    Open {
        watch: CallWatch,
        from: usize,
        looked_at: usize,
    },
    /// It passes unchanged.
    AsItCame,
    /// It is calls, or calls are added after it.
    Calls(AddedCalls),
}

impl TextFate {
    /// Text of which nothing has arrived.
    pub(crate) fn open() -> Self {
        TextFate::Open {
            watch: CallWatch::default(),
            from: 0,
            looked_at: 0,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self, TextFate::Open { .. })
    }

    /// Whether a piece of the text has to wait.
    pub(crate) fn holds(&self, said: &Range<usize>) -> bool {
        matches!(self, TextFate::Open { from, .. } if said.end > *from)
    }

    /// Whether a block or an item that begins here has to wait, since it may be dropped.
    pub(crate) fn holds_part(&self, start: usize) -> bool {
        matches!(self, TextFate::Open { from, .. } if start >= *from)
    }

    /// Whether a block or an item that begins here is dropped entirely.
    pub(crate) fn takes_part(&self, start: usize) -> bool {
        matches!(self, TextFate::Calls(calls) if start >= calls.rest)
    }

    /// Examines what has arrived of a choice.
    pub(crate) fn follow(&mut self, gate: &Gate, answer: &StreamedAnswer, at: usize) {
        let TextFate::Open {
            watch,
            from,
            looked_at,
        } = self
        else {
            return;
        };
        let Some(choice) = answer.choices.get(at) else {
            return;
        };
        if choice.is_mixed || answer.calls.iter().any(|call| call.choice == at) {
            *self = TextFate::AsItCame;
        } else if choice.text.len() > *looked_at {
            *looked_at = choice.text.len();
            match gate.call_may_begin(watch, &choice.text) {
                Beginning::Never => *self = TextFate::AsItCame,
                Beginning::From(place) => *from = place,
            }
        }
    }
}

/// The calls that the complete text of a choice consists of.
pub(crate) fn rescued(
    gate: &Gate,
    answer: &StreamedAnswer,
    at: usize,
    (api, scope, ids): (Api, &CallScope, &CallIds),
    judge: &mut impl CallJudge,
) -> Option<AddedCalls> {
    let choice = answer.choices.get(at)?;
    if api.always_says_how_it_ended() && choice.completeness.is_none() {
        return None;
    }
    let mut message = Message::from_text(choice.text.as_str());
    message.completeness = choice.completeness.unwrap_or_default();
    let rescued = gate.rescue(&message).ok()?;
    let number = rescued.calls.len();
    if !rescued
        .calls
        .iter()
        .all(|call| scope.allows(&call.tool, number))
    {
        return None;
    }
    let rest = rescued.rest.len();
    let judged = rescued.calls.iter().map(|call| gate.judge(call));
    let sound: Vec<Option<NewCall>> = judged.map(|verdict| NewCall::of(&verdict)).collect();
    if sound.iter().any(Option::is_none) {
        // They stay text, but it is worth recording that they are wrong.
        for (call, _) in rescued
            .calls
            .iter()
            .zip(sound)
            .filter(|(_, sound)| sound.is_none())
        {
            let _ = judge.judge(gate, call, &mut |_| None);
        }
        return None;
    }
    let mut calls = Vec::new();
    for (number, (mut call, new)) in rescued
        .calls
        .into_iter()
        .zip(sound.into_iter().flatten())
        .enumerate()
    {
        let source = json!([answer.id, choice.number, number, new.tool, new.arguments]);
        let id = ids.free(at, call_ids::made(&source));
        call.id = Some(Value::String(id.as_str().into()));
        let new = match judge.judge(gate, &call, &mut |_| None) {
            Decision::Valid => new,
            Decision::Change(new) => new,
            Decision::Split(_) | Decision::Leave => return None,
        };
        calls.push(AddedCall { id, call: new });
    }
    let own = answer.texts.iter().filter(|text| text.choice == at);
    let first_gone = own
        .filter(|text| text.span.start >= rest)
        .map(|text| text.number)
        .min();
    Some(AddedCalls {
        rest,
        calls,
        first_number: match api {
            Api::Chat => 0,
            Api::Responses | Api::Messages | Api::Gemini => {
                first_gone.unwrap_or_else(|| answer.number_of_parts())
            }
        },
        place: AddedPlace::Nowhere,
    })
}
