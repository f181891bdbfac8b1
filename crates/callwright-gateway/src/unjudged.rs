//! Why something passes without being judged. A defect of ours is one of the reasons: it never costs the client its answer.

use std::panic::{AssertUnwindSafe, catch_unwind};

use callwright::wire::UnreadableAnswer;

/// Why the rest of an answer is not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unjudged {
    /// It cannot be read.
    Unreadable(UnreadableAnswer),
    /// Judging it failed for a reason that is not the answer's.
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

/// Does something; `None` if it panicked. What it changes has to be thrown away then.
pub(crate) fn contained<T>(step: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(step)).ok()
}
