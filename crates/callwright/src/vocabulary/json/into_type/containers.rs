//! Arrays, objects and enums, read part by part while a type is built.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    DeserializeSeed, EnumAccess, Error as _, MapAccess, SeqAccess, Unexpected, VariantAccess,
    Visitor,
};

use super::scalars::MemberKey;
use super::{Built, FieldNames, Node, unexpected};
use crate::json::{Member, Mismatch, Value};

pub(super) fn visit_array<'v, V: Visitor<'v>>(
    items: &'v [Value<'v>],
    visitor: V,
) -> Built<V::Value> {
    let mut reader = ArrayReader { items, at: 0 };
    let built = visitor.visit_seq(&mut reader)?;
    all_taken(reader.at, items.len(), "fewer elements in array").map(|()| built)
}

pub(super) fn visit_object<'v, V: Visitor<'v>>(
    members: &'v [Member<'v>],
    visitor: V,
) -> Built<V::Value> {
    let mut reader = ObjectReader { members, at: 0 };
    let built = visitor.visit_map(&mut reader)?;
    all_taken(reader.at, members.len(), "fewer elements in map").map(|()| built)
}

fn all_taken(taken: usize, length: usize, expected: &str) -> Built<()> {
    if taken < length {
        return Err(Mismatch::invalid_length(length, &expected));
    }
    Ok(())
}

struct ArrayReader<'v> {
    items: &'v [Value<'v>],
    at: usize,
}

impl<'v> SeqAccess<'v> for ArrayReader<'v> {
    type Error = Mismatch;

    fn next_element_seed<T: DeserializeSeed<'v>>(&mut self, seed: T) -> Built<Option<T::Value>> {
        let Some(item) = self.items.get(self.at) else {
            return Ok(None);
        };
        self.at += 1;
        let built = seed.deserialize(Node::<false>(item)).map(Some);
        built.map_err(|mismatch| mismatch.in_item(self.at - 1))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len() - self.at)
    }
}

struct ObjectReader<'v> {
    members: &'v [Member<'v>],
    /// The index of the next key. Its value is requested after it.
    at: usize,
}

impl<'v> MapAccess<'v> for ObjectReader<'v> {
    type Error = Mismatch;

    fn next_key_seed<K: DeserializeSeed<'v>>(&mut self, seed: K) -> Built<Option<K::Value>> {
        let Some((key, _)) = self.members.get(self.at) else {
            return Ok(None);
        };
        self.at += 1;
        let built = seed.deserialize(MemberKey(key)).map(Some);
        built.map_err(|mismatch| mismatch.of_key(key))
    }

    fn next_value_seed<T: DeserializeSeed<'v>>(&mut self, seed: T) -> Built<T::Value> {
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

/// An enum: the name of a variant, and its content.
pub(super) struct EnumReader<'v> {
    pub(super) variant: &'v str,
    pub(super) content: Option<&'v Value<'v>>,
}

impl<'v> EnumAccess<'v> for EnumReader<'v> {
    type Error = Mismatch;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'v>>(self, seed: T) -> Built<(T::Value, Self)> {
        let name = seed.deserialize(BorrowedStrDeserializer::new(self.variant))?;
        Ok((name, self))
    }
}

impl EnumReader<'_> {
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

impl<'v> VariantAccess<'v> for EnumReader<'v> {
    type Error = Mismatch;

    fn unit_variant(self) -> Built<()> {
        match self.content {
            None | Some(Value::Null) => Ok(()),
            Some(_) => Err(self.wrong_kind("unit")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'v>>(self, seed: T) -> Built<T::Value> {
        match self.content {
            Some(content) => seed.deserialize(Node::<false>(content)),
            None => return Err(self.wrong_kind("newtype variant")),
        }
        .map_err(|mismatch| mismatch.in_key(self.variant))
    }

    fn tuple_variant<V: Visitor<'v>>(self, _: usize, visitor: V) -> Built<V::Value> {
        match self.content {
            Some(Value::Array(items)) if items.is_empty() => visitor.visit_unit(),
            Some(Value::Array(items)) => visit_array(items, visitor),
            _ => return Err(self.wrong_kind("tuple variant")),
        }
        .map_err(|mismatch| mismatch.in_key(self.variant))
    }

    fn struct_variant<V: Visitor<'v>>(self, _: FieldNames, visitor: V) -> Built<V::Value> {
        match self.content {
            Some(Value::Object(members)) => visit_object(members, visitor),
            _ => return Err(self.wrong_kind("struct variant")),
        }
        .map_err(|mismatch| mismatch.in_key(self.variant))
    }
}
