//! The guards of this process, whose event sinks must be closed before the interpreter ends.
//!
//! A sink has a thread that may call Python. So sinks are closed with the interpreter lock released, before the
//! interpreter shuts down, and started again in a forked process.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use callwright::event::Sinks;
use callwright_bindings::Guard;
use pyo3::prelude::*;

use crate::events::Recipe;
use crate::keys::Keys;

/// How long to wait for the last events of a guard: twice the worst case of a busy disk.
const LAST_WAIT: Duration = Duration::from_secs(2);

static GUARDS: Mutex<Vec<Weak<GuardHandle>>> = Mutex::new(Vec::new());

/// A guard, its keys, and how its sinks are started.
pub(crate) struct GuardHandle {
    pub(crate) guard: Guard,
    pub(crate) keys: Keys,
    recipe: Recipe,
}

impl GuardHandle {
    /// Starts the sinks of a guard.
    pub(crate) fn start(guard: Guard, keys: Keys, recipe: Recipe) -> PyResult<Arc<Self>> {
        let handle = Arc::new(GuardHandle {
            guard,
            keys,
            recipe,
        });
        if !handle.recipe.is_empty() {
            handle.guard.set_sinks(handle.recipe.start()?);
            let mut guards = GUARDS.lock().unwrap_or_else(PoisonError::into_inner);
            guards.retain(|guard| guard.strong_count() > 0);
            guards.push(Arc::downgrade(&handle));
        }
        Ok(handle)
    }
}

impl Drop for GuardHandle {
    fn drop(&mut self) {
        let sinks = self.guard.set_sinks(Sinks::default());
        if !sinks.is_empty() {
            let mut sinks = Some(sinks);
            // The sinks' threads may be waiting for the interpreter lock.
            let closed = Python::try_attach(|py| {
                let sinks = sinks.take();
                py.detach(|| drop(sinks));
            });
            if closed.is_none() {
                // The interpreter is gone, and waiting for a thread that calls it would never end.
                std::mem::forget(sinks);
            }
        }
    }
}

fn living() -> Vec<Arc<GuardHandle>> {
    let guards = GUARDS.lock().unwrap_or_else(PoisonError::into_inner);
    guards.iter().filter_map(Weak::upgrade).collect()
}

/// Delivers the last events; called when the interpreter ends. Returns how many were lost.
#[pyfunction]
pub(crate) fn close_all(py: Python<'_>) -> u64 {
    let guards = living();
    py.detach(|| {
        let close =
            |guard: &Arc<GuardHandle>| guard.guard.set_sinks(Sinks::default()).close(LAST_WAIT);
        guards.iter().map(close).sum()
    })
}

/// Starts the sinks again in a forked process: threads are not copied.
#[pyfunction]
pub(crate) fn after_fork() -> PyResult<()> {
    for handle in living() {
        let stopped = handle.guard.set_sinks(handle.recipe.start()?);
        // Its threads are those of the parent.
        std::mem::forget(stopped);
    }
    Ok(())
}
