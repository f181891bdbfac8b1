//! What the schema engine objects to, in our own terms: the border to the `jsonschema` crate.
//!
//! A [`Violation`] is raw: unions are unresolved, nothing is sorted, and what came is not looked at.
//! [`super::explain`] turns violations into issues.

use std::sync::Arc;

use crate::json::Path;
use crate::words::{Expected, IssueCode, SchemaType};

/// One objection of the engine.
#[derive(Debug, Clone)]
pub(crate) struct Violation {
    /// Where in the value.
    pub(crate) at: Path,
    /// The keyword that objects: a JSON Pointer into the schema, references followed.
    pub(crate) keyword: Path,
    pub(crate) kind: ViolationKind,
}

/// What is wrong, with the keyword's own data.
#[derive(Debug, Clone)]
pub(crate) enum ViolationKind {
    /// The keyword alone says what is expected.
    Expected(IssueCode, Expected),
    /// None of these types.
    Type(Vec<SchemaType>),
    Required(String),
    /// Keys that the schema does not allow.
    UnknownKeys(Vec<String>),
    /// Items beyond those that the schema describes.
    ExtraItems,
    Enum(Arc<serde_json::Value>),
    Const(Arc<serde_json::Value>),
    /// No branch of an `anyOf` or `oneOf` fits, or several of a `oneOf` do. What each branch objects
    /// to is asked for separately, so that unions within unions do not multiply.
    Union,
    Contains,
    /// A key whose name is wrong, and what it should be, if that can be said.
    PropertyName(String, Option<Expected>),
    /// The negated schema, which fits.
    Not(serde_json::Value),
    /// Nothing at all is allowed here.
    Never,
    /// Any other keyword, by name.
    Other(String),
}

impl ViolationKind {
    /// What a value must be, if the keyword alone says so.
    pub(crate) fn expected(self) -> Option<Expected> {
        match self {
            ViolationKind::Expected(_, expected) => Some(expected),
            ViolationKind::Enum(values) => Some(Expected::OneOf(values)),
            ViolationKind::Const(value) => Some(Expected::Constant(value)),
            _ => None,
        }
    }
}
