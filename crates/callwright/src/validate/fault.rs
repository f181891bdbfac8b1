//! What the schema engine objects to, in terms of our own: the border to the `jsonschema` crate.
//!
//! A [`Fault`] is still raw: unions are unresolved, nothing is sorted, nothing is said about what
//! was received. [`super::explain`] turns faults into issues.

use std::sync::Arc;

use crate::json::Path;

/// One objection of the engine.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    /// Where in the value.
    pub(crate) at: Path,
    /// The keyword that objects: a JSON Pointer into the schema, references followed.
    pub(crate) keyword: Path,
    pub(crate) kind: FaultKind,
}

/// What is wrong, with the keyword's own data.
#[derive(Debug, Clone)]
pub(crate) enum FaultKind {
    /// None of these types.
    Type(Vec<&'static str>),
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
    Format(String),
    Pattern(String),
    /// A pattern took too many steps to be decided.
    Undecided,
    Bound(Bound, String),
    MultipleOf(String),
    UniqueItems,
    Contains,
    /// A key whose name itself is objected to.
    PropertyName {
        name: String,
        inner: Box<Fault>,
    },
    /// The negated schema, which fits.
    Not(serde_json::Value),
    /// Nothing at all is allowed here.
    Never,
    /// Any other keyword, by name.
    Other(String),
}

/// The keywords that compare with a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    Minimum,
    Maximum,
    ExclusiveMinimum,
    ExclusiveMaximum,
    MinLength,
    MaxLength,
    MinItems,
    MaxItems,
    MinProperties,
    MaxProperties,
}
