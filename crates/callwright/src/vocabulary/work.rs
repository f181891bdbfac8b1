//! Limits the work for one call besides parsing and validating it: counted, never timed.
//!
//! Repair tries edits, and suggestions compare names. Both may take two or three milliseconds and no more, whatever a model
//! sends and however large a schema is. Work that runs out of steps is abandoned, and the plain refusal is returned.

use std::cell::Cell;

/// A budget of steps. A step is about four instructions, a nanosecond.
#[derive(Debug)]
pub(crate) struct Work {
    left: Cell<usize>,
}

impl Work {
    pub(crate) fn new(steps: usize) -> Self {
        Work {
            left: Cell::new(steps),
        }
    }

    /// Takes this many steps; `false` if there are not enough left, which also uses up the rest.
    pub(crate) fn take(&self, steps: usize) -> bool {
        let left = self.left.get().checked_sub(steps);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    /// How many steps are left; zero if any work was abandoned.
    pub(crate) fn left(&self) -> usize {
        self.left.get()
    }
}
