//! Calls and results in their order → what a call led to.
//!
//! Everything here looks at one call after the other, so it is kept small: hashes of sessions, tools and calls, and the
//! faults of calls that did not work out yet. What is known at last comes out as [`Effect`]s, which are counted
//! elsewhere. All memory is bounded; the oldest goes first.

mod shown;
mod unanswered;
mod waiting;

use std::sync::Arc;

pub(crate) use self::shown::Shown;
pub(crate) use self::unanswered::{Unanswered, WaitsForResult};
pub(crate) use self::waiting::{Saved, Waiting};
use crate::summary::{ClusterKey, LedTo};

/// The faults of a call.
pub(crate) type Faults = Arc<[ClusterKey]>;

/// Something that became known of the faults of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Effect {
    pub(crate) cluster: ClusterKey,
    pub(crate) led_to: LedTo,
    /// When it became known, in microseconds since 1970.
    pub(crate) at: Option<i64>,
}

/// How a call with faults went, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Went {
    /// The tool did what was asked.
    Fine,
    /// It answered with an error.
    Wrong,
    /// Nothing is known, or not yet.
    Unknown,
}

impl Went {
    /// How this counts.
    fn led_to(self) -> LedTo {
        let mut led_to = LedTo::default();
        match self {
            Went::Fine => led_to.ran_fine = 1,
            Went::Wrong => led_to.tool_refused = 1,
            Went::Unknown => led_to.unknown = 1,
        }
        led_to
    }
}

/// All that is remembered between two calls.
#[derive(Debug, Default)]
pub(crate) struct Conversations {
    pub(crate) shown: Shown,
    pub(crate) unanswered: Unanswered,
    pub(crate) waiting: Waiting,
}

/// What is saved of it. Calls that wait for their result are not: they are counted as calls without one.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct SavedConversations {
    shown: Vec<u64>,
    waiting: Vec<Saved>,
}

impl Conversations {
    pub(crate) fn save(&self) -> SavedConversations {
        SavedConversations {
            shown: self.shown.save(),
            waiting: self.waiting.save(),
        }
    }

    pub(crate) fn resume(saved: SavedConversations) -> Self {
        Conversations {
            shown: Shown::resume(saved.shown),
            waiting: Waiting::resume(saved.waiting),
            unanswered: Unanswered::default(),
        }
    }

    /// A call of a tool in a conversation, with its faults. Says what became known by it.
    pub(crate) fn call(
        &mut self,
        session: Option<u64>,
        tool: u64,
        faults: Option<&Faults>,
        went: Went,
        effects: &mut Vec<Effect>,
    ) {
        let Some(session) = session else {
            if let Some(faults) = faults {
                alone(faults, went, effects);
            }
            return;
        };
        self.waiting.next_call((session, tool), faults, effects);
        let Some(faults) = faults else {
            return;
        };
        if went == Went::Fine {
            add(faults, went.led_to(), effects);
        } else {
            self.waiting.add((session, tool), faults, went, effects);
        }
    }

    /// The result of a call that was seen without one.
    pub(crate) fn result(
        &mut self,
        session: Option<u64>,
        tool: u64,
        faults: Option<&Faults>,
        went: Went,
        effects: &mut Vec<Effect>,
    ) {
        if let (Some(session), Some(faults)) = (session, faults) {
            self.waiting.result((session, tool), faults, went, effects);
        }
    }

    /// The end of the log: nobody calls again.
    pub(crate) fn end(&mut self, effects: &mut Vec<Effect>) {
        self.waiting.end(effects);
    }
}

/// A call that belongs to no conversation: nobody knows what came next.
pub(crate) fn alone(faults: &Faults, went: Went, effects: &mut Vec<Effect>) {
    add(faults, went.led_to(), effects);
}

/// The same for every fault of a call.
fn add(faults: &Faults, led_to: LedTo, effects: &mut Vec<Effect>) {
    effects.extend(faults.iter().map(|cluster| Effect {
        cluster: cluster.clone(),
        led_to,
        at: None,
    }));
}
