//! Calls with unresolved faults: what did the model do next?

use std::collections::VecDeque;

use ahash::AHashMap;
use serde::{Deserialize, Serialize};

use super::{CallEnd, Effect, Faults, add_effects};
use crate::summary::{ClusterKey, LedTo};

/// How many calls are remembered, for four times as many conversations as admission remembers. Each takes a few
/// hundred bytes.
const MOST: usize = 20_000;

/// A conversation and a tool in it.
pub(super) type WaitingKey = (u64, u64);

/// See the module documentation.
#[derive(Debug, Default)]
pub(crate) struct FaultyCalls {
    calls: AHashMap<WaitingKey, FaultyCall>,
    /// In order of arrival, including those that are gone.
    order: VecDeque<(WaitingKey, u64)>,
    next: u64,
}

#[derive(Debug)]
struct FaultyCall {
    number: u64,
    faults: Faults,
    went: CallEnd,
}

/// One call in its saved form.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Saved {
    key: WaitingKey,
    faults: Vec<ClusterKey>,
    went: CallEnd,
}

impl FaultyCalls {
    /// The tool is called again: did the model correct what was wrong?
    pub(super) fn next_call(
        &mut self,
        key: WaitingKey,
        faults: Option<&Faults>,
        effects: &mut Vec<Effect>,
    ) {
        if self.calls.is_empty() {
            return;
        }
        let Some(before) = self.calls.remove(&key) else {
            return;
        };
        for cluster in before.faults.iter() {
            let again = faults.is_some_and(|faults| {
                let mut faults = faults.iter();
                faults.any(|fault| fault.path == cluster.path && fault.issue == cluster.issue)
            });
            let mut led_to = before.went.led_to();
            if again {
                led_to.repeated = 1;
            } else {
                led_to.corrected = 1;
            }
            effects.push(Effect {
                cluster: cluster.clone(),
                led_to,
                at: None,
            });
        }
    }

    pub(super) fn add(
        &mut self,
        key: WaitingKey,
        faults: &Faults,
        went: CallEnd,
        effects: &mut Vec<Effect>,
    ) {
        let number = self.next;
        self.next += 1;
        let call = FaultyCall {
            number,
            faults: faults.clone(),
            went,
        };
        self.calls.insert(key, call);
        self.order.push_back((key, number));
        while self.calls.len() > MOST || self.order.len() > 2 * MOST {
            self.forget_oldest(effects);
        }
    }

    fn forget_oldest(&mut self, effects: &mut Vec<Effect>) {
        let Some((key, number)) = self.order.pop_front() else {
            return;
        };
        let is_there = self.calls.get(&key).map(|call| call.number) == Some(number);
        if is_there && let Some(call) = self.calls.remove(&key) {
            gave_up(&call, effects);
        }
    }

    /// The result of a call came after it.
    pub(super) fn result(
        &mut self,
        key: WaitingKey,
        faults: &Faults,
        went: CallEnd,
        effects: &mut Vec<Effect>,
    ) {
        let Some(call) = self.calls.get_mut(&key) else {
            return;
        };
        if call.faults != *faults {
            return;
        }
        call.went = went;
        if went == CallEnd::Fine {
            self.calls.remove(&key);
            add_effects(faults, went.led_to(), effects);
        }
    }

    /// No more calls come.
    pub(super) fn end(&mut self, effects: &mut Vec<Effect>) {
        self.order.clear();
        for (_, call) in self.calls.drain() {
            gave_up(&call, effects);
        }
    }

    pub(crate) fn save(&self) -> Vec<Saved> {
        let order = self.order.iter();
        order
            .filter_map(|(key, number)| {
                let call = self.calls.get(key).filter(|call| call.number == *number)?;
                Some(Saved {
                    key: *key,
                    faults: call.faults.to_vec(),
                    went: call.went,
                })
            })
            .collect()
    }

    pub(crate) fn resume(saved: Vec<Saved>) -> Self {
        let mut waiting = FaultyCalls::default();
        for Saved { key, faults, went } in saved {
            waiting.add(key, &faults.into(), went, &mut Vec::new());
        }
        waiting
    }
}

fn gave_up(call: &FaultyCall, effects: &mut Vec<Effect>) {
    let led_to = LedTo {
        gave_up: 1,
        ..call.went.led_to()
    };
    add_effects(&call.faults, led_to, effects);
}
