//! Arrays and objects while they are being built.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};

use super::{SerdeName, Started, WriteResult, Writer, refuse, tagged};
use crate::json::{Member, Mismatch, Problem, Value, has_duplicate, read_value_within};

/// A type announces how many items it will have, and may be wrong. No more than this many are reserved in advance; a value
/// takes tens of bytes.
const MOST_RESERVED: usize = 4_096;

/// The content of an enum's variant, or the value itself.
fn of_variant(variant: Option<SerdeName>, value: Value<'static>) -> Value<'static> {
    match variant {
        Some(variant) => tagged(variant, value),
        None => value,
    }
}

#[cold]
fn in_variant(variant: Option<SerdeName>, mismatch: Mismatch) -> Mismatch {
    match variant {
        Some(variant) => mismatch.in_key(variant),
        None => mismatch,
    }
}

/// An array.
pub(super) struct ArrayBuilder {
    inside: Writer,
    variant: Option<SerdeName>,
    items: Vec<Value<'static>>,
}

impl ArrayBuilder {
    pub(super) fn new(inside: Writer, variant: Option<SerdeName>, length: usize) -> Self {
        ArrayBuilder {
            inside,
            variant,
            items: Vec::with_capacity(length.min(MOST_RESERVED)),
        }
    }

    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Started<()> {
        let item = value.serialize(self.inside).map_err(|mismatch| {
            let placed = mismatch.in_item(self.items.len());
            in_variant(self.variant, placed)
        })?;
        self.items.push(item);
        Ok(())
    }
}

macro_rules! arrays {
    ($($kind:ident $method:ident)*) => {$(
        impl $kind for ArrayBuilder {
            type Ok = Value<'static>;
            type Error = Mismatch;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Started<()> {
                self.push(value)
            }

            fn end(self) -> WriteResult {
                Ok(of_variant(self.variant, Value::Array(self.items)))
            }
        }
    )*};
}

arrays! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

/// An object.
pub(super) struct ObjectBuilder {
    inside: Writer,
    kind: ObjectKind,
    members: Vec<Member<'static>>,
    /// The key of a map whose value comes next.
    next_key: Option<Cow<'static, str>>,
}

pub(super) enum ObjectKind {
    /// Its keys are all different.
    Struct,
    /// The same, as the content of an enum's variant.
    Variant(SerdeName),
    Map,
    /// A `RawValue`, which `serde_json` disguises as a struct with one field, its text.
    Raw,
}

impl ObjectBuilder {
    /// `inside` is the writer of the members; for a `RawValue`, that of the place itself.
    pub(super) fn new(inside: Writer, kind: ObjectKind, length: usize) -> Self {
        ObjectBuilder {
            inside,
            kind,
            members: Vec::with_capacity(length.min(MOST_RESERVED)),
            next_key: None,
        }
    }

    fn variant(&self) -> Option<SerdeName> {
        match self.kind {
            ObjectKind::Variant(name) => Some(name),
            _ => None,
        }
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: SerdeName, value: &T) -> Started<()> {
        let written = value.serialize(self.inside);
        let variant = self.variant();
        let written = written.map_err(|mismatch| in_variant(variant, mismatch.in_key(name)))?;
        self.members.push((Cow::Borrowed(name), written));
        Ok(())
    }

    fn finish(mut self) -> WriteResult {
        match self.kind {
            ObjectKind::Raw => return read_raw(self.members.pop(), self.inside.depth_left),
            ObjectKind::Map if has_duplicate(&self.members) => last_of_each(&mut self.members),
            _ => {}
        }
        let variant = self.variant();
        Ok(of_variant(variant, Value::Object(self.members)))
    }
}

/// The text of a `RawValue`, parsed as strictly as a call.
fn read_raw(field: Option<Member<'static>>, depth_left: usize) -> WriteResult {
    let Some((_, Value::String(text))) = field else {
        return Err(refuse("a `RawValue` without text"));
    };
    match read_value_within(&text, depth_left) {
        Ok(value) => Ok(value.into_owned()),
        Err(error) => {
            let reason = match error.problem {
                Problem::TooDeep => "nested too deep".to_owned(),
                other => format!("a `RawValue` that is not JSON: {other:?}"),
            };
            Err(refuse(reason).within(&error.path()))
        }
    }
}

/// A key that a type writes twice keeps its first position and its last value, as in `serde_json`.
#[cold]
fn last_of_each(members: &mut Vec<Member<'static>>) {
    let mut places: HashMap<Cow<'static, str>, usize> = HashMap::with_capacity(members.len());
    let mut kept: Vec<Member<'static>> = Vec::with_capacity(members.len());
    for (key, value) in members.drain(..) {
        if let Some(&at) = places.get(&key) {
            kept[at].1 = value;
        } else {
            places.insert(key.clone(), kept.len());
            kept.push((key, value));
        }
    }
    *members = kept;
}

/// A key as `serde_json` writes it: numbers, booleans and unit variants become text, everything else is rejected.
fn key_of(written: Value<'static>) -> Started<Cow<'static, str>> {
    match written {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(Cow::Owned(number.as_str().to_owned())),
        Value::Bool(yes) => Ok(Cow::Borrowed(if yes { "true" } else { "false" })),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(refuse("key must be a string")),
    }
}

impl SerializeMap for ObjectBuilder {
    type Ok = Value<'static>;
    type Error = Mismatch;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Started<()> {
        self.next_key = Some(key_of(key.serialize(self.inside)?)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Started<()> {
        let Some(key) = self.next_key.take() else {
            return Err(refuse("a value of a map was written before its key"));
        };
        match value.serialize(self.inside) {
            Ok(written) => self.members.push((key, written)),
            Err(mismatch) => return Err(mismatch.in_key(&key)),
        }
        Ok(())
    }

    fn end(self) -> WriteResult {
        self.finish()
    }
}

macro_rules! structs {
    ($($kind:ident)*) => {$(
        impl $kind for ObjectBuilder {
            type Ok = Value<'static>;
            type Error = Mismatch;

            #[inline]
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: SerdeName,
                value: &T,
            ) -> Started<()> {
                self.field(name, value)
            }

            fn end(self) -> WriteResult {
                self.finish()
            }
        }
    )*};
}

structs!(SerializeStruct SerializeStructVariant);
