//! What violations are grouped by: the tool, the side, the place, the issue, and the shape of the value.
//!
//! Files and reports use the names of codes and shapes; everything else compares the values.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use callwright::failure::Code;
use callwright::validate::IssueCode;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value as Json;
use xxhash_rust::xxh3::xxh3_64;

/// See the module documentation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ClusterKey {
    /// The tool.
    pub tool: String,
    /// Arguments or result.
    pub side: Side,
    /// Where: a JSON Pointer in which `*` stands for any index, and for any key that the schema does not name.
    pub path: String,
    /// What is wrong.
    pub issue: ViolationCode,
    /// What the value looks like.
    pub shape: ValueShape,
}

/// Which of the two schemas is violated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The model's arguments.
    Input,
    /// The tool's result.
    Output,
}

impl ClusterKey {
    /// The hash by which combinations of clusters refer to this one.
    pub fn hash(&self) -> u64 {
        let side = match self.side {
            Side::Input => "input",
            Side::Output => "output",
        };
        let (issue, shape) = (self.issue.name(), self.shape.name());
        let text = [&self.tool, side, &self.path, &issue, &shape].join("\u{0}");
        xxh3_64(text.as_bytes())
    }

    /// What the schema objects to; `None` for a failure unrelated to it.
    pub(crate) fn issue_code(&self) -> Option<IssueCode> {
        match self.issue {
            ViolationCode::Schema(code) => Some(code),
            _ => None,
        }
    }
}

/// What is wrong with a call or a result.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum ViolationCode {
    /// The schema objects.
    Schema(IssueCode),
    /// A failure unrelated to the schema, such as `invalid_json` or `empty_result`.
    Failure(Code),
    /// A failure under a name given by an operator's check. Empty if nothing is known.
    Named(String),
}

impl ViolationCode {
    /// Its name in files and reports.
    pub fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            ViolationCode::Schema(code) => code.name(),
            ViolationCode::Failure(code) => code.name(),
            ViolationCode::Named(name) => name,
        })
    }
}

impl From<String> for ViolationCode {
    fn from(name: String) -> Self {
        if let Some(code) = IssueCode::from_name(&name) {
            return ViolationCode::Schema(code);
        }
        Code::from_name(&name).map_or(ViolationCode::Named(name), ViolationCode::Failure)
    }
}

/// The shape of a value. [`crate::judge`] says when a value has which shape.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum ValueShape {
    /// The key is missing.
    Missing,
    /// A secret.
    Masked,
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number without a fraction.
    Integer,
    /// A number with a fraction.
    Number,
    /// An object with keys.
    Object,
    /// An object without any.
    EmptyObject,
    /// A list of values of one type.
    ArrayOf(String),
    /// A list of values of several types.
    MixedArray,
    /// A list without items.
    EmptyArray,
    /// A text.
    Text,
    /// A text without characters.
    EmptyText,
    /// A text that contains a value of another type.
    Holds(HeldInText),
    /// A date.
    Date,
    /// A date with its time and zone.
    DateTime,
    /// Letters and digits by their kind, as in `9999-99-99`.
    Sketch(String),
    /// A size, a length, or the value itself as JSON.
    Other(String),
}

/// A value inside a text that should not be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldInText {
    /// A number without a fraction.
    Integer,
    /// A number with a fraction.
    Number,
    /// A word for true or false.
    Boolean,
    /// A word for `null`.
    Null,
    /// A JSON object.
    Object,
    /// A JSON list.
    Array,
    /// JSON that cannot be read.
    BrokenJson,
}

/// Every shape that consists only of a name.
const NAMES: [(ValueShape, &str); 21] = [
    (ValueShape::Missing, ""),
    (ValueShape::Masked, "masked"),
    (ValueShape::Null, "null"),
    (ValueShape::Boolean, "boolean"),
    (ValueShape::Integer, "integer"),
    (ValueShape::Number, "number"),
    (ValueShape::Object, "object"),
    (ValueShape::EmptyObject, "empty object"),
    (ValueShape::MixedArray, "array of several types"),
    (ValueShape::EmptyArray, "empty array"),
    (ValueShape::Text, "string"),
    (ValueShape::EmptyText, "empty string"),
    (ValueShape::Date, "date in a string"),
    (ValueShape::DateTime, "date-time in a string"),
    (
        ValueShape::Holds(HeldInText::Integer),
        "integer in a string",
    ),
    (ValueShape::Holds(HeldInText::Number), "number in a string"),
    (
        ValueShape::Holds(HeldInText::Boolean),
        "boolean in a string",
    ),
    (ValueShape::Holds(HeldInText::Null), "null in a string"),
    (ValueShape::Holds(HeldInText::Object), "object in a string"),
    (ValueShape::Holds(HeldInText::Array), "array in a string"),
    (
        ValueShape::Holds(HeldInText::BrokenJson),
        "broken JSON in a string",
    ),
];

impl ValueShape {
    /// Its name in files and reports.
    pub fn name(&self) -> Cow<'_, str> {
        match self {
            ValueShape::ArrayOf(items) => Cow::Owned(format!("array of {items}")),
            ValueShape::Sketch(sketch) => Cow::Owned(format!("like {sketch}")),
            ValueShape::Other(text) => Cow::Borrowed(text),
            plain => {
                let row = NAMES.iter().find(|(shape, _)| shape == plain);
                Cow::Borrowed(row.map_or("", |(_, name)| name))
            }
        }
    }

    /// The value, if the shape is the value itself.
    pub(crate) fn value(&self) -> Option<Json> {
        match self {
            ValueShape::Null => Some(Json::Null),
            ValueShape::Other(text) => serde_json::from_str(text).ok(),
            _ => None,
        }
    }
}

impl From<String> for ValueShape {
    fn from(name: String) -> Self {
        if let Some((shape, _)) = NAMES.iter().find(|(_, known)| *known == name) {
            return shape.clone();
        }
        match (name.strip_prefix("array of "), name.strip_prefix("like ")) {
            (Some(items), _) => ValueShape::ArrayOf(items.to_owned()),
            (_, Some(sketch)) => ValueShape::Sketch(sketch.to_owned()),
            _ => ValueShape::Other(name),
        }
    }
}

/// Keys are written, ordered and hashed by their names: if there are too many, every version keeps the same ones.
macro_rules! by_name {
    ($($named:ty),*) => {$(
        impl From<&str> for $named {
            fn from(name: &str) -> Self {
                name.to_owned().into()
            }
        }

        impl std::fmt::Display for $named {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.name())
            }
        }

        impl Serialize for $named {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.name())
            }
        }

        impl Hash for $named {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.name().hash(state);
            }
        }

        impl Ord for $named {
            fn cmp(&self, other: &Self) -> Ordering {
                self.name().cmp(&other.name())
            }
        }

        impl PartialOrd for $named {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }
    )*};
}
by_name!(ViolationCode, ValueShape);
