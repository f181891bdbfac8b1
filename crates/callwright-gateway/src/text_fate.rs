//! What a model says in one choice: text that goes on at once, text that waits because it may be calls, or calls.
//!
//! Takes the answer as far as it has come; decides nothing but that, and writes nothing. Which text is calls is for
//! [`Gate::rescue`] to say. All of its calls have to be valid or repaired; otherwise all of it stays text. A choice that has
//! calls already, or anything else after its text, is left alone, and reasoning is never looked at.

use std::ops::Range;

use callwright::call::Call;
use callwright::json::Value;
use callwright::rescue::{Beginning, CallWatch, Message};
use callwright::wire::{Provider, StreamedAnswer};
use callwright::{Gate, Verdict};
use xxhash_rust::xxh3::xxh3_128;

use crate::guard::{CallJudge, Decision, NewCall};
use crate::rescue_scope::RescueScope;

/// What becomes of the text of a choice.
#[derive(Debug)]
pub(crate) enum TextFate {
    /// It may be calls from a place on, of which so much has been looked at.
    Open {
        watch: CallWatch,
        from: usize,
        looked_at: usize,
    },
    /// It goes on as it came.
    AsItCame,
    /// It is calls.
    Calls(RescuedCalls),
}

/// The calls that a text turned out to be.
#[derive(Debug)]
pub(crate) struct RescuedCalls {
    /// How much of the text stays.
    pub(crate) rest: usize,
    pub(crate) calls: Vec<RescuedCall>,
    /// How many parts of the answer come before them.
    pub(crate) first_number: u64,
    /// Whether the client has got them.
    pub(crate) are_sent: bool,
}

/// One of them, with the id that it is given.
#[derive(Debug)]
pub(crate) struct RescuedCall {
    pub(crate) id: String,
    pub(crate) call: NewCall,
}

impl TextFate {
    /// Of which nothing has come.
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

    /// Whether a block or an item that begins here has to wait: it may have to go.
    pub(crate) fn holds_part(&self, start: usize) -> bool {
        matches!(self, TextFate::Open { from, .. } if start >= *from)
    }

    /// Whether nothing is left of a block or an item that begins here.
    pub(crate) fn takes_part(&self, start: usize) -> bool {
        matches!(self, TextFate::Calls(calls) if start >= calls.rest)
    }

    /// Looks at what has come of a choice.
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

/// The calls that the text of a choice is, of which all has come.
pub(crate) fn rescued(
    gate: &Gate,
    answer: &StreamedAnswer,
    at: usize,
    (provider, scope): (Provider, &RescueScope),
    judge: &mut impl CallJudge,
) -> Option<RescuedCalls> {
    let choice = answer.choices.get(at)?;
    // These APIs always say how an answer ended. Without that, it has not.
    let has_end = matches!(provider, Provider::Anthropic | Provider::OpenAiResponses);
    if has_end && choice.completeness.is_none() {
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
    let sound: Vec<Option<NewCall>> = rescued.calls.iter().map(|call| sound(gate, call)).collect();
    if sound.iter().any(Option::is_none) {
        // They stay text; that they are wrong is worth knowing.
        for (call, _) in rescued
            .calls
            .iter()
            .zip(sound)
            .filter(|(_, sound)| sound.is_none())
        {
            let _ = judge.judge(gate, call);
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
        let id = call_id(answer.id.as_deref(), (choice.number, number), &new);
        call.id = Some(Value::String(id.as_str().into()));
        let new = match judge.judge(gate, &call) {
            Decision::Valid => new,
            Decision::Change(new) => new,
            Decision::Leave => return None,
        };
        calls.push(RescuedCall { id, call: new });
    }
    let own = answer.texts.iter().filter(|text| text.choice == at);
    let first_gone = own
        .filter(|text| text.span.start >= rest)
        .map(|text| text.number)
        .min();
    Some(RescuedCalls {
        rest,
        calls,
        first_number: first_gone.unwrap_or_else(|| answer.number_of_parts()),
        are_sent: false,
    })
}

/// A call as it would run; `None` if it would not.
fn sound(gate: &Gate, call: &Call<'_>) -> Option<NewCall> {
    let verdict = gate.judge(call);
    let tool = match &verdict {
        Verdict::Valid(_) => call.tool.as_ref().to_owned(),
        Verdict::Repaired(repaired) => repaired.tool().name().to_owned(),
        _ => return None,
    };
    let arguments = verdict.arguments()?.to_string();
    Some(NewCall { tool, arguments })
}

/// The id of a call that has none: the same for the same call in the same answer, streamed or not.
fn call_id(answer: Option<&str>, (choice, number): (u64, usize), call: &NewCall) -> String {
    let NewCall { tool, arguments } = call;
    let told = serde_json::json!([answer, choice, number, tool, arguments]).to_string();
    let hash = format!("{:032x}", xxh3_128(told.as_bytes()));
    // As many characters as OpenAI's have.
    format!("call_{}", &hash[..24])
}
