//! A list or an object that was sent as text: `"[1, 2]"` for a list.
//!
//! Models that were trained on JSON inside JSON encode once too often; some providers do it to nested
//! values. The text may be what Python prints (`"['a', 'b']"`). Lossless: the same values stand there.

use super::super::{Edit, Grade, Stakes, syntax, tolerant};
use super::{Change, Rule, Site};
use crate::json::{Value, parse_at};

pub(super) const RULE: Rule = Rule {
    name: "json_from_string",
    grade: Grade::Lossless,
    cost: 1,
    up_to: Stakes::Destroys,
    about: "A list or an object that was sent as text, `\"[1, 2]\"`, is read, also as Python prints it.",
    propose,
};

/// How deep a value in a text may be nested.
const DEEPEST: usize = 64;

fn propose(site: &Site<'_>) -> Option<Change> {
    let text = site.misplaced_text()?.trim();
    if !text.starts_with(['[', '{']) {
        return None;
    }
    let value = match parse_at(text, 0, DEEPEST) {
        Some((value, end)) if end == text.len() => Some(value),
        _ => read_python(text),
    };
    value.map(|value| site.replace(value))
}

/// What Python prints for a list or a dictionary. Escapes in it may be those of the text around it, so it has none.
fn read_python(text: &str) -> Option<Value<'static>> {
    const WRITTEN_BY_PYTHON: [&str; 2] = [syntax::SINGLE_QUOTES.name, syntax::LITERAL.name];
    if text.contains('\\') {
        return None;
    }
    let reading = tolerant::read(text, 0, DEEPEST).ok()?;
    let by_python = |edit: &Edit| WRITTEN_BY_PYTHON.contains(&edit.rule);
    let whole = text[reading.end..].is_empty() && reading.edits.iter().all(by_python);
    whole.then_some(reading.value)
}
