//! Unwraps a whole call sent where only its arguments belong: in a list of one, or next to the tool's own name.
//!
//! Takes a value that the schema rejects; returns its content and the edits made to unwrap it. A name that is not the tool's, a
//! second call, or any other key next to the two is left alone.

use super::{Edit, liberties, tolerant};
use crate::json::{Path, Value};
use crate::tool::Tool;
use crate::vocabulary::envelope;
use crate::vocabulary::nearest::same_spelling;

/// The arguments inside, if there is a call around them.
pub(super) fn opened(value: &Value<'_>, tool: &Tool) -> Option<(Value<'static>, Vec<Edit>)> {
    if !tool.judges_parameters() {
        return None;
    }
    let mut inside = value;
    let mut edits = Vec::new();
    while let Value::Array(items) = inside {
        let [only @ (Value::Object(_) | Value::Array(_))] = items.as_slice() else {
            return None;
        };
        if edits.is_empty() {
            edits.push(liberties::CALL_IN_LIST.edit(&Path::root(), "[…]", "…"));
        }
        inside = only;
    }
    match named(inside, tool) {
        Some((arguments, read)) => {
            edits.push(liberties::ENVELOPE.edit(&Path::root(), tool.name(), ""));
            edits.extend(read);
            Some((arguments, edits))
        }
        // If anything may be sent, the list may be what was meant.
        None if !edits.is_empty()
            && inside
                .as_object()?
                .iter()
                .any(|(key, _)| tool.has_parameter(key)) =>
        {
            Some((inside.clone().into_owned(), edits))
        }
        None => None,
    }
}

/// A name, its arguments, a type, an id, a role, a place, and empty members.
const MOST_MEMBERS: usize = 8;

/// How deep arguments in a text may be nested, as in the rules on values.
const DEEPEST: usize = 64;

/// The arguments next to the name of this tool, under keys that are not its own parameters, and the liberties taken with their
/// text.
fn named(value: &Value<'_>, tool: &Tool) -> Option<(Value<'static>, Vec<Edit>)> {
    let members = value.as_object()?;
    let is_layer = |key: &str| {
        envelope::is_list_key(key)
            || envelope::ARGUMENTS.contains(&key)
            || envelope::LAYERS.contains(&key)
    };
    if members
        .iter()
        .any(|(key, _)| is_layer(key) && tool.has_parameter(key))
    {
        return None;
    }
    // `{"search": {…}}`
    if let [(key, inner @ Value::Object(_))] = members
        && *key == tool.name()
        && !tool.has_parameter(key)
    {
        return Some((inner.clone().into_owned(), Vec::new()));
    }
    let is_name = |key: &str| envelope::NAMES.contains(&key) || is_layer(key);
    if members.len() > MOST_MEMBERS || !members.iter().any(|(key, _)| is_name(key)) {
        return None;
    }
    let mut calls = envelope::open_all(value.clone().into_owned()).ok()?;
    let call = calls.pop().filter(|_| calls.is_empty())?;
    let name = call.tool.strip_prefix("functions.").unwrap_or(&call.tool);
    let is_own = |name: &str| name == tool.name() || same_spelling(name, tool.name());
    if !is_own(&call.tool) && !is_own(name) {
        return None;
    }
    if call.loses_argument(&|name| tool.may_take(name)) {
        return None;
    }
    let (arguments, edits) = match call.arguments? {
        Value::String(text) => {
            let text = text.trim();
            let reading = tolerant::read(text, 0, DEEPEST).ok()?;
            let is_whole = reading.end == text.len() && Edit::are_lossless(&reading.edits);
            is_whole.then_some((reading.value, reading.edits))?
        }
        arguments => (arguments, Vec::new()),
    };
    matches!(arguments, Value::Object(_)).then_some((arguments, edits))
}
