//! Many places in one value: the keys of its large objects are looked up, not searched for.

use ahash::AHashMap;

use super::{Path, Value};

/// Up to here going through the keys is faster than hashing them all.
const FEW_KEYS: usize = 32;

/// A value in which many places are asked for.
#[derive(Debug)]
pub(crate) struct Indexed<'v, 'a> {
    root: &'v Value<'a>,
    /// The members of large objects, by the address of their object.
    objects: AHashMap<usize, AHashMap<&'v str, &'v Value<'a>>>,
}

impl<'v, 'a> Indexed<'v, 'a> {
    pub(crate) fn new(root: &'v Value<'a>) -> Self {
        let mut objects = AHashMap::new();
        add_large(root, &mut objects);
        Indexed { root, objects }
    }

    /// The value at `path`, if there is one.
    pub(crate) fn at(&self, path: &Path) -> Option<&'v Value<'a>> {
        let mut segments = path.segments();
        segments.try_fold(self.root, |value, segment| self.child(value, &segment))
    }

    /// The member or the item of a value inside that a segment of a path names.
    pub(crate) fn child(&self, value: &'v Value<'a>, segment: &str) -> Option<&'v Value<'a>> {
        match self.objects.get(&address(value)) {
            Some(members) => members.get(segment).copied(),
            None => value.child(segment),
        }
    }
}

fn address(value: &Value<'_>) -> usize {
    std::ptr::from_ref(value).addr()
}

fn add_large<'v, 'a>(
    value: &'v Value<'a>,
    objects: &mut AHashMap<usize, AHashMap<&'v str, &'v Value<'a>>>,
) {
    match value {
        Value::Object(members) => {
            if members.len() > FEW_KEYS {
                // Of a key that occurs twice the first counts.
                let members = members.iter().rev();
                let index = members.map(|(key, value)| (key.as_ref(), value)).collect();
                objects.insert(address(value), index);
            }
            for (_, inner) in members {
                add_large(inner, objects);
            }
        }
        Value::Array(items) => {
            for inner in items {
                add_large(inner, objects);
            }
        }
        _ => {}
    }
}
