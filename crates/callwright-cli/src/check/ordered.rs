//! Work on all cores, results in order.
//!
//! Chunk n goes to worker n modulo the number of workers, and results are fetched in the same turn,
//! so nothing has to be sorted. The channels are short: whoever is ahead waits, and memory stays the
//! same however long the input is.

use std::io;
use std::num::NonZero;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// How many chunks may wait before and behind each worker: one to work on while the next is fetched.
const WAITING: usize = 2;

/// Maps items in parallel; the results come in the order of the items. Ends early when the results
/// are dropped.
pub(super) fn map<T, U, I, F>(items: I, work: F) -> impl Iterator<Item = io::Result<U>>
where
    T: Send + 'static,
    U: Send + 'static,
    I: Iterator<Item = io::Result<T>> + Send + 'static,
    F: Fn(T) -> U + Clone + Send + 'static,
{
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let mut inboxes = Vec::with_capacity(workers);
    let mut outboxes = Vec::with_capacity(workers);
    for _ in 0..workers {
        let (inbox, todo) = sync_channel::<io::Result<T>>(WAITING);
        let (done, outbox) = sync_channel(WAITING);
        let work = work.clone();
        thread::spawn(move || run_worker(&todo, &done, work));
        inboxes.push(inbox);
        outboxes.push(outbox);
    }
    let reader = thread::spawn(move || {
        let mut sent = 0_usize;
        for (item, inbox) in items.zip(inboxes.iter().cycle()) {
            inbox.send(item).ok()?;
            sent += 1;
        }
        Some(sent)
    });
    let mut state = Some((outboxes, reader));
    let mut received = 0_usize;
    std::iter::from_fn(move || {
        let (outboxes, _) = state.as_ref()?;
        if let Ok(result) = outboxes[received % workers].recv() {
            received += 1;
            return Some(result);
        }
        // The first worker that has nothing more to give ends the turn, if all items were worked on.
        // Letting go of the others first ends a reader that waits for one of them.
        let (outboxes, reader) = state.take()?;
        drop(outboxes);
        match reader.join() {
            Ok(Some(sent)) if sent == received => None,
            _ => Some(Err(io::Error::other(
                "a worker stopped; please report this",
            ))),
        }
    })
    .fuse()
}

fn run_worker<T, U>(
    todo: &Receiver<io::Result<T>>,
    done: &SyncSender<io::Result<U>>,
    work: impl Fn(T) -> U,
) {
    for item in todo {
        if done.send(item.map(&work)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order() {
        let items = (0..1_000).map(Ok);
        let doubled: Vec<i32> = map(items, |n| {
            if n % 7 == 0 {
                thread::yield_now();
            }
            n * 2
        })
        .map(|result| result.expect("no error"))
        .collect();
        assert_eq!(doubled, (0..1_000).map(|n| n * 2).collect::<Vec<_>>());
    }

    #[test]
    fn an_endless_input_may_be_left() {
        let items = (0..).map(Ok);
        let first: Vec<i32> = map(items, |n| n)
            .take(3)
            .map(|result| result.expect("no error"))
            .collect();
        assert_eq!(first, [0, 1, 2]);
    }

    #[test]
    fn a_worker_that_dies_is_an_error_not_the_end() {
        let items = (0..1_000).map(Ok);
        let results: Vec<_> = map(items, |n| {
            assert!(n != 500, "on purpose");
            n
        })
        .collect();
        assert!(results.last().is_some_and(Result::is_err));
    }

    #[test]
    fn errors_come_in_their_turn() {
        let items = [Ok(1), Err(io::Error::other("gone")), Ok(3)].into_iter();
        let results: Vec<_> = map(items, |n| n).collect();
        assert_eq!(results.len(), 3);
        assert!(results[1].is_err());
    }
}
