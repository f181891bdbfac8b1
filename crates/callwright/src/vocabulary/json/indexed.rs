//! Looks up many paths in one value; large objects are indexed, not searched.

use std::cell::RefCell;
use std::collections::BTreeMap;

use ahash::AHashMap;

use super::path::{cut_first, unescape};
use super::{Path, Value};

/// Up to here scanning the keys is faster than hashing them all.
const FEW_KEYS: usize = 32;

/// A value in which many paths are looked up. An object is indexed when it is first accessed, and a path close to the last one
/// is found from there: one objection at each of a hundred levels takes a hundred steps, not five thousand.
#[derive(Debug)]
pub(crate) struct Indexed<'v, 'a> {
    root: &'v Value<'a>,
    /// The members of large objects, by the address of their object.
    objects: RefCell<BTreeMap<usize, AHashMap<&'v str, &'v Value<'a>>>>,
    last: RefCell<Trail<'v, 'a>>,
}

/// The values along a path.
#[derive(Debug, Default)]
struct Trail<'v, 'a> {
    pointer: String,
    /// The values along the path, each with the end of its own pointer.
    values: Vec<(usize, &'v Value<'a>)>,
}

impl<'v, 'a> Trail<'v, 'a> {
    /// Goes back to the last value that is also on the other path, and returns where its pointer ends.
    fn go_back(&mut self, pointer: &str) -> Option<(usize, &'v Value<'a>)> {
        let (last, pointer) = (self.pointer.as_bytes(), pointer.as_bytes());
        let is_border = |end: usize| pointer.get(end).is_none_or(|next| *next == b'/');
        while let Some(&(end, value)) = self.values.last() {
            if pointer.get(..end) == last.get(..end) && is_border(end) {
                return Some((end, value));
            }
            self.values.pop();
        }
        None
    }
}

impl<'v, 'a> Indexed<'v, 'a> {
    pub(crate) fn new(root: &'v Value<'a>) -> Self {
        Indexed {
            root,
            objects: RefCell::default(),
            last: RefCell::default(),
        }
    }

    /// The value at `path`, if there is one.
    pub(crate) fn at(&self, path: &Path) -> Option<&'v Value<'a>> {
        let pointer = path.as_pointer();
        if !pointer.starts_with('/') {
            // The whole value, or not a pointer at all.
            return self.root.at(path);
        }
        // Most paths name members of the whole value.
        if let (only, None) = cut_first(&pointer[1..]) {
            return self.child(self.root, &unescape(only));
        }
        let mut last = self.last.borrow_mut();
        let (mut end, mut value) = last.go_back(pointer).unwrap_or((0, self.root));
        last.pointer.truncate(end);
        last.pointer.push_str(&pointer[end..]);
        while end < pointer.len() {
            let (segment, _) = cut_first(&pointer[end + 1..]);
            end += 1 + segment.len();
            value = self.child(value, &unescape(segment))?;
            last.values.push((end, value));
        }
        Some(value)
    }

    /// The member or the item of a nested value that a segment of a path names.
    pub(crate) fn child(&self, value: &'v Value<'a>, segment: &str) -> Option<&'v Value<'a>> {
        match value {
            Value::Object(members) if members.len() > FEW_KEYS => {
                let mut objects = self.objects.borrow_mut();
                let index = objects
                    .entry(std::ptr::from_ref(value).addr())
                    .or_insert_with(|| {
                        // If a key occurs twice the first one counts.
                        let members = members.iter().rev();
                        members.map(|(key, value)| (key.as_ref(), value)).collect()
                    });
                index.get(segment).copied()
            }
            _ => value.child(segment),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read_value;

    #[test]
    fn every_place_is_found_after_every_other() {
        let text =
            r#"{"a": {"b": [1, {"c": 2}], "": 3, "b/": 4}, "ab": {"b": 5}, "": {"": 6}, "a~": 7}"#;
        let value = read_value(text).expect("JSON");
        let places = [
            "",
            "/",
            "//",
            "/a",
            "/a/b",
            "/a/b/0",
            "/a/b/1",
            "/a/b/1/c",
            "/a/",
            "/a/b~1",
            "/ab",
            "/ab/b",
            "/a~0",
            "/a/c",
            "/a/b/2",
            "/a/b/1/c/d",
            "/b",
            "a",
            "é/b",
            "a/b",
            "/ab/",
            "/a/b/1/cc",
        ];
        for first in places {
            for second in places {
                let indexed = Indexed::new(&value);
                for place in [first, second, first] {
                    let path = Path::from_pointer(place);
                    assert_eq!(indexed.at(&path), value.at(&path), "{first} {place}");
                }
            }
        }
    }
}
