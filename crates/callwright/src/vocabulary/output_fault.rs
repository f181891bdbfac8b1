//! What can be wrong with a result, as data.

use std::borrow::Cow;

use super::code::{Class, Next};
use super::issue::Issue;
use super::macros::named;
use crate::json::{Path, Problem};

/// What is wrong with a result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputFault {
    /// The tool declares JSON, and this is not JSON.
    Syntax {
        /// Counted from one.
        line: usize,
        /// Counted from one, in characters.
        column: usize,
        /// The closest place in the value.
        path: Path,
        /// What is wrong there.
        problem: Problem,
        /// The text at that place: its beginning, escaped. Absent if the result may contain secrets.
        found: Option<String>,
    },
    /// The tool declares JSON, and returned nothing.
    Nothing,
    /// The bytes are not text.
    NotText {
        /// The offset of the first byte that is not UTF-8, counted from zero.
        offset: usize,
    },
    /// Nested deeper than anything that is parsed.
    TooDeep,
    /// Too long to be parsed as JSON.
    TooLarge {
        /// How many bytes it has.
        bytes: usize,
    },
    /// A value that JSON cannot represent, such as NaN.
    NoJson {
        /// Where it is.
        path: Path,
    },
    /// The JSON ends in the middle.
    CutOff {
        /// Where it stopped.
        path: Path,
    },
    /// It does not match the schema.
    Violation(Vec<Issue>),
    /// It is an error, although the tool reports success.
    ErrorInDisguise {
        /// What reveals it.
        sign: ErrorSign,
        /// Its beginning, escaped. Absent if the result may contain secrets.
        said: Option<String>,
        /// Whether the failure is transient.
        transient: bool,
    },
    /// It is empty, although the call names its subject.
    Empty {
        /// The argument that names the subject.
        argument: Path,
        /// Its value, in quotes. Absent if it is a secret.
        value: Option<String>,
    },
    /// There are more pages.
    MorePages(MorePages),
    /// The text ends in the middle.
    CutText,
    /// The text itself says that something was left out.
    Omitted {
        /// The words that say so.
        mark: String,
    },
    /// It is longer than the part that is shown.
    TooLong {
        /// How many bytes of it are shown.
        shown: usize,
        /// How many there are.
        bytes: usize,
    },
    /// A check of the operator or of the tool objects.
    Finding(Finding),
}

/// What reveals an error that looks like a success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorSign {
    /// An HTML page where data was expected.
    Html,
    /// An HTTP status that means failure.
    Status(u16),
    /// A non-empty member such as `error`, or `success: false`.
    Member,
    /// Text that starts like an error.
    Text,
}

/// There are more pages: how the result says so, and how to get them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MorePages {
    /// How many items were returned, if known.
    pub items: Option<usize>,
    /// How many there are in total, if known.
    pub total: Option<u64>,
    /// The argument to repeat the call with, and its value as JSON; `None` if no argument of the tool fits.
    pub next: Option<(String, String)>,
}

/// Something that a schema cannot express: the result is only a part, or makes no sense.
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
    /// What to do next, if that differs from what is usual for the kind.
    pub next: Option<Next>,
}

named! {
    /// The kinds of objection, which need different next steps.
    pub enum FindingKind {
        /// It is not what the tool declares. The model does not get it.
        SchemaMismatch = "schema_mismatch",
        /// It is valid, but incomplete. The model gets it, and how to continue.
        PartialData = "partial_data",
        /// It has the right form, but makes no sense. The model does not get it.
        SemanticGarbage = "semantic_garbage",
    }
}

impl FindingKind {
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

    /// The result is valid, but incomplete.
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

    /// The same finding with a hint what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same finding with another next step.
    #[must_use]
    pub fn with_next(mut self, next: Next) -> Self {
        self.next = Some(next);
        self
    }
}
