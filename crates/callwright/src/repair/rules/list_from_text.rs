//! A list that was sent as one text with commas: `"3, 4, 5"` for a list of numbers.
//!
//! Models write lists as people do. A guess, and only where the schema says what the pieces are: numbers,
//! or texts that it lists. A list of any texts may hold a comma (`"Paris, France"`). A comma between
//! digits may also be a decimal comma (`3,5`) or set off thousands (`1,234`): then nobody knows.

use serde_json::Value as Schema;

use super::super::Grade;
use super::super::tolerant::is_number;
use super::{Change, Rule, Site};
use crate::json::{Number, Value};

pub(super) const RULE: Rule = Rule {
    name: "list_from_text",
    grade: Grade::Guess,
    cost: 3,
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
    let takes_numbers = matches!(
        items.get("type").and_then(Schema::as_str),
        Some("integer" | "number")
    );
    if !takes_numbers || !pieces().all(is_number) || !separates(text) {
        return None;
    }
    let number = |piece: &str| Value::Number(Number::from_literal(piece.to_owned()));
    Some(site.replace(Value::Array(pieces().map(number).collect())))
}

/// Whether the commas between these numbers can only separate them.
fn separates(text: &str) -> bool {
    let spaced = text
        .split(',')
        .skip(1)
        .all(|piece| piece.starts_with(char::is_whitespace));
    if spaced {
        return true;
    }
    let pieces: Vec<&str> = text.split(',').map(str::trim).collect();
    let Some((first, behind)) = pieces.split_first() else {
        return false;
    };
    let plain = |piece: &str| piece.bytes().all(|byte| byte.is_ascii_digit());
    let three_digits = |piece: &&str| {
        let whole = piece.split('.').next().unwrap_or_default();
        whole.len() == 3 && plain(whole)
    };
    let thousands = first.trim_start_matches('-').len() <= 3
        && !first.contains('.')
        && behind.iter().all(three_digits);
    // Of two, the second may be the fraction of the first.
    let fraction = matches!(behind, [only] if plain(only) && !first.contains('.'));
    !thousands && !fraction
}
