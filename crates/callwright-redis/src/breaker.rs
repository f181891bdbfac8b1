//! A circuit breaker: while a server is down, one call per pause waits for it, not all of them.
//!
//! Takes the outcomes of steps; returns whether the next one may try. A single slow reply never opens the breaker: a
//! healthy but busy server still answers the other steps.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How many timeouts in a row, with no reply in between, mean that a server hangs. One happens by accident, and on a
/// busy machine two do.
const MOST_TIMEOUTS: u32 = 3;

#[derive(Debug)]
pub(crate) struct Breaker {
    pause: Duration,
    state: Mutex<BreakerState>,
}

#[derive(Debug, Default)]
struct BreakerState {
    timeouts: u32,
    /// When the server last replied, or a timeout was last counted.
    last: Option<Instant>,
    away_until: Option<Instant>,
}

impl Breaker {
    pub(crate) fn new(pause: Duration) -> Self {
        Breaker {
            pause,
            state: Mutex::default(),
        }
    }

    /// Whether a step may try now.
    pub(crate) fn allows(&self, now: Instant) -> bool {
        let mut state = self.state.lock();
        match state.away_until {
            Some(until) if now < until => false,
            Some(_) => {
                // This step tries; the others keep waiting until it gets a reply.
                state.away_until = Some(now + self.pause);
                true
            }
            None => true,
        }
    }

    /// Whether the server was reachable when last asked.
    pub(crate) fn is_closed(&self) -> bool {
        self.state.lock().away_until.is_none()
    }

    /// The server replied.
    pub(crate) fn answered(&self, now: Instant) {
        *self.state.lock() = BreakerState {
            last: Some(now),
            ..BreakerState::default()
        };
    }

    /// The server cannot be reached, or replied that it cannot serve.
    pub(crate) fn is_away(&self, now: Instant) {
        self.state.lock().away_until = Some(now + self.pause);
    }

    /// Records that a step started at `began` timed out; returns whether that counts. Steps that waited at the same
    /// time count once.
    pub(crate) fn timed_out(&self, began: Instant, now: Instant) -> bool {
        let mut state = self.state.lock();
        if state.last.is_some_and(|last| began < last) {
            return false;
        }
        state.last = Some(now);
        state.timeouts += 1;
        if state.timeouts >= MOST_TIMEOUTS {
            state.away_until = Some(now + self.pause);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_timeout_does_not_open_it_and_three_do() {
        let breaker = Breaker::new(Duration::from_secs(1));
        let at = |millis| Instant::now() + Duration::from_millis(millis);
        let start = at(0);
        // Many steps that waited at the same time.
        for _ in 0..10_000 {
            breaker.timed_out(start, at(100));
        }
        assert!(breaker.allows(at(110)));
        assert!(breaker.timed_out(at(200), at(300)));
        breaker.answered(at(310));
        for began in [400, 600] {
            assert!(breaker.timed_out(at(began), at(began + 100)));
            assert!(breaker.allows(at(began + 110)));
        }
        assert!(breaker.timed_out(at(800), at(900)));
        assert!(!breaker.allows(at(1_000)));
        assert!(breaker.allows(at(2_000)), "one tries after the pause");
        assert!(!breaker.allows(at(2_010)), "and no other with it");
        breaker.answered(at(2_020));
        assert!(breaker.allows(at(2_030)));
    }
}
