//! A list that was sent as one text with commas: `"3, 4, 5"` for a list of numbers.
//!
//! Models write lists as people do. Lossless, and only where the schema says what the pieces are (numbers, or texts that
//! it lists) and the commas can only separate them: each has a blank after it, or each number has a point. A list of any
//! texts may hold a comma (`"Paris, France"`). Commas of both kinds (`1,5, 2,5`) have two readings.

use serde_json::Value as Schema;

use super::super::tolerant::is_number;
use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::{Number, Value};

pub(super) const RULE: Rule = Rule {
    name: "list_from_text",
    grade: Grade::Lossless,
    cost: 3,
    up_to: Stakes::Changes,
    about: "A list of numbers or of allowed texts that was sent as one text, `\"3, 4, 5\"`, is split, if its commas only separate.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    let text = site.misplaced_text()?;
    if let Some(allowed) = site.items()?.get("enum") {
        let allowed = allowed.as_array()?;
        let is_allowed = |piece: &&str| allowed.iter().any(|option| option.as_str() == Some(piece));
        let text_of = |piece: &str| Value::String(piece.to_owned().into());
        let pieces: Vec<&str> = text.split(',').map(str::trim).collect();
        return (pieces.len() > 1 && pieces.iter().all(is_allowed))
            .then(|| site.replace(Value::Array(pieces.into_iter().map(text_of).collect())));
    }
    let pieces: Vec<&str> = text.split(',').collect();
    let behind = pieces.get(1..)?;
    let spaced = behind
        .iter()
        .all(|piece| piece.starts_with(char::is_whitespace));
    let pointed = pieces.iter().all(|piece| piece.contains('.'));
    if spaced || pointed {
        numbers(site, &pieces)
    } else {
        None
    }
}

/// The pieces as a list of numbers, if the schema wants one and that is what they are.
pub(super) fn numbers(site: &Site<'_>, pieces: &[&str]) -> Option<Change> {
    let kind = site.items()?.get("type").and_then(Schema::as_str);
    let pieces = pieces.iter().map(|piece| piece.trim());
    if !matches!(kind, Some("integer" | "number"))
        || pieces.len() < 2
        || !pieces.clone().all(is_number)
    {
        return None;
    }
    let number = |piece: &str| Value::Number(Number::from_literal(piece.to_owned()));
    Some(site.replace(Value::Array(pieces.map(number).collect())))
}
