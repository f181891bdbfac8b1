//! The key of a cluster, read: what is wrong with its calls, and what the value looks like.
//!
//! The only place where the names in a summary are compared.

use callwright::classify::Code;
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
pub(crate) enum Shape<'k> {
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

impl<'k> Shape<'k> {
    pub(crate) fn of(key: &'k ClusterKey) -> Self {
        match key.shape.as_str() {
            "" => Shape::Missing,
            "masked" => Shape::Masked,
            "null" => Shape::Null,
            "boolean" => Shape::Boolean,
            "integer" => Shape::Integer,
            "number" => Shape::Number,
            "object" | "empty object" => Shape::Object,
            "empty array" | "array of several types" => Shape::Array(None),
            "string" => Shape::Text,
            "empty string" => Shape::EmptyText,
            "integer in a string" | "number in a string" => Shape::Holds(HeldInText::Number),
            "boolean in a string" => Shape::Holds(HeldInText::Boolean),
            "null in a string" => Shape::Holds(HeldInText::Null),
            "object in a string" => Shape::Holds(HeldInText::Object),
            "array in a string" => Shape::Holds(HeldInText::Array),
            "broken JSON in a string" => Shape::Holds(HeldInText::BrokenJson),
            "date in a string" => Shape::Date,
            "date-time in a string" => Shape::DateTime,
            other => match (other.strip_prefix("array of "), other.strip_prefix("like ")) {
                (Some(items), _) => Shape::Array(Some(items)),
                (_, Some(sketch)) => Shape::Sketch(sketch),
                _ => Shape::Other(other),
            },
        }
    }

    /// The value, where the shape is the value itself.
    pub(crate) fn value(self) -> Option<Json> {
        match self {
            Shape::Null => Some(Json::Null),
            Shape::Other(text) => serde_json::from_str(text).ok(),
            _ => None,
        }
    }
}
