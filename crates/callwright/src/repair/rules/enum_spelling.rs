//! An allowed value in another spelling: `"Shipped"` or `"in progress"` for `"shipped"`, `"in_progress"`.
//!
//! Lossless where exactly one allowed value is the same but for case, separators and white space. In words
//! of three letters case may be the meaning (`cal`, `Cal`), so there all allowed values must be written
//! alike: then it is a convention.

use serde_json::Value as Schema;

use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::Value;
use crate::nearest::same_spelling;
use crate::validate::IssueCode;

pub(super) const RULE: Rule = Rule {
    name: "enum_spelling",
    grade: Grade::Lossless,
    cost: 1,
    up_to: Stakes::Destroys,
    about: "An allowed value in another spelling, `\"In Progress\"` for `\"in_progress\"`, is written as the schema does.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    if !matches!(site.code(), IssueCode::Enum | IssueCode::Const) {
        return None;
    }
    let text = site.value()?.as_str()?;
    let node = site.node()?;
    let allowed: Vec<&str> = match site.code() {
        IssueCode::Enum => node
            .get("enum")?
            .as_array()?
            .iter()
            .filter_map(Schema::as_str)
            .collect(),
        _ => node.get("const")?.as_str().into_iter().collect(),
    };
    let short = text.chars().filter(|c| c.is_alphabetic()).count() <= 3;
    if short && !written_alike(&allowed) {
        return None;
    }
    let mut same = allowed
        .into_iter()
        .filter(|option| same_spelling(option, text));
    match (same.next(), same.next()) {
        (Some(only), None) => Some(site.replace(Value::String(only.to_owned().into()))),
        _ => None,
    }
}

/// Whether all are written in small letters, or all in capitals, or all with a capital in front.
fn written_alike(allowed: &[&str]) -> bool {
    let small = |text: &&str| !text.contains(char::is_uppercase);
    let capital = |text: &&str| !text.contains(char::is_lowercase);
    let in_front = |text: &&str| {
        text.starts_with(char::is_uppercase) && !text.chars().skip(1).all(char::is_uppercase)
    };
    allowed.iter().all(small) || allowed.iter().all(capital) || allowed.iter().all(in_front)
}
