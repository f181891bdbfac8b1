//! Our tree in a representation that the engine can walk.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::OnceLock;

use ahash::AHashMap;
use jsonschema::JsonType;
use jsonschema::json::{Array, Json, JsonNumber, Node, NodeIdentity, Object};
use jsonschema_value::LazyInstance;

use super::work::{has_enough, object, spend};
use crate::json::{Member, Number, Value};

/// How much of a property name is kept for the message about it.
const NAME_PREVIEW_BYTES: usize = 256;

/// Objects with more members than this are indexed once more than this many are looked up. Building an index takes about as
/// long as eight passes.
const FEW_MEMBERS: usize = 32;
const FEW_LOOKUPS: usize = 8;

/// `i64::MIN`, which is exact as a float.
const LOWEST_I64: f64 = -9_223_372_036_854_775_808.0;

thread_local! {
    /// The address of the value being validated, and a copy of that value for the engine.
    static COPY: RefCell<Option<(usize, Rc<serde_json::Value>)>> = const { RefCell::new(None) };
}

/// Validates a value with a copy of it at hand. When a pattern hits its limit, the engine looks the text up by its path in the
/// root value, which [`lazy_value`](Node::lazy_value) otherwise leaves out.
pub(super) fn with_copy<T>(value: &Value<'_>, ask: impl FnOnce(&Value<'_>) -> T) -> T {
    /// Removes the copy, also when the engine is stopped by unwinding.
    struct Removed;
    impl Drop for Removed {
        fn drop(&mut self) {
            COPY.set(None);
        }
    }
    let copy = Rc::new(serde_json::Value::from(value));
    // Read back from the copy, which has no duplicate keys: every path in the value must exist in the copy.
    let value = Value::from(&*copy);
    COPY.set(Some((address(&value), Rc::clone(&copy))));
    let _removed = Removed;
    ask(&value)
}

fn copied() -> serde_json::Value {
    COPY.with_borrow(|copy| {
        let copy = copy.as_ref().map(|(_, copy)| copy.as_ref().clone());
        copy.unwrap_or_default()
    })
}

fn address(value: &Value<'_>) -> usize {
    std::ptr::from_ref(value).addr()
}

/// The representation: nodes are references into a [`Value`].
#[derive(Debug)]
pub(super) struct ValueTree;

impl Json for ValueTree {
    type Node<'a> = &'a Value<'a>;
    type PreparedKey = Box<str>;
    type StringBuffer = Value<'static>;

    // A lookup here is itself a pass over the members.
    const KEYS_PER_LOOKUP: usize = 4;

    fn prepare_key(key: &str) -> Box<str> {
        key.into()
    }

    fn with_string_node<T>(
        buffer: &mut Value<'static>,
        string: &str,
        f: impl for<'n> FnOnce(&'n Value<'n>) -> T,
    ) -> T {
        *buffer = Value::String(Cow::Owned(string.to_owned()));
        f(buffer)
    }
}

impl<'a> Node<'a, ValueTree> for &'a Value<'a> {
    type Object = IndexedMembers<'a>;
    type Array = &'a [Value<'a>];
    type Number = &'a Number<'a>;

    fn as_object(&self) -> Option<IndexedMembers<'a>> {
        let members = Value::as_object(self)?;
        spend(1);
        Some(IndexedMembers::of(members))
    }

    fn as_array(&self) -> Option<&'a [Value<'a>]> {
        let items = Value::as_array(self)?;
        spend(1);
        Some(items)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        self.as_str().map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<&'a Number<'a>> {
        Value::as_number(self)
    }

    fn as_boolean(&self) -> Option<bool> {
        match self {
            Value::Bool(yes) => Some(*yes),
            _ => None,
        }
    }

    fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    fn is_string(&self) -> bool {
        matches!(self, Value::String(_))
    }

    fn json_type(&self) -> JsonType {
        match self {
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            Value::Number(_) => JsonType::Number,
            Value::String(_) => JsonType::String,
            Value::Array(_) => JsonType::Array,
            Value::Object(_) => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &serde_json::Value) -> bool {
        use serde_json::Value as Expected;
        match (self, expected) {
            (Value::String(text), Expected::String(wanted)) => text == wanted,
            (Value::Array(items), Expected::Array(wanted)) => {
                spend(items.len());
                let mut pairs = items.iter().zip(wanted);
                items.len() == wanted.len() && pairs.all(|(item, wanted)| item.equals_value(wanted))
            }
            (Value::Object(members), Expected::Object(wanted)) => {
                spend(members.len());
                let is_same = |(key, member): &Member<'_>| {
                    let wanted = wanted.get(key.as_ref());
                    wanted.is_some_and(|wanted| member.equals_value(wanted))
                };
                members.len() == wanted.len() && members.iter().all(is_same)
            }
            (Value::Number(_), Expected::Number(_)) => {
                jsonschema::json::cmp::equal(&(*self).into(), expected)
            }
            (Value::Bool(yes), Expected::Bool(wanted)) => yes == wanted,
            (Value::Null, Expected::Null) => true,
            _ => false,
        }
    }

    fn to_value(&self) -> Cow<'a, serde_json::Value> {
        Cow::Owned((*self).into())
    }

    /// The engine keeps a copy of the offending value in every error. We look the value up in our own tree by its path, so
    /// there is nothing to copy, except for strings: an invalid property name is nowhere in the tree. The root is the
    /// other exception, if there is [a copy](with_copy).
    fn lazy_value(&self) -> LazyInstance<'a> {
        object();
        let text = self.as_str().unwrap_or_default().as_bytes();
        let has_copy = COPY.with_borrow(|copy| {
            let of = copy.as_ref().map(|(of, _)| *of);
            of == Some(address(self))
        });
        LazyInstance::Deferred {
            bytes: &text[..text.len().min(NAME_PREVIEW_BYTES)],
            tag: u32::from(has_copy),
            make: |bytes, has_copy| match has_copy {
                0 => String::from_utf8_lossy(bytes).into_owned().into(),
                _ => copied(),
            },
            cell: OnceLock::new(),
        }
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(address(self)))
    }
}

impl JsonNumber for &Number<'_> {
    fn as_u64(&self) -> Option<u64> {
        Number::as_u64(self)
    }

    fn as_i64(&self) -> Option<i64> {
        Number::as_i64(self)
    }

    /// The engine calls this if 64 bits cannot hold a number, and compares the result with limits. For an integer just below
    /// `i64` the nearest float is the limit of `i64` itself, so it gets the one below: what passes as an `i64` must be one.
    fn as_f64(&self) -> Option<f64> {
        let nearest = Number::as_f64(self);
        let looks_like_limit = nearest.to_bits() == LOWEST_I64.to_bits();
        let is_below = || {
            let whole = self.as_whole();
            whole.is_some_and(|whole| whole.magnitude > i64::MIN.unsigned_abs().into())
        };
        Some(if looks_like_limit && is_below() {
            nearest.next_down()
        } else {
            nearest
        })
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(Number::as_str(self))
    }

    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        Cow::Owned((*self).into())
    }

    fn is_integer(&self) -> bool {
        Number::is_integer(self)
    }

    fn is_written_as_integer(&self) -> bool {
        Number::is_written_as_integer(self)
    }
}

#[derive(Debug)]
pub(super) struct MembersIter<'a>(std::slice::Iter<'a, Member<'a>>);

impl<'a> Iterator for MembersIter<'a> {
    type Item = (&'a str, &'a Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key.as_ref(), value))
    }
}

/// The items of a list, until there are enough objections.
#[derive(Debug)]
pub(super) struct Items<'a>(std::slice::Iter<'a, Value<'a>>);

impl<'a> Iterator for Items<'a> {
    type Item = &'a Value<'a>;

    #[inline]
    fn next(&mut self) -> Option<&'a Value<'a>> {
        if has_enough() {
            return None;
        }
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.0.len()))
    }
}

/// The members of an object. If there are many, and many are looked up, an index is used.
#[derive(Debug)]
pub(super) struct IndexedMembers<'a> {
    all: &'a [Member<'a>],
    lookups: Cell<usize>,
    /// Boxed, because it is moved around and rarely built.
    index: OnceCell<Box<AHashMap<&'a str, &'a Value<'a>>>>,
}

impl<'a> IndexedMembers<'a> {
    fn of(all: &'a [Member<'a>]) -> Self {
        IndexedMembers {
            all,
            lookups: Cell::new(0),
            index: OnceCell::new(),
        }
    }
}

impl<'a> Object<'a, ValueTree> for IndexedMembers<'a> {
    type Node = &'a Value<'a>;
    type MemberName = &'a str;
    type MembersIter = MembersIter<'a>;

    fn len(&self) -> usize {
        self.all.len()
    }

    fn get(&self, key: &Box<str>) -> Option<&'a Value<'a>> {
        let mut members = self.all.iter();
        if self.all.len() > FEW_MEMBERS {
            self.lookups.set(self.lookups.get() + 1);
            if self.lookups.get() > FEW_LOOKUPS {
                // If a key occurs twice the first one counts, as it does below.
                let all = members.rev().map(|(name, value)| (name.as_ref(), value));
                let index = self.index.get_or_init(|| Box::new(all.collect()));
                return index.get(key.as_ref()).copied().or_else(missing);
            }
        }
        let found = members.find(|(name, _)| name.as_ref() == key.as_ref());
        found.map(|(_, value)| value).or_else(missing)
    }

    fn members(&self) -> MembersIter<'a> {
        spend(self.all.len());
        MembersIter(self.all.iter())
    }
}

/// The value of an absent key: present once there are enough objections, so that no more are raised.
fn missing<'a>() -> Option<&'a Value<'a>> {
    has_enough().then_some(&Value::Null)
}

impl<'a> Array<'a, ValueTree> for &'a [Value<'a>] {
    type Node = &'a Value<'a>;
    type ElementsIter = Items<'a>;

    fn len(&self) -> usize {
        <[Value<'a>]>::len(self)
    }

    fn elements(&self) -> Items<'a> {
        spend(self.len());
        Items(self.iter())
    }

    /// By canonical text, so that ids beyond 64 bits are distinguished.
    fn is_unique(&self) -> bool {
        spend(self.len());
        let mut seen = HashSet::with_capacity(self.len());
        self.iter().all(|item| seen.insert(item.canonical()))
    }
}
