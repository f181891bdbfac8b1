//! JSON as written: the members of an object and the items of a list, each as its own slice of the text.
//!
//! For answers that must be passed on byte for byte except for one value: each slice knows its position. Reads one level at a
//! time. `serde_json` reads the outermost level and validates everything inside; deeper levels are only split. A key that
//! occurs twice is an error, since readers differ in which one they use.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use memchr::memchr2;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::vocabulary::named;
use crate::vocabulary::replacements::span_in;

named! {
    /// Why an event or a body cannot be read.
    #[non_exhaustive]
    pub enum UnreadableAnswer {
        /// It is not JSON, or not the JSON that the provider sends.
        Shape = "answer_shape",
        /// A key that matters occurs twice.
        KeyTwice = "key_twice",
        /// It has more calls or parts than any model sends.
        TooManyParts = "too_many_parts",
    }
}

impl fmt::Display for UnreadableAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UnreadableAnswer::Shape => "it is not a valid answer of its API",
            UnreadableAnswer::KeyTwice => "a key occurs twice",
            UnreadableAnswer::TooManyParts => "it has too many parts",
        })
    }
}

impl std::error::Error for UnreadableAnswer {}

type RawResult<T> = Result<T, UnreadableAnswer>;

/// An object whose values are slices of the original text.
#[derive(Debug)]
pub struct RawObject<'a> {
    text: &'a str,
    members: Vec<(Cow<'a, str>, &'a str)>,
}

impl<'a> RawObject<'a> {
    /// Reads one level of an object.
    ///
    /// # Errors
    /// Fails if the text is not a JSON object, or if a key occurs twice.
    pub fn read(text: &'a str) -> RawResult<Self> {
        let RawMembers(members) =
            serde_json::from_str(text).map_err(|_| UnreadableAnswer::Shape)?;
        RawObject { text, members }.with_keys_once()
    }

    /// Reads an object inside one that has been read, so that it is known to be JSON.
    ///
    /// # Errors
    /// Fails if it is not an object, or if a key occurs twice.
    pub(super) fn of_valid(text: &'a str) -> RawResult<Self> {
        let mut members = Vec::new();
        let mut pieces = RawPieces::begin(text, b'{')?;
        while let Some(key) = pieces.next()? {
            let plain = key.get(1..key.len().saturating_sub(1)).unwrap_or_default();
            let key = if plain.contains('\\') {
                self::text(key).ok_or(UnreadableAnswer::Shape)?
            } else {
                Cow::Borrowed(plain)
            };
            let value = pieces.next()?.ok_or(UnreadableAnswer::Shape)?;
            members.push((key, value));
        }
        RawObject { text, members }.with_keys_once()
    }

    fn with_keys_once(self) -> RawResult<Self> {
        let members = &self.members;
        // Objects of an answer have a dozen keys, which are quicker to compare than to look up.
        let is_twice = if members.len() <= 64 {
            let is_known = |(at, (key, _)): (usize, &(Cow<'a, str>, &str))| {
                members.iter().take(at).any(|(before, _)| before == key)
            };
            members.iter().enumerate().any(is_known)
        } else {
            let mut known = HashSet::new();
            members.iter().any(|(key, _)| !known.insert(key))
        };
        if is_twice {
            return Err(UnreadableAnswer::KeyTwice);
        }
        Ok(self)
    }

    /// The text of a member that is present and not null.
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.written(key).filter(|text| *text != "null")
    }

    /// The text of a member that is present.
    pub fn written(&self, key: &str) -> Option<&'a str> {
        let found = self.members.iter().find(|(name, _)| name == key);
        found.map(|(_, text)| *text)
    }

    /// Whether it has this member and no other.
    pub(super) fn has_only(&self, key: &str) -> bool {
        matches!(self.members.as_slice(), [(only, _)] if only == key)
    }

    /// A member that is an object.
    ///
    /// # Errors
    /// Fails if it is something else, or if a key occurs twice.
    pub fn object(&self, key: &str) -> RawResult<Option<RawObject<'a>>> {
        self.get(key).map(RawObject::of_valid).transpose()
    }

    /// The items of a list; none if it is absent.
    ///
    /// # Errors
    /// Fails if it is not a list.
    pub fn list(&self, key: &str) -> RawResult<Vec<&'a str>> {
        self.get(key).map_or(Ok(Vec::new()), valid_items)
    }

    /// A member that is a text; `None` if it is absent or something else.
    pub fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key).and_then(text)
    }

    /// A member that is a whole number; `None` if it is absent or something else.
    pub fn number(&self, key: &str) -> Option<u64> {
        self.get(key)?.parse().ok()
    }

    /// Whether its `type` is this.
    pub fn is_a(&self, kind: &str) -> bool {
        self.text("type").as_deref() == Some(kind)
    }

    /// The span of a member, including its comma: what to delete so that the object lacks it.
    pub fn member_span(&self, whole: &str, key: &str) -> Option<Range<usize>> {
        let at = self.members.iter().position(|(name, _)| name == key)?;
        let end = span_in(whole, self.members.get(at)?.1).end;
        if let Some(before) = at.checked_sub(1).and_then(|at| self.members.get(at)) {
            return Some(span_in(whole, before.1).end..end);
        }
        // The first member goes with the comma after it.
        let start = span_in(whole, self.text).start + 1;
        let comma = match self.members.get(1) {
            Some(_) => whole.get(end..)?.find(',')? + 1,
            None => 0,
        };
        Some(start..end + comma)
    }

    /// Where a member can be inserted, and what has to follow it there.
    pub fn room(&self, whole: &str) -> (Range<usize>, &'static str) {
        let at = span_in(whole, self.text).start + 1;
        let comma = if self.members.is_empty() { "" } else { "," };
        (at..at, comma)
    }
}

/// The items of a list, as written.
///
/// # Errors
/// Fails if the text is not a JSON list.
pub fn items(text: &str) -> RawResult<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(text).map_err(|_| UnreadableAnswer::Shape)?;
    Ok(items.into_iter().map(RawValue::get).collect())
}

/// The items of a list inside an object that has been read.
///
/// # Errors
/// Fails if it is not a list.
pub(super) fn valid_items(text: &str) -> RawResult<Vec<&str>> {
    let mut pieces = RawPieces::begin(text, b'[')?;
    std::iter::from_fn(|| pieces.next().transpose()).collect()
}

/// Splits a list or an object that is known to be JSON into its values, including keys.
struct RawPieces<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> RawPieces<'a> {
    fn begin(text: &'a str, bracket: u8) -> RawResult<Self> {
        let is_one = text.as_bytes().first() == Some(&bracket);
        is_one
            .then_some(RawPieces { text, at: 1 })
            .ok_or(UnreadableAnswer::Shape)
    }

    /// The next value; `None` at the end.
    fn next(&mut self) -> RawResult<Option<&'a str>> {
        let bytes = self.text.as_bytes();
        let between = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b',' | b':');
        while bytes.get(self.at).is_some_and(between) {
            self.at += 1;
        }
        let start = self.at;
        self.at = match bytes.get(start).ok_or(UnreadableAnswer::Shape)? {
            b']' | b'}' => return Ok(None),
            b'"' => end_of_string(bytes, start),
            b'{' | b'[' => end_of_nested(bytes, start),
            _ => {
                let ends = |byte: &u8| between(byte) || matches!(byte, b']' | b'}');
                let rest = bytes.get(start..).unwrap_or_default();
                rest.iter().position(ends).map(|length| start + length)
            }
        }
        .ok_or(UnreadableAnswer::Shape)?;
        let piece = self.text.get(start..self.at);
        piece.map(Some).ok_or(UnreadableAnswer::Shape)
    }
}

/// The end of the string that starts at a position.
fn end_of_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// The end of the object or list that starts at a position.
fn end_of_nested(bytes: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start, 0_usize);
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = end_of_string(bytes, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// The text of a JSON string; `None` if it is something else.
pub fn text(written: &str) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct RawText<'a>(#[serde(borrow)] Cow<'a, str>);
    let is_text = written.starts_with('"');
    is_text.then(|| serde_json::from_str(written).ok().map(|RawText(text)| text))?
}

struct RawMembers<'a>(Vec<(Cow<'a, str>, &'a str)>);

impl<'de: 'a, 'a> Deserialize<'de> for RawMembers<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = RawMembers<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                #[derive(Deserialize)]
                struct RawKey<'a>(#[serde(borrow)] Cow<'a, str>);
                let mut members = Vec::new();
                while let Some((RawKey(key), value)) =
                    map.next_entry::<RawKey<'de>, &'de RawValue>()?
                {
                    members.push((key, value.get()));
                }
                Ok(RawMembers(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_removed_with_its_comma() {
        for (text, key, left) in [
            (r#"{"a": 1, "b": 2}"#, "a", r#"{ "b": 2}"#),
            (
                r#"{"a": 1 , "b": [1, 2], "c": {}}"#,
                "b",
                r#"{"a": 1, "c": {}}"#,
            ),
            (r#"{"a": "}"}"#, "a", "{}"),
            (r#"{"a": 1, "b": 2 }"#, "b", r#"{"a": 1 }"#),
        ] {
            let object = RawObject::read(text).expect("an object");
            let mut without = text.to_owned();
            without.replace_range(object.member_span(text, key).expect("is there"), "");
            assert_eq!(without, left);
            assert!(RawObject::read(&without).is_ok());
        }
    }

    #[test]
    fn keys_read_twice_or_never_are_an_error() {
        let error = |text| RawObject::read(text).err();
        assert_eq!(
            error(r#"{"a": 1, "\u0061": 2}"#),
            Some(UnreadableAnswer::KeyTwice)
        );
        let keys: Vec<String> = (0..100).map(|at| format!("\"{at}\": 0")).collect();
        let many = format!("{{{}, \"7\": 1}}", keys.join(", "));
        assert_eq!(
            RawObject::read(&many).err(),
            Some(UnreadableAnswer::KeyTwice)
        );
        for text in ["[]", "", "{", r#"{"a": }"#, "null"] {
            assert_eq!(error(text), Some(UnreadableAnswer::Shape), "{text}");
        }
    }

    #[test]
    fn pieces_are_those_that_a_parser_sees() {
        for text in [
            "{}",
            "{ }",
            r#"{"a":1}"#,
            r#"{ "a" : [ ] , "b\"\\" :{"c":"}]\\\""},"d":-1.5e3 , "e":null,"\u0066":"\\"  }"#,
            "{\"a\":\t[[1 , 2],{},\"x\"]\r\n, \"é\": true\n}",
        ] {
            let (checked, cut) = (RawObject::read(text), RawObject::of_valid(text));
            let (checked, cut) = (checked.expect("an object"), cut.expect("an object"));
            assert_eq!(cut.members, checked.members, "{text}");
            let list = format!("[{text}, 1,{text} ,\"]\"]");
            assert_eq!(valid_items(&list), items(&list));
        }
        assert_eq!(valid_items("[ ]"), Ok(Vec::new()));
        // Text that is not JSON was not read before, and does no harm.
        for text in [
            "",
            "[",
            "{",
            "{\"a",
            "{\"a\":",
            "{\"a\": \"\\",
            "{\"a\":[}",
            "1",
        ] {
            assert!(RawObject::of_valid(text).is_err(), "{text}");
        }
        let error = RawObject::of_valid(r#"{"a": 1, "\u0061": 2}"#).err();
        assert_eq!(error, Some(UnreadableAnswer::KeyTwice));
    }
}
