//! The key of a cluster, read: what is wrong with its calls, and what the value looks like.
//!
//! The only place where the names in a summary are compared.

use callwright::failure::Code;
use callwright::validate::IssueCode;
use serde_json::Value as Json;

use crate::summary::ClusterKey;

/// What is wrong; `None` for a failure that the schema has nothing to do with, such as `invalid_json`.
pub(crate) fn issue_code(key: &ClusterKey) -> Option<IssueCode> {
    let mut codes = IssueCode::ALL.into_iter();
    codes.find(|code| code.name() == key.issue)
}

/// The failure, where the schema has nothing to do with it.
pub(crate) fn failure_code(key: &ClusterKey) -> Option<Code> {
    Code::from_name(&key.issue)
}

/// What a value looks like. [`crate::judge`] has the table of the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueShape<'k> {
    /// The key is missing.
    Missing,
    /// A secret.
    Masked,
    Null,
    Boolean,
    Integer,
    /// With a fraction.
    Number,
    Object,
    /// With the type of the items, where all have one.
    Array(Option<&'k str>),
    Text,
    EmptyText,
    /// A text that holds a value of another type.
    Holds(HeldInText),
    Date,
    DateTime,
    /// Letters and digits by their kind, as in `9999-99-99`.
    Sketch(&'k str),
    /// Only a size, a length or the value itself.
    Other(&'k str),
}

/// What a text holds that should not be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeldInText {
    Number,
    Boolean,
    Null,
    Object,
    Array,
    BrokenJson,
}

impl<'k> ValueShape<'k> {
    pub(crate) fn of(key: &'k ClusterKey) -> Self {
        match key.shape.as_str() {
            "" => ValueShape::Missing,
            "masked" => ValueShape::Masked,
            "null" => ValueShape::Null,
            "boolean" => ValueShape::Boolean,
            "integer" => ValueShape::Integer,
            "number" => ValueShape::Number,
            "object" | "empty object" => ValueShape::Object,
            "empty array" | "array of several types" => ValueShape::Array(None),
            "string" => ValueShape::Text,
            "empty string" => ValueShape::EmptyText,
            "integer in a string" | "number in a string" => ValueShape::Holds(HeldInText::Number),
            "boolean in a string" => ValueShape::Holds(HeldInText::Boolean),
            "null in a string" => ValueShape::Holds(HeldInText::Null),
            "object in a string" => ValueShape::Holds(HeldInText::Object),
            "array in a string" => ValueShape::Holds(HeldInText::Array),
            "broken JSON in a string" => ValueShape::Holds(HeldInText::BrokenJson),
            "date in a string" => ValueShape::Date,
            "date-time in a string" => ValueShape::DateTime,
            other => match (other.strip_prefix("array of "), other.strip_prefix("like ")) {
                (Some(items), _) => ValueShape::Array(Some(items)),
                (_, Some(sketch)) => ValueShape::Sketch(sketch),
                _ => ValueShape::Other(other),
            },
        }
    }

    /// The value, where the shape is the value itself.
    pub(crate) fn value(self) -> Option<Json> {
        match self {
            ValueShape::Null => Some(Json::Null),
            ValueShape::Other(text) => serde_json::from_str(text).ok(),
            _ => None,
        }
    }
}
