//! Numbers and keys → whatever type is requested.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{Deserializer, Error as _, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

use super::{Built, FieldNames, TypeName};
use crate::json::{Mismatch, Number, Value, read_value};

/// An integer in the smallest type that serde has for it.
#[derive(Clone, Copy)]
enum Integer {
    U64(u64),
    I64(i64),
    U128(u128),
    I128(i128),
}

impl Integer {
    /// An integer of up to 64 bits that is written as digits only.
    #[inline]
    fn plain(number: &Number<'_>) -> Option<Self> {
        match number.as_u64() {
            Some(large) => Some(Integer::U64(large)),
            None => number.as_i64().map(Integer::I64),
        }
    }

    /// An integer of up to 128 bits, however it is written.
    #[inline]
    fn of(number: &Number<'_>) -> Option<Self> {
        Integer::plain(number).or_else(|| Integer::unusual(number))
    }

    /// An integer with a fraction of zeros, an exponent or more than 64 bits.
    #[cold]
    fn unusual(number: &Number<'_>) -> Option<Self> {
        let whole = number.as_whole()?;
        if let Ok(large) = u64::try_from(whole.magnitude)
            && (!whole.negative || large == 0)
        {
            return Some(Integer::U64(large));
        }
        if !whole.negative {
            return Some(Integer::U128(whole.magnitude));
        }
        let wide = 0i128.checked_sub_unsigned(whole.magnitude)?;
        Some(i64::try_from(wide).map_or(Integer::I128(wide), Integer::I64))
    }
}

/// If any number will do, an integer is passed as one, however it is written: the requesting type may be a flattened field or
/// an untagged enum with an integer in it.
#[inline]
pub(super) fn visit_any_number<'v, V: Visitor<'v>>(
    number: &Number<'_>,
    visitor: V,
) -> Built<V::Value> {
    match Integer::of(number) {
        Some(Integer::U64(large)) => visitor.visit_u64(large),
        Some(Integer::I64(small)) => visitor.visit_i64(small),
        _ => visitor.visit_f64(number.as_f64()),
    }
}

pub(super) fn visit_float<'v, V: Visitor<'v>>(number: &Number<'_>, visitor: V) -> Built<V::Value> {
    match Integer::plain(number) {
        Some(Integer::U64(large)) => visitor.visit_u64(large),
        // `-0` has a sign only as a float.
        Some(Integer::I64(small)) if small != 0 => visitor.visit_i64(small),
        _ => visitor.visit_f64(number.as_f64()),
    }
}

/// For integers of up to 128 bits.
pub(super) fn visit_wide<'v, V: Visitor<'v>>(number: &Number<'_>, visitor: V) -> Built<V::Value> {
    visit_integer(Integer::of(number), number, visitor)
}

fn visit_integer<'v, V: Visitor<'v>>(
    integer: Option<Integer>,
    number: &Number<'_>,
    visitor: V,
) -> Built<V::Value> {
    match integer {
        Some(Integer::U64(large)) => visitor.visit_u64(large),
        Some(Integer::I64(small)) => visitor.visit_i64(small),
        Some(Integer::U128(wide)) => visitor.visit_u128(wide),
        Some(Integer::I128(wide)) => visitor.visit_i128(wide),
        None => visitor.visit_f64(number.as_f64()),
    }
}

/// A key in an object. The key of a Rust map may be text, a number, a boolean or a unit variant.
pub(super) struct MemberKey<'v>(pub(super) &'v str);

/// A number that is written as a key. As in `serde_json`, `"5.0"` is not an integer here: otherwise two spellings would be one
/// key.
fn visit_number_key<'v, V: Visitor<'v>>(key: &str, visitor: V) -> Built<V::Value> {
    let has_no_blanks = key.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        && key.ends_with(|last: char| last.is_ascii_digit());
    match read_value(key) {
        Ok(Value::Number(number)) if has_no_blanks => {
            let integer = if number.is_written_as_integer() {
                Integer::of(&number)
            } else {
                Integer::plain(&number)
            };
            visit_integer(integer, &number, visitor)
        }
        _ => {
            let message = "invalid value: expected key to be a number in quotes";
            Err(Mismatch::custom(message))
        }
    }
}

macro_rules! number_keys {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Built<V::Value> {
            visit_number_key(self.0, visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for MemberKey<'de> {
    type Error = Mismatch;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Built<V::Value> {
        visitor.visit_borrowed_str(self.0)
    }

    number_keys!(deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128);
    number_keys!(deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128);
    number_keys!(deserialize_f32 deserialize_f64);

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Built<V::Value> {
        match self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            other => Err(Mismatch::invalid_type(Unexpected::Str(other), &visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Built<V::Value> {
        // A key is never null.
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: TypeName,
        visitor: V,
    ) -> Built<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: TypeName,
        variants: FieldNames,
        visitor: V,
    ) -> Built<V::Value> {
        BorrowedStrDeserializer::new(self.0).deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
