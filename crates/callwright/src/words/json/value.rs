//! The tree itself.

use std::borrow::Cow;

use super::{Number, Path};
use crate::words::named;

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
    /// An object: its members in the order they were written, a repeated key included.
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

    /// Takes the member `key` out of an object.
    pub(crate) fn take(&mut self, key: &str) -> Option<Value<'a>> {
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
        path.segments()
            .try_fold(self, |value, segment| match value {
                Value::Object(_) => value.get(&segment),
                Value::Array(items) => items.get(segment.parse::<usize>().ok()?),
                _ => None,
            })
    }

    /// The value at `path`, to be changed.
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

    /// The same value, borrowing from nothing.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Bool(yes) => Value::Bool(yes),
            Value::Number(number) => Value::Number(number.into_owned()),
            Value::String(text) => Value::String(Cow::Owned(text.into_owned())),
            Value::Array(items) => Value::Array(items.into_iter().map(Value::into_owned).collect()),
            Value::Object(members) => Value::Object(
                members
                    .into_iter()
                    .map(|(key, value)| (Cow::Owned(key.into_owned()), value.into_owned()))
                    .collect(),
            ),
        }
    }
}
