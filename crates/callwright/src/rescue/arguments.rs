//! The arguments after a tool's name, as text that should be a JSON object.
//!
//! Takes the place where they start and what ends them; returns their text. Text that is not JSON is passed on to repair,
//! provided it is certain where it ends; it is not parsed here.

use super::NoCall;
use super::cursor::{Cursor, RescueResult};
use crate::json::{Member, Problem, Value, has_duplicate};

/// What may end arguments, and what they may not contain.
pub(super) struct Border {
    /// The token that follows the arguments; if none, the end of the message.
    pub(super) end: Option<&'static str>,
    /// The token that starts the next call: inside arguments that are not JSON it could belong to either.
    pub(super) next: &'static str,
}

/// Members, each of which is given once.
pub(super) fn object(members: Vec<Member<'_>>) -> RescueResult<Value<'_>> {
    if has_duplicate(&members) {
        return Err(NoCall::Ambiguous);
    }
    Ok(Value::Object(members))
}

/// Reads the text of the arguments that start here and moves past it, but not past the token that ends them.
pub(super) fn read<'t>(cursor: &mut Cursor<'t>, border: &Border) -> RescueResult<&'t str> {
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

/// Text from brace to brace that is not JSON.
pub(super) fn broken<'t>(cursor: &mut Cursor<'t>, border: &Border) -> RescueResult<&'t str> {
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
