//! One fact about a call's arguments, as data. Only [`crate::feedback`] makes text from it.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Number;

use super::macros::named;
use crate::json::{Kind, Path, Value};

/// What is wrong at one place of a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Issue {
    /// Where: a JSON Pointer into the arguments. For a missing or an unknown key, the path of that key.
    pub path: Path,
    /// The kind of problem.
    pub code: IssueCode,
    /// What would be right. As text it is a noun phrase: `integer`, `at most 10 items`.
    pub expected: Expected,
    /// What was received instead. As text it is a noun phrase with a short preview: `string "abc"`.
    pub received: Received,
    /// What was probably meant.
    pub suggestion: Option<Correction>,
    /// Why this branch is reported and not the others, if the schema offers alternatives. Boxed, like other rare parts: issues
    /// are moved around.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<Box<BranchChoice>>,
    /// The list that contains the place, if the same objection to each of its items may share a line.
    #[serde(skip)]
    pub(crate) item: Option<ItemPlace>,
}

/// A position in the innermost list around a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ItemPlace {
    /// How many bytes of the path name the list.
    pub(crate) list: usize,
    /// How many items the list has.
    pub(crate) items: usize,
}

impl Issue {
    pub(crate) fn new(path: Path, code: IssueCode, expected: Expected, received: Received) -> Self {
        Issue {
            path,
            code,
            expected,
            received,
            suggestion: None,
            branch: None,
            item: None,
        }
    }

    /// The arguments are not an object.
    pub(crate) fn not_an_object(received: Received) -> Self {
        let expected = Expected::Type(SchemaType::Object);
        Issue::new(Path::root(), IssueCode::Type, expected, received)
    }
}

/// What a schema asks for at one place.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Expected {
    /// A value of this type.
    Type(SchemaType),
    /// A list whose items have this type.
    ArrayOf(SchemaType),
    /// An object with at least these keys.
    ObjectWith(Arc<[String]>),
    /// A value of one of these types, null last.
    OneOfTypes(Vec<Expected>),
    /// One of these values: a JSON array.
    OneOf(Arc<serde_json::Value>),
    /// This value.
    Constant(Arc<serde_json::Value>),
    /// A value that fits one of these alternatives.
    AnyOf(Vec<Expected>),
    /// A value that fits one of these alternatives and none of the others.
    ExactlyOneOf(Vec<Expected>),
    /// Anything that this does not describe.
    Not(Box<Expected>),
    /// A value that this schema accepts; there is no shorter description.
    Schema(Arc<serde_json::Value>),
    /// A value that is described elsewhere, out of reach.
    AnotherForm,
    /// Any value at all.
    AnyValue,
    /// A value that the schema does not describe.
    SomeValue,
    /// No value.
    Nothing,
    /// A number, or a count of something, within a limit.
    Limit {
        /// The side of the limit.
        comparison: Comparison,
        /// The limit.
        limit: Number,
        /// What is counted; `None` for the number itself.
        unit: Option<Unit>,
    },
    /// A number of this type within a limit.
    NumberWithin(SchemaType, Comparison, Number),
    /// A multiple of this number.
    MultipleOf(Number),
    /// A text in this format.
    Format(String),
    /// A text that matches this regular expression.
    Pattern(String),
    /// A shorter text: matching this one against its pattern takes too many steps.
    ShorterText,
    /// No item twice.
    UniqueItems,
    /// No items beyond those that the schema lists.
    NoFurtherItems,
    /// A list with items of a certain kind.
    Containing {
        /// What these items are, if the schema describes it briefly.
        item: Option<Box<Expected>>,
        /// How many there must be; one, if unspecified.
        least: Option<Number>,
        /// How many there may be.
        most: Option<Number>,
    },
    /// One of these keys.
    Key(Arc<[String]>),
    /// A key that matches one of these regular expressions.
    KeyMatching(Arc<[String]>),
    /// A key whose name is as described.
    KeyThatIs(Option<Box<Expected>>),
    /// No key beyond those that the schema lists.
    NoFurtherKeys,
    /// No key twice.
    EachKeyOnce,
    /// Arguments that the tool's schema accepts, if the validator gives no reason.
    FittingArguments,
    /// What a keyword without a variant here asks for.
    Keyword {
        /// The keyword.
        name: String,
        /// Its value, if that is a text.
        rule: Option<String>,
    },
    /// What the tool's own type asks for beyond its schema, in its own words: a complete sentence.
    Stated(String),
    /// What the keyword for this code asks for, if naming it could reveal a secret.
    Hidden(IssueCode),
    /// A phrase with secrets masked.
    Masked(String),
}

/// The side of a limit on which a number must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Comparison {
    AtLeast,
    AtMost,
    MoreThan,
    LessThan,
}

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Unit {
    Characters,
    Items,
    Keys,
}

/// How many characters of a received text are kept: one more than are ever shown, so that a cut is visible.
const KEPT_CHARACTERS: usize = 41;

/// How many keys of a received object are kept. A longer list never fits on a line.
const KEPT_KEYS: usize = 16;

/// What was received at one place, as far as it may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Received {
    /// Nothing: a key is missing, and nothing was sent instead.
    Nothing,
    /// Null.
    Null,
    /// A boolean.
    Boolean(bool),
    /// A number: its first digits.
    Number(String),
    /// A text: its beginning.
    Text(String),
    /// A text whose length is the issue.
    TextOfLength {
        /// How many characters it has.
        characters: usize,
        /// Its beginning.
        start: String,
    },
    /// A list with this many items.
    Array(usize),
    /// An object.
    Object(ReceivedKeys),
    /// An object whose size is the issue: how many keys it has.
    ObjectOfSize(usize),
    /// A value that must not be shown.
    Hidden(Kind),
    /// A key: the unknown one, or the one that makes another required.
    Key(String),
    /// An unknown key that is probably the missing one.
    UnknownKey(String),
    /// Unknown keys instead of the missing ones.
    Keys(ReceivedKeys),
    /// A repeated key.
    KeyAgain,
    /// A phrase with secrets masked.
    Masked {
        /// What may be shown of the name of its type; empty if it was not a value.
        type_name: String,
        /// The phrase.
        text: String,
    },
}

/// The first keys of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedKeys {
    /// The first of them, each cut if it is long.
    pub first: Vec<String>,
    /// How many there are in total.
    pub count: usize,
}

impl ReceivedKeys {
    pub(crate) fn of<'k>(keys: impl ExactSizeIterator<Item = &'k str>) -> Self {
        ReceivedKeys {
            count: keys.len(),
            first: keys.take(KEPT_KEYS).map(Received::start).collect(),
        }
    }
}

impl Received {
    /// The received value, with its beginning.
    pub(crate) fn value(value: &Value<'_>) -> Self {
        match value {
            Value::Null => Received::Null,
            Value::Bool(yes) => Received::Boolean(*yes),
            Value::Number(number) => Received::Number(Received::start(number.as_str())),
            Value::String(text) => Received::Text(Received::start(text)),
            Value::Array(items) => Received::Array(items.len()),
            Value::Object(members) => Received::Object(ReceivedKeys::of(
                members.iter().map(|(key, _)| key.as_ref()),
            )),
        }
    }

    /// The received value, with its length, for something too short or too long.
    pub(crate) fn length(value: &Value<'_>) -> Self {
        match value {
            Value::String(text) => Received::TextOfLength {
                characters: text.chars().count(),
                start: Received::start(text),
            },
            Value::Object(members) if !members.is_empty() => Received::ObjectOfSize(members.len()),
            other => Received::value(other),
        }
    }

    /// A received key.
    pub(crate) fn key(name: &str) -> Self {
        Received::Key(Received::start(name))
    }

    /// The type of the received value, if it is known.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Received::Null => Some(Kind::Null),
            Received::Boolean(_) => Some(Kind::Boolean),
            Received::Number(_) => Some(Kind::Number),
            Received::Text(_) | Received::TextOfLength { .. } => Some(Kind::String),
            Received::Array(_) => Some(Kind::Array),
            Received::Object(_) | Received::ObjectOfSize(_) => Some(Kind::Object),
            Received::Hidden(kind) => Some(*kind),
            _ => None,
        }
    }

    /// The name of its type, as far as it may be shown; empty if no value was received.
    pub(crate) fn type_name(&self) -> &str {
        match self {
            Received::Masked { type_name, .. } => type_name,
            other => other.kind().map_or("", Kind::name),
        }
    }

    /// The part of a text that is kept.
    fn start(text: &str) -> String {
        let end = text.char_indices().nth(KEPT_CHARACTERS);
        text[..end.map_or(text.len(), |(at, _)| at)].to_owned()
    }
}

/// What was probably meant.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Correction {
    /// Use this key, or this text.
    Use(String),
    /// Use this value.
    Value(Box<serde_json::Value>),
    /// Leave it out: the call is complete without this key.
    LeaveOut,
    /// Rename a key.
    Rename {
        /// The name that was sent.
        from: String,
        /// The correct name.
        to: String,
    },
    /// A phrase with secrets masked.
    Masked(String),
}

/// For other programs, these are text.
macro_rules! serialize_as_text {
    ($($type:ty),*) => {
        $(impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        })*
    };
}

serialize_as_text!(Expected, Received, Correction);

/// Which branch of a union was assumed to be meant, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BranchChoice {
    /// The union: a JSON Pointer to the `anyOf` or `oneOf` in the schema.
    pub union: Path,
    /// The index of the branch.
    pub index: usize,
    /// Why this branch.
    pub reason: BranchReason,
}

/// Why a branch of a union was assumed to be meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BranchReason {
    /// It is the only branch that accepts a value of this type.
    Type,
    /// A property that distinguishes the branches has this branch's value.
    Discriminator {
        /// The property.
        property: String,
    },
    /// It has the fewest objections and knows most of the received keys.
    Nearest,
}

named! {
    /// A type, as named in schemas.
    pub enum SchemaType {
        /// A list.
        Array = "array",
        /// `true` or `false`.
        Boolean = "boolean",
        /// A whole number.
        Integer = "integer",
        /// `null`.
        Null = "null",
        /// Any number.
        Number = "number",
        /// An object.
        Object = "object",
        /// A text.
        String = "string",
    }
}

named! {
    /// The kinds of issue. Stable names: programs match on them.
    ///
    /// In the order in which they are reported to the model: what prevents the call from being understood at all comes before
    /// what is merely out of range.
    #[non_exhaustive]
    pub enum IssueCode {
        /// A required key is missing.
        Required = "required",
        /// A key that another key requires is missing.
        DependentRequired = "dependent_required",
        /// A key that the schema does not allow.
        UnknownKey = "unknown_key",
        /// The same key occurs twice.
        DuplicateKey = "duplicate_key",
        /// The wrong type.
        Type = "type",
        /// None of the alternatives, and none is close.
        Union = "union",
        /// Not one of the allowed values.
        Enum = "enum",
        /// Not the one allowed value.
        Const = "const",
        /// Not in the format.
        Format = "format",
        /// Does not match the pattern.
        Pattern = "pattern",
        /// Too small a number.
        Minimum = "minimum",
        /// Too large a number.
        Maximum = "maximum",
        /// Not a multiple.
        MultipleOf = "multiple_of",
        /// Too short a string.
        MinLength = "min_length",
        /// Too long a string.
        MaxLength = "max_length",
        /// Too few items.
        MinItems = "min_items",
        /// Too many items.
        MaxItems = "max_items",
        /// The same item occurs twice.
        UniqueItems = "unique_items",
        /// No item matches the required one.
        Contains = "contains",
        /// Too few keys.
        MinProperties = "min_properties",
        /// Too many keys.
        MaxProperties = "max_properties",
        /// A key whose name is not allowed.
        PropertyName = "property_name",
        /// Matches several alternatives, although only one is allowed.
        SeveralBranches = "several_branches",
        /// Matches what is ruled out.
        Not = "not",
        /// Nothing is allowed here.
        NotAllowed = "not_allowed",
        /// Anything else.
        Other = "other",
    }
}
