//! Chooses the argument for requesting the next page: one of the tool's own, according to what the result provides.

use std::borrow::Cow;

use serde_json::Value as Schema;

use super::super::names::is;
use super::position::{PagePosition, PagingRole, takes, whole};
use super::{NextKind, NextPage, is_address};
use crate::json::Value;
use crate::tool::Tool;

/// The longest value that the model is given, in bytes. A cut cursor is useless, and the model may miscopy a longer one.
const LONGEST: usize = 512;

/// The argument to repeat the call with, and its value as JSON; `None` if no argument of the tool fits.
pub(super) fn argument(
    tool: &Tool,
    next: Option<NextPage<'_, '_>>,
    position: &PagePosition<'_>,
    items: Option<usize>,
) -> Option<(String, String)> {
    let given = next.and_then(|next| given(tool, &next, position));
    // A cursor that fits no argument, or is too long, must not be replaced by a guess.
    let is_cursor = next.is_some_and(|next| next.kind == NextKind::Cursor && !is_whole(next.value));
    if given.is_some() || (is_cursor && position.parameter(PagingRole::Cursor).is_some()) {
        return given;
    }
    counted(position, items)
}

/// The argument that the result provides.
fn given(
    tool: &Tool,
    next: &NextPage<'_, '_>,
    position: &PagePosition<'_>,
) -> Option<(String, String)> {
    let text = match next.value {
        Value::String(text) => Cow::Borrowed(text.as_ref()),
        Value::Number(number) => Cow::Borrowed(number.as_str()),
        _ => return None,
    };
    if next.kind == NextKind::Link || is_address(&text) {
        return in_link(tool, &text, position);
    }
    let wanted: &[PagingRole] = match next.kind {
        NextKind::Page if is_whole(next.value) => &[PagingRole::Page, PagingRole::Cursor],
        NextKind::Cursor if is_whole(next.value) => &[PagingRole::Cursor, PagingRole::Page],
        NextKind::Offset => &[PagingRole::Offset, PagingRole::Cursor],
        NextKind::Cursor | NextKind::Page | NextKind::Link => &[PagingRole::Cursor],
    };
    let wanted = wanted.iter();
    let (name, schema) = wanted.copied().find_map(|kind| position.parameter(kind))?;
    Some((name.to_owned(), written(&text, schema)?))
}

/// The value in a link's query for one of the tool's own arguments.
fn in_link(tool: &Tool, link: &str, position: &PagePosition<'_>) -> Option<(String, String)> {
    let (_, query) = link.split_once('?')?;
    let query = query.split('#').next().unwrap_or_default();
    let pairs = || query.split('&').filter_map(|pair| pair.split_once('='));
    // A hidden argument must not be taken from a link either.
    if tool.takes_secrets() {
        return None;
    }
    let kinds = [PagingRole::Cursor, PagingRole::Page, PagingRole::Offset].into_iter();
    kinds
        .flat_map(|kind| position.all(kind))
        .find_map(|(name, schema)| {
            let letters = name.chars().filter(char::is_ascii_alphanumeric);
            let folded: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
            let (_, value) =
                pairs().find(|(key, _)| is(&decoded(key).unwrap_or_default(), &folded))?;
            let value = decoded(value).filter(|value| !value.is_empty())?;
            Some((name.to_owned(), written(&value, schema)?))
        })
}

/// The page or the offset after this one.
fn counted(position: &PagePosition<'_>, items: Option<usize>) -> Option<(String, String)> {
    if let Some((name, schema)) = position.parameter(PagingRole::Page) {
        let default = || schema.get("default").and_then(Schema::as_u64);
        let page = position.page.or_else(default).unwrap_or(position.first);
        let next = page.checked_add(1)?.to_string();
        return Some((name.to_owned(), written(&next, schema)?));
    }
    let (name, schema) = position.parameter(PagingRole::Offset)?;
    let items = u64::try_from(items?).ok().filter(|items| *items > 0)?;
    let next = position.before?.checked_add(items)?.to_string();
    Some((name.to_owned(), written(&next, schema)?))
}

fn is_whole(value: &Value<'_>) -> bool {
    whole(value).is_some()
}

/// A value as JSON of the type that the schema accepts; `None` if it cannot be shown safely: cursors are plain characters.
fn written(text: &str, schema: &Schema) -> Option<String> {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if text.is_empty() || text.len() > LONGEST || !is_plain {
        return None;
    }
    let is_number = text.parse::<u64>().is_ok() && !(text.len() > 1 && text.starts_with('0'));
    let wants_number = takes(schema, "integer") || takes(schema, "number");
    let wants_text = takes(schema, "string");
    if is_number && (wants_number || !wants_text) {
        return Some(text.to_owned());
    }
    (wants_text || !wants_number).then(|| Value::String(Cow::Borrowed(text)).to_string())
}

/// A decoded part of a query; `None` if it is not text.
fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes().iter();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
                let (high, low) = (digit(rest.next())?, digit(rest.next())?);
                u8::try_from(high * 16 + low).ok()?
            }
            other => *other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_decoded() {
        assert_eq!(decoded("a%2Bb+c%3d").as_deref(), Some("a+b c="));
        assert_eq!(decoded("%"), None);
        assert_eq!(decoded("%zz"), None);
        assert_eq!(decoded("%ff"), None);
    }

    #[test]
    fn values_are_written_as_the_schema_takes_them() {
        let integer = serde_json::json!({"type": "integer"});
        let text = serde_json::json!({"type": ["string", "null"]});
        let any = serde_json::json!({});
        assert_eq!(written("2", &integer).as_deref(), Some("2"));
        assert_eq!(written("2", &text).as_deref(), Some("\"2\""));
        assert_eq!(written("2", &any).as_deref(), Some("2"));
        assert_eq!(written("02", &any).as_deref(), Some("\"02\""));
        assert_eq!(written("a\"b", &text).as_deref(), Some(r#""a\"b""#));
        assert_eq!(written("abc", &integer), None);
        assert_eq!(written("a\nb", &text), None);
        assert_eq!(written(&"a".repeat(513), &text), None);
        assert_eq!(written("", &text), None);
    }
}
