//! One repair, as data: where, by which rule, and how far it departs from what was sent.

use super::json::{Path, Value};
use super::macros::named;

named! {
    /// How far an edit departs from what was sent.
    pub enum Grade {
        /// No information changed: a trailing comma, `"5"` for an integer.
        Lossless = "lossless",
        /// Information was dropped: a key that the schema forbids.
        Lossy = "lossy",
        /// An intent was inferred: the closest enum value, a renamed key.
        Guess = "guess",
    }
}

/// What an edit does, whichever rule makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EditKind {
    /// The tool was called by another name.
    ToolName,
    /// A piece of text was read as another one, or skipped if that is empty.
    Read,
    /// A value took the place of another.
    Replaced,
    /// A missing key was added.
    Added,
    /// A key was left out with its value.
    LeftOut,
    /// A key got another name.
    Renamed,
}

/// One repair.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edit {
    /// Where: a JSON Pointer into the arguments as they were before this edit.
    pub path: Path,
    /// The stable name of the rule.
    pub rule: &'static str,
    pub(crate) kind: EditKind,
    /// How far it departs from what was sent.
    pub grade: Grade,
    /// The previous value; `null` for a key that was missing.
    pub before: Value<'static>,
    /// The new value; `null` for a key that was left out.
    pub after: Value<'static>,
    /// A form that may be shown, if secrets prevent showing the edit as it is.
    pub(crate) masked: Option<Box<Edit>>,
}

impl Edit {
    pub(crate) const TOOL_NAME: &str = "tool_name";

    /// The tool was called by another name.
    pub(crate) fn tool_name(sent: &str, meant: &str) -> Edit {
        Edit {
            path: Path::root(),
            rule: Edit::TOOL_NAME,
            kind: EditKind::ToolName,
            grade: Grade::Lossless,
            before: Value::String(sent.to_owned().into()),
            after: Value::String(meant.to_owned().into()),
            masked: None,
        }
    }

    /// Whether none of these edits changes any information.
    pub(crate) fn are_lossless(edits: &[Edit]) -> bool {
        edits.iter().all(|edit| edit.grade == Grade::Lossless)
    }

    /// The edit in a form that may be shown: without the values that the tool's schema marks as secrets.
    pub fn shown(&self) -> &Edit {
        self.masked.as_deref().unwrap_or(self)
    }
}

/// An edit that was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trial {
    /// What was changed.
    pub edit: Edit,
    /// Which of two rules of one grade is tried first.
    pub cost: u8,
    /// Whether the validator had fewer objections afterwards.
    pub helps: bool,
}
