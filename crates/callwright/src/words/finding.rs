//! What a semantic check objects to in a result that fits its schema.

use std::borrow::Cow;

use crate::words::{Class, Next};

/// Something that the schema cannot say: the result is only a part, or makes no sense.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What kind of objection it is.
    pub kind: FindingKind,
    /// The stable name, for programs: `empty_first_page`.
    pub code: Cow<'static, str>,
    /// What is wrong, in one sentence for the model.
    pub detail: Cow<'static, str>,
    /// What to do about it, in one sentence for the model.
    pub hint: Option<Cow<'static, str>>,
    /// What to do next, where that differs from what is usual for the kind.
    pub next: Option<Next>,
}

/// The kinds of objection, which need different next steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingKind {
    /// It is not what the tool promises. The model does not get it.
    SchemaMismatch,
    /// It is good and not all. The model gets it, and how to go on.
    PartialData,
    /// It has the right form and makes no sense. The model does not get it.
    SemanticGarbage,
}

impl FindingKind {
    /// All kinds with the names of their classes.
    pub const ALL: [(&'static str, FindingKind); 3] = [
        ("schema_mismatch", FindingKind::SchemaMismatch),
        ("partial_data", FindingKind::PartialData),
        ("semantic_garbage", FindingKind::SemanticGarbage),
    ];

    /// The class of failure.
    pub fn class(self) -> Class {
        match self {
            FindingKind::SchemaMismatch => Class::SchemaMismatch,
            FindingKind::PartialData => Class::PartialData,
            FindingKind::SemanticGarbage => Class::SemanticGarbage,
        }
    }
}

impl Finding {
    /// An objection of a kind, with a code and a sentence.
    pub fn new(
        kind: FindingKind,
        code: impl Into<Cow<'static, str>>,
        detail: impl Into<Cow<'static, str>>,
    ) -> Self {
        Finding {
            kind,
            code: code.into(),
            detail: detail.into(),
            hint: None,
            next: None,
        }
    }

    /// The result is good and not all.
    pub fn partial(
        code: impl Into<Cow<'static, str>>,
        detail: impl Into<Cow<'static, str>>,
    ) -> Self {
        Finding::new(FindingKind::PartialData, code, detail)
    }

    /// The result makes no sense.
    pub fn garbage(
        code: impl Into<Cow<'static, str>>,
        detail: impl Into<Cow<'static, str>>,
    ) -> Self {
        Finding::new(FindingKind::SemanticGarbage, code, detail)
    }

    /// The same with what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with another next step.
    #[must_use]
    pub fn with_next(mut self, next: Next) -> Self {
        self.next = Some(next);
        self
    }
}
