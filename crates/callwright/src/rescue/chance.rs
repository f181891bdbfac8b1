//! Whether a text that is not whole begins calls, by its first characters.
//!
//! Looks at marks of the notations, names of offered tools and the keys of a call as JSON. `No` is certain, whatever
//! follows; `Yes` only means that nothing but the rest of the message can tell more.

use super::{harmony, mistral, tags};
use crate::tool::ToolSet;

/// Whether a text begins a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Chance {
    No,
    /// It is too short to tell.
    Maybe,
    Yes,
}

/// The keys of a call as JSON.
const KEYS: [&str; 6] = ["name", "arguments", "parameters", "function", "type", "id"];

/// Whether a text begins calls in any notation.
pub(super) fn beginning_of_calls(tools: &ToolSet, text: &str) -> Chance {
    let named = tools
        .iter()
        .map(|tool| match text.strip_prefix(tool.name()) {
            Some(after) => begun_by(after, mistral::ARGS),
            None => begun_by(text, tool.name()),
        });
    let unmarked = match text.as_bytes().first() {
        Some(b'{') => object(tools, text, true),
        Some(b'[') => list(tools, text),
        _ => Chance::No,
    };
    named.fold(unmarked.max(marked(text)), Chance::max)
}

/// Whether a text begins with what nothing but calls begins with.
pub(super) fn marked(text: &str) -> Chance {
    let tokens = [
        tags::TOOL_CALL,
        tags::FUNCTION,
        mistral::CALLS,
        harmony::START,
        harmony::CHANNEL,
    ];
    let any = tokens.into_iter().map(|token| begun_by(text, token));
    any.fold(invoke(text), Chance::max)
}

/// `<invoke ` or `<function_calls>`, also with a namespace.
fn invoke(text: &str) -> Chance {
    if tags::starts_invoke(text) {
        return Chance::Yes;
    }
    let Some(tag) = text.strip_prefix('<') else {
        return Chance::No;
    };
    let letters = tag.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (space, after) = tag.split_at(letters);
    let name = match after.strip_prefix(':') {
        Some(name) => name,
        // The namespace itself is not whole.
        None if after.is_empty() && space.len() <= tags::LONGEST_NAMESPACE => return Chance::Maybe,
        None => tag,
    };
    let is_begun = ["invoke ", "function_calls>"]
        .iter()
        .any(|whole| whole.starts_with(name));
    if is_begun { Chance::Maybe } else { Chance::No }
}

/// `[{"name": …`, `[name(`.
fn list(tools: &ToolSet, text: &str) -> Chance {
    let inner = text.get(1..).unwrap_or_default().trim_ascii_start();
    match inner.as_bytes().first() {
        None => Chance::Maybe,
        Some(b'{') => object(tools, inner, true),
        // Nothing at all, which calls may follow.
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
            tools
                .iter()
                .map(|tool| called(tool.name()))
                .fold(Chance::No, Chance::max)
        }
    }
}

/// `{"name": "…", …`, with the keys of a call and the name of a tool.
fn object(tools: &ToolSet, text: &str, is_outer: bool) -> Chance {
    let mut rest = text.get(1..).unwrap_or_default();
    loop {
        let (key, after) = match string(rest) {
            Ok(read) => read,
            Err(Some(begun)) if KEYS.iter().any(|key| key.starts_with(begun)) => {
                return Chance::Maybe;
            }
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
        match key {
            // A key may be written with escapes; that is for the end of the message to see.
            key if key.contains('\\') => return Chance::Yes,
            "arguments" | "parameters" => return Chance::Yes,
            "function" if is_outer && value.starts_with('{') => return object(tools, value, false),
            "name" | "type" | "id" | "function" if value.is_empty() => return Chance::Maybe,
            "name" | "type" | "id" => {}
            _ => return Chance::No,
        }
        let may_be = |begun: &str| match key {
            _ if begun.contains('\\') => true,
            "name" => tools.iter().any(|tool| tool.name().starts_with(begun)),
            "type" => "function".starts_with(begun),
            _ => true,
        };
        match string(value) {
            Ok((text, _)) if text.contains('\\') => return Chance::Yes,
            Ok((name, _)) if key == "name" => {
                return if tools.get(name).is_some() {
                    Chance::Yes
                } else {
                    Chance::No
                };
            }
            Ok((kind, _)) if key == "type" && kind != "function" => return Chance::No,
            Ok((_, after)) => match after.trim_ascii_start().strip_prefix(',') {
                Some(next) => rest = next,
                None if after.trim_ascii_start().is_empty() => return Chance::Maybe,
                None => return Chance::No,
            },
            Err(Some(begun)) if may_be(begun) => return Chance::Maybe,
            Err(_) => return Chance::No,
        }
    }
}

/// The text in quotes and what is after it; an error has the text without its end, if there is one.
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

/// Whether a text begins with a token, or may when more has come.
pub(super) fn begun_by(text: &str, token: &str) -> Chance {
    if text.starts_with(token) {
        Chance::Yes
    } else if token.starts_with(text) {
        Chance::Maybe
    } else {
        Chance::No
    }
}
