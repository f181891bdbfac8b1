//! Sessions in the memory of this process.
//!
//! Bounded: the session that was not used for longest leaves first, and is counted. Sessions are spread over shards
//! by the hash of their name; a shard is locked for one step of one session, which takes well under a microsecond.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ahash::RandomState;
use lru::LruCache;

use super::{Ask, Ledger, LedgerAway, Noted, Reply, Report, Ruling};
use crate::admit::session::Session;

/// Enough for the threads of a large machine to seldom meet.
const SHARDS: usize = 64;

/// How many sessions are kept by default. One with twenty calls in its turn takes about 4 kB.
const SESSIONS: usize = 100_000;

type Shard = LruCache<Box<str>, Session, RandomState>;

/// Keeps sessions in this process, the most recently used ones.
#[derive(Debug)]
pub struct MemoryLedger {
    shards: Box<[Mutex<Shard>]>,
    hasher: RandomState,
    forgotten: AtomicU64,
}

impl Default for MemoryLedger {
    fn default() -> Self {
        MemoryLedger::new(SESSIONS)
    }
}

impl MemoryLedger {
    /// A ledger for this many sessions, give or take an uneven spread over the shards.
    pub fn new(sessions: usize) -> Self {
        let hasher = RandomState::new();
        // One shard if they are few, so that the bound is exact.
        let shards = if sessions < SHARDS * 16 { 1 } else { SHARDS };
        let each = NonZeroUsize::new(sessions.div_ceil(shards)).unwrap_or(NonZeroUsize::MIN);
        let shard = || {
            let mut shard = LruCache::unbounded_with_hasher(hasher.clone());
            shard.resize(each);
            Mutex::new(shard)
        };
        MemoryLedger {
            shards: (0..shards).map(|_| shard()).collect(),
            hasher,
            forgotten: AtomicU64::new(0),
        }
    }

    /// How many sessions there are.
    pub fn sessions(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).len()).sum()
    }

    /// How many sessions had to leave for others.
    pub fn forgotten(&self) -> u64 {
        self.forgotten.load(Ordering::Relaxed)
    }

    fn shard(&self, session: &str) -> MutexGuard<'_, Shard> {
        // The shards are few, so the cut bits do not matter.
        #[expect(clippy::cast_possible_truncation)]
        let hash = self.hasher.hash_one(session) as usize;
        lock(&self.shards[hash % self.shards.len()])
    }

    fn with<T>(&self, session: &str, step: impl FnOnce(&mut Session) -> T) -> T {
        let mut shard = self.shard(session);
        if let Some(known) = shard.get_mut(session) {
            return step(known);
        }
        let mut new = Session::default();
        let result = step(&mut new);
        self.insert(&mut shard, session, new);
        result
    }

    fn insert(&self, shard: &mut Shard, session: &str, state: Session) {
        let left = shard.push(session.into(), state);
        if left.is_some_and(|(name, _)| *name != *session) {
            self.forgotten.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A step that panicked leaves a session that is still consistent enough to count with.
fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ledger for MemoryLedger {
    fn open(&self, session: &str, ask: &Ask<'_>) -> Result<Ruling, LedgerAway> {
        Ok(self.with(session, |state| state.open(ask)))
    }

    fn close(&self, session: &str, report: &Report<'_>) -> Result<Noted, LedgerAway> {
        Ok(self.with(session, |state| state.close(report)))
    }

    fn answer(&self, session: &str, reply: &Reply) -> Result<(), LedgerAway> {
        self.with(session, |state| state.answer(reply));
        Ok(())
    }

    fn save(&self, session: &str) -> Result<Option<Session>, LedgerAway> {
        Ok(self.shard(session).peek(session).cloned())
    }

    fn resume(&self, session: &str, saved: Session) -> Result<(), LedgerAway> {
        let mut shard = self.shard(session);
        self.insert(&mut shard, session, saved);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    use super::*;
    use crate::admit::ledger::{Limits, Moment};
    use crate::admit::{Fingerprint, Shape};
    use crate::json::Value;

    fn ask(turn: u64, argument: u64, budget: u32) -> Ask<'static> {
        Ask {
            at: Moment {
                turn: Some(turn),
                round: Some(0),
            },
            fingerprint: Fingerprint::of("t", &Value::Number(argument.into()), &Shape::default()),
            tool: "t",
            limits: Limits {
                budget,
                repeated_refusal: 3,
                repeated_call: 4,
                repeated_result: 4,
                polling: 50,
                poller: false,
                cycle: 3,
                error_streak: 8,
                unknown_tools: 3,
                tool_calls: 500,
                turn_calls: 1_000,
                transient: 10,
                most_refusals: 2_000,
            },
            refused: None,
        }
    }

    #[test]
    fn a_thousand_threads_never_run_one_call_too_many() {
        let (ledger, ran) = (MemoryLedger::default(), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..1_000 {
                scope.spawn(|| {
                    let ruling = ledger.open("s", &ask(0, 0, 77)).expect("memory");
                    ran.fetch_add(usize::from(ruling.reason.is_none()), Ordering::Relaxed);
                });
            }
        });
        assert_eq!(ran.into_inner(), 77);
    }

    #[test]
    fn the_session_that_was_not_used_for_longest_leaves() {
        let ledger = MemoryLedger::new(3);
        let open = |session: &str| {
            let ruling = ledger.open(session, &ask(0, 0, 9)).expect("memory");
            ruling.turn_calls
        };
        for session in ["a", "b", "c", "a", "d"] {
            open(session);
        }
        assert_eq!((ledger.sessions(), ledger.forgotten()), (3, 1));
        assert_eq!(open("a"), 3, "it was used again");
        assert_eq!(open("b"), 1, "it was forgotten");
    }

    #[test]
    fn a_turn_leaves_nothing_behind() {
        let ledger = MemoryLedger::default();
        for argument in 0..500 {
            ledger.open("s", &ask(0, argument, 9)).expect("memory");
        }
        let size = || {
            let saved = ledger.save("s").expect("memory");
            serde_json::to_string(&saved).expect("JSON").len()
        };
        let full = size();
        ledger.open("s", &ask(1, 0, 9)).expect("memory");
        assert!(size() * 100 < full, "{} of {full}", size());
    }
}
