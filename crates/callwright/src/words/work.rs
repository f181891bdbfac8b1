//! How much may be done for one call beside reading and judging it: counted, never timed.
//!
//! Repair tries edits, and suggestions compare names. Both are worth two or three milliseconds and no more, whatever a model
//! sends and however large a schema is. What runs out of steps leaves its work undone, and the plain refusal goes out.

use std::cell::Cell;

/// A number of steps that may be taken. A step is some four instructions, a nanosecond.
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

    /// Takes so many steps; `false` if there are not enough left, and then none are.
    pub(crate) fn take(&self, steps: usize) -> bool {
        let left = self.left.get().checked_sub(steps);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    /// How many steps are left; none, if something was left undone.
    pub(crate) fn left(&self) -> usize {
        self.left.get()
    }
}
