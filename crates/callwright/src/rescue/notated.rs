//! The arguments of one call, in the notation of a chat template or of Python where a JSON object belongs.
//!
//! Takes the text that was sent as the arguments of a tool; returns them as a value whose parameters are text, or nothing. The
//! text holds the whole call, or nothing but its parameters: `<parameter=city>Rome</parameter>`, `city="Rome", days=3`, the
//! members of an object without its braces. JSON is left to repair; a call of another tool, a second call and a parameter that
//! is given twice are not read.

use super::cursor::Cursor;
use super::offer::Offer;
use super::{NoCall, among_words, debris, elements, pythonic, read_from, tags};
use crate::call::{Arguments, Call};
use crate::json::{Value, parse_at};
use crate::vocabulary::template::{self, CallSide};
use crate::vocabulary::{Notation, ParseLimits, Shown};

/// Arguments as they were read.
pub(crate) enum Notated<'t> {
    Whole {
        arguments: Value<'t>,
        shown: Shown,
        /// Whether the parameters are texts between tags, whatever their types.
        are_texts: bool,
        /// Whether there are words around the call, of a tool that only reads.
        has_words: bool,
    },
    /// The text ends within a call.
    Cut,
}

/// Reads the arguments of a call of the only tool on offer.
pub(crate) fn read_arguments<'t>(
    text: &'t str,
    limits: &ParseLimits,
    offer: &Offer<'_>,
) -> Option<Notated<'t>> {
    let start = text.len() - text.trim_start().len();
    // Most texts are JSON with a mistake in it.
    if text.len() > limits.max_bytes || text[start..].starts_with('{') {
        return None;
    }
    let end = start + template::without_last_tokens(&text[start..]).len();
    let is_notated = |notation| {
        matches!(
            notation,
            Notation::Function | Notation::Invoke | Notation::Pairs | Notation::Pythonic
        )
    };
    let span = (start, end);
    let found = read_from(text, span, limits, offer).ok();
    match found.or_else(|| among_words::read(text, span, limits, offer)) {
        Some(found) if is_notated(found.notation) => {
            let [call] = <[Call<'t>; 1]>::try_from(found.calls).ok()?;
            let Arguments::Value(arguments) = call.arguments else {
                return None;
            };
            offer.tool(&call.tool)?;
            Some(if found.is_cut {
                Notated::Cut
            } else {
                Notated::Whole {
                    arguments,
                    shown: Shown::Call,
                    are_texts: found.notation != Notation::Pythonic,
                    has_words: found.has_words,
                }
            })
        }
        _ => {
            let named = after_name(text, start, offer);
            let start = named.unwrap_or(start);
            let cursor = Cursor::new(&text[..end], start, limits.max_depth);
            let text = text[start..end].trim_end();
            parameters(cursor, named.is_some(), offer)
                .or_else(|| members(text, limits.max_depth, offer))
        }
    }
}

/// Where the tags after a line with nothing but the name of the tool start.
fn after_name(text: &str, start: usize, offer: &Offer<'_>) -> Option<usize> {
    let (line, after) = text[start..].split_once('\n')?;
    offer.tool(line.trim_end())?;
    let tags = after.trim_start();
    tags.starts_with('<').then(|| text.len() - tags.len())
}

/// The members of an object without its braces: `"city": "Rome", "pets": true`. Each has a key of the tool, and the last value
/// shows that it is complete. If only the first brace is missing, more may be, so the tool must only read.
fn members<'t>(text: &str, max_depth: usize, offer: &Offer<'_>) -> Option<Notated<'t>> {
    let tool = offer.arguments_of.filter(|_| text.starts_with('"'))?;
    let object = |text: String| {
        let (arguments, end) = parse_at(&text, 0, max_depth)?;
        let members = arguments.as_object()?;
        let are_known = members.iter().all(|(key, _)| tool.has_parameter(key));
        (are_known && end == text.len()).then_some(arguments)
    };
    let is_closed = text.ends_with(['"', ']', '}']);
    let without_braces = || object(format!("{{{text}}}")).filter(|_| is_closed);
    let without_first = || object(format!("{{{text}")).filter(|_| offer.allows_words(tool));
    Some(Notated::Whole {
        arguments: without_braces().or_else(without_first)?,
        shown: Shown::Parameters,
        are_texts: false,
        has_words: false,
    })
}

/// Parameters without a call around them, or after its name.
fn parameters<'t>(
    mut cursor: Cursor<'t>,
    is_named: bool,
    offer: &Offer<'_>,
) -> Option<Notated<'t>> {
    let (arguments, shown, are_texts) = match tags::read_parameters(&mut cursor) {
        Ok((arguments, true)) if is_named => (arguments, Shown::Call, true),
        Ok((arguments, true)) => (arguments, Shown::End, true),
        Ok((arguments, false)) => (arguments, Shown::Parameters, true),
        Err(NoCall::Unreadable) if cursor.rest().starts_with('<') => {
            match elements::read(&mut cursor, offer.arguments_of?).ok()? {
                (arguments, true) => (arguments, Shown::Call, true),
                (arguments, false) => (arguments, Shown::Parameters, true),
            }
        }
        Err(NoCall::Unreadable) => match pythonic::read_parameters(&mut cursor).ok()? {
            (arguments, true) => (arguments, Shown::Call, false),
            (arguments, false) if ends_visibly(&arguments) => (arguments, Shown::Parameters, false),
            (arguments, false) => (arguments, Shown::Nothing, false),
        },
        Err(_) => return None,
    };
    if cursor.is_cut {
        return Some(Notated::Cut);
    }
    // `()` names no call.
    if arguments.as_object().is_some_and(<[_]>::is_empty) {
        return None;
    }
    let is_open = matches!(shown, Shown::Parameters | Shown::Nothing);
    // A closing tag or a bracket that closes nothing may belong to a value, or to a call whose start is missing.
    let (debris, _) = offer.leading_debris(cursor.rest(), CallSide::After);
    let is_surplus = is_open && (debris.has_mark || debris.has_sign);
    let is_all = debris::is_end(cursor.rest(), offer) && !is_surplus;
    is_all.then_some(Notated::Whole {
        arguments,
        shown,
        are_texts,
        has_words: false,
    })
}

/// Whether the last value ends with a quote or a bracket.
fn ends_visibly(arguments: &Value<'_>) -> bool {
    let last = arguments.as_object().and_then(<[_]>::last);
    let last = last.map(|(_, value)| value);
    matches!(
        last,
        Some(Value::String(_) | Value::Array(_) | Value::Object(_))
    )
}
