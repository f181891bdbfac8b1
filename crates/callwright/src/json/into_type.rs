//! A value → a Rust type, directly.
//!
//! In comes a tree, out goes whatever serde can build of it, borrowing from the tree where the type
//! borrows. No text and no other tree is made on the way. It reads what `serde_json::from_value` reads, and
//! more in one respect: JSON Schema says that `5.0` and `1e2` are integers, so they become integers here. What
//! validates must deserialise. (So a type that takes any JSON gets `5` for `5.0`.)
//!
//! There is no `Deserialize` for [`Value`] itself: serde reads flattened fields and untagged enums ahead into
//! a form of its own, which holds no more than 64 bits of a number. A type that wants every digit of any JSON
//! takes a `Box<serde_json::value::RawValue>`.

mod key;

use serde::de::value::{BorrowedStrDeserializer, MapDeserializer};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};

use self::key::Key;
use super::{Member, Mismatch, Number, Value};

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

/// Where any number will do, an integer comes as one, however it is written: the type that asks may be a
/// flattened field or an untagged enum with an integer in it.
fn visit_any_number<'v, V: Visitor<'v>>(
    number: &Number<'_>,
    visitor: V,
) -> Result<V::Value, Mismatch> {
    match plain(number).or_else(|| written_otherwise(number)) {
        Some(Plain::Unsigned(large)) => visitor.visit_u64(large),
        Some(Plain::Signed(small)) => visitor.visit_i64(small),
        _ => visitor.visit_f64(number.as_f64()),
    }
}

fn visit_float<'v, V: Visitor<'v>>(number: &Number<'_>, visitor: V) -> Result<V::Value, Mismatch> {
    match plain(number) {
        Some(Plain::Unsigned(large)) => visitor.visit_u64(large),
        // `-0` has a sign only as a float.
        Some(Plain::Signed(small)) if small != 0 => visitor.visit_i64(small),
        _ => visitor.visit_f64(number.as_f64()),
    }
}

/// For integers of up to 128 bits.
fn visit_wide<'v, V: Visitor<'v>>(number: &Number<'_>, visitor: V) -> Result<V::Value, Mismatch> {
    match plain(number).or_else(|| written_otherwise(number)) {
        Some(Plain::Unsigned(large)) => visitor.visit_u64(large),
        Some(Plain::Signed(small)) => visitor.visit_i64(small),
        Some(Plain::WideUnsigned(wide)) => visitor.visit_u128(wide),
        Some(Plain::WideSigned(wide)) => visitor.visit_i128(wide),
        None => visitor.visit_f64(number.as_f64()),
    }
}

/// An integer as the smallest type that serde knows for it.
enum Plain {
    Unsigned(u64),
    Signed(i64),
    WideUnsigned(u128),
    WideSigned(i128),
}

fn plain(number: &Number<'_>) -> Option<Plain> {
    match number.as_u64() {
        Some(large) => Some(Plain::Unsigned(large)),
        None => number.as_i64().map(Plain::Signed),
    }
}

/// An integer with a fraction of zeros, an exponent or more than 64 bits.
#[cold]
fn written_otherwise(number: &Number<'_>) -> Option<Plain> {
    let whole = number.as_whole()?;
    if let Ok(large) = u64::try_from(whole.magnitude)
        && (!whole.negative || large == 0)
    {
        return Some(Plain::Unsigned(large));
    }
    if !whole.negative {
        return Some(Plain::WideUnsigned(whole.magnitude));
    }
    let wide = 0i128.checked_sub_unsigned(whole.magnitude)?;
    Some(i64::try_from(wide).map_or(Plain::WideSigned(wide), Plain::Signed))
}

fn visit_array<'v, V: Visitor<'v>>(
    items: &'v [Value<'v>],
    visitor: V,
) -> Result<V::Value, Mismatch> {
    let mut access = Items { items, at: 0 };
    let built = visitor.visit_seq(&mut access)?;
    if access.at < items.len() {
        return Err(Mismatch::invalid_length(
            items.len(),
            &"fewer elements in array",
        ));
    }
    Ok(built)
}

fn visit_object<'v, V: Visitor<'v>>(
    members: &'v [Member<'v>],
    visitor: V,
) -> Result<V::Value, Mismatch> {
    let mut access = Members { members, at: 0 };
    let built = visitor.visit_map(&mut access)?;
    if access.at < members.len() {
        return Err(Mismatch::invalid_length(
            members.len(),
            &"fewer elements in map",
        ));
    }
    Ok(built)
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
            Value::Object(members) => match members.as_slice() {
                [(variant, content)] => (variant, Some(content)),
                _ => {
                    let expected = &"map with a single key";
                    return Err(Mismatch::invalid_value(Unexpected::Map, expected));
                }
            },
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

struct Items<'v> {
    items: &'v [Value<'v>],
    at: usize,
}

impl<'v> SeqAccess<'v> for Items<'v> {
    type Error = Mismatch;

    fn next_element_seed<T: DeserializeSeed<'v>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Mismatch> {
        let Some(item) = self.items.get(self.at) else {
            return Ok(None);
        };
        self.at += 1;
        match seed.deserialize(Node::<false>(item)) {
            Ok(built) => Ok(Some(built)),
            Err(mismatch) => Err(mismatch.in_item(self.at - 1)),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len() - self.at)
    }
}

struct Members<'v> {
    members: &'v [Member<'v>],
    /// Of the next key; its value is asked for after it.
    at: usize,
}

impl<'v> MapAccess<'v> for Members<'v> {
    type Error = Mismatch;

    fn next_key_seed<K: DeserializeSeed<'v>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Mismatch> {
        let Some((key, _)) = self.members.get(self.at) else {
            return Ok(None);
        };
        self.at += 1;
        match seed.deserialize(Key(key)) {
            Ok(built) => Ok(Some(built)),
            Err(mismatch) => Err(mismatch.of_key(key)),
        }
    }

    fn next_value_seed<T: DeserializeSeed<'v>>(&mut self, seed: T) -> Result<T::Value, Mismatch> {
        let current = self.at.checked_sub(1).and_then(|at| self.members.get(at));
        let Some((key, value)) = current else {
            return Err(Mismatch::custom("value is missing"));
        };
        seed.deserialize(Node::<false>(value))
            .map_err(|mismatch| mismatch.in_key(key))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.members.len() - self.at)
    }
}

/// An enum: the name of a variant, and what it holds.
struct Variant<'v> {
    variant: &'v str,
    content: Option<&'v Value<'v>>,
}

impl<'v> EnumAccess<'v> for Variant<'v> {
    type Error = Mismatch;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'v>>(self, seed: T) -> Result<(T::Value, Self), Mismatch> {
        let name = seed.deserialize(BorrowedStrDeserializer::new(self.variant))?;
        Ok((name, self))
    }
}

impl<'v> Variant<'v> {
    #[cold]
    fn wrong_kind(&self, expected: &str) -> Mismatch {
        let unexpected = self.content.map_or(Unexpected::UnitVariant, unexpected);
        let mismatch = Mismatch::invalid_type(unexpected, &expected);
        match self.content {
            Some(_) => mismatch.in_key(self.variant),
            None => mismatch,
        }
    }
}

impl<'v> VariantAccess<'v> for Variant<'v> {
    type Error = Mismatch;

    fn unit_variant(self) -> Result<(), Mismatch> {
        match self.content {
            None | Some(Value::Null) => Ok(()),
            Some(_) => Err(self.wrong_kind("unit")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'v>>(self, seed: T) -> Result<T::Value, Mismatch> {
        match self.content {
            Some(content) => seed.deserialize(Node::<false>(content)),
            None => return Err(self.wrong_kind("newtype variant")),
        }
        .map_err(|mismatch| mismatch.in_key(self.variant))
    }

    fn tuple_variant<V: Visitor<'v>>(self, _: usize, visitor: V) -> Result<V::Value, Mismatch> {
        match self.content {
            Some(Value::Array(items)) if items.is_empty() => visitor.visit_unit(),
            Some(Value::Array(items)) => visit_array(items, visitor),
            _ => return Err(self.wrong_kind("tuple variant")),
        }
        .map_err(|mismatch| mismatch.in_key(self.variant))
    }

    fn struct_variant<V: Visitor<'v>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        match self.content {
            Some(Value::Object(members)) => visit_object(members, visitor),
            _ => return Err(self.wrong_kind("struct variant")),
        }
        .map_err(|mismatch| mismatch.in_key(self.variant))
    }
}
