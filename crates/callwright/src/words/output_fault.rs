//! What can be wrong with a result, as data.

use std::borrow::Cow;

use super::code::{Class, Next};
use super::issue::Issue;
use crate::json::{Path, Problem};

/// What is wrong with a result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputFault {
    /// The tool promises JSON, and this is not JSON.
    Syntax {
        /// Counted from one.
        line: usize,
        /// Counted from one, in characters.
        column: usize,
        /// The nearest place in the value.
        path: Path,
        /// What is wrong there.
        problem: Problem,
        /// The text at that place: its beginning, escaped. Absent where the result may hold secrets.
        found: Option<String>,
    },
    /// The tool promises JSON, and answered nothing.
    Nothing,
    /// The bytes are not text.
    NotText {
        /// Where the first byte is that is not UTF-8, counted from zero.
        offset: usize,
    },
    /// Nested deeper than anything that is read.
    TooDeep,
    /// Too long to be read as JSON.
    TooLarge {
        /// How many bytes came.
        bytes: usize,
    },
    /// A value that JSON cannot hold, such as NaN.
    NoJson {
        /// Where it is.
        path: Path,
    },
    /// The JSON ends in the middle.
    CutOff {
        /// Where it stopped.
        path: Path,
    },
    /// It does not fit the schema.
    Violation(Vec<Issue>),
    /// It is an error, though the tool says that it worked.
    ErrorInDisguise {
        /// What gives it away.
        sign: ErrorSign,
        /// The beginning of it, escaped. Absent where the result may hold secrets.
        said: Option<String>,
        /// Whether the trouble passes.
        transient: bool,
    },
    /// It is empty, though the call names what it is about.
    Empty {
        /// The argument that names it.
        argument: Path,
        /// Its value, in quotes. Absent where it is a secret.
        value: Option<String>,
    },
    /// There is more to come.
    MorePages(MorePages),
    /// The text ends in the middle.
    CutText,
    /// The text says itself that something was left out.
    Omitted {
        /// The words that say so.
        mark: String,
    },
    /// It is longer than what is shown.
    TooLong {
        /// How many bytes of it are shown.
        shown: usize,
        /// How many there are.
        bytes: usize,
    },
    /// A check of the operator's, or of the tool's, objects.
    Finding(Finding),
}

/// What gives an error away that is dressed up as a success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorSign {
    /// A page of HTML where data was expected.
    Html,
    /// A status of HTTP that says so.
    Status(u16),
    /// A member such as `error` with something in it, or `success: false`.
    Member,
    /// Text that starts like an error.
    Text,
}

/// There is more to come: how the result says so, and how to get it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MorePages {
    /// How many items came, if that is known.
    pub items: Option<usize>,
    /// How many there are in all, if that is known.
    pub total: Option<u64>,
    /// The argument to call again with, and its value as JSON; `None` if no argument of the tool fits.
    pub next: Option<(String, String)>,
}

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
