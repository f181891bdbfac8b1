//! Sessions in the memory of this process.
//!
//! Bounded: the session that was not used for longest leaves first, and is counted. Sessions are spread over shards
//! by the hash of their name; a shard is locked for one step of one session.
//!
//! With many sessions, what a step costs is the memory that it touches. So a session lies in the table itself, and
//! the order of use is a queue that is only written at its end, not a list through all sessions.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ahash::RandomState;

use super::{Ask, Ledger, LedgerAway, Noted, Reply, Report, Ruling};
use crate::admit::session::Session;

/// Enough for the threads of a large machine to seldom meet.
const SHARDS: usize = 64;

/// How many sessions are kept by default. One with twenty calls in its turn takes about 5 kB.
const SESSIONS: usize = 100_000;

/// How many uses per session the queue may hold before those that are out of date are swept out. Sweeping looks at
/// every session, so it must be rare; a use takes 32 bytes, so the queue stays small next to the sessions.
const USES_PER_SESSION: usize = 8;

/// Keeps sessions in this process, the most recently used ones.
#[derive(Debug)]
pub struct MemoryLedger {
    shards: Box<[Mutex<Shard>]>,
    hashers: [RandomState; 2],
    forgotten: AtomicU64,
}

/// A keyed hash of a session's name: without the keys, two names cannot be made to collide.
type Name = u128;

#[derive(Debug)]
struct Shard {
    sessions: HashMap<Name, Slot, Spread>,
    most: usize,
    /// Uses in the order of time; only the last use of a session counts.
    uses: VecDeque<(Name, u64)>,
    clock: u64,
}

#[derive(Debug, Default)]
struct Slot {
    session: Session,
    used: u64,
}

impl Shard {
    fn new(most: usize) -> Self {
        Shard {
            sessions: HashMap::default(),
            most,
            uses: VecDeque::new(),
            clock: 0,
        }
    }

    /// The session of this name, new if it is not known, and whether another had to leave for it.
    fn session(&mut self, name: Name) -> (&mut Session, bool) {
        self.clock += 1;
        match self.uses.back_mut() {
            // A call is opened and closed; one use will do.
            Some((last, used)) if *last == name => *used = self.clock,
            _ => self.uses.push_back((name, self.clock)),
        }
        let mut left = false;
        if self.uses.len() > self.sessions.len() * USES_PER_SESSION + SHARDS {
            let sessions = &self.sessions;
            let clock = self.clock;
            self.uses
                .retain(|(name, used)| *used == clock || is_last_use(sessions, *name, *used));
        }
        if self.sessions.len() >= self.most && !self.sessions.contains_key(&name) {
            left = self.forget_one();
        }
        let slot = self.sessions.entry(name).or_default();
        slot.used = self.clock;
        (&mut slot.session, left)
    }

    fn forget_one(&mut self) -> bool {
        while let Some((name, used)) = self.uses.pop_front() {
            if is_last_use(&self.sessions, name, used) {
                return self.sessions.remove(&name).is_some();
            }
        }
        false
    }
}

fn is_last_use(sessions: &HashMap<Name, Slot, Spread>, name: Name, used: u64) -> bool {
    sessions.get(&name).is_some_and(|slot| slot.used == used)
}

/// A table of hashes need not hash them again.
#[derive(Debug, Clone, Copy, Default)]
struct Spread(u64);

impl BuildHasher for Spread {
    type Hasher = Spread;

    fn build_hasher(&self) -> Spread {
        Spread(0)
    }
}

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 ^= u64::from_le_bytes(word);
        }
    }

    fn write_u128(&mut self, name: u128) {
        // The lower half chooses the shard.
        self.0 = (name >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Default for MemoryLedger {
    fn default() -> Self {
        MemoryLedger::new(SESSIONS)
    }
}

impl MemoryLedger {
    /// A ledger for this many sessions, give or take an uneven spread over the shards.
    pub fn new(sessions: usize) -> Self {
        // One shard if they are few, so that the bound is exact.
        let shards = if sessions < SHARDS * 16 { 1 } else { SHARDS };
        let each = sessions.div_ceil(shards).max(1);
        MemoryLedger {
            shards: (0..shards).map(|_| Mutex::new(Shard::new(each))).collect(),
            hashers: [RandomState::new(), RandomState::new()],
            forgotten: AtomicU64::new(0),
        }
    }

    /// How many sessions there are.
    pub fn sessions(&self) -> usize {
        self.shards
            .iter()
            .map(|shard| lock(shard).sessions.len())
            .sum()
    }

    /// How many sessions had to leave for others.
    pub fn forgotten(&self) -> u64 {
        self.forgotten.load(Ordering::Relaxed)
    }

    /// Forgets a session whose conversation is over.
    pub fn forget(&self, session: &str) {
        let name = self.name(session);
        self.shard(name).sessions.remove(&name);
    }

    fn name(&self, session: &str) -> Name {
        let [lower, upper] = self
            .hashers
            .each_ref()
            .map(|hasher| u128::from(hasher.hash_one(session)));
        upper << 64 | lower
    }

    fn shard(&self, name: Name) -> MutexGuard<'_, Shard> {
        // The shards are few, so the cut bits do not matter.
        let lower = name as usize;
        lock(&self.shards[lower % self.shards.len()])
    }

    fn with<T>(&self, session: &str, step: impl FnOnce(&mut Session) -> T) -> T {
        let name = self.name(session);
        let mut shard = self.shard(name);
        let (session, left) = shard.session(name);
        if left {
            self.forgotten.fetch_add(1, Ordering::Relaxed);
        }
        step(session)
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

    fn relive(
        &self,
        session: &str,
        ask: &Ask<'_>,
        report: Option<&Report<'_>>,
    ) -> Result<Ruling, LedgerAway> {
        Ok(self.with(session, |state| {
            let ruling = state.open(ask);
            if let (None, Some(report)) = (ruling.reason, report) {
                let turn = ruling.turn;
                state.close(&Report { turn, ..*report });
            }
            ruling
        }))
    }

    fn answer(&self, session: &str, reply: &Reply) -> Result<(), LedgerAway> {
        self.with(session, |state| state.answer(reply));
        Ok(())
    }

    fn save(&self, session: &str) -> Result<Option<Session>, LedgerAway> {
        let name = self.name(session);
        let shard = self.shard(name);
        Ok(shard.sessions.get(&name).map(|slot| slot.session.clone()))
    }

    fn resume(&self, session: &str, saved: Session) -> Result<(), LedgerAway> {
        self.with(session, |state| *state = saved);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    use super::*;
    use crate::admit::ledger::{Limits, Moment};
    use crate::admit::{AdmissionPolicy, Shape};
    use crate::json::Value;
    use crate::words::Fingerprint;

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
                most_refusals: 2_000,
                ..Limits::from(&AdmissionPolicy::default())
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
    fn what_is_forgotten_takes_no_memory() {
        let ledger = MemoryLedger::default();
        for session in 0..100_000 {
            let session = session.to_string();
            ledger.open(&session, &ask(0, 0, 9)).expect("memory");
            ledger.forget(&session);
        }
        assert_eq!((ledger.sessions(), ledger.forgotten()), (0, 0));
        let uses: usize = ledger
            .shards
            .iter()
            .map(|shard| lock(shard).uses.len())
            .sum();
        assert!(uses <= SHARDS * (SHARDS + USES_PER_SESSION), "{uses}");
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
