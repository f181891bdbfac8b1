//! The one JSON value in a text: without fences, prose, tags and control tokens around it.
//!
//! Takes text that is not JSON; returns the only value in it and the edits that it took. Several
//! values that differ are never merged and none is dropped; one that is cut off is never completed.

use super::inner_quotes::goes_on;
use super::surroundings::{after, in_front, is_between};
use super::tolerant::{self, NoReading, TolerantReading};
use super::{Edit, bracket, syntax};
use crate::json::{Path, Value};

/// What a text holds.
pub(super) enum Extract {
    /// One value, and the edits that it took to see it.
    One(Value<'static>, Vec<Edit>),
    /// So many values that are not all the same.
    Several(usize),
    /// A value that ends here, before it is whole.
    CutOff(Path),
    /// No value that is certain.
    Nothing,
}

/// The white space of JSON. Any other is left out on record.
pub(super) const JSON_BLANK: [char; 4] = [' ', '\t', '\n', '\r'];

/// Reads the one value in a text, which is a call of `tool`.
pub(super) fn read(text: &str, tool: &str, max_depth: usize) -> Extract {
    let Some(start) = text.find(['{', '[']) else {
        return Extract::Nothing;
    };
    let before = text[..start].trim_matches(JSON_BLANK);
    let first = match first_value(text, start, max_depth) {
        FoundValue::Value(first) => first,
        // A sentence that ends with a bracket begins no value.
        FoundValue::CutOff(path) if in_front(before, tool).is_some() && text.len() > start + 1 => {
            return Extract::CutOff(path);
        }
        FoundValue::CutOff(_) | FoundValue::Unclear => return Extract::Nothing,
    };
    let TolerantReading {
        value,
        mut edits,
        end,
    } = first;
    let (mut count, mut identical) = (1, true);
    let mut at = end;
    // Every brace after it must belong to another value, or it is not known what it is.
    while let Some(next) = next_value(&text[at..]) {
        let found = read_at(text, at + next, max_depth);
        if !is_between(&text[at..at + next]) {
            return Extract::Nothing;
        }
        let reading = match found {
            FoundValue::Value(reading) => reading,
            FoundValue::CutOff(path) => return Extract::CutOff(path),
            FoundValue::Unclear => return Extract::Nothing,
        };
        identical &= reading.value == value;
        count += 1;
        at = reading.end;
    }
    let marked = before;
    let (before, behind) = without_code_marks(before, &text[at..]);
    let (Some(front), Some(back)) = (in_front(before, tool), after(behind)) else {
        return Extract::Nothing;
    };
    if !identical {
        return Extract::Several(count);
    }
    if !before.is_empty() {
        edits.push(front.edit(&Path::root(), before, ""));
    } else if !marked.is_empty() {
        edits.push(syntax::FENCE.edit(&Path::root(), marked, ""));
    }
    if count > 1 {
        let again = text[end..at].trim_matches(JSON_BLANK);
        edits.push(syntax::REPEATED_VALUE.edit(&Path::root(), again, ""));
    }
    let behind = behind.trim_matches(JSON_BLANK);
    if !behind.is_empty() {
        edits.push(back.edit(&Path::root(), behind, ""));
    }
    Extract::One(value, edits)
}

/// Where another value may start. A list that holds no object is part of a sentence: "The result is [2, 3]."
fn next_value(text: &str) -> Option<usize> {
    let at = text.find(['{', '['])?;
    text[at..].contains('{').then_some(at)
}

/// What is at a bracket.
enum FoundValue {
    Value(TolerantReading),
    CutOff(Path),
    Unclear,
}

/// The first value of a text. If it is unclear, or ends where another member follows, one bracket may be
/// wrong; of further values that is not asked.
fn first_value(text: &str, start: usize, max_depth: usize) -> FoundValue {
    let found = read_at(text, start, max_depth);
    let may_be_mended = match &found {
        FoundValue::Value(first) => goes_on(&text[first.end..]),
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

/// The value that starts at this very bracket, strictly read if possible. A bracket that opens
/// nothing clear ends the search: what is inside something broken is not a call.
fn read_at(text: &str, start: usize, max_depth: usize) -> FoundValue {
    let reading = match tolerant::read(text, start, max_depth) {
        Ok(reading) => Some(reading),
        Err((NoReading::CutOff, path)) => return FoundValue::CutOff(path),
        Err((NoReading::Unclear, _)) => tolerant::read_inner_quotes(text, start, max_depth),
    };
    reading
        .filter(|reading| is_call(&reading.value))
        .map_or(FoundValue::Unclear, FoundValue::Value)
}

/// Whether a value could be the arguments of a call, or a list of them.
fn is_call(value: &Value<'_>) -> bool {
    match value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => items.iter().any(|item| matches!(item, Value::Object(_))),
        _ => false,
    }
}

/// The surroundings of a value between backticks, as code in a line.
fn without_code_marks<'t>(before: &'t str, behind: &'t str) -> (&'t str, &'t str) {
    match (before.strip_suffix('`'), behind.strip_prefix('`')) {
        // More than one is a fence.
        (Some(front), Some(back)) if !front.ends_with('`') && !back.starts_with('`') => {
            (front.trim_end(), back)
        }
        _ => (before, behind),
    }
}
