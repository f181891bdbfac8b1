//! A call as JSON: `{"name": …, "arguments": …}` in either order, alone, in a row, as a list, or inside tags.
//!
//! Only the known keys may be present: another key could matter, and would be silently dropped. If only the arguments are not
//! JSON, they are cut out of their envelope for repair.

use std::borrow::Cow;

use super::NoCall;
use super::arguments::{Border, broken};
use super::cursor::{Cursor, RescueResult};
use super::offer::Offer;
use crate::call::{Arguments, Call};
use crate::json::{Problem, SyntaxError, Value};
use crate::vocabulary::envelope::{Envelope, NotEnvelope, open_all};

/// Reads a message that is nothing but JSON. JSON that is not a call is what the user asked for.
pub(super) fn read_alone<'t>(
    cursor: &mut Cursor<'t>,
    offer: &Offer<'_>,
) -> RescueResult<Vec<Call<'t>>> {
    const BORDER: Border = Border {
        end: None,
        next: "\"arguments\"",
    };
    let mut read = Vec::new();
    while !cursor.is_at_end() {
        let value = match cursor.json() {
            Ok(value) => value,
            Err(error) if read.is_empty() && error.problem != Problem::CutOff => {
                let read = broken_envelope(cursor, &BORDER, &["arguments"], &error);
                return match read {
                    Ok(call) => Ok(vec![call]),
                    Err(NoCall::Unreadable) => Err(NoCall::NoMark),
                    Err(other) => Err(other),
                };
            }
            Err(_) if read.is_empty() => return Err(NoCall::NoMark),
            Err(_) => return Err(NoCall::TextAfter),
        };
        if declares(&value) {
            return Err(NoCall::Ambiguous);
        }
        read.append(&mut calls(value, offer).map_err(|_| NoCall::NoMark)?);
        cursor.skip_blank();
    }
    // Without arguments it may be any record with a name.
    if read.iter().any(is_bare) {
        return Err(NoCall::NoMark);
    }
    Ok(read)
}

/// Whether a call has no arguments, not even empty ones.
pub(super) fn is_bare(call: &Call<'_>) -> bool {
    matches!(
        call.arguments,
        Arguments::Absent | Arguments::Value(Value::Null)
    )
}

/// Whether a value, or a list of values, declares a tool.
pub(super) fn declares(value: &Value<'_>) -> bool {
    let items = value.as_array().unwrap_or(std::slice::from_ref(value));
    items.iter().any(is_declaration)
}

/// Whether an object may declare a tool instead of calling it: a declaration also has `parameters`, and they are a schema.
fn is_declaration(value: &Value<'_>) -> bool {
    let inner = value.get("function").unwrap_or(value);
    let parameters = inner.get("parameters").and_then(Value::as_object);
    parameters.is_some_and(|members| {
        let schema = |key: &str| matches!(key, "type" | "properties" | "$schema" | "$ref");
        members.is_empty() || members.iter().any(|(key, _)| schema(key))
    })
}

/// Reads the calls between two tags and stops before the second.
pub(super) fn read_tagged<'t>(
    cursor: &mut Cursor<'t>,
    border: &Border,
    offer: &Offer<'_>,
) -> RescueResult<Vec<Call<'t>>> {
    let mut read = Vec::new();
    loop {
        match cursor.json() {
            Ok(value) => read.append(&mut calls(value, offer)?),
            Err(error) => {
                let keys = &["arguments", "parameters"];
                read.push(broken_envelope(cursor, border, keys, &error)?);
                return Ok(read);
            }
        }
        cursor.skip_blank();
        if cursor.peek() != Some('{') {
            return Ok(read);
        }
    }
}

/// A call that is not entirely JSON; only its arguments may be the invalid part.
fn broken_envelope<'t>(
    cursor: &mut Cursor<'t>,
    border: &Border,
    keys: &[&str],
    error: &SyntaxError,
) -> RescueResult<Call<'t>> {
    let cut = error.problem == Problem::CutOff;
    let unreadable = if cut {
        NoCall::CutOff
    } else {
        NoCall::Unreadable
    };
    if !cursor.eat_spaced("{") {
        return Err(unreadable);
    }
    let first = if key(cursor, "name") {
        let name = name(cursor).ok_or_else(|| unreadable.clone())?;
        if !cursor.eat_spaced(",") {
            return Err(unreadable);
        }
        Some(name)
    } else {
        None
    };
    if !keys.iter().any(|word| key(cursor, word)) {
        return Err(unreadable);
    }
    if cut {
        return Ok(Call::from_text(first.ok_or(NoCall::CutOff)?, cursor.cut()));
    }
    // The last brace belongs to the envelope.
    let text = broken(cursor, border)?;
    let text = text.strip_suffix('}').unwrap_or(text).trim_ascii_end();
    let (text, name) = match first {
        Some(name) => (text, name),
        None => name_after(text).ok_or(NoCall::Unreadable)?,
    };
    // If another key comes before that brace, the arguments do not end with a brace of theirs.
    if text.starts_with('{') && text.ends_with('}') {
        Ok(Call::from_text(name, text))
    } else {
        Err(NoCall::Unreadable)
    }
}

/// Moves past a key and its colon.
fn key(cursor: &mut Cursor<'_>, word: &str) -> bool {
    ['"', '\'']
        .iter()
        .any(|quote| cursor.eat(&format!("{quote}{word}{quote}")))
        && cursor.eat_spaced(":")
}

/// The name of a tool as a string in either kind of quotes, without escapes.
fn name<'t>(cursor: &mut Cursor<'t>) -> Option<Cow<'t, str>> {
    let quote = cursor.peek().filter(|c| matches!(c, '"' | '\''))?;
    let quote = quote.to_string();
    cursor.eat(&quote);
    let name = cursor.until(&quote)?;
    (!name.contains('\\')).then_some(Cow::Borrowed(name))
}

/// `{…}, "name": "…"` → both.
fn name_after(text: &str) -> Option<(&str, Cow<'_, str>)> {
    let at = ["\"name\"", "'name'"]
        .iter()
        .filter_map(|word| text.rfind(word))
        .max()?;
    let (arguments, after) = text.split_at(at);
    let mut cursor = Cursor::new(after, 0, 0);
    let name = key(&mut cursor, "name").then(|| name(&mut cursor))??;
    let arguments = arguments.trim_ascii_end().strip_suffix(',')?;
    cursor
        .is_at_end()
        .then(|| (arguments.trim_ascii_end(), name))
}

/// One call or a list of calls. A member next to the arguments that may be one of them could be meant either way.
pub(super) fn calls<'t>(value: Value<'t>, offer: &Offer<'_>) -> RescueResult<Vec<Call<'t>>> {
    let loses_argument = |call: &Envelope<'_>| {
        let tool = offer.tool(&call.tool);
        tool.is_some_and(|tool| call.loses_argument(&|name| tool.may_take(name)))
    };
    match open_all(value) {
        Ok(opened) if opened.iter().any(loses_argument) => Err(NoCall::Ambiguous),
        Ok(opened) => Ok(opened.into_iter().map(call).collect()),
        Err(NotEnvelope::Twice) => Err(NoCall::Ambiguous),
        Err(NotEnvelope::Other) => Err(NoCall::Unreadable),
    }
}

fn call(
    Envelope {
        tool, arguments, ..
    }: Envelope<'_>,
) -> Call<'_> {
    let arguments = match arguments {
        None => Arguments::Absent,
        Some(Value::String(text)) => Arguments::Text(text),
        Some(value) => Arguments::Value(value),
    };
    Call::new(tool, arguments)
}
