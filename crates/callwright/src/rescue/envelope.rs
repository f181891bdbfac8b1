//! A call as JSON: `{"name": …, "arguments": …}`, alone, as a list, or inside tags.
//!
//! Nothing but the known keys may be there: another key could matter, and nobody would see it dropped.

use super::NoCall;
use super::arguments::{Border, broken};
use super::cursor::{Cursor, Read};
use crate::call::{Arguments, Call, Completeness};
use crate::json::{Value, has_duplicate};
use crate::parse::Problem;

/// Reads a message that is JSON and nothing else. JSON that is no call is what the user asked for.
pub(super) fn read_alone<'t>(cursor: &mut Cursor<'t>) -> Read<Vec<Call<'t>>> {
    let value = cursor.json().map_err(|_| NoCall::NoMark)?;
    cursor.skip_blank();
    if !cursor.is_at_end() {
        return Err(NoCall::BeforeText);
    }
    let items = value.as_array().unwrap_or(std::slice::from_ref(&value));
    let declares = items.iter().any(is_declaration);
    let read = calls(value).map_err(|_| NoCall::NoMark)?;
    if declares {
        return Err(NoCall::Ambiguous);
    }
    // Without arguments it may be any record with a name.
    if read.iter().any(|call| call.arguments == Arguments::Absent) {
        return Err(NoCall::NoMark);
    }
    Ok(read)
}

/// Whether an object may declare a tool instead of calling it: a declaration has `parameters` too, and
/// they are a schema.
fn is_declaration(value: &Value<'_>) -> bool {
    let inner = value.get("function").unwrap_or(value);
    let parameters = inner.get("parameters").and_then(Value::as_object);
    parameters.is_some_and(|members| {
        let schema = |key: &str| matches!(key, "type" | "properties" | "$schema" | "$ref");
        members.is_empty() || members.iter().any(|(key, _)| schema(key))
    })
}

/// Reads the calls between two tags and stops before the second.
pub(super) fn read_tagged<'t>(cursor: &mut Cursor<'t>, border: &Border) -> Read<Vec<Call<'t>>> {
    let error = match cursor.json() {
        Ok(value) => return calls(value),
        Err(error) => error,
    };
    let tool = head(cursor);
    if error.problem == Problem::CutOff {
        let call = Call::from_text(tool.ok_or(NoCall::CutOff)?, cursor.all());
        return Ok(vec![call.with_completeness(Completeness::CutOff)]);
    }
    let tool = tool.ok_or(NoCall::Unreadable)?;
    let text = broken(cursor, border)?;
    // The last brace is the envelope's own. If another key stands before it, the arguments do not end
    // with theirs, and repair will refuse them.
    let text = text.strip_suffix('}').unwrap_or(text).trim_ascii_end();
    if !text.ends_with('}') {
        return Err(NoCall::Unreadable);
    }
    Ok(vec![Call::from_text(tool, text)])
}

/// The beginning of an envelope up to its arguments, for one that cannot be read as a whole.
fn head<'t>(cursor: &mut Cursor<'t>) -> Option<std::borrow::Cow<'t, str>> {
    let mut known = cursor.eat_spaced("{") && cursor.eat("\"name\"") && cursor.eat_spaced(":");
    let name = match cursor.json() {
        Ok(Value::String(name)) if known => name,
        _ => return None,
    };
    known = cursor.eat_spaced(",")
        && (cursor.eat("\"arguments\"") || cursor.eat("\"parameters\""))
        && cursor.eat_spaced(":");
    known.then_some(name)
}

/// One call or a list of calls.
fn calls(value: Value<'_>) -> Read<Vec<Call<'_>>> {
    match value {
        Value::Array(items) => items.into_iter().map(call).collect(),
        other => Ok(vec![call(other)?]),
    }
}

fn call(value: Value<'_>) -> Read<Call<'_>> {
    let Value::Object(members) = value else {
        return Err(NoCall::Unreadable);
    };
    if has_duplicate(&members) {
        return Err(NoCall::Ambiguous);
    }
    let (mut tool, mut arguments, mut function) = (None, None, None);
    for (key, value) in members {
        match (key.as_ref(), value) {
            ("name", Value::String(name)) => tool = Some(name),
            ("arguments" | "parameters", value) => {
                if arguments.replace(value).is_some() {
                    return Err(NoCall::Ambiguous);
                }
            }
            ("function", value @ Value::Object(_)) => function = Some(value),
            ("type", Value::String(kind)) if kind == "function" => {}
            // The message's own id is the one that is answered to.
            ("id", Value::String(_)) => {}
            _ => return Err(NoCall::Unreadable),
        }
    }
    match (tool, arguments, function) {
        (Some(tool), arguments, None) => Ok(Call::new(
            tool,
            match arguments {
                None | Some(Value::Null) => Arguments::Absent,
                Some(Value::String(text)) => Arguments::Text(text),
                Some(value) => Arguments::Value(value),
            },
        )),
        // OpenAI's own shape, one level down; it holds no further function.
        (None, None, Some(function)) if function.get("function").is_none() => call(function),
        _ => Err(NoCall::Unreadable),
    }
}
