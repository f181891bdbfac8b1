//! Extracts the one JSON value in a text, without the fences, prose, tags and control tokens around it.
//!
//! Takes text that is not JSON; returns the only value in it and the edits that were made. Several different values are never
//! merged and none is dropped; one that is cut off is never completed.

use std::collections::BTreeSet;

use super::inner_quotes::next_member_follows;
use super::surroundings::{after, after_reasoning, in_front, is_between, keys_of, opens_another};
use super::tolerant::{self, NoReading, TolerantReading};
use super::{Edit, bracket, liberties};
use crate::json::{Path, Value, parse_at};
use crate::tool::Tool;
use crate::vocabulary::template;

/// The content of a text.
pub(super) enum Extract {
    /// One value, and the edits made to extract it.
    One(Value<'static>, Vec<Edit>),
    /// Values that are not all equal.
    Several(SeveralValues),
    /// A value that is incomplete at this path.
    CutOff(Path),
    /// No value that is certain.
    Nothing,
}

/// Values that are not all equal.
pub(super) struct SeveralValues {
    pub(super) first: Value<'static>,
    /// The edits made to extract all of them.
    pub(super) edits: Vec<Edit>,
    /// The edit that drops all but the first.
    pub(super) rest: Edit,
    /// The values that differ from the first.
    pub(super) others: Vec<Value<'static>>,
    /// How many there are in all.
    pub(super) count: usize,
    /// Whether there are words between them.
    pub(super) has_words: bool,
}

/// JSON's white space. Leaving out any other is an edit.
pub(super) const JSON_BLANK: [char; 4] = [' ', '\t', '\n', '\r'];

/// Reads the one value in a text, which is a call of `tool`.
pub(super) fn read(text: &str, tool: &Tool, max_depth: usize) -> Extract {
    let start = after_reasoning(text).and_then(|from| opening_bracket(text, from));
    let Some(start) = start else {
        return Extract::Nothing;
    };
    let before = &text[..start];
    let found = match empty_object(text, start) {
        Some(empty) if tool.may_be_called_blank() => FoundValue::Value(empty),
        _ => first_value(text, start, max_depth),
    };
    let first = match found {
        FoundValue::Value(first) => first,
        // A bracket at the end of a sentence does not start a value.
        FoundValue::CutOff(path)
            if in_front(before, tool, &BTreeSet::new()).is_some() && text.len() > start + 1 =>
        {
            return Extract::CutOff(path);
        }
        FoundValue::CutOff(_) | FoundValue::Unclear => return Extract::Nothing,
    };
    let TolerantReading {
        value,
        mut edits,
        end,
    } = first;
    let (mut count, mut others) = (1, Vec::new());
    let mut has_words = false;
    let mut at = end;
    // Every brace after it must belong to another value; otherwise its meaning is unknown.
    while let Some(next) = next_value(text, at) {
        let between = &text[at..next];
        if opens_another(between, tool) {
            return Extract::Nothing;
        }
        has_words |= !is_between(between, tool);
        let reading = match read_at(text, next, max_depth) {
            FoundValue::Value(reading) => reading,
            FoundValue::CutOff(path) if !has_words => return Extract::CutOff(path),
            FoundValue::CutOff(_) | FoundValue::Unclear => return Extract::Nothing,
        };
        if reading.value != value {
            others.push(reading.value);
            edits.extend(reading.edits);
        }
        count += 1;
        at = reading.end;
    }
    let marked = before;
    let (before, rest) = without_quotes(before, &text[at..]);
    let mut present = BTreeSet::new();
    keys_of(&value, &mut present);
    let around = (
        in_front(before, tool, &present),
        after(rest, tool, &present),
    );
    let (Some(front), Some(back)) = around else {
        return Extract::Nothing;
    };
    if may_go_on(before, &text[start..at], rest, &edits) {
        return Extract::Nothing;
    }
    // Escaped among words, it is a part of a text: `write(note="{\"path\": …}")`.
    let is_escaped = edits
        .iter()
        .any(|edit| edit.rule == liberties::ESCAPED_VALUE.name);
    if is_escaped && [front, back].contains(&&liberties::PROSE) {
        return Extract::Nothing;
    }
    let (marked, before) = (
        marked.trim_matches(JSON_BLANK),
        before.trim_matches(JSON_BLANK),
    );
    if !before.is_empty() {
        edits.push(front.edit(&Path::root(), before, ""));
    } else if !marked.is_empty() {
        edits.push(liberties::FENCE.edit(&Path::root(), marked, ""));
    }
    let again = text[end..at].trim_matches(JSON_BLANK);
    if count > 1 && others.is_empty() {
        let liberty = if has_words {
            &liberties::PROSE
        } else {
            &liberties::REPEATED_VALUE
        };
        edits.push(liberty.edit(&Path::root(), again, ""));
    }
    let rest = rest.trim_matches(JSON_BLANK);
    if !rest.is_empty() {
        edits.push(back.edit(&Path::root(), rest, ""));
    }
    if others.is_empty() {
        return Extract::One(value, edits);
    }
    Extract::Several(SeveralValues {
        first: value,
        edits,
        rest: liberties::PROSE.edit(&Path::root(), again, ""),
        others,
        count,
        has_words,
    })
}

/// The first bracket that may open a value: not that of a marker, nor one around words or numbers, `[1]`, `{name}`.
fn opening_bracket(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    // Among words, a full-width brace is a part of them.
    if from == 0 && text.trim_start().starts_with('｛') {
        return text.find('｛');
    }
    loop {
        let bracket = at + text[at..].find(['{', '['])?;
        let skipped = template::mark_end(text, bracket)
            .or_else(|| aside_end(text, bracket))
            .or_else(|| doubled_brace(text, bracket));
        match skipped {
            Some(end) => at = end,
            None => return Some(bracket),
        }
    }
}

/// The second of two braces, if both are closed at the end: an unfilled template, `{{…}}`.
fn doubled_brace(text: &str, bracket: usize) -> Option<usize> {
    let inner = text[bracket..].strip_prefix('{')?.trim_start();
    let is_doubled =
        inner.starts_with('{') && text.trim_end().strip_suffix('}')?.trim_end().ends_with('}');
    is_doubled.then(|| text.len() - inner.len())
}

/// The end of brackets around words or numbers: a footnote or a placeholder, which no reader takes for a call.
fn aside_end(text: &str, bracket: usize) -> Option<usize> {
    const LONGEST: usize = 60;
    let inside = &text[bracket + 1..];
    let length = inside.find(['}', ']', '{', '[', '"', '\'', ':', '\n'])?;
    let closer = if text[bracket..].starts_with('{') {
        '}'
    } else {
        ']'
    };
    let is_aside = inside[length..].starts_with(closer)
        && length <= LONGEST
        && !inside[..length].trim().is_empty();
    is_aside.then_some(bracket + 1 + length + 1)
}

/// Where another value may start. A list without objects is part of a sentence: "The result is [2, 3]."
fn next_value(text: &str, from: usize) -> Option<usize> {
    let at = opening_bracket(text, from)?;
    text[at..].contains('{').then_some(at)
}

/// What is found at a bracket.
enum FoundValue {
    Value(TolerantReading),
    CutOff(Path),
    Unclear,
}

/// An empty object, if there is nothing else in the text that may be a value: no arguments.
fn empty_object(text: &str, start: usize) -> Option<TolerantReading> {
    let inside = text[start..].strip_prefix('{')?;
    let rest = inside.trim_start_matches(JSON_BLANK).strip_prefix('}')?;
    (!rest.contains(['{', '['])).then(|| TolerantReading {
        value: Value::Object(Vec::new()),
        edits: Vec::new(),
        end: text.len() - rest.len(),
    })
}

/// The first value of a text. If it is unclear, or ends where another member follows, one bracket may be wrong; that is not
/// tried for further values.
fn first_value(text: &str, start: usize, max_depth: usize) -> FoundValue {
    let found = read_at(text, start, max_depth);
    let may_be_mended = match &found {
        FoundValue::Value(first) => next_member_follows(&text[first.end..]),
        FoundValue::CutOff(_) => false,
        FoundValue::Unclear => true,
    };
    if !may_be_mended {
        return found;
    }
    match bracket::read(text, start, max_depth) {
        Some(reading) if is_call(&reading.value) => FoundValue::Value(reading),
        _ => found,
    }
}

/// The value that starts at this bracket, parsed strictly if possible. A bracket that opens nothing clear ends the search: what
/// is inside something broken is not a call.
fn read_at(text: &str, start: usize, max_depth: usize) -> FoundValue {
    let reading = match tolerant::read(text, start, max_depth) {
        Ok(reading) => Some(reading),
        Err((NoReading::CutOff, path)) => return FoundValue::CutOff(path),
        Err((NoReading::Unclear, _)) => tolerant::read_inner_quotes(text, start, max_depth)
            .or_else(|| read_escaped(text, start, max_depth)),
    };
    reading
        .filter(|reading| is_call(&reading.value))
        .map_or(FoundValue::Unclear, FoundValue::Value)
}

/// A value that was escaped as if it were inside a text: `{\"a\": 1}`. Every quote in it has a backslash, and nothing else has
/// one, so the original is certain.
fn read_escaped(text: &str, start: usize, max_depth: usize) -> Option<TolerantReading> {
    let inside = text[start..].trim_start_matches(['{', '[', ' ', '\n', '\r', '\t']);
    if !inside.starts_with("\\\"") {
        return None;
    }
    let bytes = text.as_bytes();
    let is_bare = |(at, _): &(usize, &str)| bytes[*at - 1] != b'\\';
    let quotes = text[start..]
        .match_indices('"')
        .map(|(at, quote)| (start + at, quote));
    let end = { quotes }.find(is_bare).map_or(text.len(), |(at, _)| at);
    let escaped = &text[start..end];
    let plain = escaped.replace("\\\"", "\"");
    if plain.contains('\\') {
        return None;
    }
    let (value, length) = parse_at(&plain, 0, max_depth)?;
    let quotes = plain[..length].matches('"').count();
    let shown = &escaped[..length + quotes];
    Some(TolerantReading {
        edits: vec![liberties::ESCAPED_VALUE.edit(&Path::root(), shown, &plain[..length])],
        end: start + length + quotes,
        value: value.into_owned(),
    })
}

/// Whether a value could be the arguments of a call, or a list of them.
fn is_call(value: &Value<'_>) -> bool {
    match value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => items.iter().any(|item| matches!(item, Value::Object(_))),
        _ => false,
    }
}

/// Whether a text in the value may go on after it: quotes follow that nothing opens in front of it, `{"a": 'b'}'''}`.
fn may_go_on(before: &str, value: &str, rest: &str, edits: &[Edit]) -> bool {
    let is_left = |quotes: &str| rest.contains(quotes) && !before.contains(quotes);
    let has_backticks = || {
        let mut rules = edits.iter().map(|edit| edit.rule);
        value.contains('`') && rules.any(|rule| rule == liberties::SINGLE_QUOTES.name)
    };
    is_left("\"\"\"") || is_left("'''") || is_left("`") && has_backticks()
}

/// The surroundings of a value in backticks, quotes or parentheses, as inline code or as a text.
fn without_quotes<'t>(before: &'t str, rest: &'t str) -> (&'t str, &'t str) {
    const PAIRS: [(&str, &str); 10] = [
        ("`", "`"),
        ("\"\"\"", "\"\"\""),
        ("'''", "'''"),
        ("\"", "\""),
        ("'", "'"),
        ("(", ")"),
        ("{", "}"),
        ("“", "”"),
        ("«", "»"),
        ("„", "“"),
    ];
    let (front, back) = (before.trim_end(), rest.trim_start());
    for (opening, closing) in PAIRS {
        if let (Some(front), Some(back)) = (front.strip_suffix(opening), back.strip_prefix(closing))
            // More than one is a fence, a name before a parenthesis is a function call, and a text inside of one its argument.
            && !front.ends_with(|c: char| c.is_alphanumeric())
            && !front.ends_with(opening)
            && !front.trim_end().ends_with('(')
            && !back.starts_with(closing)
        {
            return (front, back);
        }
    }
    (before, rest)
}
