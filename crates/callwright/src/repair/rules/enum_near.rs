//! An allowed value with a slip: `"shiped"` for `"shipped"`.
//!
//! A guess, where exactly one allowed value is near (the one that the feedback would propose) and one
//! slip of the pen away.

use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::Value;
use crate::nearest::is_slip;
use crate::words::{Correction, IssueCode};

pub(super) const RULE: Rule = Rule {
    name: "enum_near",
    grade: Grade::Guess,
    cost: 1,
    up_to: Stakes::Changes,
    about: "An allowed value with one slip, `\"shiped\"`, becomes the only one that is near, unless it is a word of its own.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    if !matches!(site.code(), IssueCode::Enum | IssueCode::Const) {
        return None;
    }
    let Some(Correction::Use(meant)) = site.finding.issue.suggestion.clone() else {
        return None;
    };
    let sent = site.value()?.as_str()?;
    is_slip(sent, &meant).then(|| site.replace(Value::String(meant.into())))
}
