//! Calls as JSON, in Python or in Gemma's notation, surrounded by the debris that any chat template leaves.
//!
//! Takes the position where calls may start; returns them with the position where the last one ends. A call is an envelope with
//! its name and its arguments, or an object or named arguments after the name of an offered tool. Only debris ([`template`]) may come between
//! calls; the caller judges what follows the last one.

use super::NoCall;
use super::cursor::{Cursor, RescueResult};
use super::envelope;
use super::offer::Offer;
use super::pythonic;
use super::tags;
use crate::call::{Arguments, Call};
use crate::json::{Problem, Value};
use crate::vocabulary::Notation;
use crate::vocabulary::envelope::open_all;
use crate::vocabulary::template::{self, CallSide, Debris};

/// Reads the calls that start here.
pub(super) fn read<'t>(
    text: &'t str,
    start: usize,
    max_depth: usize,
    offer: &Offer<'_>,
) -> RescueResult<((Vec<Call<'t>>, Notation), usize)> {
    let (mut calls, mut end) = (Vec::new(), start);
    let mut is_marked = false;
    let mut notation = Notation::Json;
    loop {
        let side = if calls.is_empty() {
            CallSide::Before
        } else {
            CallSide::Between
        };
        let (debris, length) = offer.leading_debris(&text[end..], side);
        let mut cursor = Cursor::new(text, end + length, max_depth);
        let opened = text[end..end + length].matches('(').count();
        // `search(query="tea")`
        if let Some(tool) = debris.tool
            && text[..end + length].ends_with('(')
            && cursor.peek() != Some('{')
        {
            let arguments = pythonic::named_arguments(&mut cursor)?;
            let arguments = arguments_of(arguments, tool, &debris, offer)?;
            calls.push(Call::new(tool.to_owned(), Arguments::Value(arguments)));
            close(&mut cursor, opened.saturating_sub(1));
            notation = Notation::Pythonic;
            end = cursor.at();
            continue;
        }
        // A marker after the last call ends the message.
        let is_last = !calls.is_empty() && template::mark_end(text, end + length).is_some();
        if !matches!(cursor.peek(), Some('{' | '[')) || is_last {
            break;
        }
        is_marked |= debris.has_mark || debris.has_fence;
        // `call:search{query:<|"|>tea<|"|>}`, which repair reads.
        if let Some(tool) = debris.tool
            && let Some(length) = template::object_length(cursor.rest())
        {
            expect_mark(tool, &debris, offer)?;
            let arguments = &cursor.rest()[..length];
            calls.push(Call::from_text(tool.to_owned(), arguments));
            cursor.eat(arguments);
            notation = Notation::Gemma;
            close(&mut cursor, opened);
            end = cursor.at();
            continue;
        }
        match (cursor.json(), debris.tool) {
            (Ok(value), Some(tool)) => {
                let arguments = arguments_of(value, tool, &debris, offer)?;
                calls.push(Call::new(tool.to_owned(), Arguments::Value(arguments)));
            }
            (Ok(value), None) => {
                if envelope::declares(&value) {
                    return Err(NoCall::Ambiguous);
                }
                let mut read = match keyed(&value, offer) {
                    Some(calls)
                        if is_marked || calls.iter().all(|call| offer.only_reads(&call.tool)) =>
                    {
                        calls
                    }
                    Some(_) => return Err(NoCall::NoMark),
                    None => envelope::calls(value, offer)?,
                };
                if read.is_empty() {
                    return Err(NoCall::Unreadable);
                }
                calls.append(&mut read);
            }
            (Err(error), tool) if calls.is_empty() && error.problem != Problem::CutOff => {
                let start = end + length;
                let is_object = text[start..].starts_with('{');
                let Some(last) = text.rfind('}').filter(|last| is_object && *last > start) else {
                    return Err(NoCall::Unreadable);
                };
                end = last + 1;
                // Another call in it could start inside the arguments or after them.
                let mut signs = text[start + 1..end].match_indices(['<', '[']);
                if signs.any(|(at, _)| template::mark_end(text, start + 1 + at).is_some()) {
                    return Err(NoCall::Ambiguous);
                }
                calls = match tool {
                    Some(tool) => vec![Call::from_text(tool.to_owned(), &text[start..end])],
                    None => envelope::read_alone(
                        &mut Cursor::new(&text[..end], start, max_depth),
                        offer,
                    )?,
                };
                return Ok(((calls, notation), end));
            }
            (Err(_), _) => return Err(NoCall::Unreadable),
        }
        close(&mut cursor, opened);
        end = cursor.at();
    }
    // Without arguments and a marker it may be any record with a name.
    if calls.is_empty() || !is_marked && calls.iter().any(envelope::is_bare) {
        return Err(NoCall::NoMark);
    }
    Ok(((calls, notation), end))
}

/// Whether a text starts like a call: a marker or the name of a tool before a bracket, or the name before a parenthesis or a
/// tag.
pub(super) fn opens_call(text: &str, offer: &Offer<'_>) -> bool {
    let (debris, length) = offer.leading_debris(text, CallSide::Before);
    let (before, rest) = text.split_at(length);
    let is_named = debris.tool.is_some();
    let opens = || before.ends_with('(') || rest.starts_with('<') || before.ends_with(tags::KEY);
    (debris.has_mark || is_named) && rest.starts_with(['{', '[']) || is_named && opens()
}

/// Moves past the parentheses that close what was opened before a call: `print(search(…))`.
fn close(cursor: &mut Cursor<'_>, opened: usize) {
    for _ in 0..opened {
        cursor.eat_spaced(")");
    }
}

/// Calls with the name of the tool as the key of its arguments: `{"search": {…}}`, also in a list.
fn keyed<'t>(value: &Value<'t>, offer: &Offer<'_>) -> Option<Vec<Call<'t>>> {
    let items = value.as_array().unwrap_or(std::slice::from_ref(value));
    let call = |item: &Value<'t>| match item.as_object()? {
        [(tool, arguments @ Value::Object(_))] if offer.tools.get(tool).is_some() => {
            let arguments = Arguments::Value(arguments.clone());
            Some(Call::new(tool.clone(), arguments))
        }
        _ => None,
    };
    items.iter().map(call).collect()
}

/// A name alone does not mark a call, unless the tool is read-only.
fn expect_mark(tool: &str, debris: &Debris<'_>, offer: &Offer<'_>) -> RescueResult<()> {
    let is_marked = debris.has_mark || debris.has_fence || offer.arguments_of.is_some();
    if is_marked || offer.only_reads(tool) {
        Ok(())
    } else {
        Err(NoCall::NoMark)
    }
}

/// The arguments after the name of a tool.
fn arguments_of<'t>(
    value: Value<'t>,
    tool: &str,
    debris: &Debris<'_>,
    offer: &Offer<'_>,
) -> RescueResult<Value<'t>> {
    expect_mark(tool, debris, offer)?;
    // A complete call after a name would name a tool twice.
    if !matches!(value, Value::Object(_)) || open_all(value.clone()).is_ok() {
        return Err(NoCall::Ambiguous);
    }
    Ok(value)
}

/// Whether the rest of a text is only debris. With quotes in it, the last text before it may go on.
pub(super) fn is_end(rest: &str, offer: &Offer<'_>) -> bool {
    !rest.contains(['"', '\'']) && offer.leading_debris(rest, CallSide::After).1 == rest.len()
}
