//! A Rust type → a JSON value, without a text or another tree in between.
//!
//! Takes anything that serde can serialise; returns the tree that `serde_json::to_value` would make, except that
//!
//! - NaN and the infinities are an error with their place, where `serde_json` silently writes `null`,
//! - integers keep all their digits, up to 128 bits, and so do numbers in a `RawValue`,
//! - an `f32` is written with its own digits (`0.1`), as in `serde_json`'s texts,
//! - a value that is nested deeper than a call may be is an error.
//!
//! Names of fields and variants are borrowed, and so are small numbers.

mod containers;

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use serde::ser::{Serialize, Serializer};

use self::containers::{ArrayBuilder, ObjectBuilder, ObjectKind};
use super::into_type::RAW_VALUE;
use super::mismatch::MismatchCause;
use super::{Mismatch, Number, Value};

/// How deep containers may be nested: as deep as in a call (see [`ParseLimits`](crate::parse::ParseLimits)), so that the
/// result of one tool can be an argument of another.
const MAX_DEPTH: usize = 100;

/// Makes a JSON value out of a Rust value.
///
/// # Errors
/// Returns where the value has no JSON form (NaN, an infinity, a key that is not text, too deep), or the type's own
/// error.
pub fn from_type<T: Serialize + ?Sized>(value: &T) -> Result<Value<'static>, Mismatch> {
    value.serialize(Writer {
        depth_left: MAX_DEPTH,
    })
}

/// Builds one value.
#[derive(Clone, Copy)]
struct Writer {
    depth_left: usize,
}

impl Writer {
    /// The writer for the content of a container.
    fn inside(self) -> Result<Writer, Mismatch> {
        match self.depth_left.checked_sub(1) {
            Some(depth_left) => Ok(Writer { depth_left }),
            None => Err(refuse(format!(
                "nested deeper than {MAX_DEPTH} levels, which is what a call may hold"
            ))),
        }
    }
}

#[cold]
fn refuse(message: impl Into<String>) -> Mismatch {
    Mismatch::new(MismatchCause::Own, message.into())
}

/// The numbers below a hundred, two digits each.
const BELOW_HUNDRED: &str = "\
    00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748\
    49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697\
    9899";

/// Most numbers in results are counts and percentages, so the small ones are not allocated.
fn unsigned(number: u64) -> Number<'static> {
    let small = match usize::try_from(number) {
        Ok(one @ 0..10) => &BELOW_HUNDRED[2 * one + 1..2 * one + 2],
        Ok(two @ 10..100) => &BELOW_HUNDRED[2 * two..2 * two + 2],
        _ => return Number::from(number),
    };
    Number::from_literal(small)
}

fn signed(number: i64) -> Number<'static> {
    match u64::try_from(number) {
        Ok(positive) => unsigned(positive),
        Err(_) => Number::from(number),
    }
}

/// Rust writes a finite float as a JSON number, the shortest that reads back as the same float.
fn float(number: impl fmt::Debug, finite: bool) -> Result<Value<'static>, Mismatch> {
    if !finite {
        return Err(refuse(format!("{number:?} has no JSON form")));
    }
    // As long as most floats are.
    let mut literal = String::with_capacity(24);
    // Writing to a `String` cannot fail.
    let _ = write!(literal, "{number:?}");
    Ok(Value::Number(Number::from_literal(literal)))
}

fn text(text: &str) -> Value<'static> {
    Value::String(Cow::Owned(text.to_owned()))
}

/// An object with one member, as enums are written.
fn tagged(variant: &'static str, content: Value<'static>) -> Value<'static> {
    Value::Object(vec![(Cow::Borrowed(variant), content)])
}

macro_rules! integers {
    ($convert:ident: $($method:ident $kind:ty)*) => {$(
        #[inline]
        fn $method(self, number: $kind) -> Result<Value<'static>, Mismatch> {
            Ok(Value::Number($convert(number.into())))
        }
    )*};
}

macro_rules! wide_integers {
    ($($method:ident $kind:ty)*) => {$(
        fn $method(self, number: $kind) -> Result<Value<'static>, Mismatch> {
            Ok(Value::Number(Number::from_literal(number.to_string())))
        }
    )*};
}

impl Serializer for Writer {
    type Ok = Value<'static>;
    type Error = Mismatch;
    type SerializeSeq = ArrayBuilder;
    type SerializeTuple = ArrayBuilder;
    type SerializeTupleStruct = ArrayBuilder;
    type SerializeTupleVariant = ArrayBuilder;
    type SerializeMap = ObjectBuilder;
    type SerializeStruct = ObjectBuilder;
    type SerializeStructVariant = ObjectBuilder;

    integers!(unsigned: serialize_u8 u8 serialize_u16 u16 serialize_u32 u32 serialize_u64 u64);
    integers!(signed: serialize_i8 i8 serialize_i16 i16 serialize_i32 i32 serialize_i64 i64);
    wide_integers!(serialize_u128 u128 serialize_i128 i128);

    #[inline]
    fn serialize_bool(self, yes: bool) -> Result<Value<'static>, Mismatch> {
        Ok(Value::Bool(yes))
    }

    fn serialize_f32(self, number: f32) -> Result<Value<'static>, Mismatch> {
        float(number, number.is_finite())
    }

    fn serialize_f64(self, number: f64) -> Result<Value<'static>, Mismatch> {
        float(number, number.is_finite())
    }

    fn serialize_char(self, character: char) -> Result<Value<'static>, Mismatch> {
        Ok(text(character.encode_utf8(&mut [0; 4])))
    }

    #[inline]
    fn serialize_str(self, content: &str) -> Result<Value<'static>, Mismatch> {
        Ok(text(content))
    }

    fn collect_str<T: fmt::Display + ?Sized>(
        self,
        content: &T,
    ) -> Result<Value<'static>, Mismatch> {
        Ok(Value::String(Cow::Owned(content.to_string())))
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<Value<'static>, Mismatch> {
        self.inside()?;
        let number = |byte: &u8| Value::Number(unsigned((*byte).into()));
        Ok(Value::Array(bytes.iter().map(number).collect()))
    }

    #[inline]
    fn serialize_unit(self) -> Result<Value<'static>, Mismatch> {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Value<'static>, Mismatch> {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Value<'static>, Mismatch> {
        Ok(Value::String(Cow::Borrowed(variant)))
    }

    #[inline]
    fn serialize_none(self) -> Result<Value<'static>, Mismatch> {
        Ok(Value::Null)
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value<'static>, Mismatch> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Value<'static>, Mismatch> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Value<'static>, Mismatch> {
        let content = value.serialize(self.inside()?);
        Ok(tagged(
            variant,
            content.map_err(|mismatch| mismatch.in_key(variant))?,
        ))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<ArrayBuilder, Mismatch> {
        Ok(ArrayBuilder::new(self.inside()?, None, length.unwrap_or(0)))
    }

    fn serialize_tuple(self, length: usize) -> Result<ArrayBuilder, Mismatch> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        length: usize,
    ) -> Result<ArrayBuilder, Mismatch> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<ArrayBuilder, Mismatch> {
        let inside = self.inside()?.inside()?;
        Ok(ArrayBuilder::new(inside, Some(variant), length))
    }

    fn serialize_map(self, length: Option<usize>) -> Result<ObjectBuilder, Mismatch> {
        let length = length.unwrap_or(0);
        Ok(ObjectBuilder::new(self.inside()?, ObjectKind::Map, length))
    }

    fn serialize_struct(
        self,
        name: &'static str,
        length: usize,
    ) -> Result<ObjectBuilder, Mismatch> {
        if name == RAW_VALUE {
            return Ok(ObjectBuilder::new(self, ObjectKind::Raw, length));
        }
        Ok(ObjectBuilder::new(
            self.inside()?,
            ObjectKind::Struct,
            length,
        ))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<ObjectBuilder, Mismatch> {
        let inside = self.inside()?.inside()?;
        let kind = ObjectKind::Variant(variant);
        Ok(ObjectBuilder::new(inside, kind, length))
    }
}
