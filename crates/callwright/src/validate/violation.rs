//! The schema engine's objections in our own terms: the interface to the `jsonschema` crate.
//!
//! A [`Violation`] is raw: unions are unresolved, nothing is sorted, and the received value is not considered.
//! [`super::explain`] turns violations into issues.

use std::sync::Arc;

use crate::json::Path;
use crate::vocabulary::{Expected, IssueCode, SchemaType};

/// One objection of the engine.
#[derive(Debug, Clone)]
pub(crate) struct Violation {
    /// The path in the value.
    pub(crate) at: Path,
    /// The objecting keyword: a JSON Pointer into the schema, with references resolved.
    pub(crate) keyword: Path,
    pub(crate) kind: ViolationKind,
}

/// What is wrong, with the keyword's own data.
#[derive(Debug, Clone)]
pub(crate) enum ViolationKind {
    /// The keyword alone determines what is expected.
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
    /// No branch of an `anyOf` or `oneOf` matches, or several of a `oneOf` do. The objections of each branch are requested
    /// separately, so that unions within unions do not multiply.
    Union,
    Contains,
    /// A key with an invalid name, and what it should be, if that can be expressed.
    PropertyName(String, Option<Expected>),
    /// The negated schema, which matches.
    Not(serde_json::Value),
    /// Nothing at all is allowed here.
    Never,
    /// Any other keyword, by name.
    Other(String),
}

impl ViolationKind {
    /// What a value must be, if the keyword alone determines it.
    pub(crate) fn expected(self) -> Option<Expected> {
        match self {
            ViolationKind::Expected(_, expected) => Some(expected),
            ViolationKind::Enum(values) => Some(Expected::OneOf(values)),
            ViolationKind::Const(value) => Some(Expected::Constant(value)),
            _ => None,
        }
    }
}
