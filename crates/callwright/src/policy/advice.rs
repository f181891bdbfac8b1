//! The operator's own advice, which replaces the hints of the code table.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::vocabulary::{Class, Code, Failure};

/// Recommendations that replace the hints of the code table, for a class or a code. A code takes precedence over its class, and
/// a tool's own advice over the advice for all tools.
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
    /// Keyed by the name of a class or a code; no class shares its name with a code.
    lines: BTreeMap<&'static str, Arc<[String]>>,
}

impl Advice {
    /// The same advice, plus recommendations for every failure of a class.
    #[must_use]
    pub fn for_class<S: Into<String>>(
        self,
        class: Class,
        lines: impl IntoIterator<Item = S>,
    ) -> Self {
        self.with(class.name(), lines)
    }

    /// The same advice, plus recommendations for every failure with a code.
    #[must_use]
    pub fn for_code<S: Into<String>>(self, code: Code, lines: impl IntoIterator<Item = S>) -> Self {
        self.with(code.name(), lines)
    }

    fn with<S: Into<String>>(
        mut self,
        about: &'static str,
        lines: impl IntoIterator<Item = S>,
    ) -> Self {
        let lines = lines.into_iter().map(Into::into).collect();
        self.lines.insert(about, lines);
        self
    }

    /// The same advice, overridden by another's recommendations.
    pub(crate) fn merged(mut self, other: &Advice) -> Self {
        self.lines.extend(other.lines.clone());
        self
    }

    /// Adds the advice to a failure; returns `false` if there is none for it.
    pub(crate) fn give(&self, failure: &mut Failure) -> bool {
        let names = [failure.code.name(), failure.class().name()];
        let found = names.iter().find_map(|name| self.lines.get(name));
        if let Some(lines) = found {
            failure.advice = Some(Arc::clone(lines));
        }
        found.is_some()
    }

    /// All recommendations, by the name of their class or code.
    pub(crate) fn by_name(&self) -> BTreeMap<&'static str, Vec<String>> {
        let lines = self.lines.iter();
        lines.map(|(name, lines)| (*name, lines.to_vec())).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_class_shares_its_name_with_a_code() {
        for (class, _) in Class::ALL {
            assert_eq!(Code::from_name(class), None);
        }
    }
}
