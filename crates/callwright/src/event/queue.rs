//! The queue of one sink, and the thread that empties it.
//!
//! Takes events from any number of threads, which never wait for the sink: the lock is held to add or remove an event, never
//! while the sink works. A full queue drops further events and counts them. The thread hands over the events in the order they
//! arrived, counts errors and panics, and flushes the sink whenever the queue is empty.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};

use super::{Event, Sink, SinkError, SinkStats};
use crate::panics::caught;

/// How much may wait in the queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Capacity {
    pub(super) events: usize,
    pub(super) bytes: usize,
}

/// The state shared by callers and the thread.
#[derive(Debug)]
pub(super) struct SinkQueue {
    capacity: Capacity,
    state: Mutex<QueueState>,
    /// An event has arrived, or the queue was closed. Notifying when no thread waits is cheap.
    work: Condvar,
    /// The sink has flushed, or the thread has ended.
    progress: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    waiting: VecDeque<(Arc<Event>, usize)>,
    /// The bytes of the waiting events and of the one the sink is working on.
    bytes: usize,
    /// The sink is working on an event.
    busy: bool,
    /// Event numbers: the last one queued, the last one the sink has finished, and the last one it has flushed.
    taken: u64,
    done: u64,
    flushed: u64,
    /// How many events had been delivered when the sink last flushed.
    written: u64,
    /// A caller waits until this event is flushed.
    wanted: u64,
    stats: SinkStats,
    phase: Phase,
}

/// The phases of a queue, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Phase {
    #[default]
    Open,
    /// No more events come.
    Closed,
    /// The sink took too long: the remaining events are dropped.
    Abandoned,
    /// The thread has dropped the sink.
    Ended,
}

impl SinkQueue {
    pub(super) fn new(capacity: Capacity) -> Self {
        SinkQueue {
            capacity,
            state: Mutex::default(),
            work: Condvar::new(),
            progress: Condvar::new(),
        }
    }

    /// Queues an event, or counts it as dropped.
    pub(super) fn push(&self, event: Arc<Event>, weight: usize) {
        let mut state = self.state.lock();
        let full = state.waiting.len() >= self.capacity.events
            || state.bytes.saturating_add(weight) > self.capacity.bytes;
        if full || state.phase >= Phase::Closed {
            state.stats.dropped += 1;
            return;
        }
        state.bytes += weight;
        state.taken += 1;
        state.waiting.push_back((event, weight));
        drop(state);
        self.work.notify_one();
    }

    pub(super) fn stats(&self) -> SinkStats {
        let state = self.state.lock();
        let waiting = state.waiting.len() + usize::from(state.busy);
        SinkStats {
            waiting: u64::try_from(waiting).unwrap_or(u64::MAX),
            ..state.stats.clone()
        }
    }

    /// How many events are not known to have been written.
    pub(super) fn lost(&self) -> u64 {
        let stats = self.stats();
        let unwritten = stats.delivered.saturating_sub(self.state.lock().written);
        stats.dropped + stats.failed + stats.waiting + unwritten
    }

    /// Waits until all events so far are flushed; `false` if that takes too long.
    pub(super) fn flush(&self, deadline: Instant) -> bool {
        let mut state = self.state.lock();
        let target = state.taken;
        state.wanted = state.wanted.max(target);
        while state.flushed < target && state.phase < Phase::Ended {
            if self.progress.wait_until(&mut state, deadline).timed_out() {
                break;
            }
        }
        state.flushed >= target
    }

    /// Accepts no more events; the thread ends once it has handed over the waiting ones.
    pub(super) fn close(&self) {
        self.state.lock().enter(Phase::Closed);
        self.work.notify_one();
    }

    /// Waits for the thread to end; events left at the deadline are dropped. `false` if the thread is still running then.
    pub(super) fn wait_for_end(&self, deadline: Instant) -> bool {
        let mut state = self.state.lock();
        while state.phase < Phase::Ended {
            let timed_out = self.progress.wait_until(&mut state, deadline).timed_out();
            if timed_out && state.phase < Phase::Ended {
                state.abandon();
                return false;
            }
        }
        true
    }

    /// The thread's main loop: hands events to the sink until the queue is closed, then drops the sink.
    pub(super) fn run(&self, mut sink: Box<dyn Sink>) {
        self.hand_over(&mut *sink);
        // Dropping the sink may also take long or panic.
        let _ = guarded(|| {
            drop(sink);
            Ok(())
        });
        self.state.lock().enter(Phase::Ended);
        self.progress.notify_all();
    }

    fn hand_over(&self, sink: &mut dyn Sink) {
        let mut state = self.state.lock();
        while state.phase < Phase::Abandoned {
            let flush_now = state.done > state.flushed
                && (state.waiting.is_empty()
                    || (state.wanted > state.flushed && state.done >= state.wanted));
            if flush_now {
                let up_to = state.done;
                drop(state);
                let outcome = guarded(|| sink.flush());
                state = self.state.lock();
                state.flushed = up_to;
                state.stats.count(0, outcome);
                state.written = state.stats.delivered;
                self.progress.notify_all();
            } else if let Some((event, weight)) = state.waiting.pop_front() {
                state.busy = true;
                drop(state);
                let outcome = guarded(|| sink.record(&event));
                // Before locking, since dropping an event takes longer than counting it.
                drop(event);
                state = self.state.lock();
                state.busy = false;
                state.bytes -= weight;
                state.done += 1;
                state.stats.count(1, outcome);
            } else if state.phase == Phase::Closed {
                break;
            } else {
                self.work.wait(&mut state);
            }
        }
        state.abandon();
    }
}

impl QueueState {
    /// Phases only move forward.
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
    /// Counts the outcome of handing over this many events; zero for a flush.
    fn count(&mut self, events: u64, outcome: Result<(), SinkError>) {
        self.delivered += events;
        if let Err(error) = outcome {
            // An event that the sink failed on is lost, whatever the error reports.
            let lost = error.lost().max(events).min(self.delivered);
            self.delivered -= lost;
            self.failed += lost;
            self.last_error = Some(error.to_string());
        }
    }
}

/// Turns a panic of the sink into an error.
fn guarded(work: impl FnOnce() -> Result<(), SinkError>) -> Result<(), SinkError> {
    caught(work).unwrap_or_else(|said| {
        // The queue counts a panic during an event as one lost event; how many a panicking flush loses is unknown.
        Err(SinkError::new(format!("the sink panicked: {said}")).with_lost(0))
    })
}
