//! Calls between tags, one after the other:
//!
//! - `<tool_call>{"name": …, "arguments": …}</tool_call>`
//! - `<function=name><parameter=key>value</parameter></function>` or `<function=name>{…}</function>`, also inside
//!   `<tool_call>`
//! - `<invoke name="…"><parameter name="key">value</parameter></invoke>`, also inside `<function_calls>`, also with
//!   one namespace before every tag
//!
//! The value of a parameter is the exact text up to the first closing tag, as a string: the schema decides which type it should
//! have. A value that contains a tag of the same notation could be read in two ways.

use super::NoCall;
use super::arguments::{self, Border};
use super::cursor::{Closing, Cursor, RescueResult};
use super::envelope;
use super::offer::Offer;
use crate::call::{Arguments, Call};
use crate::json::{Member, Value, has_duplicate};

pub(super) const TOOL_CALL: &str = "<tool_call>";
const TOOL_CALL_END: &str = "</tool_call>";
pub(super) const FUNCTION: &str = "<function=";
const FUNCTION_END: &str = "</function>";

/// The longest namespace that is searched for; the known ones have three to five letters.
pub(super) const LONGEST_NAMESPACE: usize = 16;

/// The tags of a notation with parameters.
struct Tags<'n> {
    /// What comes before a key.
    open: &'n str,
    /// What comes after a key.
    opened: &'n str,
    /// What comes after a value.
    close: &'n str,
    /// What comes after the last parameter.
    end: &'n str,
    /// What comes after all calls, if anything does.
    wrapper_end: &'n str,
}

/// Calls as JSON in `<tool_call>`.
pub(super) fn read_tool_calls<'t>(
    cursor: &mut Cursor<'t>,
    offer: &Offer<'_>,
) -> RescueResult<Vec<Call<'t>>> {
    const BORDER: Border = Border {
        end: Some(TOOL_CALL_END),
        next: TOOL_CALL,
    };
    let mut calls = Vec::new();
    while !cursor.is_at_end() {
        if !cursor.eat_spaced(TOOL_CALL) {
            return Err(NoCall::TextAfter);
        }
        calls.append(&mut envelope::read_tagged(cursor, &BORDER, offer)?);
        cursor.close_whole(TOOL_CALL_END)?;
    }
    Ok(calls)
}

/// Calls in `<function=name>`.
pub(super) fn read_functions<'t>(cursor: &mut Cursor<'t>) -> RescueResult<Vec<Call<'t>>> {
    let mut calls = Vec::new();
    while !cursor.is_at_end() {
        let is_inside = cursor.eat_spaced(TOOL_CALL);
        let first = calls.len();
        while cursor.eat(FUNCTION) {
            calls.push(function(cursor)?);
            cursor.skip_blank();
        }
        if calls.len() == first {
            return Err(NoCall::TextAfter);
        }
        match cursor.close(TOOL_CALL_END) {
            // The closing tag may be there alone: models forget the opening one.
            Closing::Closed => {}
            Closing::Cut => cursor.is_cut |= is_inside,
            Closing::Other => return Err(NoCall::TextAfter),
        }
    }
    Ok(calls)
}

/// One call, after `<function=`.
fn function<'t>(cursor: &mut Cursor<'t>) -> RescueResult<Call<'t>> {
    const TAGS: Tags<'static> = Tags {
        open: "<parameter=",
        opened: ">",
        close: "</parameter>",
        end: FUNCTION_END,
        wrapper_end: TOOL_CALL_END,
    };
    const BORDER: Border = Border {
        end: Some(FUNCTION_END),
        next: FUNCTION,
    };
    let tool = cursor.until(">").ok_or(NoCall::CutOff)?;
    cursor.skip_blank();
    if cursor.peek() != Some('{') {
        return parameters(cursor, tool, &TAGS);
    }
    let text = arguments::read(cursor, &BORDER)?;
    cursor.close_whole(FUNCTION_END)?;
    Ok(Call::from_text(tool, text))
}

/// Whether `<invoke name="…">`, or the tag around it, starts here.
pub(super) fn starts_invoke(text: &str) -> bool {
    namespace(text).is_some()
}

/// The text between `<` and the name of the tag: `antml:`, or nothing.
fn namespace(text: &str) -> Option<&str> {
    let tag = text.strip_prefix('<')?;
    let letters = tag.bytes().take_while(u8::is_ascii_alphabetic).count();
    let length = match tag.as_bytes().get(letters) {
        Some(b':') if letters <= LONGEST_NAMESPACE => letters + 1,
        _ => 0,
    };
    let name = &tag[length..];
    (name.starts_with("invoke ") || name.starts_with("function_calls>")).then(|| &tag[..length])
}

/// Calls in `<invoke name="…">`.
pub(super) fn read_invokes<'t>(cursor: &mut Cursor<'t>) -> RescueResult<Vec<Call<'t>>> {
    let space = namespace(cursor.rest()).unwrap_or_default();
    let tag = |inner: &str| inner.replace('$', space);
    let (open, wrapper) = (tag("<$invoke name=\""), tag("<$function_calls>"));
    let tags = Tags {
        open: &tag("<$parameter name=\""),
        opened: "\">",
        close: &tag("</$parameter>"),
        end: &tag("</$invoke>"),
        wrapper_end: &tag("</$function_calls>"),
    };
    let mut calls = Vec::new();
    while !cursor.is_at_end() {
        let is_inside = cursor.eat_spaced(&wrapper);
        let first = calls.len();
        while cursor.eat(&open) {
            let tool = cursor.until("\">").ok_or(NoCall::CutOff)?;
            calls.push(parameters(cursor, tool, &tags)?);
            cursor.skip_blank();
        }
        match (calls.len() > first, is_inside) {
            (true, true) => cursor.expect_close(tags.wrapper_end)?,
            (true, false) => {}
            (false, true) => return Err(NoCall::Unreadable),
            (false, false) => return Err(NoCall::TextAfter),
        }
    }
    Ok(calls)
}

/// Reads parameters up to the end of the call of `tool`.
fn parameters<'t>(
    cursor: &mut Cursor<'t>,
    tool: &'t str,
    tags: &Tags<'_>,
) -> RescueResult<Call<'t>> {
    let mut members: Vec<Member<'t>> = Vec::new();
    loop {
        match cursor.close(tags.end) {
            Closing::Closed => break,
            Closing::Cut => cursor.is_cut = true,
            Closing::Other => cursor.expect_close(tags.open)?,
        }
        if cursor.is_cut {
            break;
        }
        let Some(key) = cursor.until(tags.opened) else {
            cursor.cut();
            break;
        };
        if key.is_empty() || key.contains(['<', '>', '"', '\n']) {
            return Err(NoCall::Unreadable);
        }
        let value = cursor.until(tags.close);
        let value = value.unwrap_or_else(|| cursor.cut());
        let tag = tags.open.trim_end_matches(['=', '"']);
        let tags = [tag, tags.end, tags.wrapper_end];
        if tags.iter().any(|tag| value.contains(tag)) {
            return Err(NoCall::Ambiguous);
        }
        members.push((key.into(), Value::String(own_lines(value).into())));
        if cursor.is_cut {
            break;
        }
    }
    if has_duplicate(&members) {
        return Err(NoCall::Ambiguous);
    }
    Ok(Call::new(tool, Arguments::Value(Value::Object(members))))
}

/// A value on separate lines, without the line breaks next to its tags.
fn own_lines(value: &str) -> &str {
    value
        .strip_prefix('\n')
        .map_or(value, |inner| inner.strip_suffix('\n').unwrap_or(inner))
}
