//! Arrays and objects while they are being built.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};

use super::key::KeyWriter;
use super::{Writer, refuse, tagged};
use crate::json::{Member, Mismatch, Problem, Value, has_duplicate, read_value_within};

/// A type says how many items it will have, and may be wrong. More than this many are not reserved in
/// advance; a value takes some tens of bytes.
const MOST_RESERVED: usize = 4_096;

/// An array.
pub(super) struct Items {
    inside: Writer,
    variant: Option<&'static str>,
    built: Vec<Value<'static>>,
}

impl Items {
    pub(super) fn new(inside: Writer, variant: Option<&'static str>, length: usize) -> Self {
        Items {
            inside,
            variant,
            built: Vec::with_capacity(length.min(MOST_RESERVED)),
        }
    }

    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Mismatch> {
        match value.serialize(self.inside) {
            Ok(item) => self.built.push(item),
            Err(mismatch) => {
                let placed = mismatch.in_item(self.built.len());
                return Err(match self.variant {
                    Some(variant) => placed.in_key(variant),
                    None => placed,
                });
            }
        }
        Ok(())
    }

    fn done(self) -> Value<'static> {
        let array = Value::Array(self.built);
        match self.variant {
            Some(variant) => tagged(variant, array),
            None => array,
        }
    }
}

macro_rules! items {
    ($($kind:ident $method:ident)*) => {$(
        impl $kind for Items {
            type Ok = Value<'static>;
            type Error = Mismatch;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Mismatch> {
                self.push(value)
            }

            fn end(self) -> Result<Value<'static>, Mismatch> {
                Ok(self.done())
            }
        }
    )*};
}

items! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

/// An object, or a `RawValue`, which `serde_json` passes off as one.
pub(super) struct Members {
    inside: Writer,
    variant: Option<&'static str>,
    content: Content,
}

enum Content {
    /// The fields of a struct: no name stands twice.
    Fields(Vec<Member<'static>>),
    Map {
        members: Vec<Member<'static>>,
        next_key: Option<Cow<'static, str>>,
    },
    Raw(Value<'static>),
}

impl Members {
    pub(super) fn fields(inside: Writer, variant: Option<&'static str>, length: usize) -> Self {
        let content = Content::Fields(Vec::with_capacity(length.min(MOST_RESERVED)));
        Members {
            inside,
            variant,
            content,
        }
    }

    pub(super) fn map(inside: Writer, length: usize) -> Self {
        let content = Content::Map {
            members: Vec::with_capacity(length.min(MOST_RESERVED)),
            next_key: None,
        };
        Members {
            inside,
            variant: None,
            content,
        }
    }

    /// `writer` is the one of the place itself: the raw text may be anything, not only an object.
    pub(super) fn raw(writer: Writer) -> Self {
        Members {
            inside: writer,
            variant: None,
            content: Content::Raw(Value::Null),
        }
    }

    fn field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Mismatch> {
        let written = value.serialize(self.inside).map_err(|mismatch| {
            let placed = mismatch.in_key(name);
            match self.variant {
                Some(variant) => placed.in_key(variant),
                None => placed,
            }
        });
        match &mut self.content {
            Content::Fields(members) | Content::Map { members, .. } => {
                members.push((Cow::Borrowed(name), written?));
            }
            Content::Raw(whole) => *whole = read_raw(&written?, self.inside.depth_left)?,
        }
        Ok(())
    }

    fn done(self) -> Value<'static> {
        let members = match self.content {
            Content::Fields(members) => members,
            Content::Map { mut members, .. } => {
                if has_duplicate(&members) {
                    last_of_each(&mut members);
                }
                members
            }
            Content::Raw(whole) => return whole,
        };
        match self.variant {
            Some(variant) => tagged(variant, Value::Object(members)),
            None => Value::Object(members),
        }
    }
}

/// The text of a `RawValue`, read as strictly as a call.
fn read_raw(text: &Value<'static>, depth_left: usize) -> Result<Value<'static>, Mismatch> {
    let Value::String(text) = text else {
        return Err(refuse("a `RawValue` without text"));
    };
    match read_value_within(text, depth_left) {
        Ok(value) => Ok(value.into_owned()),
        Err(error) => {
            let reason = match error.problem {
                Problem::TooDeep => "nested too deep".to_owned(),
                other => format!("a `RawValue` that is no JSON: {other:?}"),
            };
            Err(refuse(reason).within(&error.path()))
        }
    }
}

/// A key that a type writes twice keeps its first place and its last value, as in `serde_json`.
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

impl SerializeMap for Members {
    type Ok = Value<'static>;
    type Error = Mismatch;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Mismatch> {
        if let Content::Map { next_key, .. } = &mut self.content {
            *next_key = Some(key.serialize(KeyWriter)?);
        }
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Mismatch> {
        let Content::Map { members, next_key } = &mut self.content else {
            return Ok(());
        };
        let Some(key) = next_key.take() else {
            return Err(refuse("a value of a map was written before its key"));
        };
        match value.serialize(self.inside) {
            Ok(written) => members.push((key, written)),
            Err(mismatch) => return Err(mismatch.in_key(&key)),
        }
        Ok(())
    }

    fn end(self) -> Result<Value<'static>, Mismatch> {
        Ok(self.done())
    }
}

macro_rules! fields {
    ($($kind:ident)*) => {$(
        impl $kind for Members {
            type Ok = Value<'static>;
            type Error = Mismatch;

            #[inline]
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), Mismatch> {
                self.field(name, value)
            }

            fn end(self) -> Result<Value<'static>, Mismatch> {
                Ok(self.done())
            }
        }
    )*};
}

fields!(SerializeStruct SerializeStructVariant);
