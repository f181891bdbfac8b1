//! A place in a JSON value.
//!
//! Stored as a JSON Pointer (RFC 6901), the form used in data; printed dotted for people and models (`edits.0.path`).

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// One step into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// Into the member of an object.
    Key(String),
    /// Into the item of an array.
    Index(usize),
}

/// A place in a JSON value, as a JSON Pointer. The empty pointer is the whole value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Path(String);

impl Path {
    /// The whole value.
    pub fn root() -> Self {
        Path::default()
    }

    /// Wraps a JSON Pointer. Text that is not a pointer names no place, and is never an error.
    pub fn from_pointer(pointer: impl Into<String>) -> Self {
        Path(pointer.into())
    }

    /// The place as a JSON Pointer.
    pub fn as_pointer(&self) -> &str {
        &self.0
    }

    /// Whether this is the whole value.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The path of the member `key` of this place.
    #[must_use]
    pub fn key(&self, key: &str) -> Path {
        let mut pointer = String::with_capacity(self.0.len() + 1 + key.len());
        pointer.push_str(&self.0);
        pointer.push('/');
        push_escaped(&mut pointer, key);
        Path(pointer)
    }

    /// The path of item `index` of this place.
    #[must_use]
    pub fn index(&self, index: usize) -> Path {
        let mut digits = itoa::Buffer::new();
        self.key(digits.format(index))
    }

    /// The path `inner`, relative to this place.
    #[must_use]
    pub fn join(&self, inner: &Path) -> Path {
        Path([self.0.as_str(), inner.0.as_str()].concat())
    }

    /// The place around this one; the parent of the whole value is itself.
    #[must_use]
    pub fn parent(&self) -> Path {
        Path(self.parent_pointer().to_owned())
    }

    /// The same, as a JSON Pointer.
    pub(crate) fn parent_pointer(&self) -> &str {
        cut_last(&self.0).map_or("", |(parent, _)| parent)
    }

    /// The path whose segments are given innermost first, as a parser unwinds them.
    pub(crate) fn from_innermost(segments: &[Segment]) -> Path {
        segments
            .iter()
            .rev()
            .fold(Path::root(), |path, segment| match segment {
                Segment::Key(key) => path.key(key),
                Segment::Index(index) => path.index(*index),
            })
    }

    /// The segments from the outside in, unescaped.
    pub fn segments(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let (_, mut rest) = cut_first(&self.0);
        std::iter::from_fn(move || {
            let (first, after) = cut_first(rest?);
            rest = after;
            Some(unescape(first))
        })
    }

    /// The last segment, unescaped; `None` for the whole value.
    pub fn last(&self) -> Option<Cow<'_, str>> {
        self.last_escaped().map(unescape)
    }

    /// The same, escaped as in the pointer.
    pub(crate) fn last_escaped(&self) -> Option<&str> {
        cut_last(&self.0).map(|(_, last)| last)
    }

    /// Whether `other` is this place or lies within it.
    pub fn contains(&self, other: &Path) -> bool {
        other
            .0
            .strip_prefix(&self.0)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

// Segments are a few letters long: scanning their bytes takes a tenth of the time of a search made for long texts.

/// The first segment of a pointer after its slash, and the text after the next slash.
pub(super) fn cut_first(pointer: &str) -> (&str, Option<&str>) {
    match pointer.bytes().position(|byte| byte == b'/') {
        Some(at) => (&pointer[..at], Some(&pointer[at + 1..])),
        None => (pointer, None),
    }
}

/// The text before and after the last slash.
fn cut_last(pointer: &str) -> Option<(&str, &str)> {
    let at = pointer.bytes().rposition(|byte| byte == b'/')?;
    Some((&pointer[..at], &pointer[at + 1..]))
}

fn push_escaped(pointer: &mut String, key: &str) {
    if !key.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
        return pointer.push_str(key);
    }
    for character in key.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

pub(super) fn unescape(segment: &str) -> Cow<'_, str> {
    if segment.bytes().any(|byte| byte == b'~') {
        Cow::Owned(segment.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(segment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_slashes_and_tildes_survive() {
        let path = Path::root().key("a/b").key("~c").index(3);
        assert_eq!(path.as_pointer(), "/a~1b/~0c/3");
        assert_eq!(path.segments().collect::<Vec<_>>(), ["a/b", "~c", "3"]);
        assert_eq!(path.last().as_deref(), Some("3"));
    }

    #[test]
    fn containment_respects_segment_borders() {
        let outer = Path::from_pointer("/a");
        assert!(outer.contains(&Path::from_pointer("/a/b")));
        assert!(outer.contains(&outer));
        assert!(!outer.contains(&Path::from_pointer("/ab")));
    }
}
