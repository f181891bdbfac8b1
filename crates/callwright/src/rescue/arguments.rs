//! The arguments after a tool's name, as text that should be a JSON object.
//!
//! Takes the place where they start and what ends them, and returns their text. Text that is not JSON is
//! passed on for repair to look at, if it is certain where it ends; it is not read here.

use super::NoCall;
use super::cursor::{Cursor, Read};
use crate::json::{Problem, Value};

/// What may end arguments, and what may not be in them.
pub(super) struct Border {
    /// What follows the arguments; the end of the message otherwise.
    pub(super) end: Option<&'static str>,
    /// What starts the next call: inside arguments that are not JSON it could belong to either.
    pub(super) next: &'static str,
}

/// Reads the text of the arguments that start here and steps over it, not over what ends them.
pub(super) fn read<'t>(cursor: &mut Cursor<'t>, border: &Border) -> Read<&'t str> {
    cursor.skip_blank();
    let rest = cursor.rest();
    match cursor.json() {
        Ok(Value::Object(_)) => {
            let length = rest.len() - cursor.rest().len();
            Ok(&rest[..length])
        }
        Ok(_) => Err(NoCall::Unreadable),
        Err(error) if error.problem == Problem::CutOff => {
            if rest.is_empty() || rest.starts_with('{') {
                Ok(cursor.cut())
            } else {
                Err(NoCall::Unreadable)
            }
        }
        Err(_) => broken(cursor, border),
    }
}

/// Text from a brace to a brace that is not JSON.
pub(super) fn broken<'t>(cursor: &mut Cursor<'t>, border: &Border) -> Read<&'t str> {
    let rest = cursor.rest();
    let length = match border.end {
        Some(end) => rest.find(end).ok_or(NoCall::Unreadable)?,
        None => rest.len(),
    };
    let text = rest[..length].trim_ascii_end();
    if text.contains(border.next) {
        return Err(NoCall::Ambiguous);
    }
    if !text.starts_with('{') || !text.ends_with('}') {
        return Err(NoCall::Unreadable);
    }
    cursor.eat(&rest[..length]);
    Ok(text)
}
