//! Sessions in this process's memory.
//!
//! Bounded in sessions and in calls: the least recently used session is evicted first, and counted. Sessions are spread over
//! shards by the hash of their name; a shard is locked for one step of one session.
//!
//! With many sessions, the cost of a step is the memory it touches. So a session is stored in the table itself, and a step does
//! not touch the order of use: the queue holds each session once, under an earlier use, and is corrected when that one's turn
//! comes.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};

use ahash::RandomState;
use parking_lot::{Mutex, MutexGuard};

use super::evictions::Evictions;
use super::{Ask, Ledger, LedgerAway, Noted, Reply, Report, Ruling};
use crate::admit::hashed::HashedKeys;
use crate::admit::session::Session;
use crate::admit::thresholds::AdmissionPolicy;

/// Enough that the threads of a large machine rarely contend.
const SHARDS: usize = 64;

/// How many sessions are kept by default. One with twenty calls in its turn takes about 5 kB.
const SESSIONS: usize = 100_000;

/// How many calls all sessions together may remember, per session that fits. A call takes about 270 bytes, so this many in each
/// of the default sessions take 1.4 GB; few turns have more.
const CALLS_PER_SESSION: usize = 50;

/// How many calls fit in any case: those of a few sessions that reach the hard limit.
const FEWEST_CALLS: usize = 4 * AdmissionPolicy::MOST_CALLS as usize;

/// Keeps sessions in this process, the most recently used ones.
#[derive(Debug)]
pub struct MemoryLedger {
    shards: Box<[Mutex<Shard>]>,
    hashers: [RandomState; 2],
    forgotten: AtomicU64,
}

/// A keyed hash of a session's name: without the keys, no two names can be made to collide.
type SessionHash = u128;

#[derive(Debug, Default)]
struct Shard {
    sessions: HashMap<SessionHash, SessionSlot, HashedKeys>,
    /// The most sessions.
    most: usize,
    /// How many calls all sessions remember.
    calls: usize,
    /// Every session with a use of it, the earliest first; later uses do not change the entry. Forgotten sessions leave theirs.
    queue: BinaryHeap<Reverse<(u64, SessionHash)>>,
    clock: u64,
    evictions: Evictions,
}

#[derive(Debug)]
struct SessionSlot {
    session: Session,
    /// Its last use.
    used: u64,
    /// The use under which it is in the queue.
    queued: u64,
}

impl Shard {
    /// Runs a step on the session with this name, created if necessary; returns how many others were evicted for it.
    fn step<T>(&mut self, name: SessionHash, step: impl FnOnce(&mut Session) -> T) -> (T, u64) {
        self.clock += 1;
        let now = self.clock;
        let slot = self.sessions.entry(name).or_insert_with(|| {
            self.evictions.arrived(short(name));
            self.queue.push(Reverse((now, name)));
            SessionSlot {
                session: Session::default(),
                used: now,
                queued: now,
            }
        });
        slot.used = now;
        self.calls -= slot.session.remembered();
        let result = step(&mut slot.session);
        self.calls += slot.session.remembered();
        if self.queue.len() > 2 * self.sessions.len() + SHARDS {
            let sessions = &self.sessions;
            self.queue.retain(|Reverse((queued, name))| {
                let slot = sessions.get(name);
                slot.is_some_and(|slot| slot.queued == *queued)
            });
        }
        let most_calls = FEWEST_CALLS.max(self.most.saturating_mul(CALLS_PER_SESSION));
        let mut left = 0;
        while self.sessions.len() > self.most
            || (self.calls > most_calls && self.sessions.len() > 1)
        {
            self.forget_one();
            left += 1;
        }
        (result, left)
    }

    /// Evicts the least recently used session.
    fn forget_one(&mut self) {
        while let Some(Reverse((queued, name))) = self.queue.pop() {
            match self.sessions.get_mut(&name) {
                Some(slot) if slot.queued == queued && slot.used == queued => {
                    self.evictions.evicted(short(name));
                    return self.forget(name);
                }
                Some(slot) if slot.queued == queued => {
                    slot.queued = slot.used;
                    self.queue.push(Reverse((slot.used, name)));
                }
                // It was forgotten, and may have come back.
                _ => {}
            }
        }
    }

    fn forget(&mut self, name: SessionHash) {
        let slot = self.sessions.remove(&name);
        self.calls -= slot.map_or(0, |slot| slot.session.remembered());
    }
}

/// The half of a name that does not select the shard: enough to recognise an evicted session.
fn short(name: SessionHash) -> u64 {
    (name >> 64) as u64
}

impl Default for MemoryLedger {
    fn default() -> Self {
        MemoryLedger::new(SESSIONS)
    }
}

impl MemoryLedger {
    /// A ledger for about this many sessions; the spread over the shards is uneven.
    pub fn new(sessions: usize) -> Self {
        // A single shard for a small number, so that the bound is exact.
        let shards = if sessions < SHARDS * 16 { 1 } else { SHARDS };
        let most = sessions.div_ceil(shards).max(1);
        let shard = || Shard {
            most,
            ..Shard::default()
        };
        MemoryLedger {
            shards: (0..shards).map(|_| Mutex::new(shard())).collect(),
            hashers: [RandomState::new(), RandomState::new()],
            forgotten: AtomicU64::new(0),
        }
    }

    /// How many sessions there are.
    pub fn sessions(&self) -> usize {
        let shards = self.shards.iter();
        shards.map(|shard| shard.lock().sessions.len()).sum()
    }

    /// How many sessions were evicted to make room for others.
    pub fn forgotten(&self) -> u64 {
        self.forgotten.load(Ordering::Relaxed)
    }

    /// How many sessions came back after they were evicted, without their memory. An estimate once a few hundred thousand were
    /// evicted.
    pub fn returned(&self) -> u64 {
        let shards = self.shards.iter();
        shards.map(|shard| shard.lock().evictions.returned()).sum()
    }

    /// Forgets a session whose conversation is over.
    pub fn forget(&self, session: &str) {
        let name = self.name(session);
        self.shard(name).forget(name);
    }

    fn name(&self, session: &str) -> SessionHash {
        let [lower, upper] = self
            .hashers
            .each_ref()
            .map(|hasher| u128::from(hasher.hash_one(session)));
        upper << 64 | lower
    }

    fn shard(&self, name: SessionHash) -> MutexGuard<'_, Shard> {
        // There are few shards, so the lost bits do not matter.
        let lower = name as usize;
        self.shards[lower % self.shards.len()].lock()
    }

    fn with<T>(&self, session: &str, step: impl FnOnce(&mut Session) -> T) -> T {
        let name = self.name(session);
        let (result, left) = self.shard(name).step(name, step);
        if left > 0 {
            self.forgotten.fetch_add(left, Ordering::Relaxed);
        }
        result
    }
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
        Ok(self.with(session, |state| state.relive(ask, report)))
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
    use crate::admit::Shape;
    use crate::admit::ledger::{Limits, Moment, ToolName};
    use crate::json::Value;
    use crate::vocabulary::Fingerprint;

    fn ask(turn: u64, argument: u64, budget: u32) -> Ask<'static> {
        Ask {
            at: Moment {
                turn: Some(turn),
                round: Some(0),
            },
            fingerprint: Fingerprint::of("t", &Value::Number(argument.into()), &Shape::default()),
            tool: ToolName::new("t"),
            limits: Limits {
                budget,
                most_refusals: 2_000,
                ..Limits::from(&AdmissionPolicy::default())
            },
            runs_uncounted: false,
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
    fn the_least_recently_used_session_is_evicted() {
        let ledger = MemoryLedger::new(3);
        let open = |session: &str| {
            let ruling = ledger.open(session, &ask(0, 0, 9)).expect("memory");
            ruling.turn_calls
        };
        for session in ["a", "b", "c", "a", "d"] {
            open(session);
        }
        assert_eq!((ledger.sessions(), ledger.forgotten()), (3, 1));
        assert_eq!(ledger.returned(), 0);
        assert_eq!(open("a"), 3, "it was used again");
        assert_eq!(open("b"), 1, "it was forgotten");
        assert_eq!(ledger.returned(), 1);
    }

    #[test]
    fn sessions_with_many_calls_are_evicted_sooner() {
        let ledger = MemoryLedger::new(1_000);
        // Each is far below any per-session limit.
        for session in 0..1_000 {
            for argument in 0..100 {
                let opened = ledger.open(&session.to_string(), &ask(0, argument, 9));
                let calls = u64::from(opened.expect("memory").turn_calls);
                assert_eq!(calls, argument + 1);
            }
        }
        assert_eq!((ledger.sessions(), ledger.forgotten()), (500, 500));
        let calls: usize = ledger.shards.iter().map(|shard| shard.lock().calls).sum();
        assert_eq!(calls, 50_000);
    }

    #[test]
    fn forgotten_sessions_take_no_memory() {
        let ledger = MemoryLedger::default();
        for session in 0..100_000 {
            let session = session.to_string();
            ledger.open(&session, &ask(0, 0, 9)).expect("memory");
            ledger.forget(&session);
        }
        assert_eq!((ledger.sessions(), ledger.forgotten()), (0, 0));
        let queued: usize = ledger
            .shards
            .iter()
            .map(|shard| shard.lock().queue.len())
            .sum();
        assert!(queued <= SHARDS * (SHARDS + 2), "{queued}");
    }

    #[test]
    fn a_turn_leaves_no_state() {
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
