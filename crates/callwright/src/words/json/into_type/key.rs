//! The key of a member → whatever a map of Rust has as its key: text, a number, a boolean, a unit variant.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{Deserializer, Error as _, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

use super::numbers::{Plain, plain, written_otherwise};
use crate::json::{Mismatch, Value, read_value};

/// A key in an object.
pub(super) struct Key<'v>(pub(super) &'v str);

/// A number that is written as a key. As in `serde_json`, `"5.0"` is no integer here: two spellings of one
/// key would be one.
fn visit_number<'v, V: Visitor<'v>>(key: &str, visitor: V) -> Result<V::Value, Mismatch> {
    let bordered = key.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        && key.ends_with(|last: char| last.is_ascii_digit());
    let number = match read_value(key) {
        Ok(Value::Number(number)) if bordered => number,
        _ => {
            return Err(Mismatch::custom(
                "invalid value: expected key to be a number in quotes",
            ));
        }
    };
    let integer = plain(&number).or_else(|| {
        let digits_only = number.is_written_as_integer();
        digits_only.then(|| written_otherwise(&number)).flatten()
    });
    match integer {
        Some(Plain::Unsigned(large)) => visitor.visit_u64(large),
        Some(Plain::Signed(small)) => visitor.visit_i64(small),
        Some(Plain::WideUnsigned(wide)) => visitor.visit_u128(wide),
        Some(Plain::WideSigned(wide)) => visitor.visit_i128(wide),
        None => visitor.visit_f64(number.as_f64()),
    }
}

macro_rules! numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
            visit_number(self.0, visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Mismatch;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_borrowed_str(self.0)
    }

    numbers!(deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128);
    numbers!(deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128);

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        visit_number(self.0, visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            other => Err(Mismatch::invalid_type(Unexpected::Str(other), &visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        // A key is never null.
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        BorrowedStrDeserializer::new(self.0).deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
