//! Calls that were seen already: requests show the whole conversation again and again.

use std::collections::HashSet;

/// How many calls are remembered in each of two halves. Eight bytes each.
const HALF: usize = 500_000;

/// Hashes of calls. When a half is full, the older half is forgotten.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    young: HashSet<u64>,
    old: HashSet<u64>,
}

impl Shown {
    /// Whether this call is new; from now on it is not.
    pub(crate) fn is_new(&mut self, call: u64) -> bool {
        if self.young.contains(&call) || self.old.contains(&call) {
            return false;
        }
        if self.young.len() >= HALF {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(call)
    }

    pub(crate) fn save(&self) -> Vec<u64> {
        self.old.iter().chain(&self.young).copied().collect()
    }

    pub(crate) fn resume(saved: Vec<u64>) -> Self {
        let mut shown = Shown::default();
        for call in saved {
            shown.is_new(call);
        }
        shown
    }
}
