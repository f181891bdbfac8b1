//! A list that was sent as one text with commas: `"3, 4, 5"` for a list of numbers.
//!
//! Models write lists as people do. A guess, and only where the schema says what the pieces are: numbers,
//! or texts that it lists. A list of any texts may hold a comma (`"Paris, France"`). A comma between
//! digits may also be a decimal comma (`3,5`) or set off thousands (`1,234`): two readings, so it is refused.

use serde_json::Value as Schema;

use super::super::tolerant::is_number;
use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::{Number, Value};

pub(super) const RULE: Rule = Rule {
    name: "list_from_text",
    grade: Grade::Guess,
    cost: 3,
    up_to: Stakes::Changes,
    about: "A list of numbers or of allowed texts that was sent as one text, `\"3, 4, 5\"`, is split, if its commas only separate.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    let text = site.misplaced_text()?;
    let items = site.items()?;
    if !text.contains(',') {
        return None;
    }
    let pieces = || text.split(',').map(str::trim);
    if let Some(allowed) = items.get("enum") {
        let allowed = allowed.as_array()?;
        let is_allowed = |piece: &str| allowed.iter().any(|option| option.as_str() == Some(piece));
        let text_of = |piece: &str| Value::String(piece.to_owned().into());
        return pieces()
            .all(is_allowed)
            .then(|| site.replace(Value::Array(pieces().map(text_of).collect())));
    }
    let kind = items.get("type").and_then(Schema::as_str);
    let takes_numbers = matches!(kind, Some("integer" | "number"));
    if !takes_numbers || !pieces().all(is_number) || !separates(text, kind == Some("integer")) {
        return None;
    }
    let number = |piece: &str| Value::Number(Number::from_literal(piece.to_owned()));
    Some(site.replace(Value::Array(pieces().map(number).collect())))
}

/// Whether the commas between these numbers can only separate them. A comma with a blank after it separates, and so do
/// all of them if each number has a point. Commas of both kinds (`1,5, 2,5`) have two readings.
fn separates(text: &str, items_are_whole: bool) -> bool {
    let pieces: Vec<&str> = text.split(',').collect();
    let behind = pieces.get(1..).unwrap_or_default();
    let spaced = |piece: &&str| piece.starts_with(char::is_whitespace);
    if behind.iter().all(spaced) {
        return true;
    }
    if behind.iter().any(spaced) {
        return false;
    }
    if pieces.iter().all(|piece| piece.contains('.')) {
        return true;
    }
    // Between whole numbers no comma is a decimal one, but three digits may be a group of a larger number.
    let group = |piece: &&str| piece.len() == 3 && piece.bytes().all(|byte| byte.is_ascii_digit());
    // Decimal commas come in pairs of numbers, so an odd list of some length has none.
    let odd = pieces.len() % 2 == 1 && pieces.len() >= 5;
    (items_are_whole || odd) && !behind.iter().any(group)
}
