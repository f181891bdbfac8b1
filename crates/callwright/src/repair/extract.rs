//! The one JSON value in a text: without fences, prose, tags and control tokens around it.
//!
//! In comes text that is no JSON, out goes the only value in it and the edits that it took. Several
//! values that differ are never merged and none is dropped; one that is cut off is never completed.

use super::tolerant::{self, Reading};
use super::{Edit, Grade};
use crate::json::{Path, Value};
use crate::parse::parse_at;

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
    let Some(start) = text.find(['{', '[']) else {
        return Extract::Nothing;
    };
    let Some(first) = read_at(text, start, max_depth) else {
        return Extract::Nothing;
    };
    let Reading {
        value,
        mut edits,
        end,
    } = first;
    let canonical = value.canonical();
    let (mut count, mut identical) = (1, true);
    let mut at = end;
    // Every bracket behind it must belong to another value, or nobody knows what it is.
    while let Some(next) = text[at..].find(['{', '[']) {
        let Some(reading) = read_at(text, at + next, max_depth) else {
            return Extract::Nothing;
        };
        if !is_around(text[at..at + next].trim()) {
            return Extract::Nothing;
        }
        identical &= reading.value.canonical() == canonical;
        count += 1;
        at = reading.end;
    }
    let before = text[..start].trim();
    let behind = &text[at..];
    if !is_in_front(before) || !is_behind(behind) {
        return Extract::Nothing;
    }
    if !identical {
        return Extract::Several(count);
    }
    if !before.is_empty() {
        edits.push(around_edit(before));
    }
    if count > 1 {
        edits.push(edit("repeated_value", Grade::Lossless, &text[end..at]));
    }
    if !behind.trim().is_empty() {
        edits.push(around_edit(behind));
    }
    Extract::One(value, edits)
}

/// The value that starts at this very bracket, strictly read if possible. A bracket of which nobody
/// knows what it opens ends the search: what stands inside something broken is no call.
fn read_at(text: &str, start: usize, max_depth: usize) -> Option<Reading> {
    let reading = match parse_at(text, start, max_depth) {
        Some((value, end)) => Reading {
            value,
            edits: Vec::new(),
            end,
        },
        None => tolerant::read(text, start, max_depth).ok()?,
    };
    let is_call = match &reading.value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => items.iter().any(|item| matches!(item, Value::Object(_))),
        _ => false,
    };
    is_call.then_some(reading)
}

/// Whether text in front of a value is words, tags or a fence, and not a part of something broken.
fn is_in_front(before: &str) -> bool {
    // `command: ls` on a line of its own is data in another notation.
    let is_entry = |line: &str| {
        let (key, value) = line.trim().split_once(':').unwrap_or_default();
        !key.is_empty() && !key.contains(char::is_whitespace) && !value.trim().is_empty()
    };
    let words = without_tags(before);
    !words.contains(['"', '}', ']']) && !words.lines().any(is_entry)
}

/// Whether text between two values separates them.
fn is_around(between: &str) -> bool {
    !without_tags(between).contains(['"', '}', ']', ':', ','])
}

/// Whether text behind a value is closers that are too many, or words, tags or a fence on their own.
fn is_behind(behind: &str) -> bool {
    let rest = behind.trim();
    let closers_only = rest
        .chars()
        .all(|c| matches!(c, '}' | ']' | ')' | ';') || c.is_whitespace());
    let apart = behind
        .trim_start_matches([' ', '\t'])
        .starts_with(['\n', '\r', '<', '`']);
    closers_only || (apart && !without_tags(rest).contains(['}', ']']))
}

/// Text without `<tags>`, in which quotes are no matter.
fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        out.push_str(&rest[..open]);
        match rest[open..].find('>') {
            Some(close) => rest = &rest[open + close + 1..],
            None => break,
        }
    }
    out.push_str(if rest.contains('<') { "" } else { rest });
    out
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
