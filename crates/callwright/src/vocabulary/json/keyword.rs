//! Looks up a keyword of a schema, or a property, by its name.

use serde_json::{Map, Value as Schema};

/// Up to here scanning the names is faster than hashing one.
const FEW_NAMES: usize = 8;

/// The value of a keyword in a schema.
pub(crate) fn keyword<'s>(node: &'s Schema, name: &str) -> Option<&'s Schema> {
    member(node.as_object()?, name)
}

/// The same for an object of keywords or of properties.
pub(crate) fn member<'s>(members: &'s Map<String, Schema>, name: &str) -> Option<&'s Schema> {
    if members.len() > FEW_NAMES {
        return members.get(name);
    }
    let mut members = members.iter();
    members
        .find(|(key, _)| *key == name)
        .map(|(_, inner)| inner)
}
