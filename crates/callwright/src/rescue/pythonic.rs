//! `[name(key=value, …), …]`: a Python list of calls with named arguments.
//!
//! Values are literals that mean the same in JSON. An expression, a positional argument, a tuple or an escape that JSON does
//! not have makes the whole message unreadable.

use std::borrow::Cow;

use super::NoCall;
use super::arguments::object;
use super::cursor::{Cursor, RescueResult};
use crate::call::{Arguments, Call};
use crate::json::{Member, Value};
use crate::vocabulary::swallows_member;

/// Whether a list of calls starts here.
pub(super) fn starts(text: &str) -> bool {
    let mut cursor = Cursor::new(text, 0, 0);
    cursor.eat_spaced("[") && name(&mut cursor).is_ok() && cursor.eat_spaced("(")
}

pub(super) fn read<'t>(cursor: &mut Cursor<'t>) -> RescueResult<Vec<Call<'t>>> {
    let mut calls = Vec::new();
    expect(cursor, "[")?;
    loop {
        calls.push(call(cursor)?);
        if cursor.eat_spaced(",") {
            continue;
        }
        expect(cursor, "]")?;
        break;
    }
    if cursor.is_at_end() {
        Ok(calls)
    } else {
        Err(NoCall::TextAfter)
    }
}

fn expect(cursor: &mut Cursor<'_>, token: &str) -> RescueResult<()> {
    if cursor.eat_spaced(token) {
        Ok(())
    } else {
        Err(NoCall::Unreadable)
    }
}

fn call<'t>(cursor: &mut Cursor<'t>) -> RescueResult<Call<'t>> {
    let tool = name(cursor)?;
    expect(cursor, "(")?;
    let arguments = named_arguments(cursor)?;
    Ok(Call::new(tool, Arguments::Value(arguments)))
}

/// `key=value, …)`, after the parenthesis.
pub(super) fn named_arguments<'t>(cursor: &mut Cursor<'t>) -> RescueResult<Value<'t>> {
    cursor.skip_blank();
    let members = if cursor.rest().starts_with(')') {
        Vec::new()
    } else {
        members(cursor)?
    };
    expect(cursor, ")")?;
    object(members)
}

/// `key=value, …` or `(key=value, …)` without a name before it, and whether it is in parentheses.
pub(super) fn read_parameters<'t>(cursor: &mut Cursor<'t>) -> RescueResult<(Value<'t>, bool)> {
    if cursor.eat_spaced("(") {
        return Ok((named_arguments(cursor)?, true));
    }
    Ok((object(members(cursor)?)?, false))
}

fn members<'t>(cursor: &mut Cursor<'t>) -> RescueResult<Vec<Member<'t>>> {
    let mut members = Vec::new();
    loop {
        let key = name(cursor)?;
        expect(cursor, "=")?;
        members.push((key.into(), value(cursor, cursor.max_depth)?));
        if !cursor.eat_spaced(",") {
            break;
        }
    }
    Ok(members)
}

/// A name of a tool or parameter.
fn name<'t>(cursor: &mut Cursor<'t>) -> RescueResult<&'t str> {
    let rest = cursor.rest();
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    if length == 0 {
        return Err(NoCall::Unreadable);
    }
    cursor.eat(&rest[..length]);
    Ok(&rest[..length])
}

fn value<'t>(cursor: &mut Cursor<'t>, depth_left: usize) -> RescueResult<Value<'t>> {
    let unreadable = || NoCall::Unreadable;
    match cursor.peek().ok_or_else(unreadable)? {
        '[' => {
            let depth_left = depth_left.checked_sub(1).ok_or_else(unreadable)?;
            cursor.eat_spaced("[");
            let mut items = Vec::new();
            while !cursor.eat("]") {
                items.push(value(cursor, depth_left)?);
                separator(cursor, "]")?;
            }
            Ok(Value::Array(items))
        }
        '{' => {
            let depth_left = depth_left.checked_sub(1).ok_or_else(unreadable)?;
            cursor.eat_spaced("{");
            let mut members = Vec::new();
            while !cursor.eat("}") {
                let key = string(cursor)?;
                if !cursor.eat_spaced(":") {
                    return Err(unreadable());
                }
                members.push((key, value(cursor, depth_left)?));
                separator(cursor, "}")?;
            }
            object(members)
        }
        '"' | '\'' => string(cursor).map(Value::String),
        '-' | '0'..='9' => cursor.json().map_err(|_| unreadable()),
        _ => match name(cursor)? {
            "True" | "true" => Ok(Value::Bool(true)),
            "False" | "false" => Ok(Value::Bool(false)),
            "None" | "null" => Ok(Value::Null),
            _ => Err(unreadable()),
        },
    }
}

/// A comma, or the closing bracket that follows; a comma before it is allowed, as in Python.
fn separator(cursor: &mut Cursor<'_>, closer: &str) -> RescueResult<()> {
    if cursor.eat_spaced(",") || cursor.rest().starts_with(closer) {
        Ok(())
    } else {
        Err(NoCall::Unreadable)
    }
}

/// A string in either kind of quotes, one or three of them, with the escapes that JSON and Python share.
fn string<'t>(cursor: &mut Cursor<'t>) -> RescueResult<Cow<'t, str>> {
    let Some(quote @ ('"' | '\'')) = cursor.peek() else {
        return Err(NoCall::Unreadable);
    };
    let long = quote.to_string().repeat(3);
    let is_long = cursor.eat(&long);
    let end = if is_long { &long } else { &long[..1] };
    if !is_long {
        cursor.eat(end);
    }
    let stops = [quote, '\\', '\n'];
    let mut text = Cow::Borrowed("");
    loop {
        let plain = cursor.before(&stops).ok_or(NoCall::Unreadable)?;
        text += plain;
        if cursor.eat("\\") {
            let kind = cursor.peek().ok_or(NoCall::Unreadable)?;
            let decoded = match kind {
                'n' => "\n",
                't' => "\t",
                'r' => "\r",
                '\\' => "\\",
                '"' => "\"",
                '\'' => "'",
                _ => return Err(NoCall::Unreadable),
            };
            cursor.eat(kind.encode_utf8(&mut [0; 4]));
            text += decoded;
        } else if cursor.eat(end) {
            return if swallows_member(&text) {
                Err(NoCall::Ambiguous)
            } else {
                Ok(text)
            };
        } else if let Some(c) = cursor.peek().filter(|_| is_long) {
            text += &cursor.rest()[..c.len_utf8()];
            cursor.eat(&cursor.rest()[..c.len_utf8()]);
        } else {
            return Err(NoCall::Unreadable);
        }
    }
}
