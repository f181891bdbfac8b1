//! The operator's own advice, instead of the table's hints.

use std::collections::BTreeMap;
use std::sync::Arc;

use ahash::AHashMap;

use crate::words::{Class, Code, Failure};

/// Recommendations that replace the table's hints, for a class or for a code. A code's count before its
/// class's, and a tool's own before those for all tools.
///
/// ```
/// use callwright::{failure::{Class, Code}, policy::Advice};
///
/// let advice = Advice::default()
///     .for_class(Class::Runtime, ["Tell the user that the shop is closed for maintenance."])
///     .for_code(Code::Timeout, ["Narrow the search to one month.", "Ask for ten results at most."]);
/// # drop(advice);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Advice {
    lines: AHashMap<Subject, Arc<[String]>>,
}

/// What a recommendation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Subject {
    Class(Class),
    Code(Code),
}

impl Advice {
    /// The same with recommendations for every failure of a class.
    #[must_use]
    pub fn for_class<S: Into<String>>(
        self,
        class: Class,
        lines: impl IntoIterator<Item = S>,
    ) -> Self {
        self.with(Subject::Class(class), lines)
    }

    /// The same with recommendations for every failure with a code.
    #[must_use]
    pub fn for_code<S: Into<String>>(self, code: Code, lines: impl IntoIterator<Item = S>) -> Self {
        self.with(Subject::Code(code), lines)
    }

    fn with<S: Into<String>>(
        mut self,
        subject: Subject,
        lines: impl IntoIterator<Item = S>,
    ) -> Self {
        let lines = lines.into_iter().map(Into::into).collect();
        self.lines.insert(subject, lines);
        self
    }

    /// The same with another's recommendations, which count where both say something.
    pub(crate) fn merged(mut self, other: &Advice) -> Self {
        let lines = other.lines.iter();
        self.lines
            .extend(lines.map(|(subject, lines)| (*subject, Arc::clone(lines))));
        self
    }

    /// Puts the advice into a failure; `false` if there is none for it.
    pub(crate) fn give(&self, failure: &mut Failure) -> bool {
        let subjects = [Subject::Code(failure.code), Subject::Class(failure.class())];
        let found = subjects.iter().find_map(|subject| self.lines.get(subject));
        if let Some(lines) = found {
            failure.advice = Some(Arc::clone(lines));
        }
        found.is_some()
    }

    /// All recommendations by the name of what they are about.
    pub(crate) fn by_name(&self) -> BTreeMap<&'static str, Vec<String>> {
        let name = |subject: &Subject| match subject {
            Subject::Class(class) => class.name(),
            Subject::Code(code) => code.name(),
        };
        let lines = self.lines.iter();
        lines
            .map(|(subject, lines)| (name(subject), lines.to_vec()))
            .collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}
