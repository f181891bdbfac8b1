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

/// The name of a type, a field or a variant.
type SerdeName = &'static str;

type WriteResult = Result<Value<'static>, Mismatch>;

type Started<T> = Result<T, Mismatch>;

/// How deep containers may be nested: as deep as in a call (see [`ParseLimits`](crate::parse::ParseLimits)), so that the result
/// of one tool can be an argument of another.
const MAX_DEPTH: usize = 100;

/// Makes a JSON value out of a Rust value.
///
/// # Errors
/// Returns where the value has no JSON form (NaN, an infinity, a key that is not text, too deep), or the type's own error.
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
                "nested deeper than {MAX_DEPTH} levels, the limit for a call"
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

/// Most numbers in results are counts and percentages, so small ones are not allocated.
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

/// Rust formats a finite float as a JSON number, the shortest that parses as the same float.
fn float(number: impl fmt::Debug, finite: bool) -> WriteResult {
    if !finite {
        return Err(refuse(format!("{number:?} has no JSON form")));
    }
    // The length of most floats.
    let mut literal = String::with_capacity(24);
    // Writing to a `String` cannot fail.
    let _ = write!(literal, "{number:?}");
    Ok(Value::Number(Number::from_literal(literal)))
}

fn text(text: &str) -> Value<'static> {
    Value::String(Cow::Owned(text.to_owned()))
}

/// An object with one member, as enums are written.
fn tagged(variant: SerdeName, content: Value<'static>) -> Value<'static> {
    Value::Object(vec![(Cow::Borrowed(variant), content)])
}

/// Methods for values that are written as a whole.
macro_rules! scalars {
    ($($method:ident($($given:pat_param => $kind:ty),*) = $written:expr;)*) => {$(
        #[inline]
        fn $method(self, $($given: $kind),*) -> WriteResult {
            Ok($written)
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

    scalars! {
        serialize_u8(number => u8) = Value::Number(unsigned(number.into()));
        serialize_u16(number => u16) = Value::Number(unsigned(number.into()));
        serialize_u32(number => u32) = Value::Number(unsigned(number.into()));
        serialize_u64(number => u64) = Value::Number(unsigned(number));
        serialize_u128(number => u128) = Value::Number(Number::from_literal(number.to_string()));
        serialize_i8(number => i8) = Value::Number(signed(number.into()));
        serialize_i16(number => i16) = Value::Number(signed(number.into()));
        serialize_i32(number => i32) = Value::Number(signed(number.into()));
        serialize_i64(number => i64) = Value::Number(signed(number));
        serialize_i128(number => i128) = Value::Number(Number::from_literal(number.to_string()));
        serialize_bool(yes => bool) = Value::Bool(yes);
        serialize_char(character => char) = text(character.encode_utf8(&mut [0; 4]));
        serialize_str(content => &str) = text(content);
        serialize_unit() = Value::Null;
        serialize_none() = Value::Null;
        serialize_unit_struct(_ => SerdeName) = Value::Null;
        serialize_unit_variant(_ => SerdeName, _ => u32, variant => SerdeName) = Value::String(variant.into());
    }

    fn serialize_f32(self, number: f32) -> WriteResult {
        float(number, number.is_finite())
    }

    fn serialize_f64(self, number: f64) -> WriteResult {
        float(number, number.is_finite())
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, content: &T) -> WriteResult {
        Ok(Value::String(Cow::Owned(content.to_string())))
    }

    fn serialize_bytes(self, bytes: &[u8]) -> WriteResult {
        self.inside()?;
        let number = |byte: &u8| Value::Number(unsigned((*byte).into()));
        Ok(Value::Array(bytes.iter().map(number).collect()))
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> WriteResult {
        value.serialize(self)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: SerdeName,
        value: &T,
    ) -> WriteResult {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: SerdeName,
        _: u32,
        variant: SerdeName,
        value: &T,
    ) -> WriteResult {
        let content = value.serialize(self.inside()?);
        content
            .map(|content| tagged(variant, content))
            .map_err(|mismatch| mismatch.in_key(variant))
    }

    fn serialize_seq(self, length: Option<usize>) -> Started<ArrayBuilder> {
        Ok(ArrayBuilder::new(self.inside()?, None, length.unwrap_or(0)))
    }

    fn serialize_tuple(self, length: usize) -> Started<ArrayBuilder> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_struct(self, _: SerdeName, length: usize) -> Started<ArrayBuilder> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_variant(
        self,
        _: SerdeName,
        _: u32,
        variant: SerdeName,
        length: usize,
    ) -> Started<ArrayBuilder> {
        let inside = self.inside()?.inside()?;
        Ok(ArrayBuilder::new(inside, Some(variant), length))
    }

    fn serialize_map(self, length: Option<usize>) -> Started<ObjectBuilder> {
        let length = length.unwrap_or(0);
        Ok(ObjectBuilder::new(self.inside()?, ObjectKind::Map, length))
    }

    fn serialize_struct(self, name: SerdeName, length: usize) -> Started<ObjectBuilder> {
        let (inside, kind) = match name {
            RAW_VALUE => (self, ObjectKind::Raw),
            _ => (self.inside()?, ObjectKind::Struct),
        };
        Ok(ObjectBuilder::new(inside, kind, length))
    }

    fn serialize_struct_variant(
        self,
        _: SerdeName,
        _: u32,
        variant: SerdeName,
        length: usize,
    ) -> Started<ObjectBuilder> {
        let inside = self.inside()?.inside()?;
        let kind = ObjectKind::Variant(variant);
        Ok(ObjectBuilder::new(inside, kind, length))
    }
}
