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
