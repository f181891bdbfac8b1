//! The one JSON value in a text: without fences, prose, tags and control tokens around it.
//!
//! In comes text that is no JSON, out goes the only value in it and the edits that it took. Several
//! values that differ are never merged and none is dropped; one that is cut off is never completed.

use super::tolerant::{self, NoReading, Reading};
use super::{Edit, Grade};
use crate::json::{Path, Value};

/// How many places are tried for the beginning of a value. Prose with more brackets than this holds
/// no call.
const MOST_STARTS: usize = 32;

/// What a text holds.
pub(super) enum Extract {
    /// One value, and the edits that it took to see it.
    One(Value<'static>, Vec<Edit>),
    /// So many values that are not all the same.
    Several(usize),
    /// None, or one that is cut off.
    Nothing,
}

/// Reads the one value in a text.
pub(super) fn read(text: &str, max_depth: usize) -> Extract {
    let Some(first) = first_value(text, 0, max_depth) else {
        return Extract::Nothing;
    };
    let Reading {
        value,
        mut edits,
        end,
    } = first.reading;
    let canonical = value.canonical();
    let (mut count, mut identical) = (1, true);
    let mut at = end;
    while let Some(next) = first_value(text, at, max_depth) {
        identical &= next.reading.value.canonical() == canonical;
        count += 1;
        at = next.reading.end;
    }
    if !identical {
        return Extract::Several(count);
    }
    let before = text[..first.start].trim();
    let behind = text[end..].trim();
    // What follows is itself the beginning of a value that never ends.
    if text[at..].trim_start().starts_with('{') {
        return Extract::Nothing;
    }
    if !before.is_empty() {
        edits.push(around_edit(before));
    }
    if count > 1 {
        edits.push(edit("repeated_value", Grade::Lossless, behind));
    } else if !behind.is_empty() {
        edits.push(around_edit(behind));
    }
    Extract::One(value, edits)
}

struct Found {
    start: usize,
    reading: Reading,
}

/// The first value from `from` on: an object, or an array of them.
fn first_value(text: &str, from: usize, max_depth: usize) -> Option<Found> {
    let starts = text[from..].match_indices(['{', '[']).take(MOST_STARTS);
    for (offset, _) in starts {
        let start = from + offset;
        match tolerant::read(text, start, max_depth) {
            Ok(reading) if is_call_like(&reading.value) => return Some(Found { start, reading }),
            Ok(_) | Err(NoReading::Unclear) => {}
            // From here on the text is part of a value that never ends.
            Err(NoReading::CutOff) => return None,
        }
    }
    None
}

/// Prose is full of `[1]` and `{x}`; a call is an object with keys, or an array of something.
fn is_call_like(value: &Value<'_>) -> bool {
    match value {
        Value::Object(_) => true,
        Value::Array(items) => items.iter().any(|item| matches!(item, Value::Object(_))),
        _ => false,
    }
}

fn around_edit(around: &str) -> Edit {
    let closers_only = around
        .chars()
        .all(|c| matches!(c, '}' | ']' | ')' | ';' | ',') || c.is_whitespace());
    let rule = if closers_only {
        "extra_closer"
    } else if around.contains("```") {
        "fence"
    } else if around.starts_with('<') || around.contains("<|") {
        "control_token"
    } else {
        "prose"
    };
    edit(rule, Grade::Lossless, around)
}

fn edit(rule: &'static str, grade: Grade, before: &str) -> Edit {
    let shown: String = before.trim().chars().take(40).collect();
    Edit {
        path: Path::root(),
        rule,
        grade,
        before: Value::String(shown.into()),
        after: Value::String("".into()),
    }
}
