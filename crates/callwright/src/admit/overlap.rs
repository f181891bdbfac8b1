//! Derives turns and rounds where they are not numbered, as over MCP.
//!
//! Takes the starts and ends of calls, with their times; returns the place of each call. Overlapping calls belong to one answer
//! of the model, so they share a round. Silence starts a turn: a model that goes in circles calls every few seconds, and one
//! that comes back after minutes has most likely received a message. Turns are numbered from 0 in each process, so a session
//! shared between processes needs its own numbers.

use std::time::{Duration, Instant};

use super::Moment;

/// The turns and rounds of one session, derived from overlap and silence. Never reads a clock itself.
#[derive(Debug, Default)]
pub struct Rounds {
    turn: u64,
    round: u64,
    running: usize,
    last: Option<Instant>,
}

impl Rounds {
    /// A call starts; after at least `quiet` of silence it starts a new turn.
    pub fn begin(&mut self, now: Instant, quiet: Duration) -> Moment {
        if self.running == 0 {
            self.round += 1;
            let silence = self.last.map(|last| now.saturating_duration_since(last));
            if silence.is_some_and(|silence| silence > quiet) {
                self.turn += 1;
            }
        }
        self.running += 1;
        Moment {
            turn: Some(self.turn),
            round: Some(self.round),
        }
    }

    /// A call has ended.
    pub fn end(&mut self, now: Instant) {
        self.running = self.running.saturating_sub(1);
        self.last = Some(now);
    }

    /// All running calls have ended, at an unknown time.
    pub fn nothing_runs(&mut self) {
        self.running = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_calls_share_a_round_and_silence_begins_a_turn() {
        let quiet = Duration::from_secs(60);
        let start = Instant::now();
        let mut rounds = Rounds::default();
        let first = rounds.begin(start, quiet);
        assert_eq!(rounds.begin(start, quiet), first);
        rounds.end(start);
        assert_eq!(rounds.begin(start, quiet), first, "one still runs");
        rounds.end(start);
        rounds.end(start);
        let next = rounds.begin(start + Duration::from_secs(5), quiet);
        assert_eq!(next.turn, first.turn);
        assert_ne!(next.round, first.round);
        rounds.end(start + Duration::from_secs(6));
        let later = rounds.begin(start + Duration::from_secs(90), quiet);
        assert_ne!(later.turn, first.turn);
    }
}
