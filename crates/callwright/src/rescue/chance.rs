//! Whether an incomplete text starts calls, judging by its first characters.
//!
//! Examines markers of the notations, debris, names of offered tools and the keys of a call as JSON. `No` is certain, whatever
//! follows; `Yes` only means that nothing but the rest of the message can tell more.

use super::offer::Offer;
use super::surroundings::after_blanks;
use super::{harmony, mistral, tags};
use crate::tool::{MCP, own_name};
use crate::vocabulary::envelope::{ARGUMENTS, LAYERS, LISTS, NAMES, SILENT};
use crate::vocabulary::template::{self, CallSide};

/// Whether a text starts a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Chance {
    No,
    /// Too short to tell.
    Maybe,
    Yes,
}

/// Whether a text starts calls, including what chat templates leave before them.
pub(super) fn beginning_of_calls(offer: &Offer<'_>, text: &str) -> Chance {
    let header = after_blanks(text, template::header_length(text));
    let places = [after_blanks(text, 0), header];
    let chances = places.into_iter().map(|at| match &text[at..] {
        "" => Chance::Maybe,
        rest => bare(offer, rest),
    });
    chances.fold(after_debris(offer, text), Chance::max)
}

/// Whether a text starts calls after debris.
pub(super) fn after_debris(offer: &Offer<'_>, text: &str) -> Chance {
    let (debris, length) = offer.leading_debris(text, CallSide::Before);
    let rest = &text[length..];
    match rest.as_bytes().first() {
        None => Chance::Maybe,
        Some(b'{') if debris.tool.is_some() => Chance::Yes,
        // `search(query="tea")`
        Some(_) if debris.tool.is_some() && text[..length].ends_with('(') => Chance::Yes,
        _ if template::may_become_debris(rest, &|begun| begins_name(offer, begun)) => Chance::Maybe,
        _ => bare(offer, rest),
    }
}

/// Whether a text is the start of a tool's name, or of another spelling of it, also in a namespace.
pub(super) fn begins_name(offer: &Offer<'_>, begun: &str) -> bool {
    let letters = |name: &str| -> String {
        let kept = name.chars().filter(|c| c.is_alphanumeric());
        kept.flat_map(char::to_lowercase).collect()
    };
    let begun = begun.strip_prefix("to=").unwrap_or(begun);
    let begun = template::NAMESPACES.iter().fold(begun, |name, space| {
        name.strip_prefix(space).unwrap_or(name)
    });
    // The name of any server may follow.
    if begun.starts_with(MCP) || MCP.starts_with(begun) {
        return true;
    }
    let begun = letters(begun);
    let begins = |name: &str| {
        let name = letters(name);
        name.starts_with(&begun)
            || begun.starts_with(&name) && begun[name.len()..].bytes().all(|c| c.is_ascii_digit())
    };
    let is_begun = |tool: &str| begins(tool) || own_name(tool).is_some_and(begins);
    offer.tools.iter().any(|tool| is_begun(tool.name()))
}

/// Whether a text starts calls in any notation, with nothing before them.
fn bare(offer: &Offer<'_>, text: &str) -> Chance {
    let tools = offer.tools.iter();
    let named = tools.map(|tool| match text.strip_prefix(tool.name()) {
        Some(after) => begun_by(after, mistral::ARGS),
        None => begun_by(text, tool.name()),
    });
    let unmarked = match text.as_bytes().first() {
        Some(b'{') => object(offer, text, true),
        Some(b'[') => list(offer, text),
        _ => Chance::No,
    };
    named.fold(unmarked.max(marked(text)), Chance::max)
}

/// Whether a text starts with a marker that only calls start with.
fn marked(text: &str) -> Chance {
    let tokens = [mistral::CALLS, harmony::START, harmony::CHANNEL];
    let any = tokens.into_iter().map(|token| begun_by(text, token));
    any.fold(tags::begins(text), Chance::max)
}

/// `[{"name": …`, `[name(`.
fn list(offer: &Offer<'_>, text: &str) -> Chance {
    let inner = text.get(1..).unwrap_or_default().trim_ascii_start();
    match inner.as_bytes().first() {
        None => Chance::Maybe,
        Some(b'{') => object(offer, inner, true),
        // An empty list, which calls may follow.
        Some(b']') => match inner[1..].trim_ascii_start().as_bytes().first() {
            None => Chance::Maybe,
            Some(b'{' | b'[') => Chance::Yes,
            Some(_) => Chance::No,
        },
        Some(_) => {
            let called = |name: &str| match inner.strip_prefix(name) {
                Some(after) => begun_by(after.trim_ascii_start(), "("),
                None => begun_by(inner, name),
            };
            let tools = offer.tools.iter();
            tools
                .map(|tool| called(tool.name()))
                .fold(Chance::No, Chance::max)
        }
    }
}

/// `{"name": "…", …`, with the keys of a call and the name of a tool.
fn object(offer: &Offer<'_>, text: &str, is_outer: bool) -> Chance {
    let mut rest = text.get(1..).unwrap_or_default();
    let begins_key = |begun: &str| {
        let calls = ARGUMENTS.iter().chain(NAMES).chain(LAYERS).chain(LISTS);
        calls.chain(SILENT).any(|key| key.starts_with(begun)) || begins_name(offer, begun)
    };
    loop {
        let (key, after) = match string(rest) {
            Ok(read) => read,
            Err(Some(begun)) if begins_key(begun) => return Chance::Maybe,
            Err(Some(begun)) if begun.contains('\\') => return Chance::Yes,
            Err(None) if rest.trim_ascii_start().is_empty() => return Chance::Maybe,
            Err(_) => return Chance::No,
        };
        let after = after.trim_ascii_start();
        let Some(value) = after.strip_prefix(':').map(str::trim_ascii_start) else {
            return if after.is_empty() {
                Chance::Maybe
            } else {
                Chance::No
            };
        };
        let is_name = NAMES.contains(&key);
        match key {
            // A key may be written with escapes; the end of the message will tell.
            key if key.contains('\\') => return Chance::Yes,
            key if ARGUMENTS.contains(&key) || LISTS.contains(&key) => return Chance::Yes,
            key if !is_name && !LAYERS.contains(&key) && !SILENT.contains(&key) => {
                // `{"search": {…}}`
                return if offer.tool(key).is_some() {
                    Chance::Yes
                } else {
                    Chance::No
                };
            }
            _ if value.is_empty() => return Chance::Maybe,
            // `null`, or a number.
            key if SILENT.contains(&key) && !value.starts_with(['"', '\'']) => {
                match value.find(|c: char| !c.is_ascii_alphanumeric()) {
                    None => return Chance::Maybe,
                    Some(end) => match value[end..].trim_ascii_start().strip_prefix(',') {
                        Some(next) => {
                            rest = next;
                            continue;
                        }
                        None if value[end..].trim_ascii_start().is_empty() => return Chance::Maybe,
                        None => return Chance::No,
                    },
                }
            }
            key if is_outer && LAYERS.contains(&key) && value.starts_with('{') => {
                return object(offer, value, false);
            }
            _ => {}
        }
        match string(value) {
            Ok((text, _)) if text.contains('\\') => return Chance::Yes,
            Ok((name, _)) if is_name => {
                return if offer.tool(name).is_some() {
                    Chance::Yes
                } else {
                    Chance::No
                };
            }
            Ok((_, after)) => match after.trim_ascii_start().strip_prefix(',') {
                Some(next) => rest = next,
                None if after.trim_ascii_start().is_empty() => return Chance::Maybe,
                None => return Chance::No,
            },
            Err(Some(begun)) if !is_name || begins_name(offer, begun) => return Chance::Maybe,
            Err(Some(begun)) if begun.contains('\\') => return Chance::Maybe,
            Err(_) => return Chance::No,
        }
    }
}

/// The text in quotes and what follows it; on error, the text so far, if there is one.
fn string(text: &str) -> Result<(&str, &str), Option<&str>> {
    let text = text.trim_ascii_start();
    let quote = text
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\''))
        .ok_or(None)?;
    let inner = &text[1..];
    inner.split_once(quote).ok_or(Some(inner))
}

/// Whether a text starts with a token, or may once more has arrived.
fn begun_by(text: &str, token: &str) -> Chance {
    if text.starts_with(token) {
        Chance::Yes
    } else if token.starts_with(text) {
        Chance::Maybe
    } else {
        Chance::No
    }
}
