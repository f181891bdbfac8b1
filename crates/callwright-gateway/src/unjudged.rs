//! Why something passes without being judged. A bug of ours is one of the reasons: it never costs the client its
//! answer.

use std::panic::{AssertUnwindSafe, catch_unwind};

use callwright::wire::UnreadableAnswer;

/// Why the rest of an answer is not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unjudged {
    /// It cannot be read.
    Unreadable(UnreadableAnswer),
    /// Judging it failed because of a bug of ours.
    Defect,
}

impl Unjudged {
    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            Unjudged::Unreadable(reason) => reason.name(),
            Unjudged::Defect => "defect",
        }
    }
}

/// Runs a step; `None` if it panicked. Whatever it changed must then be discarded.
pub(crate) fn contained<T>(step: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(step)).ok()
}
