//! The key of a map → the key of a member, as `serde_json` writes it: numbers, booleans and unit variants
//! become text, everything else is refused.

use std::borrow::Cow;
use std::fmt;

use serde::ser::{Impossible, Serialize, Serializer};

use super::refuse;
use crate::json::Mismatch;

type Key = Cow<'static, str>;

/// Builds one key.
pub(super) struct KeyWriter;

#[cold]
fn no_text() -> Mismatch {
    refuse("key must be a string")
}

fn float(number: impl fmt::Debug, finite: bool) -> Result<Key, Mismatch> {
    if finite {
        Ok(Cow::Owned(format!("{number:?}")))
    } else {
        Err(refuse("float key must be finite (got NaN or +/-inf)"))
    }
}

macro_rules! integers {
    ($($method:ident $kind:ty)*) => {$(
        fn $method(self, number: $kind) -> Result<Key, Mismatch> {
            Ok(Cow::Owned(number.to_string()))
        }
    )*};
}

macro_rules! no_keys {
    ($($method:ident($($argument:ty),*) -> $container:ty;)*) => {$(
        fn $method(self $(, _: $argument)*) -> Result<$container, Mismatch> {
            Err(no_text())
        }
    )*};
}

type Never = Impossible<Key, Mismatch>;

impl Serializer for KeyWriter {
    type Ok = Key;
    type Error = Mismatch;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Never;
    type SerializeStructVariant = Never;

    integers!(serialize_u8 u8 serialize_u16 u16 serialize_u32 u32 serialize_u64 u64 serialize_u128 u128);
    integers!(serialize_i8 i8 serialize_i16 i16 serialize_i32 i32 serialize_i64 i64 serialize_i128 i128);
    integers!(serialize_char char);

    no_keys! {
        serialize_bytes(&[u8]) -> Key;
        serialize_unit() -> Key;
        serialize_unit_struct(&'static str) -> Key;
        serialize_none() -> Key;
        serialize_seq(Option<usize>) -> Never;
        serialize_tuple(usize) -> Never;
        serialize_tuple_struct(&'static str, usize) -> Never;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Never;
        serialize_map(Option<usize>) -> Never;
        serialize_struct(&'static str, usize) -> Never;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Never;
    }

    fn serialize_bool(self, yes: bool) -> Result<Key, Mismatch> {
        Ok(Cow::Borrowed(if yes { "true" } else { "false" }))
    }

    fn serialize_f32(self, number: f32) -> Result<Key, Mismatch> {
        float(number, number.is_finite())
    }

    fn serialize_f64(self, number: f64) -> Result<Key, Mismatch> {
        float(number, number.is_finite())
    }

    fn serialize_str(self, text: &str) -> Result<Key, Mismatch> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, text: &T) -> Result<Key, Mismatch> {
        Ok(Cow::Owned(text.to_string()))
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Key, Mismatch> {
        Ok(Cow::Borrowed(variant))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<Key, Mismatch> {
        Err(no_text())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Key, Mismatch> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Key, Mismatch> {
        Err(no_text())
    }
}
