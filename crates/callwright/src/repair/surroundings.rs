//! What may surround a value without being part of it.
//!
//! Takes the text before a value, between two values or after one; returns the liberty that leaving it out takes, or nothing,
//! if it may contain data or another call. [`template`] decides what is debris, here as in rescue. Words are not interpreted:
//! no list could cover every language. Leaving them out is a guess, for read-only tools ([`liberties::PROSE`]).

use std::collections::BTreeSet;

use super::Edit;
use super::extract::JSON_BLANK;
use super::liberties;
use super::rule_list::RuleRow;
use crate::json::{Path, Value};
use crate::tool::Tool;
use crate::vocabulary::nearest::{FoldedName, same_spelling};
use crate::vocabulary::template::{self, CallSide, Debris, DebrisContext};

/// Splits off what clients that join the pieces of a stream add to arguments: an empty object in front, or their word for a
/// piece that was missing. If the tool accepts `{}` or `null`, it may be meant to be called with it.
pub(super) fn without_missing_pieces<'t>(text: &'t str, tool: &Tool) -> (Option<Edit>, &'t str) {
    const UNDEFINED: &str = "undefined";
    let is_empty_accepted = || {
        let empty = Value::Object(Vec::new());
        tool.schema().is_none_or(|schema| schema.accepts(&empty))
    };
    let whole = text.trim();
    let without_undefined = whole.trim_end_matches(UNDEFINED);
    let without = |nothing| match nothing {
        "{}" => whole.strip_prefix(nothing).map(str::trim_start),
        word => Some(without_undefined.trim_start_matches(word)).filter(|rest| rest.ends_with('}')),
    };
    for nothing in ["{}", UNDEFINED, "None", "null"] {
        let is_json = matches!(nothing, "{}" | "null");
        if let Some(rest) = without(nothing)
            && rest.len() < whole.len()
            && rest.starts_with('{')
            && !(is_json && is_empty_accepted())
        {
            let dropped = whole.replacen(rest, "", 1);
            let edit = liberties::EMPTY_OBJECT.edit(&Path::root(), &dropped, "");
            return (Some(edit), rest);
        }
    }
    (None, text)
}

/// The liberty of leaving out the text before a value with these keys.
pub(super) fn in_front(
    before: &str,
    tool: &Tool,
    present: &BTreeSet<&str>,
) -> Option<&'static RuleRow> {
    let is_opened = template::after_closing_tag(before).is_none();
    // `<thought>…</thought>` may be a parameter.
    let may_be_key = |name| tool.may_take(&FoldedName::new(name));
    if template::reasoning_name(before).is_some_and(may_be_key) {
        return None;
    }
    let (reasoning, before) = before.split_at(after_reasoning(before)?);
    let has_reasoning = !reasoning.trim().is_empty();
    let is_text = !is_opened && !reasoning.trim_start().starts_with("</");
    if is_text && holds_member(reasoning, tool, &BTreeSet::new()) {
        return None;
    }
    if let Some(debris) = debris(before, tool, CallSide::Before) {
        // Without its opening tag, it may be any text that quotes the closing one: `--note …</think>{…}`.
        let liberty = if is_text {
            &liberties::PROSE
        } else if has_reasoning {
            &liberties::REASONING
        } else {
            of_debris(debris)
        };
        return Some(liberty);
    }
    let words = without_marks(before);
    let last = words.trim().lines().last().unwrap_or_default();
    let is_open = words.trim_end().ends_with(['{', '[']);
    let holds_more =
        holds_member(&words, tool, present) || holds_notation(before, tool, CallSide::Before);
    (!is_open && !names_another(last, tool) && !holds_more).then_some(&liberties::PROSE)
}

/// Where the text after a block of reasoning starts, even if the prompt opened the block.
pub(super) fn after_reasoning(text: &str) -> Option<usize> {
    if let Some(end) = after_analysis(text) {
        return Some(end);
    }
    let end = template::after_reasoning(text)?;
    match template::after_closing_tag(text) {
        Some(close) if end == 0 => Some(close),
        _ => Some(end),
    }
}

/// Where the message of an analysis ends, in the channels of harmony.
fn after_analysis(text: &str) -> Option<usize> {
    const END: &str = "<|end|>";
    let message = text.trim_start().strip_prefix("<|start|>assistant");
    let message = message.unwrap_or(text.trim_start());
    let body = message.strip_prefix("<|channel|>analysis<|message|>")?;
    let (reasoning, after) = body.split_once(END)?;
    template::is_finished(reasoning).then(|| text.len() - after.len())
}

/// Whether a line is a single word, which may be the name of another tool. A word that ends a sentence or numbers an item is
/// not, nor are the words of a template.
fn names_another(line: &str, tool: &Tool) -> bool {
    let line = line.trim();
    let name = line.trim_end_matches(['(', '=']);
    if line.ends_with('.') || !name.contains(char::is_alphabetic) || template::is_own_word(name) {
        return false;
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    name.chars().all(is_part) && name != tool.name()
}

/// Whether text between two values opens a call in another notation than JSON.
pub(super) fn opens_another(between: &str, tool: &Tool) -> bool {
    holds_notation(between, tool, CallSide::After)
}

/// Whether text between two values only separates them.
pub(super) fn is_between(between: &str, tool: &Tool) -> bool {
    debris(between, tool, CallSide::Between).is_some()
}

/// The liberty of leaving out the text after a value with these keys.
pub(super) fn after(rest: &str, tool: &Tool, present: &BTreeSet<&str>) -> Option<&'static RuleRow> {
    if let Some(debris) = debris(rest, tool, CallSide::After) {
        return Some(of_debris(debris));
    }
    let after_comma = rest.trim_start().strip_prefix(',');
    if after_comma.is_some_and(|rest| debris(rest, tool, CallSide::After).is_some()) {
        return Some(&liberties::OUTER_COMMA);
    }
    let words = without_marks(rest);
    let holds_more =
        holds_member(&words, tool, present) || holds_notation(rest, tool, CallSide::After);
    (is_apart(rest) && !holds_more).then_some(&liberties::PROSE)
}

fn debris<'t>(text: &'t str, tool: &Tool, side: CallSide) -> Option<Debris<'t>> {
    let around = DebrisContext {
        side,
        is_message: false,
        is_tool: &|name| name == tool.name() || same_spelling(name, tool.name()),
        is_key: &|name| tool.may_take(&FoldedName::new(name)),
    };
    template::debris(text, &around)
}

/// The liberty of leaving out debris.
fn of_debris(debris: Debris<'_>) -> &'static RuleRow {
    if debris.has_fence {
        &liberties::FENCE
    } else if debris.has_mark || debris.tool.is_some() {
        &liberties::CONTROL_TOKEN
    } else if debris.has_sign {
        &liberties::EXTRA_CLOSER
    } else {
        &liberties::WHITE_SPACE
    }
}

/// Whether words after a value are separate from it. Text on the same line may belong to the value: `} or 5`.
fn is_apart(rest: &str) -> bool {
    const FEWEST_WORDS: usize = 3;
    let line = rest.trim_start_matches([' ', '\t', '}', ']']);
    let first = line.lines().next().unwrap_or_default();
    let is_sentence = || {
        first.split_whitespace().count() >= FEWEST_WORDS
            && !first.contains(|c: char| c.is_ascii_digit() || "\"'`{}[]".contains(c))
    };
    let is_signs = || !rest.contains(|c: char| c.is_alphanumeric() || "\"'`“”{[(".contains(c));
    // The end of a file or a stream: `EOF`, `[DONE]`.
    let last = first.trim().trim_matches(['[', ']', '(', ')']);
    let is_end = || !last.is_empty() && last.chars().all(|c| c.is_uppercase() || c == '_');
    let begins_apart = || line.starts_with(['\n', '\r', '<', '`', '#', '/', '(']);
    // It may open another value.
    let has_brace = rest.contains('｛');
    !has_brace && (begins_apart() || is_sentence() || is_signs() || is_end())
}

/// Whether words contain a member that is missing in the value: `"limit": 5`, `limit=5`, `limit: 5`. Sentences have colons too,
/// so it takes quotes or a key of the tool, and a value on the same line. A member that the value already has is merely
/// explained.
fn holds_member(words: &str, tool: &Tool, present: &BTreeSet<&str>) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    words.match_indices([':', '：', '=']).any(|(at, sign)| {
        let before = words[..at].trim_end();
        let name = before.trim_end_matches(['`', '*', '"', '\'']);
        let key = &name[name.trim_end_matches(is_part).len()..];
        let value = words[at + sign.len()..].lines().next().unwrap_or_default();
        let is_quoted = before.ends_with('"') && sign != "=";
        !present.contains(key)
            && (is_quoted || tool.has_parameter(key) && value.contains(char::is_alphanumeric))
    })
}

/// Whether words contain a parameter or a call in another notation than JSON. The tag of a call in front of the value opens it.
fn holds_notation(words: &str, tool: &Tool, side: CallSide) -> bool {
    const PARAMETERS: [&str; 3] = ["parameter=", "parameter name=", "<arg_key>"];
    const CALLS: [&str; 2] = ["<function=", "invoke name="];
    let has = |tags: &[&str]| tags.iter().any(|tag| words.contains(tag));
    let called = || words.split_once(&format!("{}(", tool.name()));
    has(&PARAMETERS)
        || side == CallSide::After && has(&CALLS)
        || called().is_some_and(|(_, inside)| inside.contains(')'))
}

/// All keys of a value.
pub(super) fn keys_of<'v>(value: &'v Value<'_>, into: &mut BTreeSet<&'v str>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                into.insert(key);
                keys_of(value, into);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys_of(item, into)),
        _ => {}
    }
}

/// A text without template markers and fences.
fn without_marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(next) = text[at..].find(['<', '[', '`']) {
        let next = at + next;
        out.push_str(&text[at..next]);
        at = template::mark_end(text, next).unwrap_or(next);
        if at == next
            && let Some(sign) = text[next..].chars().next()
        {
            // In a row of equal characters, only the first and the last can start a mark.
            let rest = &text[next..];
            let row = rest.len() - rest.trim_start_matches(sign).len();
            at = next + if row > 2 { row - 1 } else { 1 };
            out.push_str(&text[next..at]);
        }
    }
    out.push_str(&text[at..]);
    out.trim_matches(JSON_BLANK).to_owned()
}
