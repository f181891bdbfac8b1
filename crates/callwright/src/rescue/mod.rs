//! Stage 0, only on request: calls that a model wrote as text in its message → [`Call`]s.
//!
//! Takes a [`Message`] and returns the calls in it with their arguments as they were written, or the reason why there are none.
//! The rules:
//!
//! 1. A message consists of calls only if it contains nothing else, from its first character to its last: apart from closed
//!    reasoning before them and the debris of chat templates around them (`vocabulary/template`), any text makes them a quotation.
//! 2. If every tool that is called is declared read-only, and guesses are allowed, there may be words around the calls.
//!
//! This stage takes a whole message or nothing of it, calls only tools that are offered, and never completes a message that is
//! cut off. It never repairs, converts or judges: parameters written as text stay text, and parse, validate and repair do the
//! rest.
//!
//! The same readers serve the arguments of a call that are in another notation than JSON (`notated.rs`).

mod among_words;
mod arguments;
mod beginning;
mod chance;
mod cursor;
mod debris;
mod elements;
mod envelope;
mod harmony;
mod mistral;
mod notated;
mod offer;
mod pythonic;
mod reason;
mod surroundings;
mod tags;

pub use beginning::{Beginning, CallWatch};
pub(crate) use notated::{Notated, read_arguments};
pub(crate) use offer::Offer;
pub use reason::NoCall;

pub use crate::vocabulary::{Message, Notation};

use self::cursor::{Cursor, RescueResult};
use self::surroundings::{Surroundings, quoted};
use crate::call::{Call, Completeness, MOST_CALLS, numbered_id};
use crate::vocabulary::{ParseLimits, template};

/// The calls found in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rescued<'m> {
    /// The calls in the order in which they were written. Their ids are the message's id with a number: `m7.1`, `m7.2`.
    pub calls: Vec<Call<'m>>,
    /// The text before the calls.
    pub rest: &'m str,
}

/// Calls as found in a text.
struct FoundCalls<'t> {
    calls: Vec<Call<'t>>,
    notation: Notation,
    /// How much of the text stays text.
    rest: usize,
    /// Whether there are words around the calls.
    has_words: bool,
    /// Whether the text ends within a call.
    is_cut: bool,
}

impl<'t> FoundCalls<'t> {
    /// Calls among debris that start at this position.
    fn among_debris((calls, notation): (Vec<Call<'t>>, Notation), rest: usize) -> Self {
        FoundCalls {
            calls,
            notation,
            rest,
            has_words: false,
            is_cut: false,
        }
    }
}

/// Extracts the calls from a message.
pub(crate) fn rescue<'m>(
    offer: &Offer<'_>,
    limits: &ParseLimits,
    message: &'m Message<'_>,
) -> Result<Rescued<'m>, NoCall> {
    let text = message.text.as_ref();
    if text.len() > limits.max_bytes {
        return Err(NoCall::TooLong);
    }
    let start = template::after_reasoning(text).ok_or_else(|| quoted(text, NoCall::Ambiguous))?;
    let end = start + template::without_last_tokens(&text[start..]).len();
    let span = (start, end);
    let found = match read_from(text, span, limits, offer) {
        Ok(found) => found,
        Err(why) => among_words::read(text, span, limits, offer).ok_or_else(|| match why {
            NoCall::TextBefore | NoCall::InCode => quoted(text, why),
            other => other,
        })?,
    };
    let mut calls = found.calls;
    if calls.len() > MOST_CALLS {
        return Err(NoCall::TooMany);
    }
    for call in &calls {
        let Some(tool) = offer.tool(&call.tool) else {
            return Err(NoCall::NotOffered(call.tool.as_ref().to_owned()));
        };
        if found.has_words && !offer.allows_words(tool) {
            return Err(NoCall::TextBefore);
        }
    }
    // A message that ends within a call was cut as a whole, as when the provider says so.
    let completeness = match message.completeness {
        _ if found.is_cut => Completeness::CutOff,
        doubt @ (Completeness::Doubtful | Completeness::CutOff) => doubt,
        // That the message ended normally says nothing about a call written in it.
        Completeness::Complete | Completeness::Unknown => Completeness::Unknown,
    };
    for (at, call) in calls.iter_mut().enumerate() {
        call.rescued = Some(found.notation);
        call.id = message.id.as_ref().map(|id| numbered_id(id, at + 1));
        call.completeness = completeness;
    }
    let rest = text[..found.rest].trim_ascii_end();
    Ok(Rescued { calls, rest })
}

/// The calls that start at a position and are all that follows it: in their own notation, or as JSON among debris. The second
/// position is where the tokens that end the message start.
fn read_from<'t>(
    text: &'t str,
    (start, end): (usize, usize),
    limits: &ParseLimits,
    offer: &Offer<'_>,
) -> RescueResult<FoundCalls<'t>> {
    let why = match read_notation(text, (start, end), limits, offer) {
        Ok((found, "")) => return Ok(found),
        Ok(_) => NoCall::TextAfter,
        Err(why) => why,
    };
    match debris::read(text, start, limits.max_depth, offer) {
        Ok((found, end)) if debris::is_end(&text[end..], offer) => {
            Ok(FoundCalls::among_debris(found, start))
        }
        _ => Err(why),
    }
}

/// The calls that start at a position in their own notation, and the text after them.
fn read_notation<'t>(
    text: &'t str,
    (start, end): (usize, usize),
    limits: &ParseLimits,
    offer: &Offer<'_>,
) -> RescueResult<(FoundCalls<'t>, &'t str)> {
    let around = Surroundings::of(text, start, end)?;
    let mut cursor = Cursor::new(&text[..around.end], around.calls, limits.max_depth);
    let calls = match around.notation {
        Notation::ToolCall => tags::read_tool_calls(&mut cursor, offer)?,
        Notation::Pairs => tags::read_pairs(&mut cursor)?,
        Notation::Function | Notation::Invoke => tags::read_tagged(&mut cursor)?,
        Notation::Mistral => mistral::read(&mut cursor, offer)?,
        Notation::Harmony => harmony::read(&mut cursor)?,
        Notation::Pythonic => pythonic::read(&mut cursor)?,
        // Found among debris.
        Notation::Json | Notation::Gemma => envelope::read_alone(&mut cursor, offer)?,
    };
    if calls.is_empty() {
        return Err(NoCall::Unreadable);
    }
    // In a notation that carries text itself, that text comes first.
    let is_told = cursor.calls > around.calls;
    let found = FoundCalls {
        calls,
        notation: around.notation,
        rest: if is_told { cursor.calls } else { start },
        has_words: cursor.has_words,
        is_cut: cursor.is_cut,
    };
    Ok((found, cursor.rest()))
}
