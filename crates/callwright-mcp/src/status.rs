//! Counts of what happened, one line per tool.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use callwright::Settled;
use callwright::check::OutputVerdict;
use callwright::failure::{Class, Failure};
use callwright::internal::first_bytes;
use callwright::repair::Edit;
use parking_lot::Mutex;

/// How many names are counted individually: a model that invents names must not use up our memory.
const MOST_NAMES: usize = 10_000;

/// How many bytes of a name are kept. Model providers accept 64; the rest is said by the first 128.
const LONGEST_NAME: usize = 128;

/// The counts of all sessions.
#[derive(Debug, Default)]
pub struct Status {
    tools: Mutex<BTreeMap<String, CallCounts>>,
    unreadable: AtomicU64,
}

/// What happened to the calls of one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CallCounts {
    /// How many calls arrived.
    pub calls: u64,
    /// How many passed because no schema could judge them.
    pub unjudged: u64,
    /// How many were repaired.
    pub repaired: u64,
    /// How many were refused because they are invalid.
    pub refused: u64,
    /// How many were refused as repetitions or loops.
    pub stopped: u64,
    /// How many results were invalid or incomplete.
    pub bad_results: u64,
    /// How many calls failed in the tool itself.
    pub failed: u64,
    /// How many results came with a notice.
    pub notices: u64,
}

impl Status {
    pub(crate) fn admitted(&self, tool: &str, edits: &[Edit]) {
        self.count(tool, |counts| {
            counts.calls += 1;
            counts.repaired += u64::from(!edits.is_empty());
        });
    }

    /// Counts a call that passed because no schema could judge it.
    pub(crate) fn unjudged(&self, tool: &str) {
        self.count(tool, |counts| counts.unjudged += 1);
    }

    /// Counts a client message that is malformed or ambiguous.
    pub(crate) fn could_not_read(&self) {
        self.unreadable.fetch_add(1, Ordering::Relaxed);
    }

    /// How many client messages could not be read. With `strict`, none of them reached a server.
    pub fn unreadable(&self) -> u64 {
        self.unreadable.load(Ordering::Relaxed)
    }

    pub(crate) fn refused(&self, tool: &str, failure: &Failure) {
        self.count(tool, |counts| {
            counts.calls += 1;
            match failure.class() {
                Class::Budget | Class::Loop => counts.stopped += 1,
                _ => counts.refused += 1,
            }
        });
    }

    pub(crate) fn settled(&self, tool: &str, settled: &Settled<'_>) {
        self.count(tool, |counts| {
            match settled.result.as_ref().map(|result| result.verdict) {
                Some(OutputVerdict::Failed) => counts.failed += 1,
                Some(OutputVerdict::Passed) | None => {}
                Some(_) => counts.bad_results += 1,
            }
            counts.notices += u64::from(settled.notice().is_some());
        });
    }

    /// The counts by tool.
    pub fn tools(&self) -> BTreeMap<String, CallCounts> {
        self.tools.lock().clone()
    }

    fn count(&self, tool: &str, add: impl FnOnce(&mut CallCounts)) {
        let tool = first_bytes(tool, LONGEST_NAME);
        let mut tools = self.tools.lock();
        if let Some(counts) = tools.get_mut(tool) {
            return add(counts);
        }
        let name = if tools.len() < MOST_NAMES {
            tool
        } else {
            "…"
        };
        add(tools.entry(name.to_owned()).or_default());
    }
}

impl fmt::Display for CallCounts {
    /// `12 calls, 2 repaired, 1 refused`; with `#`, for a guard that only warns, `1 would have been refused`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.calls == 1 { "" } else { "s" };
        write!(f, "{} call{plural}", self.calls)?;
        let would = if f.alternate() {
            "would have been "
        } else {
            ""
        };
        for (count, would, what) in [
            (self.unjudged, "", "unjudged"),
            (self.repaired, would, "repaired"),
            (self.refused, would, "refused"),
            (self.stopped, would, "stopped as repetitions"),
            (self.failed, "", "failed"),
            (self.bad_results, "", "with a bad result"),
            (self.notices, "", "with a notice"),
        ] {
            if count > 0 {
                write!(f, ", {count} {would}{what}")?;
            }
        }
        Ok(())
    }
}
