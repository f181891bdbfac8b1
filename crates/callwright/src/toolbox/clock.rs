//! Waiting wherever a call runs: by Tokio's clock, or where there is none by a thread.

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

/// The output of a future, if it is ready in time. Ready at the last moment counts.
pub(super) async fn within<F: Future + Unpin>(limit: Duration, future: F) -> Option<F::Output> {
    // A future that is always busy uses up the task's budget in Tokio; the clock is polled all the same.
    match select(future, pin!(unconstrained(sleep(limit)))).await {
        Either::Left((output, _)) => Some(output),
        Either::Right(_) => None,
    }
}

/// Waits.
pub(super) async fn sleep(wait: Duration) {
    match by_tokio(wait) {
        Some(sleep) => sleep.await,
        None => by_thread(wait).await,
    }
}

/// Tokio's clock; `None` outside of Tokio, and in a runtime without one.
fn by_tokio(wait: Duration) -> Option<tokio::time::Sleep> {
    Handle::try_current().ok()?;
    // Tokio cannot be asked whether its clock is enabled: it panics if it is not.
    caught(|| tokio::time::sleep(wait)).ok()
}

/// A thread waits for us, until this future is dropped.
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
        // Without a thread there is no clock. Taking too long is better than failing at once.
        std::future::pending::<()>().await;
    }
}
