//! Decides what happens to the calls and the text of an answer as soon as it is known how they end.

use callwright::Gate;
use callwright::call::Call;
use callwright::json::Value;

use super::AnswerGuard;
use super::decision::{CallJudge, Decision, NewCall};
use crate::text_calls::CallScope;
use crate::text_calls::{AddedCall, AddedCalls};
use crate::text_calls::{TextFate, rescued};

/// What happens to a call.
#[derive(Debug)]
pub(super) enum CallFate {
    /// Its end has not arrived.
    Open,
    /// It passes unchanged, and is judged later.
    Released,
    /// It passes unchanged.
    AsItCame { is_valid: bool },
    /// It is replaced. Once the new name and arguments have been written, further pieces of the old ones are emptied.
    Changed {
        new: NewCall,
        has_name: bool,
        has_arguments: bool,
    },
}

impl CallFate {
    fn changed(new: NewCall) -> Self {
        CallFate::Changed {
            new,
            has_name: false,
            has_arguments: false,
        }
    }

    /// Whether it can be run.
    pub(super) fn is_sound(&self) -> bool {
        matches!(
            self,
            CallFate::AsItCame { is_valid: true } | CallFate::Changed { .. }
        )
    }
}

impl AnswerGuard {
    /// Judges calls as soon as it is known how they end, the last one of a choice when the choice ends; those of a choice in
    /// their order.
    pub(super) fn judge_ended(&mut self, is_over: bool, judge: &mut impl CallJudge) {
        let answer = self.reader.answer();
        self.ids.follow(answer);
        self.fates
            .resize_with(answer.calls.len(), || CallFate::Open);
        let mut added = Vec::new();
        let mut has_open = vec![false; answer.choices.len()];
        for (at, (call, fate)) in answer.calls.iter().zip(&mut self.fates).enumerate() {
            if call.is_disputed {
                *fate = CallFate::AsItCame { is_valid: false };
                continue;
            }
            if !matches!(fate, CallFate::Open | CallFate::Released) {
                continue;
            }
            if has_open.get(call.choice) == Some(&true) {
                continue;
            }
            let mut later = answer.calls.iter().skip(at + 1);
            let is_followed = later.any(|later| later.choice == call.choice);
            let choice = answer.choices.get(call.choice);
            let is_end_known = choice.is_some_and(|choice| choice.has_ended);
            if !call.has_ended || !(is_followed || is_end_known || is_over) {
                if let Some(has_open) = has_open.get_mut(call.choice) {
                    *has_open = true;
                }
                continue;
            }
            let Some(mut read) = self.reader.call(at).filter(|_| !call.is_foreign) else {
                *fate = CallFate::AsItCame { is_valid: false };
                continue;
            };
            if let Some(id) = self.ids.instead(at) {
                read.id = Some(Value::String(id.into()));
            }
            let ids = |number| self.ids.of_others(answer, at, number);
            // The others are added at the end of the choice, so the first must be its last call. Without an end there
            // is no place for them.
            let has_end = is_end_known || !self.api.always_says_how_it_ended();
            let has_room = !is_followed && !call.is_single && call.namespace.is_none() && has_end;
            let scope = self.scope.as_ref().filter(|_| has_room);
            let mut split = |call: &Call<'_>| split(&self.gate, call, scope?, ids);
            let decision = judge.judge(&self.gate, &read, &mut split);
            let may_change = !self.only_observes && matches!(fate, CallFate::Open);
            *fate = match in_namespace(decision, call.namespace.as_deref()) {
                Decision::Change(new) if may_change => CallFate::changed(new),
                Decision::Split(new) if may_change => {
                    let mut new = new.into_iter();
                    let first = new
                        .next()
                        .map_or(CallFate::AsItCame { is_valid: false }, CallFate::changed);
                    let calls = ids(new.len())
                        .into_iter()
                        .zip(new)
                        .map(|(id, call)| AddedCall { id, call });
                    added.push((call.choice, calls.collect()));
                    first
                }
                decision => CallFate::AsItCame {
                    is_valid: decision == Decision::Valid,
                },
            };
        }
        self.judge_texts(is_over, judge);
        let answer = self.reader.answer();
        for (choice, calls) in added {
            if let Some(text) = self.texts.get_mut(choice) {
                *text = TextFate::Calls(AddedCalls::after_all(self.api, answer, choice, calls));
            }
        }
    }

    /// Looks at the text received so far, and decides about the text of choices that have ended.
    fn judge_texts(&mut self, is_over: bool, judge: &mut impl CallJudge) {
        let answer = self.reader.answer();
        self.texts.resize_with(answer.choices.len(), || {
            if self.rescues {
                TextFate::open()
            } else {
                TextFate::AsItCame
            }
        });
        let Some(scope) = self.scope.as_ref().filter(|_| self.rescues) else {
            return;
        };
        for (at, (choice, text)) in answer.choices.iter().zip(&mut self.texts).enumerate() {
            text.follow(&self.gate, answer, at);
            if text.is_open() && (is_over || choice.has_ended) {
                let calls = rescued(&self.gate, answer, at, (self.api, scope, &self.ids), judge);
                *text = match calls {
                    Some(calls) if !self.only_observes => TextFate::Calls(calls),
                    _ => TextFate::AsItCame,
                };
            }
        }
    }
}

/// The calls that a call contains, with the ids of the others, if the request permits all of them.
fn split(
    gate: &Gate,
    call: &Call<'_>,
    scope: &CallScope,
    ids: impl Fn(usize) -> Vec<String>,
) -> Option<Vec<Call<'static>>> {
    let mut calls = gate.split(call)?;
    let number = calls.len();
    let is_wanted = |call: &Call<'_>| scope.allows(&call.tool, number);
    if !calls.iter().all(is_wanted) {
        return None;
    }
    for (call, id) in calls.iter_mut().skip(1).zip(ids(number - 1)) {
        call.id = Some(Value::String(id.into()));
    }
    Some(calls)
}

/// The decision about a call whose name is written without its namespace. It cannot move to another namespace.
fn in_namespace(decision: Decision, namespace: Option<&str>) -> Decision {
    match (decision, namespace) {
        (Decision::Change(new), Some(namespace)) => {
            let tool = new.tool.strip_prefix(namespace);
            match tool.and_then(|tool| tool.strip_prefix('.')) {
                Some(tool) => Decision::Change(NewCall {
                    tool: tool.to_owned(),
                    ..new
                }),
                None => Decision::Leave,
            }
        }
        (decision, _) => decision,
    }
}
