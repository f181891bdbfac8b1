//! The tree itself, owned or borrowed, and its conversion to and from `serde_json::Value`.

use std::borrow::Cow;
use std::ops::Deref;

use serde_json::Value as Json;

use super::{Number, Path};
use crate::vocabulary::named;

/// A JSON value that borrows from `'a` wherever it can.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Value<'a> {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as its digits.
    Number(Number<'a>),
    /// A string, unescaped.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Value<'a>>),
    /// An object: its members in the order they were written, including a repeated key.
    Object(Vec<Member<'a>>),
}

/// One key of an object and its value.
pub type Member<'a> = (Cow<'a, str>, Value<'a>);

named! {
    /// The six kinds of JSON value, named as in JSON Schema.
    pub enum Kind {
        /// `null`
        Null = "null",
        /// `true` or `false`
        Boolean = "boolean",
        /// Any number.
        Number = "number",
        /// A string.
        String = "string",
        /// An array.
        Array = "array",
        /// An object.
        Object = "object",
    }
}

impl<'a> Value<'a> {
    /// Which of the six kinds this is.
    pub fn kind(&self) -> Kind {
        match self {
            Value::Null => Kind::Null,
            Value::Bool(_) => Kind::Boolean,
            Value::Number(_) => Kind::Number,
            Value::String(_) => Kind::String,
            Value::Array(_) => Kind::Array,
            Value::Object(_) => Kind::Object,
        }
    }

    /// The members, if this is an object.
    pub fn as_object(&self) -> Option<&[Member<'a>]> {
        match self {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The items, if this is an array.
    pub fn as_array(&self) -> Option<&[Value<'a>]> {
        match self {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if this is one.
    pub fn as_number(&self) -> Option<&Number<'a>> {
        match self {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The member `key` of an object; the first, if it occurs twice.
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        self.as_object()?
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    }

    /// Takes the member `key` out of an object. The order of the others is not kept. For the sibling crates.
    #[doc(hidden)]
    pub fn take(&mut self, key: &str) -> Option<Value<'a>> {
        match self {
            Value::Object(members) => {
                let at = members.iter().position(|(name, _)| name == key)?;
                Some(members.swap_remove(at).1)
            }
            _ => None,
        }
    }

    /// The value at `path`, if there is one.
    pub fn at(&self, path: &Path) -> Option<&Value<'a>> {
        let mut segments = path.segments();
        segments.try_fold(self, |value, segment| value.child(&segment))
    }

    /// The member or the item that a segment of a path names.
    pub(super) fn child(&self, segment: &str) -> Option<&Value<'a>> {
        match self {
            Value::Object(_) => self.get(segment),
            Value::Array(items) => items.get(segment.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// The value at `path`, mutably.
    pub(crate) fn at_mut(&mut self, path: &Path) -> Option<&mut Value<'a>> {
        path.segments()
            .try_fold(self, |value, segment| match value {
                Value::Object(members) => members
                    .iter_mut()
                    .find(|(name, _)| *name == segment)
                    .map(|(_, value)| value),
                Value::Array(items) => items.get_mut(segment.parse::<usize>().ok()?),
                _ => None,
            })
    }

    /// The same value without borrowed data.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Bool(yes) => Value::Bool(yes),
            Value::Number(number) => Value::Number(number.into_owned()),
            Value::String(text) => Value::String(Cow::Owned(text.into_owned())),
            Value::Array(items) => Value::Array(items.into_iter().map(Value::into_owned).collect()),
            Value::Object(members) => {
                let owned =
                    |(key, value): Member<'a>| (key.into_owned().into(), value.into_owned());
                Value::Object(members.into_iter().map(owned).collect())
            }
        }
    }
}

/// A value that is borrowed or owned. `Cow` is not covariant, so a long-lived ticket could not be closed with a short-lived
/// result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lent<'v> {
    /// Borrowed from its owner.
    Borrowed(&'v Value<'v>),
    /// Owned.
    Owned(Value<'v>),
}

impl<'v> Lent<'v> {
    /// The value itself.
    pub fn into_owned(self) -> Value<'v> {
        match self {
            Lent::Borrowed(value) => value.clone(),
            Lent::Owned(value) => value,
        }
    }
}

impl<'v> Deref for Lent<'v> {
    type Target = Value<'v>;

    fn deref(&self) -> &Value<'v> {
        match self {
            Lent::Borrowed(value) => value,
            Lent::Owned(value) => value,
        }
    }
}

impl<'a> From<&'a serde_json::Value> for Value<'a> {
    fn from(value: &'a Json) -> Self {
        match value {
            Json::Null => Value::Null,
            Json::Bool(yes) => Value::Bool(*yes),
            Json::Number(number) => Value::Number(Number::from_literal(number.to_string())),
            Json::String(text) => Value::String(Cow::Borrowed(text)),
            Json::Array(items) => Value::Array(items.iter().map(Value::from).collect()),
            Json::Object(members) => {
                let member = |(key, value): (&'a String, _)| (key.into(), Value::from(value));
                Value::Object(members.iter().map(member).collect())
            }
        }
    }
}

impl From<&Value<'_>> for serde_json::Value {
    /// Integers beyond 64 bits become floats here, because `serde_json::Number` has nothing better; if a key occurs twice the
    /// last value is kept.
    fn from(value: &Value<'_>) -> Self {
        match value {
            Value::Null => Json::Null,
            Value::Bool(yes) => Json::Bool(*yes),
            Value::Number(number) => Json::Number(number.into()),
            Value::String(text) => Json::String(text.clone().into_owned()),
            Value::Array(items) => items.iter().map(Json::from).collect(),
            Value::Object(members) => members
                .iter()
                .map(|(key, value)| (key.clone().into_owned(), Json::from(value)))
                .collect(),
        }
    }
}

impl From<&Number<'_>> for serde_json::Number {
    fn from(number: &Number<'_>) -> Self {
        if let Some(small) = number.as_i64() {
            small.into()
        } else if let Some(large) = number.as_u64() {
            large.into()
        } else {
            // Finite by construction, so the fallback is never taken.
            serde_json::Number::from_f64(number.as_f64()).unwrap_or_else(|| 0.into())
        }
    }
}
