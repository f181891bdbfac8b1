//! A JSON value → a Rust type, without a text or another tree in between.
//!
//! Takes a tree; returns what serde builds from it, borrowing from the tree where the type borrows. It accepts what
//! `serde_json::from_value` accepts, and also `5.0` and `1e2` for integers, because JSON Schema does: what validates must
//! deserialise. (So a type that takes any JSON gets `5` for `5.0`.)
//!
//! [`Value`] itself does not implement `Deserialize`: serde buffers flattened fields and untagged enums in its own form, which
//! holds at most 64 bits of a number. A type that needs every digit of any JSON takes a `Box<serde_json::value::RawValue>`.

mod containers;
mod scalars;

use serde::de::value::MapDeserializer;
use serde::de::{Deserialize, Deserializer, Error as _, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

use self::containers::{EnumReader, visit_array, visit_object};
use self::scalars::{visit_any_number, visit_float, visit_wide};
use super::{Mismatch, Value};

/// The name of a type.
type TypeName = &'static str;

/// The names of fields or variants.
type FieldNames = &'static [&'static str];

type Built<T> = Result<T, Mismatch>;

/// The name under which `serde_json` requests the text of a value.
pub(super) const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Makes a Rust type from a value.
///
/// # Errors
/// Returns where the value does not fit the type, and serde's message.
pub fn to_type<'v, T: Deserialize<'v>>(value: &'v Value<'_>) -> Result<T, Mismatch> {
    T::deserialize(Node::<false>(value))
}

/// Makes a Rust type from the arguments of a call. They are always an object, so a type without content (`()`, a unit struct)
/// accepts one too: it means "no parameters".
#[cfg(feature = "toolbox")]
pub(crate) fn to_arguments<'v, T: Deserialize<'v>>(value: &'v Value<'_>) -> Built<T> {
    T::deserialize(Node::<true>(value))
}

/// A value in the tree. `ARGUMENTS` means that it is the whole arguments of a call.
struct Node<'v, const ARGUMENTS: bool>(&'v Value<'v>);

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

#[inline]
fn visit_text<'de, V: Visitor<'de>>(text: &'de str, visitor: V) -> Built<V::Value> {
    visitor.visit_borrowed_str(text)
}

/// Methods that accept only one kind of value.
macro_rules! only {
    ($($kind:ident by $visit:ident => $($method:ident),*;)*) => {$($(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Built<V::Value> {
            match self.0 {
                Value::$kind(content) => $visit(content, visitor),
                other => Err(Mismatch::invalid_type(unexpected(other), &visitor)),
            }
        }
    )*)*};
}

impl<'de, const ARGUMENTS: bool> Deserializer<'de> for Node<'de, ARGUMENTS> {
    type Error = Mismatch;

    /// A visitor itself rejects what it does not accept.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Built<V::Value> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(yes) => visitor.visit_bool(*yes),
            Value::Number(number) => visit_any_number(number, visitor),
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(items) => visit_array(items, visitor),
            Value::Object(members) => visit_object(members, visitor),
        }
    }

    forward_to_deserialize_any! {
        bool char bytes byte_buf tuple tuple_struct
    }

    // What types usually request is faster this way. A visitor of names would also accept the number of a field or variant.
    only! {
        Number by visit_any_number => deserialize_i8, deserialize_i16, deserialize_i32, deserialize_i64;
        Number by visit_any_number => deserialize_u8, deserialize_u16, deserialize_u32, deserialize_u64;
        Number by visit_wide => deserialize_i128, deserialize_u128;
        Number by visit_float => deserialize_f32, deserialize_f64;
        String by visit_text => deserialize_str, deserialize_string, deserialize_identifier;
        Array by visit_array => deserialize_seq;
        Object by visit_object => deserialize_map;
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: TypeName,
        _: FieldNames,
        visitor: V,
    ) -> Built<V::Value> {
        match self.0 {
            Value::Object(members) => visit_object(members, visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Built<V::Value> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Built<V::Value> {
        match self.0 {
            Value::Object(_) if ARGUMENTS => visitor.visit_unit(),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: TypeName, visitor: V) -> Built<V::Value> {
        self.deserialize_unit(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: TypeName,
        visitor: V,
    ) -> Built<V::Value> {
        if name == RAW_VALUE {
            let text = std::iter::once((RAW_VALUE, self.0.to_string()));
            return visitor.visit_map(MapDeserializer::new(text));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: TypeName,
        _: FieldNames,
        visitor: V,
    ) -> Built<V::Value> {
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
        visitor.visit_enum(EnumReader { variant, content })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Built<V::Value> {
        visitor.visit_unit()
    }
}
