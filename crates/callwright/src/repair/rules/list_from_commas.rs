//! A list of numbers that was sent as one text with bare commas: `"3,4,5"`.
//!
//! A guess: a comma between digits may also be a decimal comma (`3,5`) or set off thousands (`1,234`). It separates where the
//! items are whole or the list is odd (decimal commas come in pairs), and no piece could be a group of three digits.

use serde_json::Value as Schema;

use super::super::{Grade, Stakes};
use super::list_from_text::numbers;
use super::{Change, Rule, Site};

pub(super) const RULE: Rule = Rule {
    name: "list_from_commas",
    grade: Grade::Guess,
    cost: 3,
    up_to: Stakes::Changes,
    about: "A list of numbers that was sent as one text with bare commas, `\"3,4,5\"`, is split, if they can be neither decimal nor thousands.",
    propose,
};

/// Fewer may be a few decimal numbers among whole ones.
const SHORTEST_ODD: usize = 5;

fn propose(site: &Site<'_>) -> Option<Change> {
    let pieces: Vec<&str> = site.misplaced_text()?.split(',').collect();
    let behind = pieces.get(1..)?;
    let is_whole = site.items()?.get("type").and_then(Schema::as_str) == Some("integer");
    let is_odd = pieces.len() % 2 == 1 && pieces.len() >= SHORTEST_ODD;
    let group = |piece: &&str| piece.len() == 3 && piece.bytes().all(|byte| byte.is_ascii_digit());
    let spaced = |piece: &&str| piece.starts_with(char::is_whitespace);
    let unclear = behind.iter().any(|piece| group(piece) || spaced(piece));
    if unclear || !(is_whole || is_odd) {
        return None;
    }
    numbers(site, &pieces)
}
