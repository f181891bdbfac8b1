//! Text → JSON value, strictly, and what can be asked of a value without judging it: its size, its depth, its repeated keys.

use super::{Member, SyntaxError, Value, has_duplicate, strict};

/// How deep a line may be nested. Much deeper than a call may be, so that a call that is too deep gets a verdict instead of
/// making its line unreadable; still far from overflowing a thread's stack.
pub(crate) const LINE_DEPTH: usize = 1_000;

/// Parses any JSON value, nested up to 1,000 levels, for lines that contain calls.
///
/// # Errors
/// Returns the first place at which the text stops being JSON.
pub fn read_value(text: &str) -> Result<Value<'_>, Box<SyntaxError>> {
    strict::parse(text, LINE_DEPTH).map(|document| document.value)
}

/// Parses any JSON value, nested up to `max_depth` levels.
pub(crate) fn read_value_within(
    text: &str,
    max_depth: usize,
) -> Result<Value<'_>, Box<SyntaxError>> {
    strict::parse(text, max_depth).map(|document| document.value)
}

/// Parses one JSON value that starts at byte `from`, strictly; `None` if it is not JSON or repeats a key.
pub(crate) fn parse_at(
    text: &str,
    from: usize,
    max_depth: usize,
) -> Option<(Value<'static>, usize)> {
    let (value, end) = strict::parse_prefix(text, from, max_depth).ok()?;
    let unclear = inspect(&value, max_depth) != Some(false);
    (!unclear).then(|| (value.into_owned(), end))
}

/// Whether the value is nested deeper than this many levels. Deeper levels are not visited.
pub(crate) fn is_deeper(value: &Value<'_>, levels: usize) -> bool {
    let inside = |levels, value: &Value<'_>| match levels {
        Some(left) => is_deeper(value, left),
        None => true,
    };
    let left = levels.checked_sub(1);
    match value {
        Value::Array(items) => items.iter().any(|item| inside(left, item)),
        Value::Object(members) => members.iter().any(|(_, value)| inside(left, value)),
        _ => false,
    }
}

/// The approximate length of the value's text, in bytes.
pub fn size(value: &Value<'_>) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Number(number) => number.as_str().len(),
        Value::Array(items) => 2 + items.iter().map(|item| size(item) + 1).sum::<usize>(),
        Value::Object(members) => {
            let member = |(key, value): &Member<'_>| key.len() + 4 + size(value);
            2 + members.iter().map(member).sum::<usize>()
        }
        Value::Null | Value::Bool(_) => 4,
    }
}

/// Whether some key occurs twice; `None` if the value is too deep.
pub(crate) fn inspect(value: &Value<'_>, depth_left: usize) -> Option<bool> {
    let deeper = |found: bool, inner| Some(found | inspect(inner, depth_left.checked_sub(1)?)?);
    match value {
        Value::Object(members) => {
            depth_left.checked_sub(1)?;
            let mut inner = members.iter().map(|(_, value)| value);
            inner.try_fold(has_duplicate(members), deeper)
        }
        Value::Array(items) => {
            depth_left.checked_sub(1)?;
            items.iter().try_fold(false, deeper)
        }
        _ => Some(false),
    }
}
