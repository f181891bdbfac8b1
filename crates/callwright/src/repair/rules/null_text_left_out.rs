//! An optional argument that was sent as a text for null: `"null"`, `"None"` or an empty text. It is left out.
//!
//! A guess, and only for tools that read: the text may be all that is left of a value. It counts where no text is
//! accepted, or only a few that are listed; where any text of a certain form is accepted, an empty one may be meant to
//! clear a value. `"undefined"` and `"NaN"` are variables that were never filled in, and are always refused.

use super::super::{Grade, Stakes};
use super::null_left_out::leave_out;
use super::{Change, Rule, Site};
use crate::words::IssueCode;

pub(super) const RULE: Rule = Rule {
    name: "null_text_left_out",
    grade: Grade::Guess,
    cost: 2,
    up_to: Stakes::Reads,
    about: "An optional argument that was sent as `\"null\"`, `\"None\"` or an empty text is left out.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    let listed = || {
        let text = site.value()?.as_str()?;
        (site.code() == IssueCode::Enum).then_some(text)
    };
    let text = site.misplaced_text().or_else(listed)?;
    matches!(text.trim(), "" | "null" | "None").then_some(())?;
    leave_out(site)
}
