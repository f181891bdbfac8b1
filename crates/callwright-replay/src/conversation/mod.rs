//! Follows calls and results in order; finds out what each call led to.
//!
//! This part is sequential, so it is kept small: hashes of sessions, tools and calls, and the faults of calls that
//! have not been resolved yet. What becomes known is returned as [`Effect`]s, which are counted elsewhere. All memory
//! is bounded; the oldest entries are dropped first.

mod waiting;

use std::collections::VecDeque;
use std::sync::Arc;

use ahash::{AHashMap, AHashSet};

pub(crate) use self::waiting::{FaultyCalls, Saved};
use crate::run::AwaitedCall;
use crate::seen::CallIdentity;
use crate::summary::{ClusterKey, LedTo};

/// How many shown calls are remembered in each of two halves. Eight bytes each.
const SHOWN_HALF: usize = 500_000;

/// How many calls may wait for their results. A result comes a record or two after its call.
const MOST_AWAITED: usize = 20_000;

/// About how many bytes of arguments these may have.
const MOST_AWAITED_BYTES: usize = 16 * 1024 * 1024;

/// Distinguishes the marks of counted calls from their keys.
const MARK: u64 = 0x9e37_79b9_7f4a_7c15;

/// The faults of a call.
pub(crate) type Faults = Arc<[ClusterKey]>;

/// Something that became known about the faults of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Effect {
    pub(crate) cluster: ClusterKey,
    pub(crate) led_to: LedTo,
    /// When it became known, in microseconds since 1970.
    pub(crate) at: Option<i64>,
}

/// How a call ended, as far as known. The names are those in saved states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum CallEnd {
    /// The tool did what was asked.
    Fine,
    /// It answered with an error.
    Wrong,
    /// Unknown, or not known yet.
    Unknown,
}

impl CallEnd {
    /// How this counts.
    pub(crate) fn led_to(self) -> LedTo {
        let mut led_to = LedTo::default();
        match self {
            CallEnd::Fine => led_to.ran_fine = 1,
            CallEnd::Wrong => led_to.tool_refused = 1,
            CallEnd::Unknown => led_to.unknown = 1,
        }
        led_to
    }
}

/// Everything that is remembered between two calls.
#[derive(Debug, Default)]
pub(crate) struct Conversations {
    pub(crate) shown: ShownCalls,
    pub(crate) unanswered: Unanswered,
    pub(crate) waiting: FaultyCalls,
}

/// The part of it that is saved. Calls that wait for their results are not: they count as calls without one.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct SavedConversations {
    shown: Vec<u64>,
    waiting: Vec<Saved>,
}

impl Conversations {
    pub(crate) fn save(&self) -> SavedConversations {
        SavedConversations {
            shown: self
                .shown
                .old
                .iter()
                .chain(&self.shown.young)
                .copied()
                .collect(),
            waiting: self.waiting.save(),
        }
    }

    pub(crate) fn resume(saved: SavedConversations) -> Self {
        let mut shown = ShownCalls::default();
        for call in saved.shown {
            shown.is_new(call);
        }
        Conversations {
            shown,
            waiting: FaultyCalls::resume(saved.waiting),
            unanswered: Unanswered::default(),
        }
    }

    /// A call of a tool, with its faults. Adds what became known from it.
    pub(crate) fn call(
        &mut self,
        session: Option<u64>,
        tool: u64,
        faults: Option<&Faults>,
        end: CallEnd,
        effects: &mut Vec<Effect>,
    ) {
        let Some(session) = session else {
            // What came after it is unknown.
            if let Some(faults) = faults {
                add_effects(faults, end.led_to(), effects);
            }
            return;
        };
        self.waiting.next_call((session, tool), faults, effects);
        let Some(faults) = faults else {
            return;
        };
        if end == CallEnd::Fine {
            add_effects(faults, end.led_to(), effects);
        } else {
            self.waiting.add((session, tool), faults, end, effects);
        }
    }

    /// The result of a call that was seen without one.
    pub(crate) fn result(
        &mut self,
        session: Option<u64>,
        tool: u64,
        faults: Option<&Faults>,
        end: CallEnd,
        effects: &mut Vec<Effect>,
    ) {
        if let (Some(session), Some(faults)) = (session, faults) {
            self.waiting.result((session, tool), faults, end, effects);
        }
    }

    /// The end of the log: no more calls come.
    pub(crate) fn end(&mut self, effects: &mut Vec<Effect>) {
        self.waiting.end(effects);
    }
}

/// The same effect for every fault of a call.
pub(crate) fn add_effects(faults: &Faults, led_to: LedTo, effects: &mut Vec<Effect>) {
    effects.extend(faults.iter().map(|cluster| Effect {
        cluster: cluster.clone(),
        led_to,
        at: None,
    }));
}

/// Hashes of calls that were seen: requests show the whole conversation again and again. When a half is full, the
/// older half is dropped.
#[derive(Debug, Default)]
pub(crate) struct ShownCalls {
    young: AHashSet<u64>,
    old: AHashSet<u64>,
}

impl ShownCalls {
    /// Whether to count a call: no record of the same kind has shown it, and none of the other kind has counted it. A
    /// separately recorded answer and the history that shows it share no place; so each one that counts a call leaves
    /// a mark, which one of the other kind takes.
    pub(crate) fn counts(&mut self, key: u64, identity: &CallIdentity) -> bool {
        let mark = |of_history: bool| identity.anywhere ^ u64::from(of_history) ^ MARK;
        if !self.is_new(key) {
            return false;
        }
        let other = mark(!identity.from_start);
        if self.young.remove(&other) || self.old.remove(&other) {
            return false;
        }
        self.is_new(mark(identity.from_start));
        true
    }

    /// Whether this call is new; from now on it is not.
    fn is_new(&mut self, call: u64) -> bool {
        if self.young.contains(&call) || self.old.contains(&call) {
            return false;
        }
        if self.young.len() >= SHOWN_HALF {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(call)
    }
}

/// Calls whose results are in other records, by a hash of conversation and id.
#[derive(Debug, Default)]
pub(crate) struct Unanswered {
    calls: AHashMap<u64, AwaitedCall>,
    order: VecDeque<u64>,
    bytes: usize,
}

impl Unanswered {
    pub(crate) fn add(&mut self, key: u64, call: AwaitedCall) {
        self.bytes += call.bytes;
        if let Some(other) = self.calls.insert(key, call) {
            self.bytes -= other.bytes;
        }
        self.order.push_back(key);
        while self.calls.len() > MOST_AWAITED
            || self.bytes > MOST_AWAITED_BYTES
            || self.order.len() > 2 * MOST_AWAITED
        {
            let Some(oldest) = self.order.pop_front() else {
                return;
            };
            self.take(oldest, |_| true);
        }
    }

    /// The call that waits under a key, if it is the right one.
    pub(crate) fn take(
        &mut self,
        key: u64,
        is_meant: impl Fn(&AwaitedCall) -> bool,
    ) -> Option<AwaitedCall> {
        self.calls.get(&key).filter(|call| is_meant(call))?;
        let call = self.calls.remove(&key)?;
        self.bytes -= call.bytes;
        Some(call)
    }
}
