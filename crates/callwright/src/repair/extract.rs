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

/// The white space of JSON. Any other is left out on record.
pub(super) const JSON_BLANK: [char; 4] = [' ', '\t', '\n', '\r'];

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
    let (mut count, mut identical) = (1, true);
    let mut at = end;
    // Every bracket behind it must belong to another value, or nobody knows what it is.
    while let Some(next) = text[at..].find(['{', '[']) {
        let Some(reading) = read_at(text, at + next, max_depth) else {
            return Extract::Nothing;
        };
        if !is_between(&text[at..at + next]) {
            return Extract::Nothing;
        }
        identical &= reading.value == value;
        count += 1;
        at = reading.end;
    }
    let before = text[..start].trim_matches(JSON_BLANK);
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
    if !behind.trim_matches(JSON_BLANK).is_empty() {
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

/// Whether text in front of a value only introduces it: fences, tags, and words that hold no data, name
/// nothing and forbid nothing.
fn is_in_front(before: &str) -> bool {
    let Some(words) = without_frame(before) else {
        return false;
    };
    let words = words.trim();
    let (above, last) = words.rsplit_once('\n').unwrap_or(("", words));
    let introduces = last.trim().trim_end_matches(':');
    // One word alone may be the name of a tool.
    let is_name =
        !introduces.is_empty() && !introduces.trim().contains(' ') && !last.ends_with(':');
    is_prose(introduces) && is_prose(above) && !is_name
}

/// Whether text between two values only separates them.
fn is_between(between: &str) -> bool {
    without_frame(between).is_some_and(|words| words.trim().is_empty())
}

/// Whether text behind a value is closers that are too many, or fences, tags and words that hold no data.
fn is_behind(behind: &str) -> bool {
    let closers = |c: char| matches!(c, '}' | ']' | ')' | ';') || c.is_whitespace();
    if behind.chars().all(closers) {
        return true;
    }
    // A tag that opens behind the value opens another call.
    let opens = behind
        .split('<')
        .skip(1)
        .any(|tag| tag.starts_with(|c: char| c.is_ascii_alphabetic()));
    if opens {
        return false;
    }
    // A control token ends the message; whatever follows it (no bracket, see above) is another one.
    if behind.trim_start().starts_with("<|") {
        return true;
    }
    let apart = behind
        .trim_start_matches([' ', '\t'])
        .starts_with(['\n', '\r', '<', '`']);
    apart && without_frame(behind).is_some_and(|words| is_prose(&words))
}

/// Words: nothing that could be a key, a value or a call, and nothing that takes the call back.
fn is_prose(words: &str) -> bool {
    const TAKES_BACK: [&str; 8] = [
        "not", "don't", "never", "no", "instead", "example", "would", "if",
    ];
    let data = |c: char| "\"{}[]()<>=:`|\\/#*".contains(c);
    let takes_back = |word: &str| {
        let word = word
            .trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase();
        TAKES_BACK.contains(&word.as_str())
    };
    let starts_like_data = words
        .lines()
        .any(|line| line.trim_start().starts_with(['-', ',', '\'', '+']));
    !words.contains(data) && !starts_like_data && !words.split_whitespace().any(takes_back)
}

/// Text without fences, control tokens and the tags that models put around a call; `None` if there are
/// other tags, which may hold or name something.
fn without_frame(text: &str) -> Option<String> {
    const WRAPPERS: [&str; 14] = [
        "tool_call",
        "tool_calls",
        "function_call",
        "function_calls",
        "functioncall",
        "function",
        "tool",
        "call",
        "arguments",
        "args",
        "json",
        "output",
        "response",
        "xml",
    ];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find(['<', '`']) {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        if let Some(behind) = rest.strip_prefix("```") {
            let language = behind.find(|c: char| !c.is_ascii_alphanumeric());
            rest = &behind[language.unwrap_or(behind.len())..];
            continue;
        }
        let close = rest.find('>')?;
        let tag = &rest[1..close];
        let name = tag.trim_start_matches('/').trim();
        let token = tag.len() > 1 && tag.starts_with('|') && tag.ends_with('|');
        let header = tag.starts_with("?xml") && tag.ends_with('?');
        if !token && !header && !WRAPPERS.contains(&name.to_lowercase().as_str()) {
            return None;
        }
        rest = &rest[close + 1..];
    }
    out.push_str(rest);
    Some(out)
}

fn around_edit(around: &str) -> Edit {
    let closers_only = around
        .chars()
        .all(|c| matches!(c, '}' | ']' | ')' | ';' | ',') || c.is_whitespace());
    let rule = if around.trim().is_empty() {
        "white_space"
    } else if closers_only {
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
    let shown: String = before.trim_matches(JSON_BLANK).chars().take(40).collect();
    Edit {
        path: Path::root(),
        rule,
        grade,
        before: Value::String(shown.into()),
        after: Value::String("".into()),
    }
}
