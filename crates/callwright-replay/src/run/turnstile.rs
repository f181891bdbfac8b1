//! Lets pieces pass one by one, in order.
//!
//! Pieces are judged on all cores at once, but a conversation must be processed from its beginning. A piece waits
//! here until all pieces before it have passed. It has passed when its ticket is dropped, so a piece that fails does
//! not block the others, and one that has nothing to wait for need not wait.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// See the module documentation.
#[derive(Debug, Default)]
pub struct Turnstile {
    queue: Mutex<TurnQueue>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct TurnQueue {
    /// All pieces before this one have passed.
    next: usize,
    /// Pieces that passed before their turn.
    early: BTreeSet<usize>,
}

/// A piece's place in the queue.
#[derive(Debug)]
pub struct TurnTicket<'t> {
    turnstile: &'t Turnstile,
    turn: usize,
}

impl Turnstile {
    /// The place of a piece in the queue. Pieces are numbered from zero, without gaps.
    pub fn ticket(&self, turn: usize) -> TurnTicket<'_> {
        TurnTicket {
            turnstile: self,
            turn,
        }
    }

    fn lock(&self) -> MutexGuard<'_, TurnQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TurnTicket<'_> {
    /// Waits until all pieces before this one have passed.
    pub fn wait(&self) {
        let mut queue = self.turnstile.lock();
        while queue.next < self.turn {
            queue = self
                .turnstile
                .moved
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for TurnTicket<'_> {
    fn drop(&mut self) {
        let mut queue = self.turnstile.lock();
        queue.early.insert(self.turn);
        while queue.early.first() == Some(&queue.next) {
            queue.early.pop_first();
            queue.next += 1;
        }
        self.turnstile.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn all_pieces_pass_in_order() {
        let (turnstile, passed) = (Turnstile::default(), Mutex::new(Vec::new()));
        thread::scope(|scope| {
            for turn in (0..20).rev() {
                let (turnstile, passed) = (&turnstile, &passed);
                scope.spawn(move || {
                    let ticket = turnstile.ticket(turn);
                    if turn % 3 != 0 {
                        ticket.wait();
                        passed.lock().expect("no panic").push(turn);
                    }
                });
            }
        });
        let expected: Vec<usize> = (0..20).filter(|turn| turn % 3 != 0).collect();
        assert_eq!(passed.into_inner().expect("no panic"), expected);
    }
}
