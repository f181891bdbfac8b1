//! What may be around a value without being part of it.
//!
//! Takes the text in front of a value, between two or after it; returns the liberty that leaving it out takes, or
//! nothing, where it may hold data or another call. What is debris is for [`template`] to say, here as in rescue. Words are
//! not judged: no list of them could be, in every language. They are a guess for tools that read ([`syntax::PROSE`]).

use super::extract::JSON_BLANK;
use super::syntax;
use super::table::RuleRow;
use crate::tool::Tool;
use crate::validate::CompiledSchema;
use crate::words::nearest::same_spelling;
use crate::words::template::{self, Around, Debris, Side};

/// What it takes to leave out the text in front of a value.
pub(super) fn in_front(before: &str, tool: &Tool) -> Option<&'static RuleRow> {
    let (reasoning, before) = before.split_at(template::after_reasoning(before)?);
    let has_reasoning = !reasoning.trim().is_empty();
    if let Some(debris) = debris(before, tool, Side::Before) {
        let liberty = if has_reasoning {
            &syntax::REASONING
        } else {
            of_debris(debris)
        };
        return Some(liberty);
    }
    let words = without_marks(before);
    let last = words.trim().lines().last().unwrap_or_default();
    (!names_another(last, tool) && !holds_member(&words, tool)).then_some(&syntax::PROSE)
}

/// Whether a line is one word alone, which may be the name of another tool.
fn names_another(line: &str, tool: &Tool) -> bool {
    let name = line.trim().trim_end_matches(['(', '=']);
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    !name.is_empty()
        && name.chars().all(is_part)
        && name.contains(char::is_alphanumeric)
        && name != tool.name()
}

/// Whether text between two values only separates them.
pub(super) fn is_between(between: &str, tool: &Tool) -> bool {
    debris(between, tool, Side::Between).is_some()
}

/// What it takes to leave out the text after a value.
pub(super) fn after(behind: &str, tool: &Tool) -> Option<&'static RuleRow> {
    if let Some(debris) = debris(behind, tool, Side::After) {
        return Some(of_debris(debris));
    }
    let words = without_marks(behind);
    (goes_on_apart(behind) && !holds_member(&words, tool)).then_some(&syntax::PROSE)
}

fn debris<'t>(text: &'t str, tool: &Tool, side: Side) -> Option<Debris<'t>> {
    let around = Around {
        side,
        is_message: false,
        // A name after the value begins another call.
        is_tool: &|name| {
            side != Side::After && (name == tool.name() || same_spelling(name, tool.name()))
        },
    };
    template::debris(text, &around)
}

/// What it takes to leave out debris.
fn of_debris(debris: Debris<'_>) -> &'static RuleRow {
    if debris.has_fence {
        &syntax::FENCE
    } else if debris.has_mark || debris.tool.is_some() {
        &syntax::CONTROL_TOKEN
    } else if debris.has_sign {
        &syntax::EXTRA_CLOSER
    } else {
        &syntax::WHITE_SPACE
    }
}

/// Whether words after a value are a text of their own. What follows on the same line may belong to the value: `} or 5`.
fn goes_on_apart(behind: &str) -> bool {
    const FEWEST_WORDS: usize = 3;
    let line = behind.trim_start_matches([' ', '\t']);
    let first = line.lines().next().unwrap_or_default();
    let is_sentence = || {
        first.split_whitespace().count() >= FEWEST_WORDS
            && !first.contains(|c: char| c.is_ascii_digit() || "\"'`{}[]".contains(c))
    };
    let is_signs = || !behind.contains(|c: char| c.is_alphanumeric() || "\"'`{[(".contains(c));
    line.starts_with(['\n', '\r', '<', '`']) || is_sentence() || is_signs()
}

/// Whether words hold a member that may be missing in the value: `"limit": 5`, `limit=5`, `limit: 5`. Sentences have
/// colons too, so it takes quotes or a key of the tool, and a value on the same line.
fn holds_member(words: &str, tool: &Tool) -> bool {
    let schema = tool.schema().map(CompiledSchema::source);
    let properties = schema.and_then(|schema| schema.get("properties")?.as_object());
    let is_key = |word: &str| properties.is_some_and(|known| known.contains_key(word));
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    words.contains("\":")
        || words.match_indices([':', '=']).any(|(at, _)| {
            let before = words[..at].trim_end();
            let name = before.trim_end_matches(['`', '*', '"', '\'']);
            let key = name.trim_end_matches(is_part);
            let value = words[at + 1..].lines().next().unwrap_or_default();
            is_key(&name[key.len()..]) && value.contains(char::is_alphanumeric)
        })
}

/// A text without the marks and fences of a template.
fn without_marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(next) = text[at..].find(['<', '[', '`']) {
        let next = at + next;
        out.push_str(&text[at..next]);
        at = template::mark_end(text, next).unwrap_or(next);
        if at == next {
            let sign = text[next..].chars().next();
            out.extend(sign);
            at += sign.map_or(0, char::len_utf8);
        }
    }
    out.push_str(&text[at..]);
    out.trim_matches(JSON_BLANK).to_owned()
}
