//! The queue of one sink, and the thread that empties it.
//!
//! In come events from any number of threads, which never wait for the sink: the lock is held to put one in or to take
//! one out, never while the sink works. A queue that is full takes no more, and counts what it did not take. The thread
//! hands the events over in the order in which they came, counts errors and panics, and asks the sink to flush whenever
//! nothing is waiting.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::{Event, Sink, SinkError, SinkStats};
use crate::panics::caught;

/// How much may wait.
#[derive(Debug, Clone, Copy)]
pub(super) struct Capacity {
    pub(super) events: usize,
    pub(super) bytes: usize,
}

/// What callers and the thread share.
#[derive(Debug)]
pub(super) struct Queue {
    capacity: Capacity,
    state: Mutex<State>,
    /// An event has come, or the end has.
    work: Condvar,
    /// The sink has flushed, or the thread has ended.
    progress: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<(Arc<Event>, usize)>,
    /// The bytes of what waits and of what the sink is busy with.
    bytes: usize,
    /// The sink is busy with an event.
    busy: bool,
    /// The thread sleeps. Waking one that does not costs a system call for nothing.
    asleep: bool,
    /// Numbers of events: of the last that was taken in, that the sink is done with, and that it has flushed.
    taken: u64,
    done: u64,
    flushed: u64,
    /// Somebody waits until this one is flushed.
    wanted: u64,
    stats: SinkStats,
    phase: Phase,
}

/// The life of a queue, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Phase {
    #[default]
    Open,
    /// No more events come.
    Closed,
    /// Nobody waits for the sink any more: what is left is dropped.
    Abandoned,
    /// The thread has let go of the sink.
    Ended,
}

impl Queue {
    pub(super) fn new(capacity: Capacity) -> Self {
        Queue {
            capacity,
            state: Mutex::default(),
            work: Condvar::new(),
            progress: Condvar::new(),
        }
    }

    /// Nobody panics while holding the lock, so a poisoned one is as good as any.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an event in, or counts it as dropped.
    pub(super) fn push(&self, event: Arc<Event>, weight: usize) {
        let mut state = self.lock();
        let full = state.waiting.len() >= self.capacity.events
            || state.bytes.saturating_add(weight) > self.capacity.bytes;
        if full || state.phase >= Phase::Abandoned {
            state.stats.dropped += 1;
            return;
        }
        state.bytes += weight;
        state.taken += 1;
        state.waiting.push_back((event, weight));
        let asleep = mem::take(&mut state.asleep);
        drop(state);
        if asleep {
            self.work.notify_one();
        }
    }

    pub(super) fn stats(&self) -> SinkStats {
        let state = self.lock();
        let waiting = state.waiting.len() + usize::from(state.busy);
        SinkStats {
            waiting: u64::try_from(waiting).unwrap_or(u64::MAX),
            ..state.stats.clone()
        }
    }

    /// Waits until everything that has come so far is flushed. `false` if that takes too long.
    pub(super) fn flush(&self, deadline: Instant) -> bool {
        let mut state = self.lock();
        let target = state.taken;
        state.wanted = state.wanted.max(target);
        while state.flushed < target && state.phase < Phase::Ended {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let woken = self.progress.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.flushed >= target
    }

    /// No more events come; the thread ends when it has handed over what waits.
    pub(super) fn close(&self) {
        self.lock().enter(Phase::Closed);
        self.work.notify_one();
    }

    /// Waits for the end of the thread; what is left at the deadline is dropped. `false` if the thread still runs then.
    pub(super) fn wait_for_end(&self, deadline: Instant) -> bool {
        let mut state = self.lock();
        while state.phase < Phase::Ended {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                state.abandon();
                return false;
            }
            let woken = self.progress.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// What the thread does: hands events to the sink until the queue is closed, then lets go of the sink.
    pub(super) fn run(&self, mut sink: Box<dyn Sink>) {
        self.hand_over(&mut *sink);
        // It may take its time over this, too, or panic.
        let _ = guarded(|| {
            drop(sink);
            Ok(())
        });
        self.lock().enter(Phase::Ended);
        self.progress.notify_all();
    }

    fn hand_over(&self, sink: &mut dyn Sink) {
        let mut state = self.lock();
        while state.phase < Phase::Abandoned {
            let flush_now = state.done > state.flushed
                && (state.waiting.is_empty()
                    || (state.wanted > state.flushed && state.done >= state.wanted));
            if flush_now {
                let up_to = state.done;
                drop(state);
                let outcome = guarded(|| sink.flush());
                state = self.lock();
                state.flushed = up_to;
                state.stats.count(0, outcome);
                self.progress.notify_all();
            } else if let Some((event, weight)) = state.waiting.pop_front() {
                state.busy = true;
                drop(state);
                let outcome = guarded(|| sink.record(&event));
                // Before the lock: letting go of an event takes longer than counting it.
                drop(event);
                state = self.lock();
                state.busy = false;
                state.bytes -= weight;
                state.done += 1;
                state.stats.count(1, outcome);
            } else if state.phase == Phase::Closed {
                break;
            } else {
                state.asleep = true;
                let woken = self.work.wait(state);
                state = woken.unwrap_or_else(PoisonError::into_inner);
                state.asleep = false;
            }
        }
        state.abandon();
    }
}

impl State {
    /// Never back.
    fn enter(&mut self, phase: Phase) {
        self.phase = self.phase.max(phase);
    }

    fn abandon(&mut self) {
        self.enter(Phase::Abandoned);
        let left = u64::try_from(self.waiting.len()).unwrap_or(u64::MAX);
        self.stats.dropped += left;
        self.bytes -= self
            .waiting
            .drain(..)
            .map(|(_, weight)| weight)
            .sum::<usize>();
    }
}

impl SinkStats {
    /// Counts what came of handing over so many events: none, when the sink flushed.
    fn count(&mut self, events: u64, outcome: Result<(), SinkError>) {
        self.delivered += events;
        if let Err(error) = outcome {
            // An event that the sink did not take is lost, whatever the sink says.
            let lost = error.lost().max(events).min(self.delivered);
            self.delivered -= lost;
            self.failed += lost;
            self.last_error = Some(error.to_string());
        }
    }
}

/// A panic of the sink as an error.
fn guarded(work: impl FnOnce() -> Result<(), SinkError>) -> Result<(), SinkError> {
    caught(work).unwrap_or_else(|said| {
        // A panic over an event is counted as one by the queue; what a flush loses nobody knows.
        Err(SinkError::new(format!("the sink panicked: {said}")).with_lost(0))
    })
}
