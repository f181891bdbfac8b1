//! Work that keeps its thread for longer than a task should.
//!
//! Takes a function; returns what it returns. Other tasks of the thread move to another thread meanwhile, where the runtime has
//! one. It starts no threads and changes nothing about the work.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// Does the work here, without holding up other tasks. Not for a `LocalSet`, whose tasks cannot move.
pub fn unblocked<R>(work: impl FnOnce() -> R) -> R {
    let flavor = Handle::try_current().map(|handle| handle.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => block_in_place(work),
        _ => work(),
    }
}
