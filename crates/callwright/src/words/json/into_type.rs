//! A value → a Rust type, directly.
//!
//! In comes a tree, out goes whatever serde can build of it, borrowing from the tree where the type
//! borrows. No text and no other tree is made on the way. It reads what `serde_json::from_value` reads, and
//! more in one respect: JSON Schema says that `5.0` and `1e2` are integers, so they become integers here. What
//! validates must deserialise. (So a type that takes any JSON gets `5` for `5.0`.)
//!
//! There is no `Deserialize` for [`Value`] itself: serde reads flattened fields and untagged enums ahead into
//! its own form, which holds no more than 64 bits of a number. A type that wants every digit of any JSON
//! takes a `Box<serde_json::value::RawValue>`.

mod containers;
mod key;
mod numbers;

use serde::de::value::MapDeserializer;
use serde::de::{Deserialize, Deserializer, Error as _, Unexpected, Visitor};

use self::containers::{Variant, visit_array, visit_object};
use self::numbers::{visit_any_number, visit_float, visit_wide};
use super::{Mismatch, Value};

/// The name under which `serde_json` asks for the text of a value.
pub(super) const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Makes a Rust type out of a value.
///
/// # Errors
/// Returns where the value does not fit the type, and what serde says about it.
pub fn to_type<'v, T: Deserialize<'v>>(value: &'v Value<'_>) -> Result<T, Mismatch> {
    T::deserialize(Node::<false>(value))
}

/// Makes a Rust type out of the arguments of a call. They are always an object, so a type without content
/// (`()`, a unit struct) takes one too: it means "no parameters".
#[cfg(feature = "toolbox")]
pub(crate) fn to_arguments<'v, T: Deserialize<'v>>(value: &'v Value<'_>) -> Result<T, Mismatch> {
    T::deserialize(Node::<true>(value))
}

/// A place in the tree. `ARGUMENTS` says that it is the whole of a call's arguments.
struct Node<'v, const ARGUMENTS: bool>(&'v Value<'v>);

impl<'v, const ARGUMENTS: bool> Node<'v, ARGUMENTS> {
    #[cold]
    fn wrong_kind<V: Visitor<'v>>(self, visitor: &V) -> Mismatch {
        Mismatch::invalid_type(unexpected(self.0), visitor)
    }
}

fn unexpected<'v>(value: &'v Value<'_>) -> Unexpected<'v> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(yes) => Unexpected::Bool(*yes),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(large), _) => Unexpected::Unsigned(large),
            (_, Some(small)) => Unexpected::Signed(small),
            _ => Unexpected::Float(number.as_f64()),
        },
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

macro_rules! numbers {
    ($visit:ident: $($method:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mismatch> {
            match self.0 {
                Value::Number(number) => $visit(number, visitor),
                _ => Err(self.wrong_kind(&visitor)),
            }
        }
    )*};
}

macro_rules! strings {
    ($($method:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mismatch> {
            match self.0 {
                Value::String(text) => visitor.visit_borrowed_str(text),
                _ => Err(self.wrong_kind(&visitor)),
            }
        }
    )*};
}

macro_rules! bytes {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mismatch> {
            match self.0 {
                Value::String(text) => visitor.visit_borrowed_str(text),
                Value::Array(items) => visit_array(items, visitor),
                _ => Err(self.wrong_kind(&visitor)),
            }
        }
    )*};
}

impl<'v, const ARGUMENTS: bool> Deserializer<'v> for Node<'v, ARGUMENTS> {
    type Error = Mismatch;

    fn deserialize_any<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(yes) => visitor.visit_bool(*yes),
            Value::Number(number) => visit_any_number(number, visitor),
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(items) => visit_array(items, visitor),
            Value::Object(members) => visit_object(members, visitor),
        }
    }

    numbers!(visit_any_number: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64);
    numbers!(visit_any_number: deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64);
    numbers!(visit_wide: deserialize_i128 deserialize_u128);
    numbers!(visit_float: deserialize_f32 deserialize_f64);
    strings!(deserialize_char deserialize_str deserialize_string deserialize_identifier);
    bytes!(deserialize_bytes deserialize_byte_buf);

    fn deserialize_bool<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Bool(yes) => visitor.visit_bool(*yes),
            _ => Err(self.wrong_kind(&visitor)),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Object(_) if ARGUMENTS => visitor.visit_unit(),
            _ => Err(self.wrong_kind(&visitor)),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'v>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        self.deserialize_unit(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'v>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        if name == RAW_VALUE {
            let text = std::iter::once((RAW_VALUE, self.0.to_string()));
            return visitor.visit_map(MapDeserializer::new(text));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Array(items) => visit_array(items, visitor),
            _ => Err(self.wrong_kind(&visitor)),
        }
    }

    fn deserialize_tuple<V: Visitor<'v>>(self, _: usize, visitor: V) -> Result<V::Value, Mismatch> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'v>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Object(members) => visit_object(members, visitor),
            _ => Err(self.wrong_kind(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'v>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Object(members) => visit_object(members, visitor),
            Value::Array(items) => visit_array(items, visitor),
            _ => Err(self.wrong_kind(&visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'v>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        let (variant, content) = match self.0 {
            Value::String(variant) => (variant, None),
            Value::Object(members) => {
                let [(variant, content)] = members.as_slice() else {
                    let expected = &"map with a single key";
                    return Err(Mismatch::invalid_value(Unexpected::Map, expected));
                };
                (variant, Some(content))
            }
            other => {
                let expected = &"string or map";
                return Err(Mismatch::invalid_type(unexpected(other), expected));
            }
        };
        visitor.visit_enum(Variant { variant, content })
    }

    fn deserialize_ignored_any<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_unit()
    }
}
