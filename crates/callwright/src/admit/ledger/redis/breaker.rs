//! When a server is left alone for a moment: so that one that is down costs one waiting call a pause, not all of them.
//!
//! Takes how steps ended; says whether the next may try. One slow answer is not a reason to stop: a healthy server that is
//! busy answers the others.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many time-outs in a row, with no answer in between, mean that a server hangs. One is an accident, and on a busy
/// machine two are.
const MOST_TIMEOUTS: u32 = 3;

#[derive(Debug)]
pub(super) struct Breaker {
    pause: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    timeouts: u32,
    /// When the server last answered, or a time-out was last counted.
    last: Option<Instant>,
    away_until: Option<Instant>,
}

impl Breaker {
    pub(super) fn new(pause: Duration) -> Self {
        Breaker {
            pause,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a step may try now.
    pub(super) fn allows(&self, now: Instant) -> bool {
        let mut state = self.state();
        match state.away_until {
            Some(until) if now < until => false,
            Some(_) => {
                // This one tries; the others go on leaving it alone until it answers.
                state.away_until = Some(now + self.pause);
                true
            }
            None => true,
        }
    }

    /// The server answered.
    pub(super) fn answered(&self, now: Instant) {
        *self.state() = State {
            last: Some(now),
            ..State::default()
        };
    }

    /// The server cannot be reached, or says that it cannot serve.
    pub(super) fn is_away(&self, now: Instant) {
        self.state().away_until = Some(now + self.pause);
    }

    /// A step that began then was not done in time; says whether that counts. Steps that waited side by side waited
    /// for one trouble.
    pub(super) fn timed_out(&self, began: Instant, now: Instant) -> bool {
        let mut state = self.state();
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
    fn one_slow_answer_is_no_reason_and_three_are() {
        let breaker = Breaker::new(Duration::from_secs(1));
        let at = |millis| Instant::now() + Duration::from_millis(millis);
        let start = at(0);
        // A crowd that waited together.
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
