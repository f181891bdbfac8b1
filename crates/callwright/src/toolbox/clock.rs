//! Timers for wherever a call runs: Tokio's clock, or a thread if there is none.

use std::future::Future;
use std::pin::pin;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::unconstrained;

use crate::panics::caught;

/// The output of a future if it is ready in time. Ready at the last moment counts.
pub(super) async fn within<F: Future + Unpin>(limit: Duration, future: F) -> Option<F::Output> {
    // A future that is always busy uses up the task's budget in Tokio; the clock must be polled anyway.
    match select(future, pin!(unconstrained(sleep(limit)))).await {
        Either::Left((output, _)) => Some(output),
        Either::Right(_) => None,
    }
}

/// Waits for this long.
pub(super) async fn sleep(wait: Duration) {
    match by_tokio(wait) {
        Some(sleep) => sleep.await,
        None => by_thread(wait).await,
    }
}

/// Tokio's clock; `None` outside Tokio, and in a runtime without time enabled.
fn by_tokio(wait: Duration) -> Option<tokio::time::Sleep> {
    Handle::try_current().ok()?;
    // Tokio has no way to ask whether time is enabled: it panics if it is not.
    caught(|| tokio::time::sleep(wait)).ok()
}

/// Waits on a thread, until this future is dropped.
async fn by_thread(wait: Duration) {
    let (end, ended) = oneshot::channel::<()>();
    let (_waiting, dropped) = mpsc::channel::<()>();
    let started = thread::Builder::new()
        .name("callwright-clock".to_owned())
        .spawn(move || {
            let _ = dropped.recv_timeout(wait);
            drop(end);
        });
    if started.is_ok() {
        let _ = ended.await;
    } else {
        // Without a thread there is no clock. Taking too long is better than failing immediately.
        std::future::pending::<()>().await;
    }
}
