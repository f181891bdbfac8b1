//! Why a value and a Rust type do not fit.
//!
//! Conversions in both directions between types and trees fail with a [`Mismatch`]: the path, and serde's message. It is for
//! the operator; a model never reads it. The path costs nothing on success: on an error each level adds its own segment on the
//! way out.

use std::fmt;

use serde::de::{Expected, Unexpected};

use super::{Path, Segment};

/// A JSON value that does not fit a type, or a value of a type that has no JSON form.
#[derive(Clone, PartialEq, Eq)]
pub struct Mismatch(Box<MismatchDetails>);

#[derive(Clone, PartialEq, Eq)]
struct MismatchDetails {
    message: String,
    cause: MismatchCause,
    about_key: bool,
    innermost_first: Vec<Segment>,
}

/// The kind of serde's objection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MismatchCause {
    Kind,
    /// The type is right, but not this value.
    Value,
    Length,
    Variant,
    UnknownField,
    MissingField,
    RepeatedField,
    /// The type's own objection.
    Own,
}

impl Mismatch {
    #[cold]
    pub(crate) fn new(cause: MismatchCause, message: String) -> Self {
        Mismatch(Box::new(MismatchDetails {
            message,
            cause,
            about_key: false,
            innermost_first: Vec::new(),
        }))
    }

    /// Where it is. Inside parts that serde buffers (flattened fields, untagged and internally tagged enums) it is the path of
    /// the whole part.
    pub fn path(&self) -> Path {
        Path::from_innermost(&self.0.innermost_first)
    }

    /// serde's message, for the operator.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The kind of serde's objection.
    #[cfg(feature = "toolbox")]
    pub(crate) fn cause(&self) -> MismatchCause {
        self.0.cause
    }

    /// Whether it is about the key at the end of the path, and not about its value.
    #[cfg(feature = "toolbox")]
    pub(crate) fn is_about_key(&self) -> bool {
        self.0.about_key
    }

    /// The same, one level further out: it is about the key `key` itself.
    #[cold]
    pub(super) fn of_key(mut self, key: &str) -> Self {
        self.0.about_key = true;
        self.in_key(key)
    }

    /// The same, one level further out: it happened in the member `key`.
    #[cold]
    pub(super) fn in_key(mut self, key: &str) -> Self {
        self.0.innermost_first.push(Segment::Key(key.to_owned()));
        self
    }

    /// The same, one level further out: it happened in the item `index`.
    #[cold]
    pub(super) fn in_item(mut self, index: usize) -> Self {
        self.0.innermost_first.push(Segment::Index(index));
        self
    }

    /// The same, with this path inside of it.
    #[cold]
    pub(super) fn within(mut self, inner: &Path) -> Self {
        let segments = inner.segments().map(|key| Segment::Key(key.into_owned()));
        let mut innermost_first: Vec<Segment> = segments.collect();
        innermost_first.reverse();
        innermost_first.append(&mut self.0.innermost_first);
        self.0.innermost_first = innermost_first;
        self
    }
}

impl fmt::Debug for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mismatch")
            .field("path", &self.path())
            .field("message", &self.0.message)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path();
        if !path.is_root() {
            write!(f, "{path}: ")?;
        }
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Mismatch {}

impl serde::ser::Error for Mismatch {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Mismatch::new(MismatchCause::Own, message.to_string())
    }
}

impl serde::de::Error for Mismatch {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Mismatch::new(MismatchCause::Own, message.to_string())
    }

    #[cold]
    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        // serde calls `null` a unit value.
        let message = match unexpected {
            Unexpected::Unit => format!("invalid type: null, expected {expected}"),
            other => format!("invalid type: {other}, expected {expected}"),
        };
        Mismatch::new(MismatchCause::Kind, message)
    }

    #[cold]
    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let message = format!("invalid value: {unexpected}, expected {expected}");
        Mismatch::new(MismatchCause::Value, message)
    }

    #[cold]
    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        let message = format!("invalid length {length}, expected {expected}");
        Mismatch::new(MismatchCause::Length, message)
    }

    #[cold]
    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let all = one_of(expected, "variants");
        Mismatch::new(
            MismatchCause::Variant,
            format!("unknown variant `{variant}`, {all}"),
        )
    }

    #[cold]
    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let all = one_of(expected, "fields");
        Mismatch::new(
            MismatchCause::UnknownField,
            format!("unknown field `{field}`, {all}"),
        )
    }

    #[cold]
    fn missing_field(field: &'static str) -> Self {
        let message = format!("missing field `{field}`");
        Mismatch::new(MismatchCause::MissingField, message)
    }

    #[cold]
    fn duplicate_field(field: &'static str) -> Self {
        let message = format!("duplicate field `{field}`");
        Mismatch::new(MismatchCause::RepeatedField, message)
    }
}

/// In serde's wording.
fn one_of(names: &[&str], what: &str) -> String {
    match names {
        [] => format!("there are no {what}"),
        [only] => format!("expected `{only}`"),
        [first, second] => format!("expected `{first}` or `{second}`"),
        all => format!("expected one of `{}`", all.join("`, `")),
    }
}
