//! A keyword of a schema, or a property, by its name.

use serde_json::{Map, Value as Schema};

/// Up to here going through the names is faster than hashing one.
const FEW_NAMES: usize = 8;

/// What a schema says under a keyword.
pub(crate) fn keyword<'s>(node: &'s Schema, name: &str) -> Option<&'s Schema> {
    member(node.as_object()?, name)
}

/// The same of an object: of keywords, or of properties.
pub(crate) fn member<'s>(members: &'s Map<String, Schema>, name: &str) -> Option<&'s Schema> {
    if members.len() > FEW_NAMES {
        return members.get(name);
    }
    let mut members = members.iter();
    members
        .find(|(key, _)| *key == name)
        .map(|(_, inner)| inner)
}
